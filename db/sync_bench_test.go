package db_test

import (
	"fmt"
	"testing"
	"time"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

// BenchmarkSaveCorpus stores a corpus for the first time. x-copy is the ratio to the plain COPY of the same rows into the same empty table, in the
// same run (native only); reading and splitting the files is not in it (BenchmarkSync has that).
func BenchmarkSaveCorpus(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		if n > *benchSize || n > 10_000 && !dbtest.Native() {
			continue
		}
		items := make([]core.Item, n)
		for i := range items {
			items[i] = item(i, fmt.Sprintf("[O] service %d of team %d keeps its records for %d days\nCounter: what the customer deletes", i, i/50, i%400))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := dbtest.Open(b)
			var ours, plain time.Duration
			for b.Loop() {
				b.StopTimer()
				dbtest.Open(b)
				r := reading(b, d, big, "one", items...)
				b.StartTimer()
				start := time.Now()
				if err := d.SaveCorpus(b.Context(), big, r, hashOf); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				b.StopTimer()
				if dbtest.Native() {
					dbtest.Open(b)
					plain += plainCopy(b, d, items)
				}
				b.StartTimer()
			}
			if plain > 0 {
				b.ReportMetric(float64(ours)/float64(plain), "x-copy")
			}
		})
	}
}

func plainCopy(b *testing.B, d *db.DB, items []core.Item) time.Duration {
	b.Helper()
	if _, err := d.SQL().Exec("INSERT INTO corpora (dir) VALUES ($1)", big); err != nil { // its id is 1 after a TRUNCATE
		b.Fatal(err)
	}
	start := time.Now()
	tx, err := d.SQL().Begin()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	st, err := tx.Prepare("COPY items (corpus_id, item, path, anchor, kind, title, text, normative, start_line, end_line, blob, text_hash) FROM STDIN")
	if err != nil {
		b.Fatal(err)
	}
	for _, it := range items {
		if _, err := st.Exec(1, it.ID, it.Path, it.Anchor, string(it.Kind), it.Title, it.Text, it.Normative, it.StartLine, it.EndLine, it.Blob, hashOf(it)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := st.Exec(); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
