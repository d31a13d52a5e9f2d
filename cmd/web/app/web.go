package app

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/postgresstore"
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
	store := postgresstore.NewWithCleanupInterval(a.db.SQL(), sessionCleanup)
	sessions := scs.New()
	sessions.Store = store
	sessions.HashTokenInStore = true
	sessions.Lifetime, sessions.IdleTimeout = sessionLife, sessionIdle
	sessions.Cookie.Name = "storozh"
	sessions.Cookie.HttpOnly = true
	sessions.Cookie.SameSite = http.SameSiteLaxMode // a link in a chat must open signed in
	sessions.Cookie.Secure = strings.HasPrefix(a.cfg.PublicURL, "https://")
	e := handlers.New(handlers.Config{
		Store: front{a.db, a}, Identity: a.db, Sessions: sessions, WebhookSecrets: func() []string { return secrets }, Wait: a.Wait,
		RunSample: a.RunSample, System: a.System, Ready: a.db.Ping, Now: time.Now, Log: a.log, AllowedHosts: a.cfg.AllowedHosts,
		PublicURL: a.cfg.PublicURL, Version: a.cfg.Version, Demo: a.model.Demo(),
	})
	s := &http.Server{
		Handler: e, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	return s, store.StopCleanup, nil
}

// front is the store as handlers see it: the database, with a worker woken by what queues a run.
type front struct {
	*db.DB
	app *App
}

func (f front) Submit(ctx context.Context, a core.Arrival) (core.Receipt, error) {
	return f.app.Submit(ctx, a)
}

func (f front) Rerun(ctx context.Context, id int64, fresh bool) (core.Receipt, error) {
	return f.app.Rerun(ctx, id, fresh)
}
