package blocktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/manifest"
)

// good is a block with one unit of each sort.
func good() core.Block {
	flag := func(unit string, r core.Routing, l core.Label, against ...string) core.Flag {
		f := core.Flag{Unit: unit, Routing: r, ObservedRepo: "shield", ExpectedRepo: core.Shield, Semantic: l, Against: against}
		if l != "" {
			f.JudgeNote = "why"
		}
		return f
	}
	lost := flag("neuro-matrix/lessons/b.md#x", core.Misroute, core.Dup, "shield/memory/a.md")
	lost.ObservedRepo, lost.Severity = "neuro-matrix", core.CrossLane
	return core.Block{
		RanAt: "2026-03-01T10:21:00.25Z", K: 5, ContraCheck: "incomplete (2 of 20 pairs unjudged: timeout)",
		Flags: []core.Flag{
			lost,
			flag("shield/invariants.txt##7", core.RoutingOK, core.Contra, "shield/invariants.txt##2", "shield/claims/claims.ttl#ex:a"),
			flag("mirabilis/cmd/x.go", core.RoutingOK, ""),
			flag("shield/lessons/o.md", core.RoutingOK, core.OK, "shield/lessons/p.md"),
			flag("shield/lessons/q.md", core.RoutingOK, ""),
		},
		Summary:   core.Summary{Units: 5, Misroute: 1, Contra: 1, Dup: 1, OK: 2, Unjudged: 1},
		NotInDiff: []string{"shield/lessons/new/"}, Unclassified: []string{"darwin/README.md"},
		Resolved: []core.Resolved{{Unit: "shield/lessons/q.md", Item: "shield/lessons/r.md"}},
		Warnings: []string{"cut off"}, Corpus: &core.BlockCorpus{Commit: strings.Repeat("0a", 20), Items: 7},
	}
}

func TestGoodBlocksPass(t *testing.T) {
	t.Parallel()
	b := good()
	Validate(t, b)
	Validate(t, &b)
	Validate(t, core.Block{RanAt: "2026-03-01T10:21:00Z", K: 5, ContraCheck: core.SkippedNoKnowledge})
	Validate(t, `{"ranAt":"2026-03-01T10:21:00Z","k":1,"contra-check":"ran","flags":[],"later":{},
		"summary":{"units":0,"misroute":0,"contra":0,"dup":0,"ok":0,"later":1},
		"reviews":[{"by":"owner","doneAt":"2026-03-01T11:00:00Z","decisions":[
			{"unit":"shield/a","flag":"routing","decision":"accept","rationale":"wanted"},
			{"unit":"shield/a","flag":"semantic","decision":"land"}]}]}`)
	raw, err := manifest.Splice([]byte("{\n  \"repos\": null\n}"), b)
	if err != nil {
		t.Fatal(err)
	}
	ValidateManifest(t, raw)
}

