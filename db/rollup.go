package db

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// countedRun is what the sums need to know about a finished run.
type countedRun struct {
	ID         int64     `db:"id"`
	ManifestID int64     `db:"manifest_id"`
	Session    string    `db:"session_id"`
	Stamped    time.Time `db:"stamped"`
	ReceivedAt time.Time `db:"received_at"`
	Demo       bool      `db:"demo"` // judged by the demo model, or the sample: can be found, is in no sum
	Judge      string    `db:"judge_model"`
	Prompt     string    `db:"prompt_version"`
	Embed      string    `db:"embed_model"`
	Policy     string    `db:"policy_source"`
	Corpus     string    `db:"corpus"`
	FinishedAt time.Time `db:"finished_at"`
}

const countedRunQuery = `
	SELECT r.id, r.manifest_id, m.session_id, coalesce(m.stamped_at, m.received_at) AS stamped, m.received_at,
		r.demo OR m.source = 'sample' AS demo, r.judge_model, r.prompt_version, r.embed_model, r.policy_source,
		coalesce(r.block->'corpus'->>'commit', '') AS corpus,
		coalesce(r.finished_at, now()) AS finished_at
	FROM runs r JOIN manifests m ON m.id = r.manifest_id `

func (r countedRun) quarter() time.Time { return quarter(r.Stamped, r.ReceivedAt) }

// sessionKey names the session of a manifest; one without a session is its own.
func sessionKey(session string, manifestID int64) string {
	if session == "" {
		return fmt.Sprintf("manifest:%d", manifestID)
	}
	return "session:" + session
}

func digest(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}

type countedRow struct {
	Key        []byte         `db:"key"`
	ManifestID int64          `db:"manifest_id"`
	RunID      int64          `db:"run_id"`
	Ord        int            `db:"ord"`
	Session    []byte         `db:"session"`
	Unit       string         `db:"unit"`
	Repo       string         `db:"repo"`
	Type       string         `db:"type"`
	Stamped    time.Time      `db:"stamped"`
	Demo       bool           `db:"demo"`
	Misroute   bool           `db:"misroute"`
	Contra     bool           `db:"contra"`
	Dup        bool           `db:"dup"`
	OK         bool           `db:"ok"`
	Unjudged   bool           `db:"unjudged"`
	Words      pq.StringArray `db:"words"`
}

// columns lists the sums that a unit counts in (C4: one unit can count under two flags).
func (c countedRow) columns() []int {
	out := []int{0}
	for i, yes := range []bool{c.Misroute, c.Contra, c.Dup, c.OK, c.Unjudged} {
		if yes {
			out = append(out, i+1)
		}
	}
	return out
}

// counted is a unit as it is counted. Its content is what a reader is bound by (normative text), else text and diff, with the title. The
// type is left out: a run under other path rules finds the same content under another type, and must replace what was counted.
func counted(run countedRun, ord int, u core.UnitResult) countedRow {
	content := u.Unit.Normative
	if content == "" {
		content = u.Unit.Text + "\x00" + u.Unit.Diff
	}
	realm := "real"
	if run.Demo {
		realm = "demo"
	}
	f := u.Flag
	labelled := f.Semantic == core.Contra || f.Semantic == core.Dup || u.Unjudged
	return countedRow{
		Key:        digest(realm, sessionKey(run.Session, run.ManifestID), text(u.Unit.ID), u.Unit.Title, content),
		Session:    digest(sessionKey(run.Session, run.ManifestID)),
		ManifestID: run.ManifestID, RunID: run.ID, Ord: ord, Unit: text(u.Unit.ID), Repo: clip(u.Unit.Repo), Type: string(u.Unit.Type),
		Stamped: quarterless(run), Demo: run.Demo, Misroute: f.Routing == core.Misroute, Contra: f.Semantic == core.Contra,
		Dup: f.Semantic == core.Dup, OK: f.Routing == core.RoutingOK && !labelled, Unjudged: u.Unjudged,
		Words: words(u.Unit.ID, u.Unit.Title, f.JudgeNote, u.Unit.Text),
	}
}

// quarterless is the run's time itself, under the same rule for times that cannot be as quarter.
func quarterless(r countedRun) time.Time {
	if y := r.Stamped.UTC().Year(); y < 1970 || y > 2200 {
		return r.ReceivedAt.UTC()
	}
	return r.Stamped.UTC()
}

