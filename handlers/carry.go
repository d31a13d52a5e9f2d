package handlers

import (
	"storozh/core"
	"storozh/core/review"
)

// visibleEarlier keeps the reader's own decisions, and the other's only where both had decided the same flag of that manifest: each
// decides alone there too.
func visibleEarlier(all []core.Decision, who core.Cosigner) []core.Decision {
	type place struct {
		manifest   int64
		unit, like string
	}
	at := func(d core.Decision) place {
		return place{d.ManifestID, d.UnitID, d.Basis.Unit + likeness(core.FlagBasis{Basis: d.Basis})}
	}
	decided := map[place]bool{}
	for _, d := range all {
		if d.By == who {
			decided[at(d)] = true
		}
	}
	var out []core.Decision
	for _, d := range all {
		if d.By == who || decided[at(d)] {
			out = append(out, d)
		}
	}
	return out
}

// before is what was decided before about a flag: the reader's own latest decision first, then the other's. Nothing where none covers
// all that the flag is held against now.
func before(f core.FlagBasis, earlier []core.Decision, who core.Cosigner) []core.Decision {
	var out []core.Decision
	for _, c := range []core.Cosigner{who, who.Other()} {
		var by []core.Decision
		for _, d := range earlier {
			if d.By == c {
				by = append(by, d)
			}
		}
		if d, ok := review.Carry(f, by); ok {
			out = append(out, d)
		}
	}
	return out
}
