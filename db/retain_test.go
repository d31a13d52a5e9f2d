package db_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/db/dbtest"
)

func TestDropRawKeepsWhatWasFound(t *testing.T) {
	d := dbtest.Open(t)
	a := arrival("s", "2026-03-01T10:00:00Z", "first")
	old := submit(t, d, a).ManifestID
	outcome(t, d, models{"j", "c"}, false, finding("shield", "lessons/a.md", "one", "contra"))
	waiting := submit(t, d, arrival("t", "2026-03-01T10:00:00Z", "second")).ManifestID // its run needs the bytes
	if _, err := d.SQL().Exec("UPDATE manifests SET received_at = now() - interval '100 days'"); err != nil {
		t.Fatal(err)
	}
	fresh := submit(t, d, arrival("u", "2026-03-01T10:00:00Z", "third")).ManifestID
	before := trends(t, d, core.TrendQuery{})
	for i, want := range []int{1, 0} {
		if n, err := d.DropRaw(t.Context(), time.Now().AddDate(0, 0, -90)); n != want || err != nil {
			t.Fatalf("round %d: %d dropped, %v", i, n, err)
		}
	}
	_, err := d.RawManifest(t.Context(), old)
	if !errors.Is(err, core.ErrDropped) || !errors.Is(err, core.ErrNotFound) || !strings.Contains(err.Error(), "STOROZH_KEEP_RAW") {
		t.Errorf("the bytes: %v", err)
	}
	for _, id := range []int64{waiting, fresh} {
		if _, err := d.RawManifest(t.Context(), id); err != nil {
			t.Errorf("manifest %d: %v", id, err)
		}
	}
	if rec := record(t, d, old); rec.Judged == nil || rec.BLUF == "" {
		t.Error("the record is gone")
	}
	if units, err := d.Units(t.Context(), record(t, d, old).Run.ID); err != nil || len(units) != 1 || units[0].Unit.Text != "one" {
		t.Errorf("the units: %+v %v", units, err)
	}
	if after := trends(t, d, core.TrendQuery{}); total(after.Days) != total(before.Days) {
		t.Error("the sums have changed")
	}
	if _, err := d.Rerun(t.Context(), old, true); !errors.Is(err, core.ErrConflict) || !strings.Contains(err.Error(), "STOROZH_KEEP_RAW") {
		t.Errorf("judging again: %v", err)
	}
	// Sent once more it is whole again.
	submit(t, d, a)
	if raw, err := d.RawManifest(t.Context(), old); err != nil || !bytes.Equal(raw, a.Raw) {
		t.Errorf("after it came again: %v", err)
	}
	if n, err := d.DropRaw(t.Context(), time.Now().AddDate(0, 0, -90)); n != 0 || err != nil {
		t.Errorf("it is dropped at once: %d %v", n, err)
	}
}
