package db_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

func flagOn(unit, unitHash, cover string) core.FlagBasis {
	return core.FlagBasis{UnitID: unit, Basis: core.Basis{Flag: core.FlagSemantic, Label: "dup", Unit: unitHash, Covers: []string{cover}}}
}

// judged stores a manifest with one finished run and these flags.
func judged(t *testing.T, d *db.DB, session string, flags ...core.FlagBasis) core.Record {
	t.Helper()
	r := submit(t, d, arrival(session, "2026-03-01T10:00:00Z", session))
	return judge(t, d, r.ManifestID, flags...)
}

func judge(t *testing.T, d *db.DB, manifest int64, flags ...core.FlagBasis) core.Record {
	t.Helper()
	res := result()
	res.Flags = flags
	if err := d.Finish(t.Context(), claim(t, d), res, false); err != nil {
		t.Fatal(err)
	}
	return record(t, d, manifest)
}

func record(t *testing.T, d *db.DB, id int64) core.Record {
	t.Helper()
	rec, err := d.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func decide(t *testing.T, d *db.DB, rec core.Record, by core.Cosigner, f core.FlagBasis, c core.Choice, seen int64) error {
	t.Helper()
	return d.Decide(t.Context(), []core.Decision{{ManifestID: rec.ID, RunID: rec.Judged.ID, By: by, UnitID: f.UnitID, Basis: f.Basis, Choice: c}},
		map[core.FlagKey]int64{f.Key(): seen})
}

func TestDecisionsMoveTheQueues(t *testing.T) {
	d := dbtest.Open(t)
	f := flagOn("shield/lessons/x.md", "aa", "bb:dup")
	rec := judged(t, d, "one", f)
	queue := func(want ...core.Queue) {
		t.Helper()
		rec := record(t, d, rec.ID)
		if got := []core.Queue{rec.Queue(core.Owner), rec.Queue(core.Claude)}; !cmp.Equal(got, want) {
			t.Errorf("queues %v, want %v", got, want)
		}
		for i, c := range []core.Cosigner{core.Owner, core.Claude} {
			counts, err := d.QueueCounts(t.Context(), c)
			if err != nil || counts[want[i]] != 1 {
				t.Errorf("counts of %s: %v %v", c, counts, err)
			}
			recs, _, err := d.Records(t.Context(), core.RecordQuery{Queue: want[i], For: c})
			if err != nil || len(recs) != 1 {
				t.Errorf("%d records in %q of %s, %v", len(recs), want[i], c, err)
			}
		}
	}
	queue(core.QueueYours, core.QueueYours)
	if err := d.SetWriteBack(t.Context(), rec.Run.ID, core.WriteBack{State: core.Written}); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(decide(t, d, rec, core.Owner, f, core.DropAsDup, 0))
	queue(core.QueueOther, core.QueueYours)
	if p, _ := d.PendingWrites(t.Context()); len(p) != 0 {
		t.Error("the block is to be written before both are done")
	}
	must(decide(t, d, rec, core.Claude, f, core.Land, 0))
	queue(core.QueueDisagree, core.QueueDisagree)
	if p, _ := d.PendingWrites(t.Context()); len(p) != 1 {
		t.Error("the reviews are not to be written")
	}
	all, err := d.Decisions(t.Context(), rec.ID)
	must(err)
	must(decide(t, d, rec, core.Claude, f, core.DropAsDup, all[1].ID))
	queue(core.QueueDone, core.QueueDone)

	// Judged again with the same flag: the decisions hold. With another neighbour: they have lapsed.
	_, err = d.Rerun(t.Context(), rec.ID, false)
	must(err)
	if r := record(t, d, rec.ID); r.Run.Status != core.Queued || r.Judged == nil || r.BLUF == "" {
		t.Errorf("while a new run waits the judged one is not shown: %+v", r)
	}
	judge(t, d, rec.ID, f)
	queue(core.QueueDone, core.QueueDone)
	_, err = d.Rerun(t.Context(), rec.ID, false)
	must(err)
	judge(t, d, rec.ID, flagOn(f.UnitID, "aa", "cc:dup"))
	queue(core.QueueYours, core.QueueYours)
}

func TestAStaleDecisionIsRefusedWhole(t *testing.T) {
	d := dbtest.Open(t)
	f, g := flagOn("shield/lessons/x.md", "aa", "bb:dup"), flagOn("shield/lessons/y.md", "dd", "bb:dup")
	rec := judged(t, d, "one", f, g)
	if err := decide(t, d, rec, core.Owner, f, core.Land, 0); err != nil {
		t.Fatal(err)
	}
	if err := decide(t, d, rec, core.Owner, f, core.Fix, 0); !errors.Is(err, db.ErrStale) { // a second window, or a double click
		t.Errorf("a second decision on the same page gave %v", err)
	}
	both := []core.Decision{
		{ManifestID: rec.ID, RunID: rec.Judged.ID, By: core.Owner, UnitID: g.UnitID, Basis: g.Basis, Choice: core.Land},
		{ManifestID: rec.ID, RunID: rec.Judged.ID, By: core.Owner, UnitID: f.UnitID, Basis: f.Basis, Choice: core.Land},
	}
	if err := d.Decide(t.Context(), both, nil); !errors.Is(err, db.ErrStale) {
		t.Errorf("got %v", err)
	}
	if all, err := d.Decisions(t.Context(), rec.ID); err != nil || len(all) != 1 {
		t.Errorf("%d decisions are stored, want 1 (%v)", len(all), err)
	}
	if _, err := d.Rerun(t.Context(), rec.ID, false); err != nil {
		t.Fatal(err)
	}
	judge(t, d, rec.ID, f, g)
	if err := decide(t, d, rec, core.Owner, g, core.Land, 0); !errors.Is(err, db.ErrStale) {
		t.Errorf("a decision on the page of an older run gave %v", err)
	}
	gone := rec
	gone.ID = 4711
	if err := decide(t, d, gone, core.Owner, g, core.Land, 0); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a decision on a manifest that does not exist gave %v", err)
	}
}

