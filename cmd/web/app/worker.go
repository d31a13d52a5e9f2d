package app

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/manifest"
	"storozh/core/review"
	"storozh/db"
)

const (
	pollQueue    = 2 * time.Second  // beside the wake-up: runs that come due later, or that this process was not told of
	beat         = 2 * time.Second  // heartbeats; a lease lasts ten of them
	endTimeLimit = 15 * time.Second // to write an outcome down, also while shutting down
	firstRetry   = 2 * time.Second
	lookAgain    = 250 * time.Millisecond // whether the database is there again
)

// work claims and does runs until ctx ends.
func (a *App) work(ctx context.Context) {
	for ctx.Err() == nil {
		woken := a.wake.next()
		run, err := a.db.Claim(ctx)
		if err == nil {
			a.do(ctx, run)
			continue
		}
		if !errors.Is(err, core.ErrNotFound) && ctx.Err() == nil {
			a.log.Error("cannot look for runs", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-woken:
		case <-time.After(a.poll):
		}
	}
}

// do takes one claimed run to its end, whatever that is.
func (a *App) do(ctx context.Context, run core.Run) {
	if run.Attempt > db.MaxDeaths {
		a.giveUp(ctx, run)
		return
	}
	start := time.Now()
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var p progress
	beating := make(chan struct{})
	go func() { defer close(beating); a.heartbeat(runCtx, run, &p, stop) }()
	res, demo, err := a.guarded(runCtx, run, &p)
	cause := context.Cause(runCtx)
	stop(nil)
	<-beating
	log := a.log.With("run", run.ID, "manifest", run.ManifestID)
	switch {
	case err == nil:
		// The last heartbeat may have been before the last pair.
		res.Flags = review.Flags(res.Units)
		err = a.record(ctx, func(ctx context.Context) error {
			if _, err := a.db.Heartbeat(ctx, run, p.get()); err != nil {
				return err
			}
			return a.db.Finish(ctx, run, res, demo)
		})
		if err == nil {
			a.meter.judged(res)
			log.Info("run done", "bluf", core.BLUF(res.Block), "demo", demo, "took", time.Since(start).Round(time.Millisecond))
		} else if !errors.Is(err, db.ErrLeaseLost) {
			err = errors.Join(err, a.record(ctx, func(ctx context.Context) error {
				return a.db.Retry(ctx, run, "the result could not be stored", backoff(run.Attempt))
			}))
		}
	case errors.Is(cause, db.ErrLeaseLost):
		err = cause
	case errors.Is(cause, core.ErrCanceled):
		err = a.record(ctx, func(ctx context.Context) error { return a.db.Cancelled(ctx, run) })
	case ctx.Err() != nil:
		err = a.record(ctx, func(ctx context.Context) error { return a.db.Release(ctx, run) })
	default: // a database that went away counts as a try, too: it may be the run that brings it down
		log.Error("run failed", "attempt", run.Attempt, "err", err)
		why := err.Error()
		err = a.record(ctx, func(ctx context.Context) error { return a.db.Retry(ctx, run, why, backoff(run.Attempt)) })
	}
	if err != nil {
		log.Error("run not brought to its end", "err", err)
	}
	a.ended.fire()
}

// giveUp ends a run that would otherwise be taken over for ever. (A try that failed by an error is counted, too, but ends far earlier.)
func (a *App) giveUp(ctx context.Context, run core.Run) {
	why := fmt.Sprintf("Storozh was killed, crashed or stood still %d times in the middle of this run; judge again to try once more", db.MaxDeaths)
	a.log.Error("run failed", "run", run.ID, "manifest", run.ManifestID, "attempt", run.Attempt, "err", why)
	if err := a.record(ctx, func(ctx context.Context) error { return a.db.GiveUp(ctx, run, why) }); err != nil {
		a.log.Error("run not brought to its end", "run", run.ID, "err", err)
	}
	a.ended.fire()
}

// record writes an outcome down. Without a database it tries again until there is one, for a worker has nothing else to do meanwhile; but
// once, with a time limit, when the process is about to end: what is not written is found by its lease.
func (a *App) record(ctx context.Context, write func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeLimit)
		err := write(limited)
		cancel()
		if !errors.Is(err, core.ErrNoDatabase) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lookAgain):
		}
	}
}

// guarded runs the guard; a panic on hostile input fails this run, not the process.
func (a *App) guarded(ctx context.Context, run core.Run, p *progress) (res core.Result, demo bool, err error) {
	defer func() {
		var p *guard.Panic
		if r := recover(); r != nil {
			p = &guard.Panic{Value: r, Stack: debug.Stack()}
		}
		if p != nil || errors.As(err, &p) {
			a.log.Error("panic in a run", "run", run.ID, "panic", fmt.Sprint(p.Value), "stack", string(p.Stack))
			err = errors.New("an internal error; the log has the details")
		}
	}()
	rec, err := a.db.Record(ctx, run.ManifestID)
	if err != nil {
		return res, false, err
	}
	raw, err := a.db.RawManifest(ctx, run.ManifestID)
	if err != nil {
		return res, false, err
	}
	m, err := manifest.Parse(raw)
	if err != nil {
		return res, false, err
	}
	g := a.guard
	demo = a.model.Demo()
	if rec.Source == core.SourceSample {
		g, demo = a.sample, true
	}
	res, err = g.Run(ctx, guard.Job{Manifest: m, Fresh: run.Fresh, RanAt: a.now(), Progress: p.set})
	return res, demo, err
}

// heartbeat keeps the lease and writes progress down until ctx ends.
func (a *App) heartbeat(ctx context.Context, run core.Run, p *progress, stop context.CancelCauseFunc) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		cancelled, err := a.db.Heartbeat(ctx, run, p.get())
		switch {
		case errors.Is(err, db.ErrLeaseLost):
			stop(err)
			return
		case err != nil && ctx.Err() == nil:
			a.log.Warn("heartbeat failed", "run", run.ID, "err", err) // the lease has room for several
		case cancelled:
			stop(core.ErrCanceled)
			return
		}
	}
}

func backoff(attempt int) time.Duration { return firstRetry << min(max(attempt-1, 0), 6) }

// progress is the latest count, set by the guard and read by the heartbeat.
type progress struct {
	mu sync.Mutex
	p  core.Progress
}

func (p *progress) set(v core.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.p = v
}

func (p *progress) get() core.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.p
}
