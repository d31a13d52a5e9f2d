package db

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"storozh/core"
)

const manifestColumns = `
	m.id AS m_id, m.session_id, m.stamped_at, m.received_at, m.source, m.target, coalesce(m.superseded_by, 0) AS superseded_by,
	m.open_owner, m.open_claude, m.differ, `

// headColumns are runColumns with the head of the block in its place (see headOf): a list needs no more, and a block can have megabytes.
var headColumns = strings.Replace(runColumns, "r.block", "coalesce(r.head, r.block) AS block", 1)

// Each manifest has at least one run: Submit writes both or neither.
const recordFrom = ` FROM manifests m JOIN LATERAL (SELECT * FROM runs WHERE manifest_id = m.id ORDER BY id DESC LIMIT 1) r ON true `

type recordRow struct {
	ManifestID   int64         `db:"m_id"`
	SessionID    string        `db:"session_id"`
	StampedAt    sql.NullTime  `db:"stamped_at"`
	ReceivedAt   time.Time     `db:"received_at"`
	Source       string        `db:"source"`
	Target       string        `db:"target"`
	SupersededBy int64         `db:"superseded_by"`
	OpenOwner    sql.NullInt64 `db:"open_owner"`
	OpenClaude   sql.NullInt64 `db:"open_claude"`
	Differ       int           `db:"differ"`
	runRow
}

func (r recordRow) record() (core.Record, error) {
	run, err := r.run()
	if err != nil {
		return core.Record{}, err
	}
	rec := core.Record{
		ID: r.ManifestID, SessionID: r.SessionID, Timestamp: utc(r.StampedAt), ReceivedAt: r.ReceivedAt.UTC(),
		Source: core.Source(r.Source), Target: r.Target, SupersededBy: r.SupersededBy, Run: run, Differ: r.Differ,
	}
	if r.OpenOwner.Valid && r.OpenClaude.Valid {
		rec.Open = map[core.Cosigner]int{core.Owner: int(r.OpenOwner.Int64), core.Claude: int(r.OpenClaude.Int64)}
	}
	if run.Status == core.Done {
		setJudged(&rec, run)
	}
	return rec, nil
}

// Record gives one manifest with its latest run.
func (d *DB) Record(ctx context.Context, id int64) (core.Record, error) {
	var row recordRow
	if err := d.x.GetContext(ctx, &row, "SELECT "+manifestColumns+runColumns+recordFrom+"WHERE m.id = $1", id); err != nil {
		return core.Record{}, wrap(err, "Record")
	}
	rec, err := row.record()
	if err != nil {
		return rec, wrap(err, "Record")
	}
	recs := []core.Record{rec}
	err = d.addJudged(ctx, runColumns, recs)
	return recs[0], wrap(err, "Record")
}

// Records lists manifests, newest first, and where the next page begins (empty: there is none).
func (d *DB) Records(ctx context.Context, q core.RecordQuery) ([]core.Record, string, error) {
	limit := q.Limit
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	after := int64(1<<63 - 1)
	if q.After != "" {
		n, err := strconv.ParseInt(q.After, 10, 64)
		if err != nil {
			return nil, "", fmt.Errorf("%w: the page mark %q is not one of ours", core.ErrInvalid, q.After)
		}
		after = n
	}
	queue := ""
	if q.Queue != "" {
		queue = "AND m.open_owner IS NOT NULL AND (" + queueOf(q.For) + ") = $4 "
	}
	args := []any{after, q.IncludeSuperseded, limit + 1}
	if queue != "" {
		args = append(args, q.Queue)
	}
	recs, err := d.records(ctx, "WHERE m.id < $1 AND ($2 OR m.superseded_by IS NULL) "+queue+"ORDER BY m.id DESC LIMIT $3", args...)
	if err != nil {
		return nil, "", wrap(err, "Records")
	}
	if len(recs) <= limit {
		return recs, "", nil
	}
	recs = recs[:limit]
	return recs, strconv.FormatInt(recs[limit-1].ID, 10), nil
}

// Superseded gives, by id, the earlier manifests of the same session that are folded under each, newest first.
func (d *DB) Superseded(ctx context.Context, ids ...int64) (map[int64][]core.Record, error) {
	recs, err := d.records(ctx, "WHERE m.superseded_by = ANY($1) ORDER BY m.id DESC", pq.Int64Array(ids))
	out := map[int64][]core.Record{}
	for _, r := range recs {
		out[r.SupersededBy] = append(out[r.SupersededBy], r)
	}
	return out, wrap(err, "Superseded")
}

func (d *DB) records(ctx context.Context, where string, args ...any) ([]core.Record, error) {
	var rows []recordRow
	if err := d.x.SelectContext(ctx, &rows, "SELECT "+manifestColumns+headColumns+recordFrom+where, args...); err != nil {
		return nil, err
	}
	recs := make([]core.Record, 0, len(rows))
	for _, row := range rows {
		rec, err := row.record()
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	return recs, d.addJudged(ctx, headColumns, recs)
}

// addJudged adds the latest judged run, with these columns of it, to records whose latest run is another one: one query.
func (d *DB) addJudged(ctx context.Context, columns string, recs []core.Record) error {
	at := map[int64]int{}
	var ids pq.Int64Array
	for i, r := range recs {
		if r.Judged == nil {
			at[r.ID] = i
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []runRow
	err := d.x.SelectContext(ctx, &rows, "SELECT DISTINCT ON (r.manifest_id) "+columns+
		" FROM runs r WHERE r.manifest_id = ANY($1) AND r.status = 'done' ORDER BY r.manifest_id, r.id DESC", ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		run, err := row.run()
		if err != nil {
			return err
		}
		setJudged(&recs[at[run.ManifestID]], run)
	}
	return nil
}

func setJudged(rec *core.Record, run core.Run) {
	rec.Judged = &run
	if run.Block == nil {
		return
	}
	rec.BLUF = core.BLUF(*run.Block)
	if run.Demo {
		rec.BLUF += "; demo model"
	}
}
