package db_test

import (
	"fmt"
	"os"
	"testing"

	"storozh/db"
	"storozh/db/dbtest"
)

// seedSimilarities adds to the seed what its runs would have left for the what-if page, and a decision of both on every tenth flag.
func seedSimilarities(t testing.TB, d *db.DB) {
	t.Helper()
	for _, s := range []string{
		`INSERT INTO flag_nearest (key, flag, embed_model, label, percent, stamped)
			SELECT key, key, 'emb', CASE WHEN contra THEN 'contra' ELSE 'dup' END, abs(hashtext(unit)) % 100, stamped FROM counted_units`,
		`INSERT INTO similarities SELECT 'emb', p, 5000 FROM generate_series(-20, 99) p`,
		`UPDATE flag_history SET owner = 'fix', claude = (ARRAY['fix','land','accept'])[1 + abs(hashtext(unit)) % 3] WHERE abs(hashtext(unit)) % 10 = 0`,
		`INSERT INTO missed (manifest_id, run_id, cosigner, unit, unit_hash, item, item_hash, label, rank, said, note, demo)
			SELECT r.manifest_id, r.id, 'owner', 'u', 'hash' || r.id, 'i', sha256(r.id::text::bytea), 'contra', r.id % 3, '', '', false FROM runs r WHERE r.id % 5 = 0`,
		`VACUUM ANALYZE`,
	} {
		if _, err := d.SQL().ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.60s: %v", s, err)
		}
	}
}

// BenchmarkRecallPages measures the pages about recall over 100,000 flags (STOROZH_BENCH_FLAGS for another number).
func BenchmarkRecallPages(b *testing.B) {
	n := 100_000
	if s := os.Getenv("STOROZH_BENCH_FLAGS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			b.Fatal(err)
		}
	}
	d := dbtest.Open(b)
	seedHistory(b, d, n)
	seedSimilarities(b, d)
	for name, ask := range map[string]func() error{
		"what-if table":    func() error { _, err := d.WhatIf(b.Context(), ""); return err },
		"flags below 0.05": func() error { _, err := d.WhatIfFlags(b.Context(), "emb", 5, 101); return err },
		"flags below 0.9":  func() error { _, err := d.WhatIfFlags(b.Context(), "emb", 90, 101); return err },
		"flags below 0":    func() error { _, err := d.WhatIfFlags(b.Context(), "emb", 0, 101); return err },
		"recall in use":    func() error { _, err := d.InUse(b.Context()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The list comes from an index, whatever the floor: it reads no big table through.
func TestWhatIfListReadsNoBigTableThrough(t *testing.T) {
	d := dbtest.Open(t)
	seedHistory(t, d, 20_000)
	seedSimilarities(t, d)
	if dbtest.Native() {
		d.SQL().SetMaxOpenConns(1)
		defer d.SQL().SetMaxOpenConns(16)
	}
	before := seqScans(t, d)
	for _, floor := range []int{0, 3, 50, 100} {
		list, err := d.WhatIfFlags(t.Context(), "emb", floor, 101)
		if err != nil || len(list) != map[bool]int{true: 101}[floor > 0] {
			t.Fatalf("floor %d: %d flags, %v", floor, len(list), err)
		}
		for i := 1; i < len(list); i++ {
			if list[i].At.After(list[i-1].At) || list[i].Percent >= floor {
				t.Fatalf("floor %d: %+v after %+v", floor, list[i], list[i-1])
			}
		}
	}
	if _, err := d.MissedOf(t.Context(), []string{"hash5", "hash10"}); err != nil {
		t.Fatal(err)
	}
	for name, n := range seqScans(t, d) {
		if n != before[name] {
			t.Errorf("%s was read through %d times", name, n-before[name])
		}
	}
}
