package db_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"storozh/core"
	"storozh/db/dbtest"
)

// One query gives what the single ones give.
func TestReviewingReadsAllAtOnce(t *testing.T) {
	d := dbtest.Open(t)
	f, g := flagOn("shield/lessons/x.md", "aa", "bb:dup"), flagOn("shield/lessons/é \"y\".md", "cc", "dd:dup")
	before := judged(t, d, "before", f)
	now := judged(t, d, "now", f, g)
	long := core.Decision{ManifestID: now.ID, RunID: now.Judged.ID, By: core.Claude, UnitID: g.UnitID, Basis: g.Basis, Choice: core.Accept, Rationale: "«так» \"and\" \\ <b>\n\ttab"}
	for _, err := range []error{
		decide(t, d, before, core.Owner, f, core.Land, 0),
		decide(t, d, before, core.Owner, f, core.Fix, 1),
		d.Decide(t.Context(), []core.Decision{long}, nil),
		d.Reveal(t.Context(), now.ID, core.Owner, g.Key()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Reviewing(t.Context(), now.ID, now.Judged.ID, core.Owner)
	if err != nil {
		t.Fatal(err)
	}
	var want core.Reviewing
	want.Flags, _ = d.Flags(t.Context(), now.Judged.ID)
	want.Decisions, _ = d.Decisions(t.Context(), now.ID)
	want.Earlier, _ = d.EarlierDecisions(t.Context(), now.ID, []string{"aa", "cc"})
	want.Asked, _ = d.Reveals(t.Context(), now.ID, core.Owner)
	if len(want.Flags) != 2 || len(want.Decisions) != 1 || len(want.Earlier) != 2 || len(want.Asked) != 1 || want.Decisions[0].Rationale != long.Rationale {
		t.Fatalf("the test holds nothing: %+v", want)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if got, err := d.Reviewing(t.Context(), now.ID, now.Judged.ID, core.Claude); err != nil || len(got.Asked) != 0 {
		t.Errorf("claude asked for nothing: %v %v", got.Asked, err)
	}
	if !slices.IsSortedFunc(got.Earlier, func(a, b core.Decision) int { return int(b.ID - a.ID) }) {
		t.Error("earlier decisions are not latest first")
	}
	none, err := d.Reviewing(t.Context(), 999, 999, core.Owner)
	if err != nil || len(none.Flags)+len(none.Decisions)+len(none.Earlier) != 0 {
		t.Errorf("of nothing: %+v %v", none, err)
	}
}
