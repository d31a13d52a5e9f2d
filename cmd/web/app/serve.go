package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"storozh/core"
	"storozh/db/embedded"
)

const (
	drainNotice = 300 * time.Millisecond // from "not ready" to the closed door, so that whoever sends here can notice
	drainLimit  = 10 * time.Second
	upkeep      = 10 * time.Minute // the embedded Postgres neither checkpoints nor vacuums by itself
)

// Work starts the workers and the writer; the returned function waits for them after ctx has ended.
func (a *App) Work(ctx context.Context) (wait func()) {
	var wg sync.WaitGroup
	workers := 2
	if a.server != nil {
		workers = 1 // one connection: a second worker would only wait for it
	}
	for range workers {
		wg.Go(func() { a.work(ctx) })
	}
	wg.Go(func() { a.writeBlocks(ctx) })
	if a.server == nil { // the embedded Postgres serves this process alone
		wg.Go(func() { a.relay(ctx) })
	}
	return wg.Wait
}

// Listen takes the addresses of dashboard and control socket, so that a start that cannot have them fails before anything is made that is
// shown only once. Serve does it if nobody has.
func (a *App) Listen() error {
	ln, err := net.Listen("tcp", a.cfg.Addr)
	if err != nil {
		return fmt.Errorf("the dashboard cannot listen on %s: %w (set STOROZH_ADDR to a free address)", a.cfg.Addr, err)
	}
	ctl, err := listenControl(a.cfg.DataDir)
	if err != nil {
		_ = ln.Close()
		return fmt.Errorf("control socket: %w", err)
	}
	a.ln, a.ctl = ln, ctl
	if host, port, err := net.SplitHostPort(a.cfg.Addr); err == nil && port == "0" { // any free port: from now on this one
		if tcp, ok := ln.Addr().(*net.TCPAddr); ok {
			a.cfg.Addr = net.JoinHostPort(host, strconv.Itoa(tcp.Port))
		}
	}
	return nil
}

// Serve runs the whole process until ctx ends: workers, file watch, control socket and dashboard. It returns once everything has
// stopped.
func (a *App) Serve(ctx context.Context, ready func(addr string)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if err := a.db.SetTrendZone(ctx, a.zone()); err != nil {
		return err
	}
	if a.ln == nil {
		if err := a.Listen(); err != nil {
			return err
		}
	}
	ln, ctl := a.ln, a.ctl
	web, closeWeb, err := a.webServer()
	if err != nil {
		_, _ = ln.Close(), ctl.Close()
		return err
	}
	defer closeWeb()
	control := &http.Server{Handler: controlHandler(a), ReadHeaderTimeout: 5 * time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { serveUntilClosed(web, ln, stop) })
	wg.Go(func() { serveUntilClosed(control, ctl, stop) })
	wg.Go(func() { a.watch(ctx) })
	wg.Go(func() { a.keepUp(ctx) })
	wg.Go(func() { a.countRuns(ctx) })
	wg.Go(func() { a.dropRaw(ctx) })
	wg.Go(func() { a.tendCorpus(ctx) })
	wg.Go(func() { a.watchDatabase(ctx, stop) })
	waitWork := a.Work(ctx)
	if err := a.AuditConfig(ctx); err != nil {
		a.log.Error("configuration not kept in the audit", "err", err)
	}
	ready(ln.Addr().String())
	<-ctx.Done()
	close(a.drain)
	time.Sleep(drainNotice)
	drain, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	for _, s := range []*http.Server{web, control} {
		if err := s.Shutdown(drain); err != nil {
			_ = s.Close()
		}
	}
	waitWork()
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

func serveUntilClosed(s *http.Server, ln net.Listener, stop context.CancelCauseFunc) {
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		stop(err)
	}
}

// watchDatabase ends the process when the embedded database ends unasked.
func (a *App) watchDatabase(ctx context.Context, stop context.CancelCauseFunc) {
	if a.server == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-a.server.Done():
		if ctx.Err() == nil {
			stop(fmt.Errorf("the embedded database ended: %w (start again; what was accepted is kept)", a.server.Err()))
		}
	}
}

func (a *App) keepUp(ctx context.Context) {
	if a.server == nil {
		return
	}
	t := time.NewTicker(upkeep)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := embedded.Maintain(ctx, a.db.SQL()); err != nil && ctx.Err() == nil {
				a.log.Warn("database upkeep failed", "err", err)
			}
		}
	}
}

// Welcome gives the lines that a person needs after the start: where the dashboard is and how each cosigner signs in.
func (a *App) Welcome(ctx context.Context) ([]string, error) {
	lines := []string{"Storozh is at " + a.cfg.URL()}
	for _, c := range []core.Cosigner{core.Owner, core.Claude} {
		link, err := a.Link(ctx, c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("  sign in as %-6s (one hour, once): %s", c, link))
	}
	_, madeSecret, err := a.webhookSecrets()
	if err != nil {
		return nil, err
	}
	made, err := a.EnsureTokens(ctx) // last: what it makes cannot be shown again
	if err != nil {
		return nil, err
	}
	for _, c := range []core.Cosigner{core.Owner, core.Claude} {
		if t, ok := made[c]; ok {
			lines = append(lines, fmt.Sprintf("  API token of %s, shown only now: %s", c, t))
		}
	}
	if madeSecret {
		lines = append(lines, "  webhook secret: made, kept in "+a.webhookSecretFile())
	}
	if a.cfg.ManifestPath != "" {
		lines = append(lines, "  watching "+a.cfg.ManifestPath)
	}
	if a.model.Demo() {
		lines = append(lines, "  demo model: flags show how it works, they are no judgement; nothing is written to a manifest file")
	}
	return lines, nil
}
