package app

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/localllm/llmtest"
)

func TestTwoNewLessonsThatClashAreFlaggedAgainstEachOther(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/left.md", "# Left\n\nAlways drive on the left side of the road.\n")
	e.change("shield/lessons/right.md", "# Right\n\nAlways drive on the right side of the road.\n")
	e.change("mirabilis/cmd/run/main.go", "package main\n\nfunc main() { println(3) }\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = rules(map[string]core.Label{"the left side | the right side": core.Contra, "the right side | the left side": core.Contra})
	})
	rec, units := runEco(t, newApp(t, e, model, func(c *Config) { c.NoSwap = true }), e, "s")
	if rec.BLUF != "3 units: 2 contra" {
		t.Errorf("%s", rec.BLUF)
	}
	for this, other := range map[string]string{"shield/lessons/left.md": "manifest:shield/lessons/right.md", "shield/lessons/right.md": "manifest:shield/lessons/left.md"} {
		if f := unitNamed(t, units, this).Flag; len(f.Against) != 1 || f.Against[0] != other {
			t.Errorf("%s is flagged against %v", this, f.Against)
		}
	}
	if n := model.Counts().Completions; n != 5+5+1 {
		t.Errorf("%d requests for two units of 5 items each and one pair of units", n)
	}
}

// A nearer unit of the same manifest stands before the items that carry the same label, and lends the note.
func TestAgainstNamesTheNearestFirst(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/left.md", "# Left\n\nAlways drive on the left side of the road.\n")
	e.change("shield/lessons/right.md", "# Right\n\nAlways drive on the right side of the road.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			item, _, _ := strings.Cut(prompt[strings.LastIndex(prompt, "\nITEM "):], "\nUNIT ")
			if strings.Contains(item, "side of the road") {
				return `{"reason":"the other side","label":"contra"}`
			}
			return `{"reason":"far off","label":"contra"}`
		}
	})
	_, units := runEco(t, newApp(t, e, model, func(c *Config) { c.NoSwap = true }), e, "s")
	u := unitNamed(t, units, "shield/lessons/left.md")
	if f := u.Flag; len(f.Against) != 6 || f.Against[0] != "manifest:shield/lessons/right.md" || f.JudgeNote != "the other side" {
		t.Errorf("%q against %v", f.JudgeNote, f.Against)
	}
	near := map[string]float64{}
	for _, p := range u.Pairs {
		near[p.Item] = p.Similarity
	}
	if !slices.IsSortedFunc(u.Flag.Against, func(a, b string) int { return cmp.Compare(near[b], near[a]) }) {
		t.Errorf("against %v, by nearness %v", u.Flag.Against, near)
	}
}

// A judge that goes by the order of presentation: the flag stays and is marked.
func TestAVerdictThatTurnsWithTheOrderIsUnstable(t *testing.T) {
	for _, swap := range []bool{true, false} {
		t.Run(fmt.Sprintf("swap %v", swap), func(t *testing.T) { unstable(t, swap) })
	}
}

func unstable(t *testing.T, swap bool) {
	e := newEco(t)
	e.change("shield/lessons/merge.md", "# Merge\n\nMerge first and run the tests afterwards.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			if strings.LastIndex(prompt, "\nUNIT ") < strings.LastIndex(prompt, "\nITEM ") {
				return `{"reason":"order","label":"ok"}`
			}
			return rules(map[string]core.Label{"afterwards | tests run before": core.Contra})(prompt)
		}
	})
	a := newApp(t, e, model, func(c *Config) { c.NoSwap = !swap })
	_, units := runEco(t, a, e, "s")
	u := unitNamed(t, units, "shield/lessons/merge.md")
	p, _ := pairWith(u, "shield/invariants/core.txt#2")
	if u.Flag.Semantic != core.Contra || p.Unstable != swap || strings.HasPrefix(u.Flag.JudgeNote, "unstable: ") != swap {
		t.Errorf("%+v %q", p, u.Flag.JudgeNote)
	}
	_, units = runEco(t, again(t, a), e, "s2")
	if p, _ := pairWith(unitNamed(t, units, "shield/lessons/merge.md"), "shield/invariants/core.txt#2"); !p.Cached || p.Unstable != swap {
		t.Errorf("from the cache: %+v", p)
	}
}

// A verdict that was never asked about in the other order is not shown as one that stood it, once that is asked for; and the other way round
// what is switched off is not called stable or unstable by what came before.
func TestVerdictsOfOneOrderAreNotTakenForBoth(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/merge.md", "# Merge\n\nMerge first and run the tests afterwards.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			if strings.LastIndex(prompt, "\nUNIT ") < strings.LastIndex(prompt, "\nITEM ") {
				return `{"reason":"order","label":"ok"}`
			}
			return rules(map[string]core.Label{"afterwards | tests run before": core.Contra})(prompt)
		}
	})
	a := newApp(t, e, model, func(c *Config) { c.NoSwap = true })
	runEco(t, a, e, "once")
	for session, swap := range []bool{true, false} {
		a.cfg.NoSwap = !swap
		a = again(t, a)
		_, units := runEco(t, a, e, fmt.Sprint(session))
		p, _ := pairWith(unitNamed(t, units, "shield/lessons/merge.md"), "shield/invariants/core.txt#2")
		if p.Label != core.Contra || p.Unstable != swap {
			t.Errorf("swap %v: %+v", swap, p)
		}
	}
}

