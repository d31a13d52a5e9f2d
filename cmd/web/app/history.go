package app

import (
	"context"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/db"
)

// zone is the zone of days on pages and in the trends.
func (a *App) zone() *time.Location {
	if a.cfg.Zone == nil {
		return time.UTC
	}
	return a.cfg.Zone
}

// now is the time as pages show it. Waits and limits don't go by it: a clock that is set must not stop them.
func (a *App) now() time.Time {
	if a.cfg.Now != nil {
		return a.cfg.Now().In(a.zone())
	}
	return time.Now().In(a.zone())
}

// countRuns brings in runs that a version without trends has finished.
func (a *App) countRuns(ctx context.Context) {
	n, err := a.db.CountRuns(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Error("earlier runs are not in the trends", "err", err)
	}
	if n > 0 {
		a.log.Info("earlier runs brought into the trends", "runs", n)
	}
}

// shelf is the corpus as handlers see it: that of the configured shield repo, judged with the configured model.
type shelf struct {
	db    *db.DB
	guard *guard.Guard
	dir   string
}

func (s shelf) CorpusView(ctx context.Context) (core.CorpusView, error) {
	return s.db.CorpusView(ctx, s.dir)
}

func (s shelf) ListItems(ctx context.Context, q core.ItemQuery) ([]core.ItemTally, string, error) {
	return s.db.ListItems(ctx, s.dir, q)
}

func (s shelf) Ask(ctx context.Context, title, text string, judged bool) ([]core.Pair, error) {
	return s.guard.Ask(ctx, title, text, judged)
}

const (
	dropEvery = time.Hour
	dropFirst = 10 * time.Minute // after the start, which has other things to do
)

// dropRaw lets go of the bytes of manifests older than the retention, until ctx ends. Without a retention all are kept.
func (a *App) dropRaw(ctx context.Context) {
	if a.cfg.KeepRaw <= 0 {
		return
	}
	last := a.now().Round(0)
	for wait := dropFirst; ; wait = dropEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		last = a.dropOld(ctx, last)
	}
}

// dropOld drops what is old by two readings of the clock, the last one and the one that it takes and returns: what is dropped is gone, and a
// clock can be wrong for a while.
func (a *App) dropOld(ctx context.Context, last time.Time) time.Time {
	now := a.now().Round(0) // without the monotonic reading, which would hide that the clock was set
	due := now
	if last.Before(due) {
		due = last
	}
	n, err := a.db.DropRaw(ctx, due.Add(-a.cfg.KeepRaw))
	switch {
	case err != nil && ctx.Err() == nil:
		a.log.Error("raw manifests not dropped", "err", err)
	case n > 0:
		a.log.Info("raw manifests dropped", "manifests", n, "older than", a.cfg.KeepRaw)
	}
	return now
}
