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

// now is the time as pages show it.
func (a *App) now() time.Time { return time.Now().In(a.zone()) }

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
	dropFirst = time.Minute // after the start, which has other things to do
)

// dropRaw lets go of the bytes of manifests older than the retention, until ctx ends. Without a retention all are kept.
func (a *App) dropRaw(ctx context.Context) {
	if a.cfg.KeepRaw <= 0 {
		return
	}
	for wait := dropFirst; ; wait = dropEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		n, err := a.db.DropRaw(ctx, time.Now().Add(-a.cfg.KeepRaw))
		switch {
		case err != nil && ctx.Err() == nil:
			a.log.Error("raw manifests not dropped", "err", err)
		case n > 0:
			a.log.Info("raw manifests dropped", "manifests", n, "older than", a.cfg.KeepRaw)
		}
	}
}
