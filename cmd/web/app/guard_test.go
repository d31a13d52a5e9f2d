package app

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/blocktest"
	"storozh/core/localllm/llmtest"
)

// run takes the ecosystem's state through the whole pipeline and returns what was found.
func runEco(t *testing.T, a *App, e eco, session string) (core.Record, []core.UnitResult) {
	t.Helper()
	return runRaw(t, a, e.manifest(session, time.Now().UTC().Format(time.RFC3339)))
}

func runRaw(t *testing.T, a *App, raw []byte) (core.Record, []core.UnitResult) {
	t.Helper()
	id, err := a.Check(t.Context(), raw, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WaitWritten(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, err := a.db.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.Block == nil {
		t.Fatalf("no block: %s %s", rec.Run.Status, rec.Run.Error)
	}
	blocktest.Validate(t, *rec.Run.Block)
	units, err := a.db.Units(t.Context(), rec.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return rec, units
}

func unitNamed(t *testing.T, units []core.UnitResult, id string) core.UnitResult {
	t.Helper()
	i := slices.IndexFunc(units, func(u core.UnitResult) bool { return u.Unit.ID == id })
	if i < 0 {
		t.Fatalf("no unit %s among %d", id, len(units))
	}
	return units[i]
}

// items lists the nearest corpus items that count for a unit's label, without the one more by words.
func items(u core.UnitResult) []string {
	var out []string
	for _, p := range u.Pairs {
		if !p.Resolved && !p.Words && !strings.HasPrefix(p.Item, core.SiblingPrefix) {
			out = append(out, p.Item)
		}
	}
	return out
}

func pairWith(u core.UnitResult, item string) (core.Pair, bool) {
	i := slices.IndexFunc(u.Pairs, func(p core.Pair) bool { return p.Item == item })
	if i < 0 {
		return core.Pair{}, false
	}
	return u.Pairs[i], true
}

// A judge that calls everything a duplicate: whatever a unit is compared with shows.
func allDup(f *llmtest.Faults) {
	f.Answer = func(string) string { return `{"reason":"the same","label":"dup"}` }
}

func TestAUnitNeverMeetsItselfOrWhatItReplaces(t *testing.T) {
	for _, readable := range []bool{true, false} {
		t.Run(fmt.Sprintf("HEAD readable %v", readable), func(t *testing.T) {
			e := newEco(t)
			e.change("shield/invariants/core.txt", strings.Replace(atHead["shield/invariants/core.txt"],
				"#2 [important] [O] tests run before every merge | Why: red main", "#2 [important] [O] before any merge the whole suite has to be green | Why: red main", 1))
			e.change("shield/lessons/fresh.md", "# Fresh\n\nA lesson that the working tree already holds.\n")
			raw := e.manifest("s", "2026-05-01T12:00:00Z")
			if !readable { // the diff names a blob that is not at HEAD
				raw = regexp.MustCompile(`index [0-9a-f]+\.\.`).ReplaceAll(raw, []byte("index 0123abc.."))
			}
			a := newApp(t, e, llmtest.Start(t, allDup), nil)
			_, units := runRaw(t, a, raw)
			edited := unitNamed(t, units, "shield/invariants/core.txt#2")
			if slices.Contains(items(edited), "shield/invariants/core.txt#2") || len(edited.Pairs) == 0 {
				t.Errorf("the edited invariant meets %v", items(edited))
			}
			fresh := unitNamed(t, units, "shield/lessons/fresh.md")
			if len(fresh.Pairs) == 0 || slices.Contains(items(fresh), "shield/lessons/fresh.md") || slices.Contains(items(fresh), "shield/invariants/core.txt#2") {
				t.Errorf("the new lesson meets %v", items(fresh))
			}
		})
	}
}

// After a commit the corpus holds the unit itself, by the same path and text.
func TestACommittedUnitDoesNotMeetItself(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/fresh.md", "# Fresh\n\nCommitted between the capture and the run.\n")
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	e.commit("shield")
	a := newApp(t, e, llmtest.Start(t, allDup), nil)
	id, err := a.Check(t.Context(), raw, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, _ := a.db.Record(t.Context(), id)
	units, err := a.db.Units(t.Context(), rec.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if u := unitNamed(t, units, "shield/lessons/fresh.md"); slices.Contains(items(u), u.Unit.ID) || len(u.Pairs) == 0 {
		t.Errorf("meets %v", items(u))
	}
}

// A rule that is added where it already stands: the diff goes by the file at HEAD, so what is there is not the unit itself.
func TestARuleThatStandsInTheSameFileIsADuplicate(t *testing.T) {
	list := "# List\n\n" + sentences(1_600) + "\n\n## Habits\n\n- Bread is baked at night.\n- Doors are locked at ten.\n"
	e := newEco(t)
	e.write("shield/memory/list.md", list)
	e.commit("shield")
	e.change("shield/memory/list.md", list+"- Bread is  baked at night.\n")
	e.change("shield/invariants/core.txt", atHead["shield/invariants/core.txt"]+"#4 [critical] [O] tests run before every merge | Why: asked for again\n")
	rec, units := runEco(t, newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) }), nil), e, "s")
	if rec.BLUF != "2 units: 2 dup" {
		t.Errorf("%s", rec.BLUF)
	}
	for id, item := range map[string]string{"shield/invariants/core.txt#4": "shield/invariants/core.txt#2", "shield/memory/list.md#L9": "shield/memory/list.md#L7"} {
		if f := unitNamed(t, units, id).Flag; f.Semantic != core.Dup || !slices.Equal(f.Against, []string{item}) {
			t.Errorf("%s is %q against %v", id, f.Semantic, f.Against)
		}
	}
}

func TestEverySkipAndIncomplete(t *testing.T) {
	lesson := func(e eco) { e.change("shield/lessons/new.md", "# New\n\nSomething new to know.\n") }
	code := func(e eco) { e.change("mirabilis/cmd/run/main.go", "package main\n\nfunc main() { println(2) }\n") }
	tests := []struct {
		name   string
		change func(eco)
		faults func(*llmtest.Faults)
		setup  func(*Config)
		check  string
		bluf   string
	}{
		{"no knowledge", code, func(f *llmtest.Faults) { f.Down = true }, nil, core.SkippedNoKnowledge,
			"1 unit: all ok; contra-check: skipped (no knowledge-lane unit)"},
		{"unreachable", lesson, func(f *llmtest.Faults) { f.Down = true }, nil, core.SkippedUnreachable,
			"1 unit: routing ok; contra-check: skipped (localllm unreachable)"},
		{"no embeddings", lesson, func(f *llmtest.Faults) { f.NoEmbeddings = true }, nil, core.SkippedNoEmbedding,
			"1 unit: routing ok; contra-check: skipped (no usable embedding model)"},
		{"zero vectors", lesson, func(f *llmtest.Faults) { f.ZeroVectors = true }, nil, core.SkippedNoEmbedding,
			"1 unit: routing ok; contra-check: skipped (no usable embedding model)"},
		{"no corpus", lesson, nil, func(c *Config) { c.ShieldDir = t.TempDir() }, core.SkippedNoCorpus,
			"1 unit: routing ok; contra-check: skipped (shield corpus unavailable)"},
		// The first that applies, in the order of the contract.
		{"no knowledge, no corpus, unreachable", code, func(f *llmtest.Faults) { f.Down = true }, func(c *Config) { c.ShieldDir = t.TempDir() }, core.SkippedNoKnowledge, ""},
		{"no corpus, unreachable", lesson, func(f *llmtest.Faults) { f.Down = true }, func(c *Config) { c.ShieldDir = t.TempDir() }, core.SkippedUnreachable, ""},
		{"no corpus, null vectors", lesson, func(f *llmtest.Faults) { f.NullVectors = true }, func(c *Config) { c.ShieldDir = t.TempDir() }, core.SkippedNoEmbedding,
			"1 unit: routing ok; contra-check: skipped (no usable embedding model)"},
		{"no corpus, the embedder is gone", lesson, func(f *llmtest.Faults) { f.Embedder = func(string) []float32 { panic(http.ErrAbortHandler) } },
			func(c *Config) { c.ShieldDir = t.TempDir() }, core.SkippedUnreachable, ""},
		{"null vectors", lesson, func(f *llmtest.Faults) { f.NullVectors = true }, nil, core.SkippedNoEmbedding, ""},
		{"unreadable answers", lesson, func(f *llmtest.Faults) { f.Answer = func(string) string { return "I would rather not say." } }, nil,
			"incomplete (5 of 5 pairs unjudged: unreadable answer)",
			"1 unit: 1 unjudged; contra-check: incomplete (5 of 5 pairs unjudged: unreadable answer)"},
		{"empty answers", lesson, func(f *llmtest.Faults) { f.EmptyText = true }, nil, "incomplete (5 of 5 pairs unjudged: empty answer)", ""},
		{"only reasoning", lesson, func(f *llmtest.Faults) { f.OnlyReasoning, f.NoCompletions = true, true }, nil,
			"incomplete (5 of 5 pairs unjudged: empty answer)", ""},
		{"chat only", lesson, func(f *llmtest.Faults) { f.NoCompletions = true; f.Answer = rules(nil) }, nil, core.ContraRan, "1 unit: all ok"},
		{"answers in fences", lesson, func(f *llmtest.Faults) { f.Fences = true; f.Answer = rules(nil) }, nil, core.ContraRan, "1 unit: all ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEco(t)
			tt.change(e)
			model := llmtest.Start(t)
			if tt.faults != nil {
				model.Set(tt.faults)
			}
			rec, _ := runEco(t, newApp(t, e, model, tt.setup), e, "s")
			if rec.Run.Block.ContraCheck != tt.check {
				t.Errorf("contra-check: %s", rec.Run.Block.ContraCheck)
			}
			if tt.bluf != "" && rec.BLUF != tt.bluf {
				t.Errorf("BLUF: %s", rec.BLUF)
			}
		})
	}
}

