package core_test

import (
	"testing"

	"storozh/core"
)

// The lines of design §8, and what must never read as a clean bill.
func TestBLUF(t *testing.T) {
	t.Parallel()
	const unreachable = core.SkippedUnreachable
	tests := []struct {
		want string
		b    core.Block
	}{
		{"7 units: 1 misroute, 1 contra, 1 dup", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 7, Misroute: 1, Contra: 1, Dup: 1, OK: 4}}},
		{"7 units: all ok", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 7, OK: 7}}},
		{"1 unit: all ok", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 1, OK: 1}}},
		{"4 units: all ok; contra-check: skipped (no knowledge-lane unit)", core.Block{ContraCheck: core.SkippedNoKnowledge, Summary: core.Summary{Units: 4, OK: 4}}},
		{"3 units: 1 misroute; contra-check: skipped (localllm unreachable)", core.Block{ContraCheck: unreachable, Summary: core.Summary{Units: 3, Misroute: 1, Unjudged: 2}}},
		{"3 units: routing ok; contra-check: skipped (localllm unreachable); 2 files not in the diff", core.Block{ContraCheck: unreachable,
			Summary: core.Summary{Units: 3, Unjudged: 3}, NotInDiff: []string{"a", "b"}}},
		{"4 units: 1 contra, 1 unjudged; contra-check: incomplete (2 of 20 pairs unjudged: timeout)", core.Block{
			ContraCheck: "incomplete (2 of 20 pairs unjudged: timeout)", Summary: core.Summary{Units: 4, Contra: 1, Unjudged: 1, OK: 2}}},
		{"no units; 3 files unclassified", core.Block{ContraCheck: core.SkippedNoKnowledge, Unclassified: []string{"a", "b", "c"}}},
		{"no units", core.Block{ContraCheck: core.SkippedNoKnowledge}},
		{"2 units: no flags; 1 file not in the diff", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 2, OK: 2}, NotInDiff: []string{"a"}}},
		{"2 units: no flags; 1 warning", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 2, OK: 2}, Warnings: []string{"w"}}},
		{"2 units: all ok; 1 file unclassified", core.Block{ContraCheck: "ran", Summary: core.Summary{Units: 2, OK: 2}, Unclassified: []string{"a"}}},
		{"2 units: 1 unjudged; contra-check: incomplete (1 of 9 pairs unjudged: timeout)", core.Block{
			ContraCheck: "incomplete (1 of 9 pairs unjudged: timeout)", Summary: core.Summary{Units: 2, OK: 1, Unjudged: 1}}},
		// A clash with what this manifest removes is shown and flags nobody; one that was not judged is missing all the same.
		{"2 units: no flags; contra-check: incomplete (1 of 9 pairs unjudged: timeout)", core.Block{
			ContraCheck: "incomplete (1 of 9 pairs unjudged: timeout)", Summary: core.Summary{Units: 2, OK: 2}}},
	}
	for _, tt := range tests {
		if got := core.BLUF(tt.b); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
