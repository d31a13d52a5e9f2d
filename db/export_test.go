package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

// fullHouse puts something into as many tables as it can.
func fullHouse(t *testing.T, d *db.DB) {
	t.Helper()
	if err := d.SetTrendZone(t.Context(), zone(t, "Europe/Berlin")); err != nil {
		t.Fatal(err)
	}
	randomHistory(t, d, rand.New(rand.NewPCG(5, 6)), day("2026-03-10"), 12)
	units := []core.UnitResult{finding("shield", "lessons/a.md", "ein \"Text\" <&> \\ \u2028 ё \t\n", "contra"), finding("darwin", "lessons/b.md", "x", "misroute")}
	var many []core.UnitResult // more than a page
	for i := range 1_200 {
		many = append(many, finding("shield", fmt.Sprintf("lessons/many-%d.md", i), "x", "ok"))
	}
	submit(t, d, arrival("many", "2026-03-01T10:00:00Z", "many"))
	outcome(t, d, models{"j", "c"}, false, many...)
	r := submit(t, d, arrival("last", "2026-03-01T10:00:00Z", strings.Repeat("wide ", 1000)))
	outcome(t, d, models{"j", "c"}, false, units...)
	rec := record(t, d, r.ManifestID)
	for _, c := range []core.Cosigner{core.Owner, core.Claude} {
		if err := decide(t, d, rec, c, review.Flags(units)[0], core.Fix, 0); err != nil {
			t.Fatal(err)
		}
	}
	save(t, d, "c0ffee", item(1, "one"), item(2, "two"))
	id, err := d.AddEmbedModel(t.Context(), "m", "", 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SaveEmbeddings(t.Context(), id, [][]byte{hashOf(item(1, "one"))}, [][]float32{{0.1, -3.4e-8, 1. / 3}}); err != nil {
		t.Fatal(err)
	}
	if err := d.SaveVerdicts(t.Context(), [][]byte{{0, 255}}, []core.Pair{{Label: core.Dup, Note: "n", UnitHash: []byte{1}, ItemHash: []byte{2}, Similarity: 1. / 3}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Reveal(t.Context(), r.ManifestID, core.Owner, core.FlagKey{UnitID: "shield/lessons/a.md", Kind: core.FlagSemantic}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Secret(t.Context(), "judge-fence", func() []byte { return []byte{0, 1, 254} }); err != nil {
		t.Fatal(err)
	}
}

func export(t *testing.T, d *db.DB) string {
	t.Helper()
	var b bytes.Buffer
	n, err := d.Export(t.Context(), &b)
	if err != nil || int(n) != strings.Count(b.String(), "\n")-2 {
		t.Fatalf("%d rows, %d lines, %v", n, strings.Count(b.String(), "\n"), err)
	}
	return b.String()
}

func TestExportThenImportIsTheSame(t *testing.T) {
	d := dbtest.Open(t)
	fullHouse(t, d)
	text := export(t, d)
	wantRecords, _, err := d.Records(t.Context(), core.RecordQuery{IncludeSuperseded: true, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	wantTrends, wantFound := trends(t, d, core.TrendQuery{Zone: zone(t, "Europe/Berlin")}), find(t, d, core.FoundQuery{Limit: 200, Label: "flagged"})
	if _, err := d.Import(t.Context(), strings.NewReader(text)); !errors.Is(err, core.ErrConflict) || !strings.Contains(err.Error(), "not empty") {
		t.Fatalf("into a full database: %v", err)
	}
	d = dbtest.Open(t) // empties it
	if _, err := d.Secret(t.Context(), "judge-fence", func() []byte { return []byte("another") }); err != nil {
		t.Fatal(err)
	}
	n, err := d.Import(t.Context(), strings.NewReader(text))
	if err != nil || int(n) != strings.Count(text, "\n")-2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if diff := cmp.Diff(text, export(t, d)); diff != "" {
		t.Errorf("another export: %s", diff)
	}
	gotRecords, _, err := d.Records(t.Context(), core.RecordQuery{IncludeSuperseded: true, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantRecords, gotRecords); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantTrends, trends(t, d, core.TrendQuery{Zone: zone(t, "Europe/Berlin")})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantFound, find(t, d, core.FoundQuery{Limit: 200, Label: "flagged"})); diff != "" {
		t.Error(diff)
	}
	// It goes on where the other left off: new ids, foreign keys as they were.
	r := submit(t, d, arrival("new", "2026-05-01T10:00:00Z", "new"))
	outcome(t, d, models{"j", "c"}, false, finding("shield", "lessons/new.md", "x", "ok"))
	if r.ManifestID <= wantRecords[0].ID {
		t.Errorf("the new manifest has id %d", r.ManifestID)
	}
	var deferrable int
	if err := d.SQL().QueryRow("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND condeferrable").Scan(&deferrable); err != nil || deferrable != 0 {
		t.Errorf("%d foreign keys are checked late for good, %v", deferrable, err)
	}
}

func TestABrokenExportIsRefusedWhole(t *testing.T) {
	d := dbtest.Open(t)
	fullHouse(t, d)
	text := export(t, d)
	lines := strings.SplitAfter(text, "\n")
	manifests := strings.Index(text, `{"table":"manifests"`)
	tests := map[string][2]string{
		"no export":     {`{"hello":1}`, "not an export"},
		"empty":         {"", "not an export"},
		"cut off":       {strings.Join(lines[:len(lines)/2], ""), "cut off after line"},
		"half a line":   {text[:len(text)/2], "cannot be read"},
		"a row missing": {strings.Replace(text, lines[3], "", 1), "lacks rows"},
		"other schema":  {strings.Replace(text, `"schema":`, `"schema":9`, 1), "has schema 9"},
		"other table":   {strings.Replace(text, `{"table":"manifests"`, `{"table":"pg_class"`, 1), `a table "pg_class"`},
		"bad base64":    {text[:manifests] + strings.Replace(text[manifests:], `"raw":"`, `"raw":"*`, 1), "manifests.raw"},
	}
	for name, tt := range tests {
		d = dbtest.Open(t)
		_, err := d.Import(t.Context(), strings.NewReader(tt[0]))
		if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: %v", name, err)
		}
		if n, err := d.Unfinished(t.Context()); n != 0 || err != nil {
			t.Errorf("%s left %d runs, %v", name, n, err)
		}
	}
}
