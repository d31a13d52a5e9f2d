package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"storozh/core"
	"storozh/db"
	"storozh/handlers"
)

const (
	sessionLife    = 30 * 24 * time.Hour
	sessionIdle    = 7 * 24 * time.Hour
	sessionCleanup = 10 * time.Minute
)

// webServer makes the dashboard's server and what ends its background work.
func (a *App) webServer() (*http.Server, func(), error) {
	secrets, _, err := a.webhookSecrets()
	if err != nil {
		return nil, nil, err
	}
	store := a.db.Sessions(sessionLife, sessionIdle)
	sessions := scs.New()
	sessions.HashTokenInStore = true
	sessions.Lifetime, sessions.IdleTimeout = sessionLife, sessionIdle
	sessions.Cookie.Name = "storozh"
	sessions.Cookie.HttpOnly = true
	sessions.Cookie.SameSite = http.SameSiteLaxMode // a link in a chat must open signed in
	sessions.Cookie.Secure = strings.HasPrefix(a.cfg.PublicURL, "https://")
	e := handlers.New(handlers.Config{
		Markers: a.Markers, Changed: a.ended.next, Closing: a.drain,
		Store: front{a.db, a}, Identity: a.db, Deliveries: front{a.db, a}, Sessions: sessions, SessionStore: store, WebhookSecrets: func() []string { return secrets },
		Wait: a.waitServing, Audit: a.audit, AuditTrail: a.db.AuditTrail, Evaluations: a.db.Evaluations, Metrics: a.meter.registry, Stats: a.db.Stats,
		RunSample: a.RunSample, System: a.System, Ready: a.ready, Now: a.now, Log: a.log, AllowedHosts: a.cfg.allowedHosts(),
		History: a.db, Recall: front{a.db, a}, Corpus: shelf{a.db, a.guard, a.cfg.ShieldDir},
		PublicURL: a.cfg.PublicURL, Version: a.cfg.Version, Demo: a.model.Demo(),
	})
	s := &http.Server{
		Handler: e, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	sweeping, stop := context.WithCancel(context.Background())
	swept := make(chan struct{})
	go func() { defer close(swept); store.Sweep(sweeping, sessionCleanup, a.log) }()
	return s, func() { stop(); <-swept }, nil
}

// front is the store as handlers see it: the database, with a worker woken by what queues a run.
type front struct {
	*db.DB
	app *App
}

func (f front) Submit(ctx context.Context, a core.Arrival) (core.Receipt, error) {
	return f.app.Submit(ctx, a)
}

// Decide wakes the writer, for with the last decision both reviews go into the file.
func (f front) Decide(ctx context.Context, decisions []core.Decision, seen map[core.FlagKey]int64) error {
	err := f.DB.Decide(ctx, decisions, seen)
	if err == nil {
		f.app.ended.fire()
	}
	return err
}

// Cancel wakes those who wait for the run: one that was still queued has ended.
func (f front) Cancel(ctx context.Context, id int64) error {
	err := f.DB.Cancel(ctx, id)
	if err == nil {
		f.app.ended.fire()
	}
	return err
}

func (f front) Rerun(ctx context.Context, id int64, fresh bool) (core.Receipt, error) {
	return f.app.Rerun(ctx, id, fresh)
}

func (f front) Deliver(ctx context.Context, a core.Arrival, d core.Delivery, answer func(core.Receipt) []byte) (core.Receipt, int64, *core.Delivery, error) {
	return f.app.Deliver(ctx, a, d, answer)
}

// Item looks into the corpus of the configured shield repo, then into the sample's, whose items have pages too.
func (f front) Item(ctx context.Context, id string) (core.Item, string, error) {
	i, commit, err := f.DB.Item(ctx, f.app.cfg.ShieldDir, id)
	if errors.Is(err, core.ErrNotFound) {
		return f.DB.Item(ctx, filepath.Join(f.app.sampleEcosystem(), core.Shield), id)
	}
	return i, commit, err
}
