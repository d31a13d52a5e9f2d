package dbtest

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"storozh/db"
)

// SeedZone is the zone that the days of a seeded history are in; another one than the quarters', so that the days are really made.
const SeedZone = "Europe/Berlin"

// Seed writes n flagged units over the three years from June 2023 straight into the tables, perRun to a manifest, with everything that runs
// and decisions would have left there, a corpus of 2,000 items under the folder /shield, and a delivery per manifest.
func Seed(t testing.TB, d *db.DB, n, perRun int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	for _, s := range seedStatements {
		s = strings.NewReplacer("$1", strconv.Itoa(n), "$2", strconv.Itoa(perRun)).Replace(s)
		if _, err := d.SQL().ExecContext(ctx, s); err != nil {
			t.Fatalf("%.60s: %v", s, err)
		}
	}
	zone, err := time.LoadLocation(SeedZone)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SetTrendZone(ctx, zone); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL().ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

var seedStatements = []string{
	`INSERT INTO manifests (content_hash, session_id, stamped_at, received_at, source, raw, open_owner, open_claude)
		SELECT sha256(i::text::bytea), 's' || i / 3, s, s, 'webhook', '', (i % 40 = 0)::int, (i % 25 = 0)::int
		FROM generate_series(0, $1 / $2 - 1) i, LATERAL (SELECT timestamptz '2023-06-01' + i * (interval '3 years' / ($1 / $2)) AS s) x`,
	`INSERT INTO runs (manifest_id, status, judge_model, embed_model, prompt_version, policy_source, finished_at, counted, block)
		SELECT id, 'done', CASE WHEN id * 2 * $2 < $1 THEN 'judge-a' ELSE 'judge-b' END, 'emb', 'judge-1', 'built-in copy', stamped_at, true, '{}' FROM manifests ORDER BY id`,
	`INSERT INTO units (run_id, ord, unit, observed, repo, path, old_path, anchor, type, home, action, title, text, normative, replaces, start_line,
			end_line, diff, routing, expected, severity, semantic, against, judge_note, unjudged)
		SELECT r.id, o, repo || '/lessons/' || (r.id * 10 + o) || '.md', repo, repo, 'lessons/' || (r.id * 10 + o) || '.md', '', '',
			(ARRAY['lesson','invariant','skill','genome'])[1 + (r.id + o) % 4], '', 'added', 'About word' || (r.id + o) % 997,
			'слово' || (r.id * 7 + o) % 5000 || ' word' || (r.id + o) % 997, 'x', '{}', 1, 2, '', CASE WHEN o % 3 = 0 THEN 'misroute' ELSE 'ok' END,
			'shield', '', CASE o % 3 WHEN 1 THEN 'contra' WHEN 2 THEN 'dup' ELSE 'ok' END, '{}', 'note', false
		FROM runs r, generate_series(0, $2 - 1) o, LATERAL (SELECT (ARRAY['shield','darwin','mirabilis','neuro-matrix'])[1 + (r.id / 7 + o) % 4] AS repo) x WHERE $1 > 0`,
	`INSERT INTO pairs (run_id, ord, rank, item, item_title, item_text, similarity, label, note, cached, unjudged, unit_hash, item_hash, judge, prompt)
		SELECT run_id, ord, 1, 'shield/invariants#' || (run_id * 3 + ord) % 2000, '', 'text', .9, semantic, '', false, '', '\x01', '\x02', 'judge-a', 'judge-1' FROM units WHERE $1 > 0`,
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
	`INSERT INTO corpora (dir, commit, read_at) VALUES ('/shield', 'c0ffee', now())`,
	`INSERT INTO items (corpus_id, item, path, anchor, kind, title, text, normative, start_line, end_line, blob, text_hash)
		SELECT c.id, 'shield/invariants#' || i, 'invariants', '#' || i, 'invariant', 'Rule ' || i, 'Rule ' || i || ' holds.', 'Rule ' || i || ' holds.', i, i, 'b', sha256(i::text::bytea)
		FROM corpora c, generate_series(0, 1999) i`,
	`INSERT INTO deliveries (delivery_id, received_at, remote, headers, size, verdict, status, duration_ms, manifest_id)
		SELECT 'd' || id, received_at, '127.0.0.1', '{}', 20000, 'accepted', 202, 5, id FROM manifests`,
}