// One pair of five cannot be judged: a contra counts at once, anything else stays open.
func TestPartlyJudged(t *testing.T) {
	for _, label := range []core.Label{core.Contra, core.OK} {
		t.Run(string(label), func(t *testing.T) {
			e := newEco(t)
			e.change("shield/lessons/new.md", "# New\n\nDeploys happen on a Friday.\n")
			a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) {
				f.Answer = func(prompt string) string {
					at := strings.LastIndex(prompt, "\nITEM ")
					if strings.Contains(prompt[at:], "warm cache") {
						return "cannot tell"
					}
					return rules(map[string]core.Label{"Friday | Friday": label})(prompt)
				}
			}), nil)
			rec, units := runEco(t, a, e, "s")
			u := unitNamed(t, units, "shield/lessons/new.md")
			want, unjudged := core.Contra, false
			if label == core.OK {
				want, unjudged = "", true
			}
			if u.Flag.Semantic != want || u.Unjudged != unjudged || rec.Run.Block.ContraCheck != "incomplete (1 of 5 pairs unjudged: unreadable answer)" {
				t.Errorf("%+v unjudged %v · %s", u.Flag, u.Unjudged, rec.BLUF)
			}
		})
	}
}

func TestAModelWithOtherVectorsIsNeverMixed(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/new.md", "# New\n\nTimes are kept in UTC.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	a := newApp(t, e, model, nil)
	runEco(t, a, e, "one")
	model.Set(func(f *llmtest.Faults) { f.Dimensions = 64 })
	e.change("shield/lessons/second.md", "# Second\n\nTests come before the merge.\n")
	rec, units := runEco(t, again(t, a), e, "two")
	if rec.BLUF != "2 units: all ok" || len(items(unitNamed(t, units, "shield/lessons/second.md"))) != 5 {
		t.Errorf("%s", rec.BLUF)
	}
}

