package db

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// Submit stores an arrival and queues its run in one transaction; when it returns without an error both are durable. The same content
// again is the same manifest: it gets no second run, unless the last one failed or could not judge (then a caller other than the
// file watch, which sees Storozh's own writes too, asks for a new try). Earlier manifests of the session are superseded.
func (d *DB) Submit(ctx context.Context, a core.Arrival) (core.Receipt, error) {
	raw, err := pack(a.Raw)
	if err != nil {
		return core.Receipt{}, wrap(err, "Submit")
	}
	var r core.Receipt
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		r = core.Receipt{}
		return d.submit(ctx, tx, a, raw, &r)
	})
	return r, wrap(err, "Submit")
}

// submit is Submit inside a transaction; raw is a.Raw, packed.
func (d *DB) submit(ctx context.Context, tx *sqlx.Tx, a core.Arrival, raw []byte, r *core.Receipt) error {
	if err := insertManifest(ctx, tx, a, raw, r); err != nil {
		return err
	}
	if r.New {
		if err := d.supersede(ctx, tx, text(a.SessionID)); err != nil {
			return err
		}
	} else if a.Target != "" {
		if _, err := tx.ExecContext(ctx, "UPDATE manifests SET target = $2 WHERE id = $1", r.ManifestID, text(a.Target)); err != nil {
			return err
		}
	}
	return d.queueArrival(ctx, tx, a.Source, r)
}

func insertManifest(ctx context.Context, tx *sqlx.Tx, a core.Arrival, raw []byte, r *core.Receipt) error {
	err := tx.GetContext(ctx, &r.ManifestID, `
		INSERT INTO manifests (content_hash, session_id, stamped_at, source, target, raw) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (content_hash) DO NOTHING RETURNING id`,
		a.ContentHash[:], text(a.SessionID), nullTime(a.Timestamp), a.Source, text(a.Target), raw)
	if err == nil {
		r.New = true
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	// The lock orders two arrivals of the same content, so that they queue one run.
	if err := tx.GetContext(ctx, &r.ManifestID, "SELECT id FROM manifests WHERE content_hash = $1 FOR UPDATE", a.ContentHash[:]); err != nil {
		return err
	}
	return restoreRaw(ctx, tx, r.ManifestID, raw)
}

// supersede folds all manifests of a session under its latest, by the manifests' own time. Arrivals of one session are ordered by a
// lock, for neither would see the other; on the embedded Postgres the single connection does that.
func (d *DB) supersede(ctx context.Context, tx *sqlx.Tx, session string) error {
	if session == "" {
		return nil
	}
	if !d.single {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", session); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `
		WITH latest AS (
			SELECT id FROM manifests WHERE session_id = $1 ORDER BY coalesce(stamped_at, received_at) DESC, id DESC LIMIT 1)
		UPDATE manifests m SET superseded_by = nullif(latest.id, m.id) FROM latest
		WHERE m.session_id = $1 AND m.superseded_by IS DISTINCT FROM nullif(latest.id, m.id)`, session)
	return err
}

// queueArrival queues a run where one is due, and fills in the receipt's run.
func (d *DB) queueArrival(ctx context.Context, tx *sqlx.Tx, src core.Source, r *core.Receipt) error {
	if !r.New {
		var last struct {
			ID     int64          `db:"id"`
			Status core.Status    `db:"status"`
			Check  sql.NullString `db:"contra_check"`
		}
		err := tx.GetContext(ctx, &last, `
			SELECT id, status, block->>'contra-check' AS contra_check FROM runs WHERE manifest_id = $1 ORDER BY id DESC LIMIT 1`, r.ManifestID)
		if err != nil {
			return err
		}
		r.RunID, r.Status = last.ID, last.Status
		judged := last.Check.String == core.ContraRan || last.Check.String == core.SkippedNoKnowledge
		if !last.Status.Finished() || src == core.SourceFile || last.Status == core.Done && judged {
			return nil
		}
	}
	r.Status = core.Queued
	return tx.GetContext(ctx, &r.RunID, "INSERT INTO runs (manifest_id) VALUES ($1) RETURNING id", r.ManifestID)
}

// RawManifest gives the bytes as they came; core.ErrDropped (a core.ErrNotFound) once retention has let them go.
func (d *DB) RawManifest(ctx context.Context, id int64) ([]byte, error) {
	var packed []byte
	if err := d.x.GetContext(ctx, &packed, "SELECT raw FROM manifests WHERE id = $1", id); err != nil {
		return nil, wrap(err, "RawManifest")
	}
	if len(packed) == 0 {
		return nil, fmt.Errorf("manifest %d: %w", id, core.ErrDropped)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, wrap(err, "RawManifest")
	}
	raw, err := io.ReadAll(z)
	return raw, wrap(err, "RawManifest")
}

func pack(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(raw); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

const recordColumns = `
	m.id AS m_id, m.session_id, m.stamped_at, m.received_at, m.source, m.target, coalesce(m.superseded_by, 0) AS superseded_by,
	m.open_owner, m.open_claude, m.differ, ` + runColumns

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
	if err := d.x.GetContext(ctx, &row, "SELECT "+recordColumns+recordFrom+"WHERE m.id = $1", id); err != nil {
		return core.Record{}, wrap(err, "Record")
	}
	rec, err := row.record()
	if err != nil {
		return rec, wrap(err, "Record")
	}
	recs := []core.Record{rec}
	err = d.addJudged(ctx, recs)
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
	if err := d.x.SelectContext(ctx, &rows, "SELECT "+recordColumns+recordFrom+where, args...); err != nil {
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
	return recs, d.addJudged(ctx, recs)
}

// addJudged adds the latest judged run to records whose latest run is another one, with one query.
func (d *DB) addJudged(ctx context.Context, recs []core.Record) error {
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
	err := d.x.SelectContext(ctx, &rows, "SELECT DISTINCT ON (r.manifest_id) "+runColumns+
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

// Unfinished counts the runs that wait or work.
func (d *DB) Unfinished(ctx context.Context) (int, error) {
	var n int
	err := d.x.GetContext(ctx, &n, "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')")
	return n, wrap(err, "Unfinished")
}

// ManifestByContent finds the manifest with these bytes.
func (d *DB) ManifestByContent(ctx context.Context, hash [32]byte) (int64, error) {
	var id int64
	err := d.x.GetContext(ctx, &id, "SELECT id FROM manifests WHERE content_hash = $1", hash[:])
	return id, wrap(err, "ManifestByContent")
}

// ContentHash gives the hash that a manifest is known by.
func (d *DB) ContentHash(ctx context.Context, id int64) ([32]byte, error) {
	var b []byte
	var h [32]byte
	err := d.x.GetContext(ctx, &b, "SELECT content_hash FROM manifests WHERE id = $1", id)
	copy(h[:], b)
	return h, wrap(err, "ContentHash")
}

func nullTime(t time.Time) sql.NullTime { return sql.NullTime{Time: t, Valid: !t.IsZero()} }
