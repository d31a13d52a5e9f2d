package views

import (
	"strings"
	"testing"

	"storozh/core"
)

func TestReviewShowsTheEvidence(t *testing.T) {
	t.Parallel()
	u := result("shield/lessons/tide.md", core.Contra,
		core.Pair{Item: "shield/invariants#2", ItemText: "Часы идут по UTC.", Label: core.Contra, Judge: "judge-of-7b", Prompt: "judge-3", Cached: true, Unstable: true, Words: true, Hint: "numbers <differ>"},
		core.Pair{Item: core.SiblingPrefix + "shield/lessons/ebb.md", ItemText: "# Ebb\n\nClocks **stop**.", Label: core.OK},
		core.Pair{Item: "shield/lessons/old.md", ItemText: "часы идут по местному времени", Label: core.Contra, Resolved: true})
	u.Unit.Text, u.Unit.Diff = "часы идут по местному времени", "@@ -1 +1 @@\n-a\n+b"
	u.Unit.Replaces = []string{u.Unit.ID, "shield/lessons/wave.md#часы", "darwin/x.md"}
	b := core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 1, Contra: 1}, Resolved: []core.Resolved{{Unit: u.Unit.ID, Item: "shield/lessons/old.md"}, {Unit: "shield/other", Item: "shield/elsewhere"}}}
	in := ReviewInput{Record: done(b), Units: []core.UnitResult{u}, Show: "contra", Find: "часы"}
	page := review(t, in)
	has(t, page, []string{
		"часы идут по <mark>местному времени</mark>", "Часы идут по <mark>UTC</mark>.", "only on this side, compared with", "judged by", "judge-of-7b", ", prompt judge-3", ", from the cache",
		"did not say the same", "Found by words that both share", "numbers &lt;differ&gt;", "Resolved here: this changeset", "clash resolved here", `href="/items/shield/lessons/old.md"`, `href="/items/shield/lessons/wave.md%23%D1%87`,
		"same changeset", `href="/manifests/7?unit=shield%2Flessons%2Febb.md"`, "<h5>Ebb</h5><p>Clocks <strong>stop</strong>.</p>", `data-diff-mode="split"`,
		`/manifests/7?diff=split&amp;q=%D1%87%D0%B0%D1%81%D1%8B&amp;show=contra#unit-`, `<details class="evidence">`, "/manifests/7/transcript?unit=",
	}, []string{`href="/items/shield/elsewhere"`, core.SiblingPrefix, `href="/items/darwin`})
	if strings.Contains(page, "replaces</span> <code><a href=\"/items/shield/lessons/tide.md\"") {
		t.Error("a unit is said to replace itself")
	}
	in.Diff = "split"
	has(t, review(t, in), []string{`class="dt split"`, `data-diff-mode="unified"`, `<details class="evidence" open>`}, nil)
}

func TestRunsAreCutWithTheirText(t *testing.T) {
	t.Parallel()
	all := []Run{{Text: "abc"}, {Text: "жжж", Only: true}, {Text: "xyz"}}
	for limit, want := range map[int]string{2: "ab", 3: "abc", 5: "abc[ж]", 9: "abc[жжж]", 11: "abc[жжж]xy", 99: "abc[жжж]xyz"} {
		if got := show(cutRuns(all, limit)); got != want {
			t.Errorf("cut to %d: %q, want %q", limit, got, want)
		}
	}
	if show(all) != "abc[жжж]xyz" {
		t.Error("the runs themselves were changed")
	}
}
