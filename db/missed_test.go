package db_test

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

// named is a clash as the handlers hand it in.
func named(rec core.Record, u core.UnitResult, item string, label core.Label, by core.Cosigner, note string) core.Missed {
	m := review.Miss(u, core.Missed{ManifestID: rec.ID, RunID: rec.Judged.ID, Item: item, Label: label, By: by, Note: note})
	if m.ItemHash == nil {
		m.ItemHash = []byte(item)
	}
	return m
}

func miss(t *testing.T, d *db.DB, m core.Missed) (core.Missed, bool) {
	t.Helper()
	kept, added, err := d.AddMissed(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return kept, added
}

func inUse(t *testing.T, d *db.DB, found, notBrought, otherLabel int) {
	t.Helper()
	got, err := d.InUse(t.Context())
	if want := (core.InUse{Found: found, NotBrought: notBrought, OtherLabel: otherLabel}); err != nil || got != want {
		t.Errorf("in use %+v, %v; want %+v", got, err, want)
	}
}

func TestMissedIsKeptOnceAndCanBeTakenBack(t *testing.T) {
	d := dbtest.Open(t)
	u := finding("shield", "lessons/a.md", "text", "ok")
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	outcome(t, d, models{"j", "c"}, false, u)
	rec := record(t, d, r.ManifestID)
	of := func(want ...core.Missed) {
		t.Helper()
		got, err := d.MissedOf(t.Context(), []string{review.UnitHash(u.Unit), "another"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(core.Missed{}, "At")); diff != "" {
			t.Error(diff)
		}
	}
	of()
	first, added := miss(t, d, named(rec, u, "shield/invariants#7", core.Contra, core.Owner, "why\x00"))
	if !added || first.ID == 0 || first.Rank != 0 || first.Note != "why\uFFFD" || first.At.IsZero() {
		t.Errorf("%v %+v", added, first)
	}
	of(first)
	if again, added := miss(t, d, named(rec, u, "shield/invariants#7", core.Contra, core.Owner, "why\x00")); added || again.ID != first.ID {
		t.Errorf("the same again is kept as %+v", again)
	}
	other, _ := miss(t, d, named(rec, u, "shield/invariants#7", core.Dup, core.Claude, ""))
	brought, _ := miss(t, d, named(rec, u, "shield/invariants#1", core.Contra, core.Owner, ""))
	if brought.Rank != 1 || brought.Said != core.OK || !bytes.Equal(brought.ItemHash, []byte{2}) {
		t.Errorf("a pair of the run is kept as %+v", brought)
	}
	of(first, other, brought)
	inUse(t, d, 0, 1, 1)

	// A later manifest with the same content: the word still holds, and said again it is the same word.
	r = submit(t, d, arrival("later", "2026-03-02T10:00:00Z", "two"))
	moved := u
	moved.Unit.ID, moved.Unit.Path = "shield/lessons/b.md", "lessons/b.md"
	outcome(t, d, models{"j", "c"}, false, moved)
	later := record(t, d, r.ManifestID)
	if again, added := miss(t, d, named(later, moved, "shield/invariants#7", core.Contra, core.Owner, "why\x00")); added || again.ID != first.ID {
		t.Errorf("on another manifest it is kept as %+v", again)
	}
	if _, added := miss(t, d, named(later, moved, "shield/invariants#7", "", core.Owner, "")); !added {
		t.Error("a word cannot be taken back")
	}
	if _, added := miss(t, d, named(later, moved, "shield/invariants#7", "", core.Owner, "")); added {
		t.Error("it is taken back twice")
	}
	of(other, brought)
	inUse(t, d, 0, 1, 1) // claude's word stands
	miss(t, d, named(later, moved, "shield/invariants#7", "", core.Claude, ""))
	of(brought)
	inUse(t, d, 0, 0, 1)
	var rows int
	if err := d.SQL().QueryRow("SELECT count(*) FROM missed").Scan(&rows); err != nil || rows != 5 {
		t.Errorf("%d rows, %v: what was said must stay", rows, err)
	}

	// On a page that is out of date nothing is kept.
	stale := named(rec, u, "shield/invariants#9", core.Contra, core.Owner, "")
	stale.RunID = later.Judged.ID
	if _, _, err := d.AddMissed(t.Context(), stale); !errors.Is(err, core.ErrConflict) {
		t.Errorf("a run of another manifest: %v", err)
	}
	stale.ItemHash = nil
	if _, _, err := d.AddMissed(t.Context(), stale); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("without a hash: %v", err)
	}
}

func TestInUseCountsWhatReviewersKnow(t *testing.T) {
	d := dbtest.Open(t)
	inUse(t, d, 0, 0, 0)
	fixed, landed, half := finding("shield", "lessons/f.md", "f", "contra"), finding("shield", "lessons/l.md", "l", "contra"), finding("shield", "lessons/h.md", "h", "dup")
	quiet := finding("shield", "lessons/q.md", "q", "ok")
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	outcome(t, d, models{"j", "c"}, false, fixed, landed, half, quiet)
	rec := record(t, d, r.ManifestID)
	flags := map[string]core.FlagBasis{}
	for _, f := range review.Flags([]core.UnitResult{fixed, landed, half}) {
		flags[f.UnitID] = f
	}
	last := map[string]int64{}
	say := func(u core.UnitResult, by core.Cosigner, c core.Choice) {
		t.Helper()
		key := u.Unit.ID + string(by)
		if err := decide(t, d, record(t, d, rec.ID), by, flags[u.Unit.ID], c, last[key]); err != nil {
			t.Fatal(err)
		}
		var id int64
		if err := d.SQL().QueryRow("SELECT max(id) FROM decisions").Scan(&id); err != nil {
			t.Fatal(err)
		}
		last[key] = id
	}
	say(fixed, core.Owner, core.Fix)
	say(half, core.Owner, core.DropAsDup)
	inUse(t, d, 0, 0, 0) // nothing is given away of what only one has decided
	say(fixed, core.Claude, core.Land)
	inUse(t, d, 1, 0, 0) // one of two is enough
	say(landed, core.Owner, core.Land)
	say(landed, core.Claude, core.Accept)
	inUse(t, d, 1, 0, 0) // neither says that it was right
	say(landed, core.Claude, core.Fix)
	inUse(t, d, 2, 0, 0)
	say(landed, core.Claude, core.Land)
	inUse(t, d, 1, 0, 0) // a change of mind counts

	miss(t, d, named(rec, quiet, "shield/invariants#7", core.Contra, core.Owner, ""))
	inUse(t, d, 1, 1, 0)
	// What was named as missed stays missed, though the flag beside it is confirmed.
	other := fixed
	other.Pairs = nil
	m := named(rec, other, "shield/invariants#1", core.Dup, core.Claude, "")
	m.ItemHash = []byte{2}
	miss(t, d, m)
	inUse(t, d, 0, 2, 0)

	// The same contents decided on another manifest are the same clash.
	r = submit(t, d, arrival("s2", "2026-03-02T10:00:00Z", "two"))
	outcome(t, d, models{"j", "c"}, false, half)
	rec, last = record(t, d, r.ManifestID), map[string]int64{}
	say(half, core.Owner, core.DropAsDup)
	say(half, core.Claude, core.DropAsDup)
	inUse(t, d, 1, 2, 0)

	// Runs of the demo model are in no number.
	r = submit(t, d, arrival("demo", "2026-03-03T10:00:00Z", "three"))
	demo := finding("shield", "lessons/d.md", "d", "contra")
	outcome(t, d, models{"demo", "c"}, true, demo, quiet)
	rec, flags[demo.Unit.ID] = record(t, d, r.ManifestID), review.Flags([]core.UnitResult{demo})[0]
	say(demo, core.Owner, core.Fix)
	say(demo, core.Claude, core.Fix)
	miss(t, d, named(rec, quiet, "shield/invariants#8", core.Contra, core.Owner, ""))
	inUse(t, d, 1, 2, 0)
}

func TestMissedTravels(t *testing.T) {
	d := dbtest.Open(t)
	u := finding("shield", "lessons/a.md", "text", "contra")
	u.Pairs[0].Judge = "j"
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	outcome(t, d, models{"j", "c"}, false, u)
	miss(t, d, named(record(t, d, r.ManifestID), u, "shield/invariants#7", core.Dup, core.Owner, "wie «gesagt»\n"))
	want, err := d.MissedOf(t.Context(), []string{review.UnitHash(u.Unit)})
	if err != nil {
		t.Fatal(err)
	}
	floors, err := d.WhatIf(t.Context(), "")
	if err != nil || len(floors.Flags) != 1 || len(floors.Pairs) != 1 {
		t.Fatalf("%+v, %v", floors, err)
	}
	text := export(t, d)
	for _, table := range []string{"missed", "similarities", "flag_nearest"} {
		if !strings.Contains(text, `{"table":"`+table+`"`) {
			t.Errorf("%s is not in the export", table)
		}
	}
	d = dbtest.Open(t)
	if _, err := d.Import(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	got, err := d.MissedOf(t.Context(), []string{review.UnitHash(u.Unit)})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	after, err := d.WhatIf(t.Context(), "")
	if diff := cmp.Diff(floors, after); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// The second press of a double click, and claude's retry, find what the first one kept.
func TestMissedAtOnceIsOneRow(t *testing.T) {
	d := dbtest.Open(t)
	u := finding("shield", "lessons/a.md", "text", "ok")
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	outcome(t, d, models{"j", "c"}, false, u)
	m := named(record(t, d, r.ManifestID), u, "shield/invariants#7", core.Contra, core.Owner, "why")
	var g errgroup.Group
	var added atomic.Int32
	for range 8 {
		g.Go(func() error {
			_, fresh, err := d.AddMissed(t.Context(), m)
			if fresh {
				added.Add(1)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil || added.Load() != 1 {
		t.Errorf("added %d times, %v", added.Load(), err)
	}
	inUse(t, d, 0, 1, 0)
}
