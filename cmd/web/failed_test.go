package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"storozh/core"
	"storozh/core/manifest"
	"storozh/db"
	"storozh/db/dbtest"
	"storozh/db/embedded"
)

// A run that failed for good says so, on a page that is as accessible as the others, and can be run again.
func TestAFailedRunSaysSo(t *testing.T) {
	needChrome(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=demo")...)
	m.leaveFailedRun()
	r := m.begin()
	w := r.window(t)
	w.signIn(r.link("owner"))
	w.untilSays("the disk gave up")
	w.glance("inbox with a failed run")
	w.follow("failed: the disk gave up")
	w.untilSays("Judge again")
	w.check("review failed")
	w.press("Judge again")
	w.untilSays("no units")
	w.calm()
}

// leaveFailedRun writes what a process leaves whose run failed at every attempt, before any process of this machine has started.
func (m machine) leaveFailedRun() {
	m.t.Helper()
	d, end := m.database()
	defer end()
	arr, _, err := manifest.Arrive([]byte(`{"sessionId":"unlucky","timestamp":"2026-05-01T12:00:00Z","repos":null}`), core.SourceWebhook, "")
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := d.Submit(m.t.Context(), arr); err != nil {
		m.t.Fatal(err)
	}
	for range db.MaxAttempts {
		run, err := d.Claim(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		if err := d.Retry(m.t.Context(), run, "the disk gave up", 0); err != nil {
			m.t.Fatal(err)
		}
	}
}

// database opens the machine's own database, which no process may hold.
func (m machine) database() (*db.DB, func()) {
	m.t.Helper()
	if dbtest.Native() {
		return dbtest.Open(m.t), func() {}
	}
	cache, err := dbtest.CacheDir()
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := embedded.Start(m.t.Context(), embedded.Options{DataDir: filepath.Join(m.home, ".local", "share", "storozh"), CacheDir: cache})
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := db.Open(m.t.Context(), s.DSN(), true)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := d.Migrate(m.t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		m.t.Fatal(err)
	}
	return d, func() {
		_ = d.Close()
		if err := s.Close(context.Background()); err != nil {
			m.t.Error(err)
		}
	}
}
