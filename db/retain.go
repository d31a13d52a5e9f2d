package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// dropBatch bounds one statement of DropRaw: the embedded Postgres serves nobody else meanwhile.
const dropBatch = 200

// DropRaw lets go of the bytes (and so of the transcripts) of manifests received before an instant, and tells of how many. Units, flags,
// decisions and sums stay. A manifest with a run under way waits for the next time.
func (d *DB) DropRaw(ctx context.Context, before time.Time) (int, error) {
	for total := 0; ; {
		res, err := d.x.ExecContext(ctx, `
			UPDATE manifests SET raw = '', raw_dropped_at = now() WHERE id IN (
				SELECT id FROM manifests m WHERE m.received_at < $1 AND m.raw_dropped_at IS NULL
					AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.manifest_id = m.id AND r.status IN ('queued', 'running'))
				ORDER BY m.received_at LIMIT $2)`, before, dropBatch)
		if err != nil {
			return total, wrap(err, "DropRaw")
		}
		n, err := res.RowsAffected()
		total += int(n)
		if err != nil || n < dropBatch {
			return total, wrap(err, "DropRaw")
		}
	}
}

// restoreRaw keeps the bytes again when a manifest whose bytes were dropped comes in once more.
func restoreRaw(ctx context.Context, tx *sqlx.Tx, id int64, raw []byte) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE manifests SET raw = $2, raw_dropped_at = NULL, received_at = now() WHERE id = $1 AND raw_dropped_at IS NOT NULL`, id, raw)
	return err
}

// judgeable refuses a run of a manifest without bytes: it could only fail. An unknown manifest is left to the caller.
func (d *DB) judgeable(ctx context.Context, id int64) error {
	var gone bool
	err := d.x.GetContext(ctx, &gone, "SELECT EXISTS (SELECT 1 FROM manifests WHERE id = $1 AND raw_dropped_at IS NOT NULL)", id)
	if err != nil {
		return wrap(err, "Rerun")
	}
	if gone {
		return fmt.Errorf("%w: manifest %d cannot be judged again, STOROZH_KEEP_RAW let its bytes go; send it once more", core.ErrConflict, id)
	}
	return nil
}
