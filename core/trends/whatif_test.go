package trends

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

func TestWhatIf(t *testing.T) {
	t.Parallel()
	d := core.WhatIfData{
		Pairs: []core.PairsAt{{Percent: -3, Pairs: 1}, {Percent: 49, Pairs: 20}, {Percent: 50, Pairs: 300}},
		Flags: []core.FlagsAt{
			{Percent: 30, Label: core.Contra, Owner: core.Fix, Claude: core.Land, Flags: 2}, {Percent: 49, Label: core.Dup, Owner: core.DropAsDup, Claude: core.DropAsDup, Flags: 1},
			{Percent: 49, Label: core.Contra, Flags: 5}, {Percent: 50, Label: core.Contra, Owner: core.Accept, Claude: core.Accept, Flags: 7},
		},
	}
	want := []core.WhatIfRow{
		{Percent: 0, Pairs: 1}, {Percent: 49, Contra: 2, Choices: core.ChoiceCounts{2, 2, 0, 0}, Pairs: 1},
		{Percent: 50, Contra: 7, Dup: 1, Choices: core.ChoiceCounts{2, 2, 0, 2}, Undecided: 5, Pairs: 21},
		{Percent: 51, Contra: 14, Dup: 1, Choices: core.ChoiceCounts{2, 2, 14, 2}, Undecided: 5, Pairs: 321},
	}
	if diff := cmp.Diff(want, WhatIf(d, []int{0, 49, 50, 51})); diff != "" {
		t.Error(diff) // a floor keeps what lies on it
	}
	if got := WhatIf(core.WhatIfData{}, []int{50}); len(got) != 1 || got[0].Contra != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
