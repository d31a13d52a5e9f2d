package db_test

import (
	"context"
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

// seedHistory writes n flagged units over three years straight into the tables, ten to a manifest, with everything that runs and decisions
// would have left there.
func seedHistory(t testing.TB, d *db.DB, n int) {
	t.Helper()
	statements := []string{
		`INSERT INTO manifests (content_hash, session_id, stamped_at, received_at, source, raw, open_owner, open_claude)
			SELECT sha256(i::text::bytea), 's' || i / 3, s, s, 'webhook', '', (i % 40 = 0)::int, (i % 25 = 0)::int
			FROM generate_series(0, $1 / 10 - 1) i, LATERAL (SELECT timestamptz '2023-06-01' + i * (interval '3 years' / ($1 / 10)) AS s) x`,
		`INSERT INTO runs (manifest_id, status, judge_model, embed_model, prompt_version, policy_source, finished_at, counted, block)
			SELECT id, 'done', CASE WHEN id * 20 < $1 THEN 'judge-a' ELSE 'judge-b' END, 'emb', 'judge-1', 'built-in copy', stamped_at, true, '{}' FROM manifests ORDER BY id`,
		`INSERT INTO units (run_id, ord, unit, observed, repo, path, old_path, anchor, type, home, action, title, text, normative, replaces, start_line,
				end_line, diff, routing, expected, severity, semantic, against, judge_note, unjudged)
			SELECT r.id, o, repo || '/lessons/' || (r.id * 10 + o) || '.md', repo, repo, 'lessons/' || (r.id * 10 + o) || '.md', '', '',
				(ARRAY['lesson','invariant','skill','genome'])[1 + (r.id + o) % 4], '', 'added', 'About word' || (r.id + o) % 997,
				'слово' || (r.id * 7 + o) % 5000 || ' word' || (r.id + o) % 997, 'x', '{}', 1, 2, '', CASE WHEN o % 3 = 0 THEN 'misroute' ELSE 'ok' END,
				'shield', '', CASE o % 3 WHEN 1 THEN 'contra' WHEN 2 THEN 'dup' ELSE 'ok' END, '{}', 'note', false
			FROM runs r, generate_series(0, 9) o, LATERAL (SELECT (ARRAY['shield','darwin','mirabilis','neuro-matrix'])[1 + (r.id / 7 + o) % 4] AS repo) x WHERE $1 > 0`,
		`INSERT INTO pairs SELECT run_id, ord, 1, 'shield/invariants#' || (run_id * 3 + ord) % 2000, '', 'text', .9, semantic, '', false, '', '\x01', '\x02', 'judge-a', 'judge-1' FROM units WHERE $1 > 0`,
		`INSERT INTO flags SELECT run_id, ord, unit, CASE WHEN routing = 'misroute' THEN 'routing' ELSE 'semantic' END, CASE WHEN routing = 'misroute' THEN 'misroute' ELSE semantic END,
				md5(unit), '{x}' FROM units WHERE $1 > 0`,
		`INSERT INTO decisions (manifest_id, run_id, cosigner, unit, kind, label, unit_hash, covers, decision, rationale, decided_at)
			SELECT r.manifest_id, r.id, c, f.unit, f.kind, f.label, f.unit_hash, f.covers, (ARRAY['land','fix','accept','drop-as-dup'])[1 + (f.run_id + f.ord) % 4], '', r.finished_at
			FROM flags f JOIN runs r ON r.id = f.run_id, unnest(ARRAY['owner','claude']) c WHERE f.ord % 5 = 0 AND $1 > 0`,
		`INSERT INTO counted_units (key, manifest_id, run_id, ord, session, unit, repo, type, stamped, demo, misroute, contra, dup, ok, unjudged, open_owner, open_claude,
				differ, owner_choices, claude_choices, search)
			SELECT sha256(u.unit::bytea), r.manifest_id, u.run_id, u.ord, sha256(m.session_id::bytea), u.unit, u.repo, u.type, m.stamped_at, false, u.routing = 'misroute',
				u.semantic = 'contra', u.semantic = 'dup', false, false, (m.id % 40 = 0)::int, (m.id % 25 = 0)::int, m.id % 333 = 0,
				CASE WHEN u.ord % 5 = 0 THEN ARRAY['fix'] ELSE '{}' END, CASE WHEN m.id % 50 = 0 THEN ARRAY['accept'] ELSE '{}' END,
				array_to_tsvector(ARRAY['слово' || (u.run_id * 7 + u.ord) % 5000, 'word' || (u.run_id + u.ord) % 997, 'about', u.repo, 'text' || u.run_id % 50])
			FROM units u JOIN runs r ON r.id = u.run_id JOIN manifests m ON m.id = r.manifest_id WHERE $1 > 0`,
		`INSERT INTO flag_history (key, session, unit, kind, label, repo, raised, seen_at, resolved, how)
			SELECT c.key, c.session, c.unit, 'semantic', 'contra', c.repo, to_timestamp(floor(extract(epoch FROM c.stamped) / 900) * 900), c.stamped,
				CASE WHEN c.ord % 2 = 0 THEN to_timestamp(floor(extract(epoch FROM c.stamped) / 900) * 900 + 86400) END, '' FROM counted_units c WHERE $1 > 0`,
		`INSERT INTO trend_quarters (repo, bucket, units, misroute, contra, dup, raised, resolved, agreed, owner_fix, claude_fix, confirmed_dup, waited_day)
			SELECT repo, to_timestamp(floor(extract(epoch FROM stamped) / 900) * 900), count(*), count(*) FILTER (WHERE misroute), count(*) FILTER (WHERE contra),
				count(*) FILTER (WHERE dup), count(*), count(*) / 2, count(*) / 5, count(*) / 5, count(*) / 5, count(*) / 5, count(*) / 5 FROM counted_units WHERE $1 > 0 GROUP BY 1, 2`,
		`INSERT INTO item_tallies SELECT item, count(*), count(*) FILTER (WHERE label = 'contra'), count(*) FILTER (WHERE label = 'dup') FROM pairs WHERE $1 > 0 GROUP BY item`,
		`INSERT INTO trend_settings SELECT (stamped_at AT TIME ZONE 'UTC')::date, k, CASE k WHEN 'judge-model' THEN r.judge_model WHEN 'corpus' THEN 'commit' || m.id / 3000 ELSE 'same' END,
				min(m.stamped_at), count(*) FROM manifests m JOIN runs r ON r.manifest_id = m.id, unnest(ARRAY['judge-model', 'corpus', 'policy', 'prompt', 'embed-model']) k
			WHERE $1 > 0 GROUP BY 1, 2, 3`,
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	for _, s := range statements {
		s = strings.ReplaceAll(s, "INSERT INTO pairs SELECT", "INSERT INTO pairs (run_id, ord, rank, item, item_title, item_text, similarity, label, note, cached, unjudged, unit_hash, item_hash, judge, prompt) SELECT")
		if _, err := d.SQL().ExecContext(ctx, strings.ReplaceAll(s, "$1", fmt.Sprint(n))); err != nil {
			t.Fatalf("%.60s: %v", s, err)
		}
	}
	// Another zone than the quarters', so that the days are really made.
	if err := d.SetTrendZone(ctx, zone(t, "Europe/Berlin")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL().ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
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