func TestEarlierDecisionsAreThoseOfOtherManifests(t *testing.T) {
	d := dbtest.Open(t)
	f := flagOn("shield/lessons/x.md", "aa", "bb:dup")
	first := judged(t, d, "one", f)
	if err := decide(t, d, first, core.Owner, f, core.Accept, 0); err != nil {
		t.Fatal(err)
	}
	second := judged(t, d, "two", f)
	got, err := d.EarlierDecisions(t.Context(), second.ID, []string{"aa"})
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Decision{{ID: 1, ManifestID: first.ID, RunID: first.Run.ID, By: core.Owner, UnitID: f.UnitID, Basis: f.Basis, Choice: core.Accept}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(core.Decision{}, "At")); diff != "" {
		t.Error(diff)
	}
	if time.Since(got[0].At) > time.Minute {
		t.Errorf("decided at %v", got[0].At)
	}
	if own, err := d.EarlierDecisions(t.Context(), first.ID, []string{"aa"}); err != nil || len(own) != 0 {
		t.Errorf("a manifest's own decisions came back: %v %v", own, err)
	}
	flags, err := d.Flags(t.Context(), second.Run.ID)
	if err != nil || !cmp.Equal(flags, []core.FlagBasis{f}) {
		t.Errorf("Flags: %v %v", flags, err)
	}
}

