package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// bad is a changeset nobody wished for, or a model nobody can use, and what must become of it.
type bad struct {
	change func(e eco)
	model  func(f *llmtest.Faults)
	setup  func(c *Config)
	check  string   // contra-check
	bluf   string   // part of it
	labels []string // of the units, each once
	warns  []string // each a part of a warning, in order; there are no others
	embeds int      // requests for vectors, at most
	asks   int      // requests for verdicts
}

// run takes it through the whole pipeline, and looks at the page, too.
func (b bad) run(t *testing.T) []core.UnitResult {
	t.Helper()
	e := newEco(t)
	b.change(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	if b.model != nil {
		model.Set(b.model)
	}
	a := newApp(t, e, model, b.setup)
	rec, units := runEco(t, a, e, "s")
	block := rec.Run.Block
	if block.ContraCheck != b.check || !strings.Contains(rec.BLUF, b.bluf) {
		t.Errorf("%s · %s", block.ContraCheck, rec.BLUF)
	}
	seen := map[string]bool{}
	for _, u := range units {
		label := string(u.Flag.Semantic)
		if u.Unjudged {
			label = "unjudged"
		}
		seen[label] = true
	}
	for _, l := range b.labels {
		if !seen[l] {
			t.Errorf("no unit is %q: %v", l, seen)
		}
	}
	if len(seen) != len(b.labels) {
		t.Errorf("labels: %v", seen)
	}
	if n := model.Counts(); n.Embeddings > b.embeds || n.Completions+n.Chat != b.asks {
		t.Errorf("%d requests for vectors, at most %d; %d for verdicts, want %d", n.Embeddings, b.embeds, n.Completions+n.Chat, b.asks)
	}
	page := signIn(t, serveWeb(t, a), "owner-token-of-the-test").get(fmt.Sprintf("/manifests/%d", rec.ID))
	if len(block.Warnings) != len(b.warns) {
		t.Errorf("warnings: %q", block.Warnings)
	}
	for i, w := range block.Warnings {
		if i < len(b.warns) && !strings.Contains(w, b.warns[i]) {
			t.Errorf("warning %q, want %q", w, b.warns[i])
		}
		if !strings.Contains(page, strings.Split(w, " ")[0]) || len(b.warns) > i && !strings.Contains(page, b.warns[i]) {
			t.Errorf("the page does not say %q", w)
		}
	}
	if b.check != core.ContraRan && !strings.Contains(page, "incomplete") && !strings.Contains(page, "nothing was judged") {
		t.Errorf("the page does not say %q", b.check)
	}
	return units
}

func lesson(text string) func(eco) {
	return func(e eco) { e.change("shield/lessons/new.md", text) }
}

// sentences are about n bytes of text, no two sentences alike.
func sentences(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "Step %d of the procedure takes %d minutes on a good day. ", i, i*7%60)
	}
	return b.String()
}

const tooLong = "is too long: only the first 8,000 characters"

// The vectors of the corpus at HEAD (six texts) and of one unit: one request.
func TestBadTexts(t *testing.T) {
	tests := map[string]bad{
		"200 kB in one paragraph": {change: lesson("# Long\n\n" + sentences(200_000) + "\n"),
			check: core.ContraRan, bluf: "1 unit: no flags; 1 warning", labels: []string{"ok"}, warns: []string{tooLong}, embeds: 1, asks: 5},
		// The embedding model takes 2,000 bytes: the batch is refused, then the texts go one by one, the long one halved as often as needed.
		"200 kB, small contexts": {change: lesson("# Long\n\n" + sentences(200_000) + "\n"), model: func(f *llmtest.Faults) { f.MaxPrompt = 4_000 },
			check: core.ContraRan, bluf: "no flags; 2 warnings", labels: []string{"ok"},
			warns: []string{tooLong, "5 pairs were judged by no more than the first 1,200 characters"}, embeds: 1 + 6 + 8, asks: 5 * 2},
		// The swapped order is asked about in the short form, too: the flags hold.
		"200 kB, small contexts, contra": {change: lesson("# Long\n\n" + sentences(200_000) + "\n"), model: func(f *llmtest.Faults) {
			f.MaxPrompt, f.Answer = 4_000, func(string) string { return `{"reason":"no","label":"contra"}` }
		}, check: core.ContraRan, bluf: "1 contra; 3 warnings", labels: []string{"contra"},
			warns:  []string{tooLong, "5 pairs were judged by no more than the first 1,200 characters", "all 5 pairs were judged contra"},
			embeds: 1 + 6 + 8, asks: 5 * 4},
		"a long item of the corpus": {change: func(e eco) {
			e.write("shield/lessons/old.md", "# Old\n\n"+sentences(9_000)+"\n")
			e.commit("shield")
			e.change("shield/lessons/new.md", "# New\n\nSomething new to know.\n")
		}, check: core.ContraRan, bluf: "no flags; 1 warning", labels: []string{"ok"},
			warns: []string{"shield/lessons/old.md#old in the corpus " + tooLong}, embeds: 1, asks: 7, setup: func(c *Config) { c.K = 7 }},
		// Nothing in these binds a reader: they are units whose routing is checked, without a label, and none is missing.
		"no statement": {change: lesson(""), check: core.ContraRan, bluf: "1 unit: all ok", labels: []string{""}},
		"only a title": {change: lesson("# New\n"), check: core.ContraRan, bluf: "1 unit: all ok", labels: []string{""}},
		"only blanks":  {change: lesson(" \n\t\n\u00a0\n"), check: core.ContraRan, bluf: "1 unit: all ok", labels: []string{""}},
		"only emoji":   {change: lesson("🎉🎉🎉\n"), check: core.ContraRan, bluf: "1 unit: all ok", labels: []string{""}},
		"only code":    {change: lesson("```go\npackage main\n\nfunc main() {}\n```\n"), check: core.ContraRan, bluf: "1 unit: all ok", labels: []string{"ok"}, embeds: 1, asks: 5},
	}
	for name, b := range tests {
		t.Run(name, func(t *testing.T) { b.run(t) })
	}
}