// Each change makes a good block wrong; the text names what the error must mention.
func TestWrongBlocksFail(t *testing.T) {
	t.Parallel()
	type obj = map[string]any
	flag := func(i int, change func(obj)) func(obj) {
		return func(b obj) { change(b["flags"].([]any)[i].(obj)) }
	}
	summary := func(key string, n int) func(obj) { return func(b obj) { b["summary"].(obj)[key] = n } }
	set := func(key string, v any) func(obj) { return func(b obj) { b[key] = v } }
	in := func(key string, v any) func(obj) { return func(o obj) { o[key] = v } }
	drop := func(key string) func(obj) { return func(o obj) { delete(o, key) } }
	review := func(decision obj) []any {
		return []any{obj{"by": "owner", "doneAt": "2026-03-01T11:00:00Z", "decisions": []any{decision}}}
	}
	for i, c := range []struct {
		change func(obj)
		want   string
	}{
		{set("ranAt", "2026-03-01T10:21:00+03:00"), "/ranAt"},
		{set("ranAt", "2026-13-01T10:21:00Z"), "/ranAt"},
		{set("k", 0), "/k"},
		{set("k", 1.5), "/k"},
		{set("contra-check", "skipped"), "/contra-check"},
		{set("contra-check", "incomplete (0 of 3 pairs unjudged: x)"), "/contra-check"},
		{set("contra-check", "ran "), "/contra-check"},
		{set("contra-check", core.ContraRan), "unjudged is 1"},
		{set("contra-check", core.SkippedUnreachable), "have a label"},
		{set("flags", nil), "/flags"},
		{drop("flags"), "flags"},
		{drop("summary"), "summary"},
		{set("corpus", obj{"commit": "HEAD", "items": 1}), "/corpus/commit"},
		{set("not-in-diff", []any{"no-slash"}), "/not-in-diff/0"},
		{set("resolved", []any{obj{"unit": "shield/a"}}), "item"},
		{set("reviews", []any{obj{"by": "mallory", "doneAt": "2026-03-01T11:00:00Z", "decisions": []any{}}}), "/reviews/0/by"},
		{set("reviews", review(obj{"unit": "shield/a", "flag": "routing", "decision": "accept"})), "rationale"},
		{set("reviews", review(obj{"unit": "shield/a", "flag": "routing", "decision": "merge"})), "/decision"},
		{flag(0, in("routing", "wrong")), "/flags/0/routing"},
		{flag(0, in("routing", "ok")), "/flags/0/routing"}, // severity without a misroute
		{flag(0, in("severity", "urgent")), "/flags/0/severity"},
		{flag(0, in("expected-repo", "SolitaryEquilibriumShield")), "/flags/0/expected-repo"},
		{flag(0, in("semantic", "unjudged")), "/flags/0/semantic"},
		{flag(0, in("semantic", "")), "/flags/0/semantic"},
		{flag(0, drop("semantic")), "/flags/0/"},
		{flag(0, in("against", nil)), "/flags/0/against"},
		{flag(0, in("against", []any{})), "/flags/0/against"},
		{flag(0, in("against", []any{"darwin/a"})), "/flags/0/against"},
		{flag(0, in("judge-note", "two\nlines")), "/flags/0/judge-note"},
		{flag(2, in("judge-note", "invented")), "/flags/2/judge-note"},
		{flag(2, in("unit", "no-slash")), "/flags/2/unit"},
		{flag(3, in("unit", "shield/lessons/z.md")), "comes behind"},
		{flag(3, in("unit", "mirabilis/cmd/x.go")), "there twice"},
		{flag(1, in("semantic", "ok")), "contra is 1"},
		{func(b obj) { f := b["flags"].([]any); f[1], f[2] = f[2], f[1] }, "is flagged and comes behind"},
		{summary("units", 4), "units is 4"},
		{summary("misroute", 0), "misroute is 0"},
		{summary("dup", 2), "dup is 2"},
		{summary("ok", 0), "ok is 0"},
		{summary("ok", 4), "ok is 4"},
		{summary("ok", 3), "unjudged is 1"},
		{summary("unjudged", 0), "/summary/unjudged"},
		{summary("unjudged", 3), "unjudged is 3"},
		{func(b obj) { delete(b["summary"].(obj), "unjudged") }, "unjudged is 0"},
	} {
		raw, err := manifest.EncodeBlock(good(), "")
		if err != nil {
			t.Fatal(err)
		}
		var b obj
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		c.change(b)
		if raw, err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
		if err := Check(raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d (%s): error %v", i, c.want, err)
		}
	}
	for _, raw := range []string{"", "[]", `{"ranAt":`, "{} {}"} {
		if Check([]byte(raw)) == nil {
			t.Errorf("%q passes", raw)
		}
	}
}

// spy is a test that only notes its failures.
type spy struct {
	testing.TB
	failed []string
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.failed = append(s.failed, fmt.Sprintf(format, args...))
}

func TestFailuresReachTheTest(t *testing.T) {
	t.Parallel()
	var none *core.Block
	for _, bad := range []any{none, core.Block{}, []byte(`{}`), json.RawMessage(`1`), "x", 7} {
		s := &spy{TB: t}
		if Validate(s, bad); len(s.failed) != 1 {
			t.Errorf("%v: failures %q", bad, s.failed)
		}
	}
	for _, bad := range []string{`{}`, `x`, `{"Storozh":1}`, `{"storozh":1}`} {
		s := &spy{TB: t}
		if ValidateManifest(s, []byte(bad)); len(s.failed) != 1 {
			t.Errorf("%s: failures %q", bad, s.failed)
		}
	}
}
