package judge

import (
	"cmp"
	"slices"

	"storozh/core"
)

// Strongest is a unit's label from its pairs (C4): any contra at once; else, only when all pairs are judged, any dup, else ok.
// Without a label (no pair, or an unjudged one and no contra) all results are empty. against are the items that carry the label,
// nearest first, and never nil; note is the first one's.
func Strongest(pairs []core.Pair) (label core.Label, against []string, note string) {
	against = []string{}
	for _, p := range pairs {
		switch {
		case p.Label == core.Contra:
			label = core.Contra
		case label == core.Contra:
		case p.Label == core.Dup:
			label = core.Dup
		case p.Label == core.OK && label == "":
			label = core.OK
		}
	}
	unjudged := slices.ContainsFunc(pairs, func(p core.Pair) bool { return p.Label == "" })
	if label == "" || label != core.Contra && unjudged {
		return "", against, ""
	}
	near := slices.Clone(pairs)
	slices.SortStableFunc(near, func(a, b core.Pair) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Rank, b.Rank)) // units of the manifest have their ranks behind the items
	})
	for _, p := range near {
		if p.Label != label {
			continue
		}
		if len(against) == 0 {
			note = p.Note
		}
		against = append(against, p.Item)
	}
	return label, against, note
}