// A server that is lost between the two orders has said nothing against the first: the flag is not confirmed now, and is asked about again.
func TestAnOrderThatWasNotAnsweredIsAskedAgain(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/merge.md", "# Merge\n\nMerge first and run the tests afterwards.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			if pair := prompt[strings.LastIndex(prompt, "### Pair"):]; strings.Contains(pair, "tests run before") {
				return `{"reason":"before is not afterwards","label":"contra"}`
			}
			return `{"reason":"another subject","label":"ok"}`
		}
		f.RefuseStatus, f.Refuse = http.StatusServiceUnavailable, func(body map[string]any) string {
			prompt, _ := body["prompt"].(string)
			if strings.LastIndex(prompt, "\nUNIT ") < strings.LastIndex(prompt, "\nITEM ") {
				return "no slot is free"
			}
			return ""
		}
	})
	a := newApp(t, e, model, nil)
	for session, lost := range []bool{true, false} {
		if !lost {
			model.Set(func(f *llmtest.Faults) { f.Refuse = nil })
		}
		_, units := runEco(t, a, e, fmt.Sprint(session))
		u := unitNamed(t, units, "shield/lessons/merge.md")
		if p, _ := pairWith(u, "shield/invariants/core.txt#2"); u.Flag.Semantic != core.Contra || p.Unstable != lost || p.Cached {
			t.Errorf("lost %v: %q %+v", lost, u.Flag.Semantic, p)
		}
	}
}

func TestAClashWithWhatGoesIsResolvedHere(t *testing.T) {
	e := newEco(t)
	e.change("shield/invariants/core.txt", strings.Replace(atHead["shield/invariants/core.txt"], "#1 [critical] [F] deploy on a Friday | Why: nobody is there on Saturday | Counter: security fixes\n", "", 1))
	e.change("shield/lessons/fridays.md", "# Fridays\n\nDeploys on a Friday are welcome at any hour.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	rec, units := runEco(t, newApp(t, e, model, nil), e, "s")
	b := rec.Run.Block
	want := core.Resolved{Unit: "shield/lessons/fridays.md", Item: "shield/invariants/core.txt#1"}
	if len(b.Resolved) != 1 || b.Resolved[0] != want || b.Summary.Contra != 0 {
		t.Errorf("%s, resolved %v", rec.BLUF, b.Resolved)
	}
	if p, ok := pairWith(unitNamed(t, units, want.Unit), want.Item); !ok || !p.Resolved || p.Label != core.Contra {
		t.Errorf("%+v", p)
	}
}

// Where the clash with what goes could not be judged, no unit lacks a label, and still not all is well.
func TestAnUnjudgedClashWithWhatGoesIsNoCleanBill(t *testing.T) {
	e := newEco(t)
	e.change("shield/invariants/core.txt", strings.Replace(atHead["shield/invariants/core.txt"], "#1 [critical] [F] deploy on a Friday | Why: nobody is there on Saturday | Counter: security fixes\n", "", 1))
	e.change("shield/lessons/fridays.md", "# Fridays\n\nDeploys on a Friday are welcome at any hour.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			if strings.Contains(prompt[strings.LastIndex(prompt, "\nITEM "):], "deploy on a Friday") {
				return "I cannot tell."
			}
			return rules(nil)(prompt)
		}
	})
	rec, _ := runEco(t, newApp(t, e, model, nil), e, "s")
	if want := "2 units: no flags; contra-check: incomplete (1 of 6 pairs unjudged: unreadable answer)"; rec.BLUF != want {
		t.Errorf("%s, want %s", rec.BLUF, want)
	}
}

func TestTheSameWordsNeedNoModel(t *testing.T) {
	e := newEco(t)
	e.change("neuro-matrix/lessons/logs.md", "---\nsummary: Logs are read by machines\n---\n# Logs are read by machines\n\nWrite one  JSON object\nper line of a log.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	_, units := runEco(t, newApp(t, e, model, nil), e, "s")
	u := unitNamed(t, units, "neuro-matrix/lessons/logs.md")
	if u.Flag.Semantic != core.Dup || u.Flag.JudgeNote != "word for word the same" || len(u.Flag.Against) != 1 {
		t.Errorf("%+v", u.Flag)
	}
	if n := model.Counts().Completions; n != 4 {
		t.Errorf("%d requests for 5 items, one of which is certain", n)
	}
	if n := model.Counts().Embeddings; n != 1 {
		t.Errorf("%d requests for the vectors of 6 texts, with a model that was never seen before", n)
	}
}

// Case P1: whatever many near items are left out, a unit is compared with k others while more exist.
func TestNeverFewerNeighboursWhileMoreExist(t *testing.T) {
	e := newEco(t)
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "#%d [style] [O] deploy number %d happens on a Friday afternoon\n", 100+i, i)
	}
	e.write("shield/invariants/fridays.txt", many.String())
	e.commit("shield")
	e.git("shield", "rm", "-q", "invariants/fridays.txt")
	e.change("shield/lessons/fridays.md", "# Fridays\n\nDeploy number 7 happens on a Friday afternoon.\n")
	_, units := runEco(t, newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) }), nil), e, "s")
	if got := items(unitNamed(t, units, "shield/lessons/fridays.md")); len(got) != 5 {
		t.Errorf("compared with %v", got)
	}
}
