package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
)

// writeBlocks brings the blocks of done runs to their files, one at a time, until ctx ends. It also finds those that a killed process
// left pending.
func (a *App) writeBlocks(ctx context.Context) {
	for ctx.Err() == nil {
		ended := a.ended.next()
		runs, err := a.db.PendingWrites(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.Error("cannot look for blocks to write", "err", err)
		}
		wrote := false
		for _, run := range runs {
			wrote = a.writePending(ctx, run) || wrote
		}
		if wrote {
			a.ended.fire()
			continue
		}
		select {
		case <-ctx.Done():
		case <-ended:
		case <-time.After(a.poll):
		}
	}
}

// writePending writes a block that waits for it, unless another process on this database does or has done: else each would write it, and
// count and record it once more. A process that is killed meanwhile keeps the others from it for the length of a lease.
func (a *App) writePending(ctx context.Context, run core.Run) bool {
	if a.server == nil { // the embedded Postgres serves this process alone
		name := fmt.Sprintf("write-back of run %d", run.ID)
		mine, err := a.db.Lease(ctx, name, a.me, db.Lease)
		if err != nil || !mine {
			return false
		}
		defer func() {
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeLimit)
			defer cancel()
			_ = a.db.EndLease(limited, name, a.me) // it ends by itself, too
		}()
		if waits, err := a.db.WritePending(ctx, run.ID); err != nil || !waits {
			return false
		}
	}
	a.writeBlock(ctx, run)
	return true
}

// writeBlock brings one run's block to its file and records what became of it. What fails is said on the page; the block itself is safe
// in the database.
func (a *App) writeBlock(ctx context.Context, run core.Run) {
	decided := a.lastDecision(ctx, run.ManifestID)
	w, err := a.tryWrite(ctx, run)
	if now := a.lastDecision(ctx, run.ManifestID); now != decided && ctx.Err() == nil {
		return // someone decided while this was written: still pending, and the next round writes what they decided
	}
	if ctx.Err() != nil || errors.Is(err, core.ErrNoDatabase) {
		return // still pending: the next round, or the next start, writes it
	}
	if err != nil {
		a.log.Error("block not written", "run", run.ID, "err", err)
		if w.State == "" {
			w = core.WriteBack{State: core.WriteFailed, Detail: "an internal error; the log has the details"}
		}
	}
	if err := a.db.SetWriteBack(ctx, run.ID, w); err != nil && ctx.Err() == nil {
		a.log.Error("write-back not recorded", "run", run.ID, "err", err)
		return
	}
	if now := a.lastDecision(ctx, run.ManifestID); now != decided && ctx.Err() == nil {
		// Decided between the last look and the record, which has covered up that the block was to be written once more.
		if err := a.db.SetWriteBack(ctx, run.ID, core.WriteBack{State: core.WritePend, Path: w.Path}); err != nil {
			a.log.Error("the block is to be written once more, and that was not recorded", "run", run.ID, "err", err)
		}
	}
	a.meter.wrote(w)
	if w.State != core.WriteOff {
		a.audit(ctx, core.AuditEntry{Who: core.AuditProcess, What: core.AuditWriteBack,
			Detail: fmt.Sprintf("manifest %d, run %d: %s %s", run.ManifestID, run.ID, w.State, w.Path)})
	}
	a.log.Info("write-back", "run", run.ID, "state", w.State, "detail", w.Detail)
}

// lastDecision is the id of the latest decision on a manifest; 0: none, or it can't be told.
func (a *App) lastDecision(ctx context.Context, manifest int64) int64 {
	all, err := a.db.Decisions(ctx, manifest)
	if err != nil || len(all) == 0 {
		return 0
	}
	return all[len(all)-1].ID
}

func (a *App) tryWrite(ctx context.Context, run core.Run) (core.WriteBack, error) {
	off := core.WriteBack{State: core.WriteOff}
	if run.Demo {
		off.Detail = "the demo model never writes to a file"
		return off, nil
	}
	rec, err := a.db.Record(ctx, run.ManifestID)
	if err != nil {
		return core.WriteBack{}, err
	}
	content, err := a.db.ContentHash(ctx, run.ManifestID)
	if err != nil {
		return core.WriteBack{}, err
	}
	target := rec.Target
	if target == "" && rec.Source != core.SourceSample && a.watchedHolds(content) {
		target = a.cfg.ManifestPath
	}
	if target == "" || run.Block == nil {
		return off, nil
	}
	block, err := a.withReviews(ctx, run)
	if err != nil {
		return core.WriteBack{}, err
	}
	w, err := a.writer.Write(ctx, target, content, block)
	if w.State == core.Written || w.State == core.MovedOn {
		a.writes.Add(1)
	}
	return w, err
}

// withReviews is the block as it belongs in the file: with both reviews once both cosigners are done, without a word of either before.
func (a *App) withReviews(ctx context.Context, run core.Run) (core.Block, error) {
	block := *run.Block
	flags, err := a.db.Flags(ctx, run.ID)
	if err != nil {
		return block, err
	}
	decisions, err := a.db.Decisions(ctx, run.ManifestID)
	if err != nil {
		return block, err
	}
	block.Reviews = review.Of(flags, decisions).Reviews()
	return block, nil
}
