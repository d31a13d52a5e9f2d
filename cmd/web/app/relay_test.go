package app

import (
	"context"
	"fmt"
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

// However many processes share a database, each block is written, recorded and counted once.
func TestEachBlockIsWrittenByOneProcess(t *testing.T) {
	e := newEco(t)
	workday(e)
	d := dbtest.Open(t)
	cfg := newConfig(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }))
	var processes []*App
	for range 3 {
		a := wiredApp(t, cfg, d)
		a.writer.Keep = 20 * time.Millisecond
		ctx, stop := context.WithCancel(context.Background())
		wait := a.Work(ctx)
		t.Cleanup(func() { stop(); wait() })
		processes = append(processes, a)
	}
	const manifests = 8
	for i := range manifests {
		raw := e.manifest(fmt.Sprint("session ", i), "2026-05-01T12:00:00Z")
		writeFile(t, cfg.ManifestPath, raw)
		id, err := processes[0].Check(t.Context(), raw, cfg.ManifestPath)
		if err != nil {
			t.Fatal(err)
		}
		if err := processes[0].WaitWritten(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		rec, err := d.Record(t.Context(), id)
		if err != nil || rec.Run.WriteBack.State != core.Written {
			t.Errorf("%+v %v", rec.Run.WriteBack, err)
		}
	}
	entries := func() int {
		trail, err := d.AuditTrail(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(trail)
	}
	settled(t, "the last entry of the audit", func() bool { return entries() >= manifests })
	if n := entries(); n != manifests {
		t.Errorf("%d entries in the audit of %d blocks", n, manifests)
	}
	var left int
	if err := d.SQL().QueryRow("SELECT count(*) FROM leases WHERE name LIKE 'write-back%'").Scan(&left); err != nil || left > 1 {
		t.Errorf("%d leases left (%v)", left, err) // one may just be given back
	}
}
