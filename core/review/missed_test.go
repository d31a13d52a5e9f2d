package review

import (
	"strings"
	"testing"

	"storozh/core"
)

func TestCheckMissed(t *testing.T) {
	t.Parallel()
	u := core.UnitResult{
		Unit: core.Unit{ID: "shield/lessons/a.md", Normative: "text", Replaces: []string{"shield/lessons/old.md"}},
		Pairs: []core.Pair{
			{Item: "shield/near.md", Rank: 1, Label: core.OK, ItemHash: []byte{1}}, {Item: "shield/flagged.md", Rank: 2, Label: core.Contra, ItemHash: []byte{2}},
			{Item: "shield/silent.md", Rank: 3, ItemHash: []byte{3}},
		},
	}
	code := u
	code.Unit.Normative = ""
	for name, tt := range map[string]struct {
		unit  core.UnitResult
		item  string
		label core.Label
		note  string
		want  string
	}{
		"not brought":           {u, "shield/far.md", core.Contra, "", ""},
		"brought, judged ok":    {u, "shield/near.md", core.Dup, "", ""},
		"brought, unjudged":     {u, "shield/silent.md", core.Contra, "", ""},
		"flagged otherwise":     {u, "shield/flagged.md", core.Dup, "", ""},
		"taken back":            {u, "shield/flagged.md", "", "", ""},
		"flagged so":            {u, "shield/flagged.md", core.Contra, "", "as contra already"},
		"no such label":         {u, "shield/far.md", core.OK, "", "label must be"},
		"no item":               {u, "", core.Contra, "", "name the item"},
		"nothing that is bound": {code, "shield/far.md", core.Contra, "", "no text"},
		"itself":                {u, "shield/lessons/a.md", core.Contra, "", "edits that very item"},
		"what it edits":         {u, "shield/lessons/old.md", core.Contra, "", "edits that very item"},
		"a long note":           {u, "shield/far.md", core.Contra, strings.Repeat("x", MaxMissedNote+1), "shorten it"},
	} {
		m := Miss(tt.unit, core.Missed{Item: tt.item, Label: tt.label, Note: tt.note})
		got := CheckMissed(tt.unit, m)
		if got != tt.want && (tt.want == "" || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestMissTakesWhatTheRunFound(t *testing.T) {
	t.Parallel()
	u := core.UnitResult{
		Unit:  core.Unit{ID: "shield/lessons/a.md", Type: core.Lesson, Title: "t", Normative: "text"},
		Pairs: []core.Pair{{Item: "shield/near.md", Rank: 3, Label: core.OK, ItemHash: []byte{1}}},
	}
	m := Miss(u, core.Missed{Item: "shield/near.md"})
	if m.UnitID != u.Unit.ID || m.Rank != 3 || m.Said != core.OK || len(m.ItemHash) != 1 || len(m.Unit) != 64 {
		t.Errorf("%+v", m)
	}
	u.Flag.Semantic = core.Contra
	u.Pairs[0].Label, u.Flag.Against = core.Contra, []string{"shield/near.md"}
	if f := Flags([]core.UnitResult{u}); f[0].Basis.Unit != m.Unit {
		t.Error("the hash is not the one that flags rest on, so found and missed could not be told to be of one unit")
	}
	if m := Miss(u, core.Missed{Item: "shield/far.md"}); m.Rank != 0 || m.ItemHash != nil || m.Said != "" {
		t.Errorf("%+v", m)
	}
}
