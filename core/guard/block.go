package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"storozh/core"
	"storozh/core/judge"
)

// label gives every judged unit the strongest label over its pairs, and words contra-check when pairs are left unjudged.
func (w *work) label(todo []*core.UnitResult) {
	unjudged, of := 0, 0
	reasons := map[string]int{}
	for _, u := range todo {
		for _, p := range u.Pairs {
			of++
			if p.Label == "" {
				unjudged++
				reasons[p.Unjudged]++
			}
			if p.Resolved && (p.Label == core.Contra || p.Label == core.Dup) {
				w.resolved = append(w.resolved, core.Resolved{Unit: u.Unit.ID, Item: p.Item})
			}
		}
		labelUnit(u)
	}
	if unjudged > 0 {
		w.check = fmt.Sprintf("%s (%d of %d pairs unjudged: %s)", core.ContraIncomplete, unjudged, of, mostCommon(reasons))
	}
}

// labelUnit gives a unit the strongest label over the pairs that count: what goes with this manifest does not.
func labelUnit(u *core.UnitResult) {
	pairs := slices.DeleteFunc(slices.Clone(u.Pairs), func(p core.Pair) bool { return p.Resolved })
	label, against, note := judge.Strongest(pairs)
	u.Flag.Semantic, u.Flag.JudgeNote = label, note
	u.Flag.Against = append([]string{}, against...)
	// Without a pair there is nothing left to compare with: no label, and none is missing.
	u.Unjudged = label == "" && len(pairs) > 0
	if len(against) > 0 && slices.ContainsFunc(pairs, func(p core.Pair) bool { return p.Item == against[0] && p.Unstable }) {
		u.Flag.JudgeNote = "unstable: " + note
	}
}

func mostCommon(reasons map[string]int) string {
	names := make([]string, 0, len(reasons))
	for r := range reasons {
		names = append(names, r)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), strings.Compare(a, b))
	})
	return strings.Join(names, ", ")
}

// result orders the units as C4 wants them and assembles the block.
func (w *work) result() core.Result {
	slices.SortStableFunc(w.units, func(a, b core.UnitResult) int {
		return cmp.Or(flaggedFirst(a.Flag)-flaggedFirst(b.Flag), strings.Compare(a.Flag.Unit, b.Flag.Unit))
	})
	block := core.Block{
		RanAt: w.job.RanAt.UTC().Format("2006-01-02T15:04:05Z"), K: w.opt.K, ContraCheck: w.check, Flags: []core.Flag{},
		NotInDiff: w.derived.NotInDiff, Unclassified: w.derived.Unclassified, Resolved: w.resolved, Warnings: w.warnings,
	}
	if w.corpus.Commit != "" || w.corpus.Items > 0 {
		block.Corpus = &core.BlockCorpus{Commit: w.corpus.Commit, Items: w.corpus.Items}
	}
	for _, u := range w.units {
		block.Flags = append(block.Flags, u.Flag)
		count(&block.Summary, u)
	}
	return core.Result{
		Block: block, Units: w.units, AddCommands: w.derived.AddCommands, JudgeModel: w.models.Judge, EmbedModel: w.models.Embed,
		PromptVersion: judge.PromptVersion, PolicySource: w.policy.Source, Corpus: w.corpus,
	}
}

func flaggedFirst(f core.Flag) int {
	if f.Flagged() {
		return 0
	}
	return 1
}

// count adds a unit to the summary by the rules of C4: one unit can count under two flags; ok needs routing ok and either the label ok
// or nothing to judge.
func count(s *core.Summary, u core.UnitResult) {
	s.Units++
	if u.Flag.Routing == core.Misroute {
		s.Misroute++
	}
	switch {
	case u.Flag.Semantic == core.Contra:
		s.Contra++
	case u.Flag.Semantic == core.Dup:
		s.Dup++
	case u.Unjudged:
		s.Unjudged++
	case u.Flag.Routing == core.RoutingOK:
		s.OK++
	}
}
