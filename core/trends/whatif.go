package trends

import (
	"slices"

	"storozh/core"
)

// WhatIf tells, for floors in percent, what each would have cut off: the flags of which every item lies below it, and the pairs below it.
// A unit that loses its contra could keep a dup; it counts as lost all the same, for the flag that was decided would be gone.
func WhatIf(d core.WhatIfData, floors []int) []core.WhatIfRow {
	out := make([]core.WhatIfRow, len(floors))
	for i, floor := range floors {
		r := core.WhatIfRow{Percent: floor}
		for _, f := range d.Flags {
			if f.Percent < floor {
				addLost(&r, f)
			}
		}
		for _, p := range d.Pairs {
			if p.Percent < floor {
				r.Pairs += p.Pairs
			}
		}
		out[i] = r
	}
	return out
}

func addLost(r *core.WhatIfRow, f core.FlagsAt) {
	if f.Label == core.Contra {
		r.Contra += f.Flags
	} else {
		r.Dup += f.Flags
	}
	owner, claude := slices.Index(core.Choices(), f.Owner), slices.Index(core.Choices(), f.Claude)
	if owner < 0 || claude < 0 {
		r.Undecided += f.Flags
		return
	}
	r.Choices[owner] += f.Flags
	r.Choices[claude] += f.Flags
}
