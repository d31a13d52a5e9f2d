package app

import (
	"context"
	"errors"

	"storozh/core"
	"storozh/handlers"
)

// Deliver is Submit for a delivery of the webhook; see db.Deliver.
func (a *App) Deliver(ctx context.Context, arr core.Arrival, d core.Delivery, answer func(core.Receipt) []byte) (core.Receipt, int64, *core.Delivery, error) {
	if a.watchedHolds(arr.ContentHash) {
		arr.Target = a.cfg.ManifestPath
	}
	r, id, first, err := a.db.Deliver(ctx, arr, d, answer)
	if err != nil || first != nil {
		return r, id, first, err
	}
	a.log.Info("manifest accepted", "manifest", r.ManifestID, "source", arr.Source, "bytes", len(arr.Raw), "new", r.New, "status", r.Status,
		"delivery", id)
	a.wake.fire()
	return r, id, nil, nil
}

// audit keeps what was done; the log has it if the database does not take it.
func (a *App) audit(ctx context.Context, e core.AuditEntry) {
	if err := a.db.Audit(ctx, e); err != nil {
		a.log.Error("audit entry not kept", "who", e.Who, "what", e.What, "detail", e.Detail, "err", err)
	}
}

// ready tells whether requests can be served: not without a database, and not once the process is about to end.
func (a *App) ready(ctx context.Context) error {
	select {
	case <-a.drain:
		return handlers.ErrDraining
	default:
		return a.db.Ping(ctx)
	}
}

// waitServing is Wait for a sender on the line: when the process is about to end they are answered rather than cut off.
func (a *App) waitServing(ctx context.Context, id int64) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-a.drain:
			stop(handlers.ErrDraining)
		case <-ctx.Done():
		}
	}()
	err := a.Wait(ctx, id)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, handlers.ErrDraining) {
		return cause
	}
	return err
}
