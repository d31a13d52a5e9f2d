package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"storozh/core"
)

// backTo is what becomes of a run that is given back: one that was to be cancelled meanwhile has ended.
const backTo = `status = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'queued' END, finished_at = CASE WHEN cancel_requested THEN now() END,
	lease_until = NULL`

// Retry gives a run back to the queue after wait (at most MaxWait), or fails it for good after MaxAttempts.
func (d *DB) Retry(ctx context.Context, run core.Run, why string, wait time.Duration) error {
	if run.Attempt >= MaxAttempts {
		return d.end(ctx, run, core.Failed, why)
	}
	res, err := d.x.ExecContext(ctx, `
		UPDATE runs SET `+backTo+`, error = $3, not_before = now() + $4 * interval '1 millisecond'
		WHERE id = $1 AND fence = $2 AND status = 'running'`, run.ID, run.Fence, text(why), min(wait, MaxWait).Milliseconds())
	return wrap(one(res, err), "Retry")
}

// Release gives a run back at once, its attempt uncounted: the process is shutting down.
func (d *DB) Release(ctx context.Context, run core.Run) error {
	res, err := d.x.ExecContext(ctx, `
		UPDATE runs SET `+backTo+`, attempt = attempt - 1 WHERE id = $1 AND fence = $2 AND status = 'running'`,
		run.ID, run.Fence)
	return wrap(one(res, err), "Release")
}

// Cancelled ends a run that someone asked to cancel.
func (d *DB) Cancelled(ctx context.Context, run core.Run) error {
	return d.end(ctx, run, core.Cancelled, "")
}

// GiveUp fails a run for good: its process has died MaxDeaths times in the middle of it, and may have died of it.
func (d *DB) GiveUp(ctx context.Context, run core.Run, why string) error {
	return d.end(ctx, run, core.Failed, why)
}

func (d *DB) end(ctx context.Context, run core.Run, s core.Status, why string) error {
	res, err := d.x.ExecContext(ctx, `
		UPDATE runs SET status = $3, lease_until = NULL, finished_at = now(), error = $4
		WHERE id = $1 AND fence = $2 AND status = 'running'`, run.ID, run.Fence, s, text(why))
	return wrap(one(res, err), "end")
}

// Cancel asks for a manifest's unfinished run to end: a waiting one ends at once, a working one at its next heartbeat. core.ErrConflict if
// none is under way.
func (d *DB) Cancel(ctx context.Context, manifestID int64) error {
	res, err := d.x.ExecContext(ctx, `
		UPDATE runs SET cancel_requested = true,
			status = CASE WHEN status = 'queued' THEN 'cancelled' ELSE status END,
			finished_at = CASE WHEN status = 'queued' THEN now() END
		WHERE manifest_id = $1 AND status IN ('queued', 'running')`, manifestID)
	if err != nil {
		return wrap(err, "Cancel")
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("%w: no run of this manifest is under way", core.ErrConflict)
	}
	return nil
}

// Rerun queues a new run of a manifest; core.ErrConflict if one is still under way, or if the manifest's bytes were dropped.
func (d *DB) Rerun(ctx context.Context, id int64, fresh bool) (core.Receipt, error) {
	r := core.Receipt{ManifestID: id, Status: core.Queued}
	if err := d.judgeable(ctx, id); err != nil {
		return r, err
	}
	err := d.x.GetContext(ctx, &r.RunID, "INSERT INTO runs (manifest_id, fresh) VALUES ($1, $2) RETURNING id", id, fresh)
	var pe *pq.Error
	switch {
	case errors.As(err, &pe) && pe.Code == "23503": // foreign key: no such manifest
		return r, fmt.Errorf("db.Rerun: manifest %d: %w", id, core.ErrNotFound)
	case errors.As(err, &pe) && pe.Code == "23505":
		return r, fmt.Errorf("%w: a run of this manifest is still under way", core.ErrConflict)
	}
	return r, wrap(err, "Rerun")
}

// one turns "no row was changed" into ErrLeaseLost: every such statement names the fence.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrLeaseLost
}
