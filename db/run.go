package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// ErrLeaseLost means that another worker has taken the run over: what this one found is not written.
var ErrLeaseLost = errors.New("the run was taken over by another worker")

// Lease is how long a claim lasts without a heartbeat; a killed worker's run is retaken after it.
const Lease = 20 * time.Second

// MaxWait is the longest wait for the next try of a run.
const MaxWait = 2 * time.Minute

// MaxAttempts is how often a run is tried before it fails for good.
const MaxAttempts = 5

// MaxDeaths is how often a run whose process died is taken over: far more often than anyone kills it by chance, and not for ever, as it may
// be this run that brings the process down.
const MaxDeaths = 100

const runColumns = `
	r.id, r.manifest_id, r.status, r.attempt, r.fence, r.fresh, r.progress_done, r.progress_of, r.error, r.demo, r.judge_model,
	r.embed_model, r.prompt_version, r.policy_source, r.queued_at, r.started_at, r.finished_at, r.block, r.write_state, r.write_path,
	r.write_at, r.write_detail `

type runRow struct {
	ID            int64        `db:"id"`
	ManifestRef   int64        `db:"manifest_id"`
	Status        string       `db:"status"`
	Attempt       int          `db:"attempt"`
	Fence         int64        `db:"fence"`
	Fresh         bool         `db:"fresh"`
	ProgressDone  int          `db:"progress_done"`
	ProgressOf    int          `db:"progress_of"`
	Error         string       `db:"error"`
	Demo          bool         `db:"demo"`
	JudgeModel    string       `db:"judge_model"`
	EmbedModel    string       `db:"embed_model"`
	PromptVersion string       `db:"prompt_version"`
	PolicySource  string       `db:"policy_source"`
	QueuedAt      time.Time    `db:"queued_at"`
	StartedAt     sql.NullTime `db:"started_at"`
	FinishedAt    sql.NullTime `db:"finished_at"`
	Block         []byte       `db:"block"`
	WriteState    string       `db:"write_state"`
	WritePath     string       `db:"write_path"`
	WriteAt       sql.NullTime `db:"write_at"`
	WriteDetail   string       `db:"write_detail"`
}

func (r runRow) run() (core.Run, error) {
	run := core.Run{
		ID: r.ID, ManifestID: r.ManifestRef, Status: core.Status(r.Status), Attempt: r.Attempt, Fence: r.Fence, Fresh: r.Fresh,
		Progress: core.Progress{Done: r.ProgressDone, Of: r.ProgressOf}, Error: r.Error, Demo: r.Demo, JudgeModel: r.JudgeModel,
		EmbedModel: r.EmbedModel, PromptVersion: r.PromptVersion, PolicySource: r.PolicySource, QueuedAt: r.QueuedAt.UTC(),
		StartedAt: utc(r.StartedAt), FinishedAt: utc(r.FinishedAt),
		WriteBack: core.WriteBack{State: core.WriteState(r.WriteState), Path: r.WritePath, At: utc(r.WriteAt), Detail: r.WriteDetail},
	}
	if len(r.Block) > 0 {
		run.Block = new(core.Block)
		if err := json.Unmarshal(r.Block, run.Block); err != nil {
			return run, fmt.Errorf("block of run %d: %w", r.ID, err)
		}
	}
	return run, nil
}

