package app

import (
	"context"
	"sync"
)

// What processes on one native Postgres tell each other. Each looks for itself, and would do so a little later anyway.
const (
	toldQueued = "queued" // a run waits for a worker
	toldEnded  = "ended"  // a run or a write-back came to its end
)

// relay tells other processes what has happened here, and wakes those who wait here for what has happened there, until ctx ends.
func (a *App) relay(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		a.db.Hear(ctx, a.me, func(what string) {
			if what != toldEnded {
				a.wake.hear()
			}
			if what != toldQueued {
				a.ended.hear()
			}
		})
	})
	for {
		what := toldQueued
		select {
		case <-ctx.Done():
			return
		case <-a.wake.fired:
		case <-a.ended.fired:
			what = toldEnded
		}
		if err := a.db.Tell(ctx, a.me, what); err != nil && ctx.Err() == nil {
			a.log.Debug("other processes were not told", "what", what, "err", err) // they look for themselves
		}
	}
}
