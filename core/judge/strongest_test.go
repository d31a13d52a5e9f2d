package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

func TestStrongest(t *testing.T) {
	t.Parallel()
	pair := func(rank int, item string, label core.Label) core.Pair {
		return core.Pair{Rank: rank, Item: item, Label: label, Note: "note " + item}
	}
	near := func(p core.Pair, similarity float64) core.Pair {
		p.Similarity = similarity
		return p
	}
	tests := []struct {
		name    string
		pairs   []core.Pair
		label   core.Label
		against []string
		note    string
	}{
		{"no pair", nil, "", []string{}, ""},
		{"contra at once", []core.Pair{pair(1, "a", ""), pair(2, "b", core.Contra), pair(3, "c", core.Dup)}, core.Contra, []string{"b"}, "note b"},
		{"dup after all", []core.Pair{pair(1, "a", core.OK), pair(2, "b", core.Dup)}, core.Dup, []string{"b"}, "note b"},
		{"dup, one unjudged", []core.Pair{pair(1, "a", core.Dup), pair(2, "b", "")}, "", []string{}, ""},
		{"ok, one unjudged", []core.Pair{pair(1, "a", core.OK), pair(2, "b", "")}, "", []string{}, ""},
		{"none judged", []core.Pair{pair(1, "a", "")}, "", []string{}, ""},
		{"nearest first", []core.Pair{pair(3, "c", core.Contra), pair(1, "a", core.Contra), pair(2, "b", core.OK)}, core.Contra, []string{"a", "c"}, "note a"},
		{"a nearer one behind", []core.Pair{near(pair(1, "a", core.Dup), 0.3), near(pair(2, "b", core.Dup), 0.3), near(pair(3, "manifest:c", core.Dup), 0.9)},
			core.Dup, []string{"manifest:c", "a", "b"}, "note manifest:c"},
		{"all ok", []core.Pair{pair(1, "a", core.OK), pair(2, "b", core.OK)}, core.OK, []string{"a", "b"}, "note a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			label, against, note := Strongest(tt.pairs)
			if label != tt.label || note != tt.note || against == nil {
				t.Errorf("got %q %q %v, want %q %q", label, note, against, tt.label, tt.note)
			}
			if d := cmp.Diff(tt.against, against); d != "" {
				t.Error(d)
			}
		})
	}
}
