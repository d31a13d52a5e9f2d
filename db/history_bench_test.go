package db_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

// seedHistory writes n flagged units over three years, ten to a manifest.
func seedHistory(t testing.TB, d *db.DB, n int) {
	t.Helper()
	dbtest.Seed(t, d, n, 10)
}

// threeYears is the question of the trends page over the whole history of the seed.
func threeYears(t testing.TB) core.TrendQuery {
	return core.TrendQuery{From: day("2023-06-01"), To: day("2026-05-31"), Zone: zone(t, "Europe/Berlin"), By: "week"}
}

// searches are questions that the search must answer quickly, by name.
func searches() map[string]core.FoundQuery {
	year := core.FoundQuery{From: day("2024-03-01"), To: day("2024-04-01")}
	return map[string]core.FoundQuery{
		"newest":         {},
		"deep page":      {After: fmt.Sprintf("%d.%d.%d", day("2024-01-01").UnixMicro(), 1<<40, 0)},
		"repo":           {Repo: "darwin"},
		"repo and label": {Repo: "darwin", Label: "contra"},
		"flagged, dates": {Label: "flagged", From: year.From, To: year.To},
		"rare word":      {Text: "слово4711"},
		"common word":    {Text: "about"},
		"two words":      {Text: "слово4711 about"},
		"prefix":         {Text: "слово47"},
		"prefix of all":  {Text: "сло"},
		"word, dates":    {Text: "about word12", From: year.From, To: year.To},
		"word and repo":  {Text: "word12", Repo: "shield", Label: "dup"},
		"no such word":   {Text: "нетничего", Repo: "shield"},
		"no such repo":   {Repo: "nowhere", Label: "contra"},
		"open":           {State: core.FoundOpen, Reader: core.Owner},
		"disagree":       {State: core.FoundDisagree, Reader: core.Claude},
		"my fixes":       {Decision: core.Fix, Reader: core.Owner},
		"my accepts":     {Decision: core.Accept, Reader: core.Claude, Repo: "shield"},
		"never decided":  {Decision: core.Land, Reader: core.Claude},
		"raised":         {Went: core.FoundRaised, From: day("2024-03-01"), To: day("2024-03-08")},
		"resolved":       {Went: core.FoundResolved, From: day("2024-03-01"), To: day("2024-03-02"), Repo: "darwin"},
	}
}

// bigTables must never be read from end to end by a page.
var bigTables = []string{"manifests", "runs", "units", "pairs", "flags", "decisions", "counted_units", "flag_history", "trend_quarters"}

// seqScans counts the sequential scans of the big tables so far. The pool must be of one connection, whose counts are brought in at once.
func seqScans(t testing.TB, d *db.DB) map[string]int64 {
	t.Helper()
	if _, err := d.SQL().Exec("SELECT pg_stat_force_next_flush()"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL().Exec("SELECT 1"); err != nil {
		t.Fatal(err)
	}
	rows, err := d.SQL().Query("SELECT relname, seq_scan FROM pg_stat_user_tables")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(bigTables, name) {
			out[name] = n
		}
	}
	if rows.Err() != nil || len(out) != len(bigTables) {
		t.Fatal(out, rows.Err())
	}
	return out
}

// The server itself counts its sequential scans, so what is checked are the plans that the pages really get, with no switch of the planner
// touched.
func TestNoPageReadsABigTableThrough(t *testing.T) {
	d := dbtest.Open(t)
	seedHistory(t, d, 50_000) // fewer, and reading a table through is now and then the right plan
	if dbtest.Native() {
		d.SQL().SetMaxOpenConns(1)
		defer d.SQL().SetMaxOpenConns(16)
	}
	calls := map[string]func() error{
		"trends": func() error { _, err := d.Trends(t.Context(), threeYears(t)); return err },
		"trends of a repo": func() error {
			q := threeYears(t)
			q.Repo, q.From = "darwin", day("2026-04-01")
			_, err := d.Trends(t.Context(), q)
			return err
		},
		"repos":  func() error { _, err := d.TrendRepos(t.Context()); return err },
		"inbox":  func() error { _, _, err := d.Records(t.Context(), core.RecordQuery{}); return err },
		"corpus": func() error { _, err := d.CorpusView(t.Context(), "/shield"); return err },
		"items": func() error {
			_, _, err := d.ListItems(t.Context(), "/shield", core.ItemQuery{Never: true})
			return err
		},
		"retention": func() error { _, err := d.DropRaw(t.Context(), day("2020-01-01")); return err },
		"uncounted": func() error { _, err := d.CountRuns(t.Context()); return err },
	}
	for name, q := range searches() {
		calls["search: "+name] = func() error { _, _, err := d.Find(t.Context(), q); return err }
	}
	before := seqScans(t, d)
	if _, err := d.SQL().Exec("SELECT count(*) FROM flags"); err != nil {
		t.Fatal(err)
	}
	if after := seqScans(t, d); after["flags"] != before["flags"]+1 {
		t.Fatalf("this server does not count its scans at once (%d, then %d)", before["flags"], after["flags"])
	}
	for name, call := range calls {
		before := seqScans(t, d)
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for table, was := range before {
			if now := seqScans(t, d)[table]; now != was {
				t.Errorf("%s reads all of %s", name, table)
			}
		}
	}
}

// median runs f some times and gives the middle duration.
func median(t testing.TB, f func() error) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 41 {
		began := time.Now()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkHistory seeds 10,000 and then 1,000,000 flags over three years (minutes) and reports the medians of the trends page's queries and of
// the slowest search, with the ratio between the sizes. It runs on a native Postgres only: STOROZH_TEST_DATABASE_URL.
func BenchmarkHistory(b *testing.B) {
	if !dbtest.Native() {
		b.Skip("set STOROZH_TEST_DATABASE_URL: the numbers are for a native Postgres")
	}
	sizes := []int{10_000, 1_000_000}
	if os.Getenv("STOROZH_BENCH_SMALL") != "" {
		sizes = []int{10_000, 100_000}
	}
	first := map[string]time.Duration{}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("flags=%d", n), func(b *testing.B) {
			d := dbtest.Open(b)
			seedHistory(b, d, n)
			for b.Loop() {
				took := map[string]time.Duration{
					"trends": median(b, func() error { _, err := d.Trends(b.Context(), threeYears(b)); return err }),
					"inbox":  median(b, func() error { _, _, err := d.Records(b.Context(), core.RecordQuery{}); return err }),
				}
				var slow []string
				for name, q := range searches() {
					m := median(b, func() error { _, _, err := d.Find(b.Context(), q); return err })
					slow = append(slow, fmt.Sprintf("%s %s", m.Round(10*time.Microsecond), name))
					took["search"] = max(took["search"], m)
				}
				b.Log("searches: " + strings.Join(slow, ", ")) // one line: the tool shows only the first ten
				for name, m := range took {
					b.ReportMetric(float64(m.Microseconds())/1000, name+"-ms")
					if was, ok := first[name]; ok && was > 0 {
						b.ReportMetric(float64(m)/float64(was), name+"-ratio")
					}
					if n == sizes[0] {
						first[name] = m
					}
				}
			}
		})
	}
}
