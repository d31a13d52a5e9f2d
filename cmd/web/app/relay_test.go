package app

import (
	"context"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/db/dbtest"
)

// Two processes on one native Postgres tell each other at once: with an hour between two looks, nothing here would end otherwise.
func TestProcessesTellEachOther(t *testing.T) {
	if !dbtest.Native() {
		t.Skip("the embedded Postgres serves one process")
	}
	e := newEco(t)
	e.change("shield/lessons/new.md", "# New\n\nWrite down what was decided.\n")
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	rarely := func(a *App) { a.poll = time.Hour }
	worker := startApp(t, newConfig(t, e, model), dbtest.Open(t), rarely)
	front := wiredApp(t, worker.cfg, worker.db, rarely)
	ctx, stop := context.WithCancel(t.Context())
	relayed := make(chan struct{})
	go func() { defer close(relayed); front.relay(ctx) }()
	defer func() { stop(); <-relayed }()

	id, err := front.Check(t.Context(), e.manifest("s", "2026-05-01T12:00:00Z"), "")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.After(time.Minute); ; {
		changed := front.ended.next()
		rec, err := front.db.Record(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Run.Status == core.Done {
			return
		}
		select {
		case <-changed:
		case <-end:
			t.Fatalf("after a minute nobody was told: %s", rec.Run.Status)
		}
	}
}
