package guard

import (
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/judge"
)

// judged are units with pairs of these labels, each with its own item; `*` marks an unstable one, `!` one that needed no model.
func judged(labels ...string) (units []*core.UnitResult) {
	for _, l := range labels {
		p := core.Pair{Item: "shield/a#" + l, Judge: "m", Label: core.Label(strings.Trim(l, "*!")), Unstable: strings.HasSuffix(l, "*")}
		if strings.HasSuffix(l, "!") {
			p.Judge = ""
		}
		units = append(units, &core.UnitResult{Unit: core.Unit{ID: "u"}, Pairs: []core.Pair{p}})
	}
	return units
}

func times(n int, label string) []string {
	return strings.Fields(strings.Repeat(label+" ", n))
}

func TestNoticesOfAnUnfitJudge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		labels []string
		want   []string // words in each
	}{
		"nothing":                {nil, nil},
		"all ok":                 {times(100, "ok"), nil},
		"four contra":            {times(4, "contra"), nil},
		"five contra":            {times(5, "contra"), []string{"all 5 pairs were judged contra"}},
		"one is not":             {append(times(50, "contra"), "ok"), nil},
		"nineteen dup":           {times(19, "dup"), nil},
		"twenty dup":             {times(20, "dup"), []string{"all 20 pairs were judged dup"}},
		"word for word the same": {times(30, "dup!"), nil},
		"unjudged ones":          {append(times(5, "contra"), "!"), []string{"all 5 pairs"}},
		"unstable":               {append(times(5, "dup*"), "ok", "ok"), []string{"none of the 5 flagged pairs"}},
		"mostly unstable":        {append(times(9, "dup*"), "dup", "ok"), nil},
	}
	for name, tt := range tests {
		got := notices(judged(tt.labels...), nil)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], tt.want[i]) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

func TestNoticesOfWhatWasNotRead(t *testing.T) {
	t.Parallel()
	long := judge.Text{Statement: strings.Repeat("я", 8_001)}
	u := func(text string, pairs ...core.Pair) *core.UnitResult {
		return &core.UnitResult{Unit: core.Unit{ID: "shield/u.md", Normative: text}, Pairs: pairs}
	}
	read := map[string]judge.Text{"shield/long": long, "shield/short": {Statement: strings.Repeat("я", 8_000)}, core.SiblingPrefix + "shield/u.md": long}
	a, b, c := core.Pair{Item: "shield/long"}, core.Pair{Item: "shield/short"}, core.Pair{Item: core.SiblingPrefix + "shield/u.md"}
	got := notices([]*core.UnitResult{u(long.Statement, a, b), u("short", a, c), u(long.Statement)}, read)
	if len(got) != 2 || !strings.HasPrefix(got[0], "shield/u.md is too long: only the first 8,000") || !strings.HasPrefix(got[1], "shield/long in the corpus") {
		t.Errorf("%q", got)
	}
	b.Note = shortened + "another subject"
	if got := notices([]*core.UnitResult{u("short", b)}, read); len(got) != 1 || !strings.Contains(got[0], "1 pair was judged by no more than the first 1,200") {
		t.Errorf("%q", got)
	}
}