// rollup brings a finished run into the sums: what was counted of the same session, unit and content before is taken out, so that a later
// Stop of a session, or a rerun, replaces it.
func (d *DB) rollup(ctx context.Context, tx *sqlx.Tx, runID int64, results []core.UnitResult) error {
	var run countedRun
	if err := tx.GetContext(ctx, &run, countedRunQuery+"WHERE r.id = $1", runID); err != nil {
		return err
	}
	if !d.single { // two runs of one session would not see each other's units
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", sessionKey(run.Session, run.ManifestID)); err != nil {
			return err
		}
	}
	sums := changes{}
	if err := replaceCounted(ctx, tx, run, results, sums); err != nil {
		return fmt.Errorf("counted units: %w", err)
	}
	if !run.Demo {
		if !d.single { // they touch the same few rows, in an order that depends on what changed: one after the other
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('trend_settings', 2))"); err != nil {
				return err
			}
		}
		if err := countSettings(ctx, tx, run); err != nil {
			return fmt.Errorf("settings of runs: %w", err)
		}
	}
	if err := d.syncFlags(ctx, tx, run.ManifestID, sums); err != nil {
		return fmt.Errorf("flag history: %w", err)
	}
	if err := sums.apply(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE runs SET counted = true WHERE id = $1", runID)
	return err
}

func replaceCounted(ctx context.Context, tx *sqlx.Tx, run countedRun, results []core.UnitResult, sums changes) error {
	rows := make([]countedRow, 0, len(results))
	keys := pq.ByteaArray{}
	seen := map[string]bool{}
	for i, r := range results {
		c := counted(run, i, r)
		if !seen[string(c.Key)] {
			seen[string(c.Key)] = true
			rows, keys = append(rows, c), append(keys, c.Key)
		}
	}
	var old []countedRow
	err := tx.SelectContext(ctx, &old, `
		DELETE FROM counted_units WHERE key = ANY($1)
		RETURNING key, manifest_id, run_id, ord, session, unit, repo, type, stamped, demo, misroute, contra, dup, ok, unjudged`, keys)
	if err != nil {
		return err
	}
	err = insertAll(ctx, tx, `
		INSERT INTO counted_units (key, manifest_id, run_id, ord, session, unit, repo, type, stamped, demo, misroute, contra, dup, ok, unjudged, search)
		VALUES (:key, :manifest_id, :run_id, :ord, :session, :unit, :repo, :type, :stamped, :demo, :misroute, :contra, :dup, :ok, :unjudged,
			array_to_tsvector(CAST(:words AS text[])))`, rows)
	if err != nil || run.Demo {
		return err
	}
	for _, o := range old {
		sums.add(o.Repo, quarter(o.Stamped, run.ReceivedAt), -1, o.columns()...)
	}
	for _, c := range rows {
		sums.add(c.Repo, quarter(c.Stamped, run.ReceivedAt), 1, c.columns()...)
	}
	if err := countItems(ctx, tx, old, rows); err != nil {
		return err
	}
	return countSimilarities(ctx, tx, run.ID, old, rows)
}

// countItems keeps how often each item was among the nearest of a counted unit.
func countItems(ctx context.Context, tx *sqlx.Tx, old, fresh []countedRow) error {
	var runs, ords, signs pq.Int64Array
	for sign, rows := range map[int64][]countedRow{-1: old, 1: fresh} {
		for _, r := range rows {
			runs, ords, signs = append(runs, r.RunID), append(ords, int64(r.Ord)), append(signs, sign)
		}
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO item_tallies AS t (item, met, contra, dup)
		SELECT p.item, sum(c.sign), coalesce(sum(c.sign) FILTER (WHERE p.label = 'contra'), 0), coalesce(sum(c.sign) FILTER (WHERE p.label = 'dup'), 0)
		FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS c (run_id, ord, sign) JOIN pairs p ON p.run_id = c.run_id AND p.ord = c.ord
		WHERE NOT starts_with(p.item, $4) GROUP BY p.item ORDER BY p.item
		ON CONFLICT (item) DO UPDATE SET met = t.met + excluded.met, contra = t.contra + excluded.contra, dup = t.dup + excluded.dup`,
		runs, ords, signs, core.SiblingPrefix)
	return err
}
