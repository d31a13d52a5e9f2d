package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

// lane makes one unit with a neighbour.
func lane(id string, routing core.Routing, severity string, label core.Label, unjudged bool) core.UnitResult {
	return core.UnitResult{
		Unit: core.Unit{ID: id, Observed: "shield", Repo: "shield", Path: id, Type: core.Lesson, Action: core.Added, Title: "About " + id, Text: "text of " + id, Normative: "text of " + id},
		Flag: core.Flag{Unit: id, Routing: routing, ObservedRepo: "shield", ExpectedRepo: "shield", Severity: severity, Semantic: label, Against: []string{"shield/near-" + id}},
		Pairs: []core.Pair{
			{Unit: id, Item: "shield/near-" + id, Rank: 1, Label: label, Cached: label == core.Dup, UnitHash: []byte("u"), ItemHash: []byte("h")},
			{Unit: id, Item: "shield/far", Rank: 2, Unjudged: "timeout", UnitHash: []byte("u"), ItemHash: []byte("h")},
		},
		Unjudged: unjudged,
	}
}

// finished stores a finished run of these units.
func finished(t *testing.T, d *db.DB, units ...core.UnitResult) core.Run {
	t.Helper()
	submit(t, d, arrival(fmt.Sprint("paged", len(units)), "2026-05-01T12:00:00Z", units[0].Unit.ID))
	run := claim(t, d)
	res := core.Result{Units: units, Flags: review.Flags(units), Block: core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: len(units)}}}
	for _, u := range units {
		res.Block.Flags = append(res.Block.Flags, u.Flag)
	}
	if err := d.Finish(t.Context(), run, res, false); err != nil {
		t.Fatal(err)
	}
	return run
}

func idsOf(p core.UnitPage) string {
	var out []string
	for _, u := range p.Units {
		out = append(out, u.Unit.ID)
	}
	return strings.Join(out, " ")
}