// Three thousand items that hardly differ: the corpus is embedded once, the unit meets its k nearest and no more.
func TestThousandsOfNearCopies(t *testing.T) {
	const items = 3_000
	var many strings.Builder
	for i := range items {
		fmt.Fprintf(&many, "#%d [style] [O] deploy number %d happens on a working day\n", 100+i, i)
	}
	b := bad{change: func(e eco) {
		e.write("shield/invariants/many.txt", many.String())
		e.commit("shield")
		e.change("shield/lessons/new.md", "# Deploys\n\nDeploy number 7 happens on a working day.\n")
	}, check: core.ContraRan, bluf: "1 unit: 1 dup", labels: []string{"dup"}, model: allDup, embeds: (items+7)/64 + 1, asks: 5 * 2}
	if u := unitNamed(t, b.run(t), "shield/lessons/new.md"); len(u.Pairs) != 5 {
		t.Errorf("%d pairs", len(u.Pairs))
	}
}

// Models that cannot judge, each in its way.
func TestBadJudges(t *testing.T) {
	short := lesson("# New\n\nSomething new to know.\n")
	says := func(answer string) func(f *llmtest.Faults) {
		return func(f *llmtest.Faults) { f.Limit, f.Answer = true, func(string) string { return answer } }
	}
	huge := strings.Repeat("and so on ", 17<<20/10)
	chat := func(c *Config) { c.LLM.API = localllm.APIChat }
	tests := map[string]bad{
		"always contra": {change: short, model: says(`{"reason":"no","label":"contra"}`), check: core.ContraRan, bluf: "1 unit: 1 contra; 1 warning",
			labels: []string{"contra"}, warns: []string{"all 5 pairs were judged contra: the model may be unfit"}, embeds: 1, asks: 5 * 2},
		"by the order": {change: short, model: func(f *llmtest.Faults) {
			f.Answer = func(prompt string) string {
				if strings.LastIndex(prompt, "\nUNIT ") < strings.LastIndex(prompt, "\nITEM ") {
					return `{"reason":"order","label":"dup"}`
				}
				return `{"reason":"order","label":"contra"}`
			}
		}, check: core.ContraRan, bluf: "1 unit: 1 contra; 2 warnings", labels: []string{"contra"},
			warns: []string{"all 5 pairs were judged contra", "none of the 5 flagged pairs got the same label in swapped order"}, embeds: 1, asks: 5 * 2},
		"never answers": {change: short, model: func(f *llmtest.Faults) { f.Silent = true }, setup: func(c *Config) { c.LLM.Timeout, c.Concurrency = 2*time.Second, 5 }, check: "incomplete (5 of 5 pairs unjudged: timeout)",
			bluf: "1 unjudged", labels: []string{"unjudged"}, embeds: 1, asks: 5},
		"rambles for ever": {change: short, model: says(strings.Repeat("and so on ", 5_000)), check: "incomplete (5 of 5 pairs unjudged: answer cut off)",
			bluf: "1 unjudged", labels: []string{"unjudged"}, embeds: 1, asks: 5 * 2},
		"thinks for ever": {change: short, setup: chat, model: func(f *llmtest.Faults) { f.Limit, f.Thoughts = true, 100_000 },
			check: "incomplete (5 of 5 pairs unjudged: answer cut off)", bluf: "1 unjudged", labels: []string{"unjudged"}, embeds: 1, asks: 5 * 2},
		"heeds no limit": {change: short, model: func(f *llmtest.Faults) {
			f.Answer = func(string) string { return strings.Repeat("and so on ", 30_000) }
		}, check: "incomplete (5 of 5 pairs unjudged: unreadable answer)", bluf: "1 unjudged", labels: []string{"unjudged"}, embeds: 1, asks: 5 * 2},
		"17 MiB of answer": {change: short, model: func(f *llmtest.Faults) { f.Answer = func(string) string { return huge } }, check: "incomplete (5 of 5 pairs unjudged: malformed)", bluf: "1 unjudged", labels: []string{"unjudged"}, embeds: 1, asks: 5},
		"thinks, but need not": {change: short, setup: func(c *Config) { chat(c); c.Concurrency = 1 }, model: func(f *llmtest.Faults) {
			f.Limit, f.Thoughts = true, 100_000
			f.Quiet = func(body map[string]any) bool { return body["reasoning_effort"] == "none" }
		}, check: core.ContraRan, bluf: "all ok", labels: []string{"ok"}, embeds: 1, asks: 1 + 5},
		"refuses every format": {change: short, setup: func(c *Config) { chat(c); c.Concurrency = 1 }, model: func(f *llmtest.Faults) {
			f.Refuse = func(body map[string]any) string {
				if llmtest.FormatOf(body) != "" {
					return "bad request"
				}
				return ""
			}
		}, check: core.ContraRan, bluf: "all ok", labels: []string{"ok"}, embeds: 1, asks: 2 + 5},
	}
	for name, b := range tests {
		t.Run(name, func(t *testing.T) { b.run(t) })
	}
}