// Asking to see the other's decision holds for the flag as it was: one that a new run shows otherwise is decided alone again.
func TestARevealEndsWithItsFlag(t *testing.T) {
	d := dbtest.Open(t)
	same, other, gone := flagOn("shield/lessons/same.md", "aa", "bb:dup"), flagOn("shield/lessons/other.md", "cc", "dd:dup"), flagOn("shield/lessons/gone.md", "ee", "ff:dup")
	rec := judged(t, d, "one", same, other, gone)
	for _, f := range []core.FlagBasis{same, other, gone} {
		if err := d.Reveal(t.Context(), rec.ID, core.Owner, f.Key()); err != nil {
			t.Fatal(err)
		}
	}
	other.Basis.Covers = []string{"another:dup"}
	for _, flags := range [][]core.FlagBasis{{other, same}, {same, other, gone}} { // and what comes back does so closed
		if _, err := d.Rerun(t.Context(), rec.ID, true); err != nil {
			t.Fatal(err)
		}
		judge(t, d, rec.ID, flags...)
		got, err := d.Reveals(t.Context(), rec.ID, core.Owner)
		if diff := cmp.Diff(map[core.FlagKey]bool{same.Key(): true}, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

func TestRevealsAndCancel(t *testing.T) {
	d := dbtest.Open(t)
	f := flagOn("shield/lessons/x.md", "aa", "bb:dup")
	rec := judged(t, d, "one", f)
	for range 2 {
		if err := d.Reveal(t.Context(), rec.ID, core.Owner, f.Key()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.Reveals(t.Context(), rec.ID, core.Owner); err != nil || !got[f.Key()] {
		t.Errorf("%v %v", got, err)
	}
	if got, err := d.Reveals(t.Context(), rec.ID, core.Claude); err != nil || len(got) != 0 {
		t.Errorf("claude sees what the owner asked for: %v %v", got, err)
	}
	if err := d.Cancel(t.Context(), rec.ID); !errors.Is(err, core.ErrConflict) {
		t.Errorf("cancelling a finished run gave %v", err)
	}
	if _, err := d.Rerun(t.Context(), rec.ID, true); err != nil {
		t.Fatal(err)
	}
	if err := d.Cancel(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	if r := record(t, d, rec.ID); r.Run.Status != core.Cancelled || r.Judged.ID != rec.Run.ID {
		t.Errorf("%+v", r.Run)
	}
	if _, err := d.Rerun(t.Context(), rec.ID, true); err != nil {
		t.Fatal(err)
	}
	run := claim(t, d)
	if err := d.Cancel(t.Context(), rec.ID); err != nil {
		t.Fatal(err)
	}
	if cancel, err := d.Heartbeat(t.Context(), run, core.Progress{}); !cancel || err != nil {
		t.Errorf("the worker is not told: %v %v", cancel, err)
	}
}

func TestItemsAndWhomTheyMet(t *testing.T) {
	d := dbtest.Open(t)
	y := core.Item{ID: "shield/lessons/y.md", Path: "lessons/y.md", Kind: core.KindLesson, Text: "y", Normative: "y", StartLine: 1, EndLine: 3, Blob: "b"}
	save(t, d, "c0ffee", y)
	got, commit, err := d.Item(t.Context(), "/eco/shield", y.ID)
	if err != nil || commit != "c0ffee" || !cmp.Equal(got, y) {
		t.Errorf("%+v %s %v", got, commit, err)
	}
	if _, _, err := d.Item(t.Context(), "/eco/shield", "shield/none"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	f := flagOn("shield/lessons/x.md", "aa", "02:dup") // the hash of the item in result()
	rec := judged(t, d, "one", f)
	meet := func() core.ItemMeeting {
		t.Helper()
		ms, err := d.Meetings(t.Context(), y.ID)
		if err != nil || len(ms) != 1 {
			t.Fatalf("%d meetings, %v", len(ms), err)
		}
		return ms[0]
	}
	if err := decide(t, d, rec, core.Owner, f, core.Fix, 0); err != nil {
		t.Fatal(err)
	}
	if m := meet(); m.UnitID != f.UnitID || m.Label != core.Dup || m.Similarity != .75 || len(m.Decisions) != 0 {
		t.Errorf("one decision alone is to stay closed: %+v", m)
	}
	if err := decide(t, d, rec, core.Claude, f, core.Land, 0); err != nil {
		t.Fatal(err)
	}
	if m := meet(); len(m.Decisions) != 2 || m.Decisions[0].By == m.Decisions[1].By {
		t.Errorf("%+v", m.Decisions)
	}

	// Another unit is ok beside the item and clashes with something else: what was decided about that is not about the item.
	res := result()
	u := &res.Units[0]
	u.Unit.ID, u.Pairs[0].Label = "shield/lessons/other.md", core.OK
	far := u.Pairs[0]
	far.Item, far.ItemHash, far.Label, far.Rank = "shield/lessons/far.md", []byte{3}, core.Dup, 2
	u.Pairs = append(u.Pairs, far)
	g := flagOn(u.Unit.ID, "cc", "03:dup")
	res.Flags = []core.FlagBasis{g}
	second := submit(t, d, arrival("two", "2026-03-02T10:00:00Z", "two"))
	if err := d.Finish(t.Context(), claim(t, d), res, false); err != nil {
		t.Fatal(err)
	}
	for _, by := range []core.Cosigner{core.Owner, core.Claude} {
		if err := decide(t, d, record(t, d, second.ManifestID), by, g, core.Fix, 0); err != nil {
			t.Fatal(err)
		}
	}
	for item, want := range map[string]int{y.ID: 0, far.Item: 2} {
		ms, err := d.Meetings(t.Context(), item)
		if err != nil || ms[0].UnitID != u.Unit.ID || len(ms[0].Decisions) != want {
			t.Errorf("%s met %+v, %v; want %d decisions", item, ms, err, want)
		}
	}
}