// The same without a restart: a run that meets the other length says so, the next one embeds anew.
func TestAModelSwappedUnderALongLivedServerIsTakenUp(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/new.md", "# New\n\nTimes are kept in UTC.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	a := newApp(t, e, model, nil)
	runEco(t, a, e, "one")
	model.Set(func(f *llmtest.Faults) { f.Dimensions = 64 })
	e.change("shield/lessons/second.md", "# Second\n\nTests come before the merge.\n")
	rec, _ := runEco(t, a, e, "two")
	if rec.Run.Block.ContraCheck != core.SkippedNoEmbedding {
		t.Errorf("%s", rec.BLUF)
	}
	rec, units := runEco(t, a, e, "three")
	if rec.BLUF != "2 units: all ok" || len(items(unitNamed(t, units, "shield/lessons/second.md"))) != 5 {
		t.Errorf("%s", rec.BLUF)
	}
}

func TestADeadCorpusServesItsLastGoodVersion(t *testing.T) {
	e := newEco(t)
	e.change("shield/lessons/new.md", "# New\n\nTimes are kept in UTC.\n")
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) }), nil)
	raw := e.manifest("two", "2026-05-01T12:00:00Z")
	good, _ := runEco(t, a, e, "one")
	if out := e.git("shield", "update-ref", "-d", "HEAD"); out != "" {
		t.Log(out)
	}
	id, err := a.Check(t.Context(), raw, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, _ := a.db.Record(t.Context(), id)
	if b := rec.Run.Block; b == nil || b.ContraCheck != core.ContraRan || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], "last good version") {
		t.Errorf("%+v", rec.Run.Block)
	} else if b.Corpus == nil || *b.Corpus != *good.Run.Block.Corpus || b.Corpus.Commit == "" {
		t.Errorf("judged against %+v, the last good version is %+v", b.Corpus, good.Run.Block.Corpus)
	}
}

// A pure rename shows no text in the diff: its type is read from the front matter at HEAD.
func TestARenameKeepsTheTypeOfItsFrontMatter(t *testing.T) {
	e := newEco(t)
	e.write("shield/notes/how.md", "---\nunit-type: skill\n---\n# How\n\nRead the whole diff first.\n")
	e.commit("shield")
	e.git("shield", "mv", "notes/how.md", "notes/why.md")
	_, units := runEco(t, newApp(t, e, llmtest.Start(t), nil), e, "s")
	u := unitNamed(t, units, "shield/notes/why.md")
	if u.Unit.Type != core.Skill || u.Unit.Action != core.Renamed || u.Flag.Routing != core.Misroute || u.Flag.ExpectedRepo != core.NeuroMatrix {
		t.Errorf("%+v %+v", u.Unit, u.Flag)
	}
}