func TestUnitPage(t *testing.T) {
	d := dbtest.Open(t)
	units := []core.UnitResult{
		lane("twin", core.RoutingOK, "", core.Dup, false), lane("near", core.Misroute, "", core.OK, false), lane("cross", core.Misroute, core.CrossLane, core.OK, false),
		lane("clash", core.RoutingOK, "", core.Contra, false), lane("late", core.RoutingOK, "", "", true), lane("код", core.RoutingOK, "", core.OK, false),
		lane("Fine[1]", core.RoutingOK, "", core.OK, false),
	}
	run := finished(t, d, units...)
	q := core.UnitQuery{ManifestID: run.ManifestID, RunID: run.ID, Reader: core.Owner, Limit: 50}
	ask := func(change func(*core.UnitQuery)) core.UnitPage {
		t.Helper()
		q := q
		change(&q)
		p, err := d.UnitPage(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := ask(func(*core.UnitQuery) {})
	if got := idsOf(all); got != "cross clash twin near late код Fine[1]" {
		t.Errorf("order: %s", got)
	}
	counts := map[string]int{core.ShowAll: 7, core.ShowOpen: 4, core.ShowFlagged: 4, core.ShowMisroute: 2, core.ShowContra: 1, core.ShowDup: 1, core.ShowUnjudged: 1, core.ShowOK: 2}
	if diff := cmp.Diff(counts, all.Counts); diff != "" || all.Judged != 6 || all.Cached != 1 {
		t.Errorf("%d judged, %d cached, counts: %s", all.Judged, all.Cached, diff)
	}
	want, err := d.Unit(t.Context(), run.ID, "clash")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, all.Units[1]); diff != "" {
		t.Errorf("a unit of the page differs from the unit alone: %s", diff)
	}
	for show, want := range map[string]string{
		core.ShowOpen: "cross clash twin near", core.ShowFlagged: "cross clash twin near", core.ShowMisroute: "cross near", core.ShowContra: "clash", core.ShowDup: "twin",
		core.ShowUnjudged: "late", core.ShowOK: "код Fine[1]", "'; --": "cross clash twin near late код Fine[1]",
	} {
		if got := idsOf(ask(func(q *core.UnitQuery) { q.Show = show })); got != want {
			t.Errorf("show %s: %s", show, got)
		}
	}
	for find, want := range map[string]string{
		"КОД": "код", "fINE[1]": "Fine[1]", "about c": "cross clash", "NEAR-tw": "twin", ".*": "", " text of n ": "near", "shield/far": "cross clash twin near late код Fine[1]",
		`\`: "", "a_": "", strings.Repeat("x", 5000): "",
	} {
		p := ask(func(q *core.UnitQuery) { q.Find = find })
		if got := idsOf(p); got != want || p.Counts[core.ShowAll] != len(p.Units) {
			t.Errorf("find %.20s: %q, counted %d", find, got, p.Counts[core.ShowAll])
		}
	}
	for at, want := range map[string]string{"код": "late код", "gone": "cross clash", "twin": "twin near"} {
		p := ask(func(q *core.UnitQuery) { q.At, q.Limit = core.UnitMark(at), 2 })
		if got := idsOf(p); got != want || p.Counts[core.ShowAll] != 7 {
			t.Errorf("at %s: %q from %d", at, got, p.From)
		}
	}
	if p := ask(func(q *core.UnitQuery) { q.From, q.Limit = 5, 2 }); idsOf(p) != "код Fine[1]" || p.From != 5 {
		t.Errorf("from 5: %q from %d", idsOf(p), p.From)
	}
	for _, from := range []int{7, 8, 5000} { // the list became shorter under the reader
		if p := ask(func(q *core.UnitQuery) { q.From, q.Limit = from, 3 }); idsOf(p) != "Fine[1]" || p.From != 6 {
			t.Errorf("from %d: %q from %d", from, idsOf(p), p.From)
		}
	}
	if p := ask(func(q *core.UnitQuery) { q.From, q.Limit, q.Find = 100, 3, "nothing" }); len(p.Units) != 0 || p.From != 0 {
		t.Errorf("behind nothing: %q from %d", idsOf(p), p.From)
	}
	if p := ask(func(q *core.UnitQuery) { q.Limit = 0 }); len(p.Units) != 0 || p.Counts[core.ShowAll] != 7 {
		t.Errorf("counts alone: %+v", p)
	}
	if _, err := d.UnitPage(t.Context(), core.UnitQuery{RunID: 99, Limit: 5}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a run that does not exist: %v", err)
	}
}

// The database orders a page by the rule of core.UnitResult.Urgency, whatever a unit is; its filters count by the same facts.
func TestUnitPageOrdersByUrgency(t *testing.T) {
	d := dbtest.Open(t)
	var units []core.UnitResult
	counts := map[string]int{}
	for _, routing := range []core.Routing{core.RoutingOK, core.Misroute} {
		for _, severity := range []string{"", core.CrossLane} {
			for _, label := range []core.Label{"", core.OK, core.Dup, core.Contra} {
				for _, unjudged := range []bool{false, true} {
					u := lane(fmt.Sprintf("%s/%s/%s/%t", routing, severity, label, unjudged), routing, severity, label, unjudged)
					units = append(units, u)
					counts[fmt.Sprint(u.Urgency())]++
				}
			}
		}
	}
	if len(counts) != 4 {
		t.Fatalf("the combinations do not make all four urgencies: %v", counts)
	}
	run := finished(t, d, units...)
	p, err := d.UnitPage(t.Context(), core.UnitQuery{ManifestID: run.ManifestID, RunID: run.ID, Limit: len(units)})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(units, func(a, b core.UnitResult) int { return a.Urgency() - b.Urgency() })
	if diff := cmp.Diff(idsOf(core.UnitPage{Units: units}), idsOf(p)); diff != "" {
		t.Error(diff)
	}
	flagged := 0
	for _, u := range units {
		if u.Urgency() <= core.UrgentFlag {
			flagged++
		}
	}
	if p.Counts[core.ShowFlagged] != flagged || p.Counts[core.ShowOK] != counts[fmt.Sprint(core.UrgentNot)] {
		t.Errorf("%d flagged and %v of each urgency, counted %v", flagged, counts, p.Counts)
	}
}

// What is open goes by the reader's own decisions that hold, as review.Of has it.
func TestUnitPageOpen(t *testing.T) {
	d := dbtest.Open(t)
	units := []core.UnitResult{lane("a", core.RoutingOK, "", core.Contra, false), lane("b", core.RoutingOK, "", core.Contra, false), lane("c", core.Misroute, "", core.Dup, false)}
	run := finished(t, d, units...)
	flags := review.Flags(units)
	decide := func(by core.Cosigner, f core.FlagBasis) {
		t.Helper()
		err := d.Decide(t.Context(), []core.Decision{{ManifestID: run.ManifestID, RunID: run.ID, By: by, UnitID: f.UnitID, Basis: f.Basis, Choice: core.Fix}}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	decide(core.Owner, flags[0])
	decide(core.Claude, flags[1])
	decide(core.Owner, flags[2]) // one of the two of c
	lapsed := flags[1]
	lapsed.Basis.Unit = "another text"
	decide(core.Owner, lapsed)
	for by, want := range map[core.Cosigner]string{core.Owner: "b c", core.Claude: "a c", "": "a b c"} {
		p, err := d.UnitPage(t.Context(), core.UnitQuery{ManifestID: run.ManifestID, RunID: run.ID, Reader: by, Show: core.ShowOpen, Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		if got := idsOf(p); got != want || p.Counts[core.ShowOpen] != len(p.Units) {
			t.Errorf("open to %q: %s", by, got)
		}
	}
}

// A list reads the head of a block, which shows the same as the block; an older run has none, and its block serves.
func TestListsReadTheHeadOfABlock(t *testing.T) {
	d := dbtest.Open(t)
	units := []core.UnitResult{lane("a", core.RoutingOK, "", core.Contra, false), lane("b", core.RoutingOK, "", core.Dup, false)}
	run := finished(t, d, units...)
	for _, older := range []bool{false, true} {
		if older {
			if _, err := d.SQL().Exec("UPDATE runs SET head = NULL, pairs_judged = NULL, pairs_cached = NULL"); err != nil {
				t.Fatal(err)
			}
		}
		recs, _, err := d.Records(t.Context(), core.RecordQuery{})
		if err != nil || len(recs) != 1 {
			t.Fatal(recs, err)
		}
		whole, err := d.Record(t.Context(), run.ManifestID)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Run.Block.Flags) != 2 || !older && len(recs[0].Run.Block.Flags) != 1 || recs[0].BLUF != whole.BLUF || recs[0].Run.Block.Summary != whole.Run.Block.Summary {
			t.Errorf("older %v: list %+v, whole %+v", older, recs[0].Run.Block, whole.Run.Block)
		}
		if i := slices.IndexFunc(recs[0].Run.Block.Flags, func(f core.Flag) bool { return f.ObservedRepo == "shield" }); i != 0 {
			t.Errorf("the list does not know the repo: %+v", recs[0].Run.Block.Flags)
		}
		p, err := d.UnitPage(t.Context(), core.UnitQuery{ManifestID: run.ManifestID, RunID: run.ID})
		if err != nil || p.Judged != 2 || p.Cached != 1 {
			t.Errorf("older %v: %+v %v", older, p, err)
		}
	}
}
