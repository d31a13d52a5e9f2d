package db

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

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
		if err := d.supersede(ctx, tx, sessionName(a.SessionID)); err != nil {
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
		a.ContentHash[:], sessionName(a.SessionID), nullTime(a.Timestamp), a.Source, text(a.Target), raw)
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

// maxSession bounds the name of a session, in bytes: an index takes no more than 2,700.
const maxSession = 500

// sessionName is a session id as it is stored: one that is too long is shortened, with a digest in place of the rest, so that two sessions
// stay two.
func sessionName(id string) string {
	name := text(id)
	if len(name) <= maxSession {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return text(name[:maxSession-2*len(sum)-len("…")-utf8.UTFMax]) + "…" + hex.EncodeToString(sum[:])
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