func utc(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// Claim takes the next run that is due, or one whose worker has died, and leases it. Manifests that are not superseded go first, and runs that
// were begun often already go last: one that kills its process must not keep the others from being done. Leases and waits go by the
// database's clock; one that seems to last longer than any is given for was written before the clock was set back. core.ErrNotFound:
// nothing is due.
func (d *DB) Claim(ctx context.Context) (core.Run, error) {
	var row runRow
	err := d.x.GetContext(ctx, &row, `
		UPDATE runs r SET status = 'running', attempt = r.attempt + 1, fence = r.fence + 1, started_at = now(), error = '',
			lease_until = now() + $1 * interval '1 millisecond'
		WHERE r.id = (
			SELECT q.id FROM runs q JOIN manifests m ON m.id = q.manifest_id
			WHERE q.status = 'queued' AND (q.not_before <= now() OR q.not_before > now() + $3 * interval '1 millisecond')
				OR q.status = 'running' AND (q.lease_until < now() OR q.lease_until > now() + $2 * interval '1 millisecond')
			ORDER BY m.superseded_by IS NOT NULL, q.attempt >= $4, q.id LIMIT 1 FOR UPDATE OF q SKIP LOCKED)
		RETURNING `+runColumns, Lease.Milliseconds(), (2 * Lease).Milliseconds(), MaxWait.Milliseconds(), MaxAttempts)
	if err != nil {
		return core.Run{}, wrap(err, "Claim")
	}
	run, err := row.run()
	return run, wrap(err, "Claim")
}

// Heartbeat prolongs the lease, records progress, and tells whether someone asked to cancel. ErrLeaseLost: stop at once.
func (d *DB) Heartbeat(ctx context.Context, run core.Run, p core.Progress) (cancel bool, err error) {
	err = d.x.GetContext(ctx, &cancel, `
		UPDATE runs SET lease_until = now() + $3 * interval '1 millisecond', progress_done = $4, progress_of = $5
		WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING cancel_requested`,
		run.ID, run.Fence, Lease.Milliseconds(), p.Done, p.Of)
	if errors.Is(err, sql.ErrNoRows) {
		return false, ErrLeaseLost
	}
	return cancel, wrap(err, "Heartbeat")
}

// Finish keeps a run's units, pairs and block, and marks it done, all in one transaction.
func (d *DB) Finish(ctx context.Context, run core.Run, res core.Result, demo bool) error {
	block, err := json.Marshal(res.Block)
	if err != nil {
		return wrap(err, "Finish")
	}
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		if err := tx.GetContext(ctx, new(int64), "SELECT id FROM manifests WHERE id = $1 FOR UPDATE", run.ManifestID); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `
			UPDATE runs SET status = 'done', lease_until = NULL, finished_at = now(), block = $3, demo = $4, judge_model = $5,
				embed_model = $6, prompt_version = $7, policy_source = $8, add_commands = $9, progress_done = progress_of,
				write_state = 'pending'
			WHERE id = $1 AND fence = $2 AND status = 'running'`,
			run.ID, run.Fence, noNUL(block), demo, text(res.JudgeModel), text(res.EmbedModel), res.PromptVersion,
			text(res.PolicySource), list(res.AddCommands))
		if err := one(done, err); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM units WHERE run_id = $1", run.ID); err != nil {
			return err
		}
		if err := insertResults(ctx, tx, run.ID, res); err != nil {
			return err
		}
		if err := insertFlags(ctx, tx, run.ID, res.Flags); err != nil {
			return err
		}
		if err := closeReveals(ctx, tx, run.ManifestID, run.ID); err != nil {
			return err
		}
		if err := recount(ctx, tx, run.ManifestID); err != nil {
			return err
		}
		return d.rollup(ctx, tx, run.ID, res.Units)
	})
	return wrap(err, "Finish")
}

// SetWriteBack records what became of the block on its way into the file.
func (d *DB) SetWriteBack(ctx context.Context, runID int64, w core.WriteBack) error {
	_, err := d.x.ExecContext(ctx, `
		UPDATE runs SET write_state = $2, write_path = $3, write_detail = $4, write_at = now() WHERE id = $1`,
		runID, w.State, text(w.Path), text(w.Detail))
	return wrap(err, "SetWriteBack")
}

// PendingWrites lists done runs whose block was not yet brought to its file, such as after a crash between the two.
func (d *DB) PendingWrites(ctx context.Context) ([]core.Run, error) {
	var rows []runRow
	if err := d.x.SelectContext(ctx, &rows, "SELECT "+runColumns+" FROM runs r WHERE r.status = 'done' AND r.write_state = 'pending' ORDER BY r.id"); err != nil {
		return nil, wrap(err, "PendingWrites")
	}
	runs := make([]core.Run, 0, len(rows))
	for _, row := range rows {
		run, err := row.run()
		if err != nil {
			return nil, wrap(err, "PendingWrites")
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// WritePending tells whether a run's block still waits to be brought to its file.
func (d *DB) WritePending(ctx context.Context, runID int64) (bool, error) {
	var waits bool
	err := d.x.GetContext(ctx, &waits, "SELECT status = 'done' AND write_state = 'pending' FROM runs WHERE id = $1", runID)
	return waits, wrap(err, "WritePending")
}

// AddCommands lists the commands that bring the files missing from a run's diff in.
func (d *DB) AddCommands(ctx context.Context, runID int64) ([]string, error) {
	var out pq.StringArray
	err := d.x.GetContext(ctx, &out, "SELECT add_commands FROM runs WHERE id = $1", runID)
	return out, wrap(err, "AddCommands")
}
