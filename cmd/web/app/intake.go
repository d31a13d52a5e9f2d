package app

import (
	"context"
	"errors"
	"time"

	"storozh/core"
	"storozh/core/manifest"
)

// Submit makes an arrival durable and wakes a worker. A manifest that the watched file holds gets that file as its target, whichever
// way it came.
func (a *App) Submit(ctx context.Context, arr core.Arrival) (core.Receipt, error) {
	if arr.Target == "" && arr.Source != core.SourceSample && a.watchedHolds(arr.ContentHash) {
		arr.Target = a.cfg.ManifestPath
	}
	r, err := a.db.Submit(ctx, arr)
	if err != nil {
		return r, err
	}
	a.log.Info("manifest accepted", "manifest", r.ManifestID, "source", arr.Source, "bytes", len(arr.Raw), "new", r.New, "status", r.Status)
	a.wake.fire()
	return r, nil
}

// Rerun queues a new run of a manifest and wakes a worker.
func (a *App) Rerun(ctx context.Context, id int64, fresh bool) (core.Receipt, error) {
	r, err := a.db.Rerun(ctx, id, fresh)
	if err == nil {
		a.wake.fire()
	}
	return r, err
}

// watchedHolds tells whether the watched file holds this manifest, with or without a block.
func (a *App) watchedHolds(content [32]byte) bool {
	if a.cfg.ManifestPath == "" {
		return false
	}
	raw, err := readCapped(a.cfg.ManifestPath)
	if err != nil {
		return false
	}
	arr, _, err := manifest.Arrive(raw, core.SourceFile, "")
	return err == nil && arr.ContentHash == content
}

// Wait returns when the latest run of a manifest has ended, or ctx.
func (a *App) Wait(ctx context.Context, id int64) error {
	return a.until(ctx, id, func(r core.Record) bool { return r.Run.Status.Finished() })
}

// WaitWritten returns when the run has ended and its block was brought to the file, or was not to be.
func (a *App) WaitWritten(ctx context.Context, id int64) error {
	return a.until(ctx, id, func(r core.Record) bool {
		return r.Run.Status.Finished() && r.Run.WriteBack.State != core.WritePend
	})
}

// until looks at a record whenever something ended, and once a second for what other processes do. A database that is away is waited for, too.
func (a *App) until(ctx context.Context, id int64, ok func(core.Record) bool) error {
	for {
		changed := a.ended.next()
		rec, err := a.db.Record(ctx, id)
		if err == nil && ok(rec) || err != nil && !errors.Is(err, core.ErrNoDatabase) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(time.Second):
		}
	}
}
