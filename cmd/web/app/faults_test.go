package app

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/db/dbtest"
)

// Two processes on one database share the work: each run is done once, by one of them.
func TestTwoProcessesShareTheRuns(t *testing.T) {
	e := newEco(t)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 20 * time.Millisecond; f.Answer = rules(nil) })
	a := newApp(t, e, model, nil)
	again(t, a)
	var ids []int64
	for i := range 10 {
		e.change("shield/lessons/new.md", fmt.Sprintf("# New\n\nWhat day %d brought: lesson %d.\n", i, i*i))
		id, err := a.Check(t.Context(), e.manifest(fmt.Sprint("session ", i), "2026-05-01T12:00:00Z"), "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := a.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		rec, err := a.db.Record(t.Context(), id)
		if err != nil || rec.Run.Status != core.Done || rec.Run.Attempt != 1 || rec.BLUF != "1 unit: all ok" {
			t.Errorf("%+v %v", rec.Run, err)
		}
	}
	if n := model.Counts().Completions; n != 10*5 {
		t.Errorf("%d requests for 50 pairs: a run was done twice, or not to its end", n)
	}
}

// The model dies in mid-run: the pairs that were judged are kept, the rest is honestly open, and a new run asks for the rest only.
func TestTheModelDiesAndComesBack(t *testing.T) {
	e := newEco(t)
	for i := range 4 {
		e.change(fmt.Sprintf("shield/lessons/new-%d.md", i), fmt.Sprintf("# New\n\nWhat day %d brought: lesson %d.\n", i, i*i))
	}
	var asked atomic.Int64
	model := llmtest.Start(t)
	model.Set(func(f *llmtest.Faults) {
		f.Answer = func(p string) string {
			if asked.Add(1) == 8 {
				model.Set(func(f *llmtest.Faults) { f.Down = true })
			}
			return rules(nil)(p)
		}
	})
	a := newApp(t, e, model, func(c *Config) { c.Concurrency = 1 })
	rec, _ := runEco(t, a, e, "s")
	judged := asked.Load()
	if rec.Run.Status != core.Done || rec.Run.Block.Summary.Unjudged == 0 || len(rec.Run.Block.ContraCheck) < 12 || rec.Run.Block.ContraCheck[:10] != "incomplete" {
		t.Fatalf("%s", rec.BLUF)
	}
	model.Set(func(f *llmtest.Faults) { f.Down = false })
	var after core.Record
	settled(t, "a whole run once the breaker has closed", func() bool {
		if _, err := a.Rerun(t.Context(), rec.ID, false); err != nil {
			t.Fatal(err)
		}
		if err := a.Wait(t.Context(), rec.ID); err != nil {
			t.Fatal(err)
		}
		var err error
		if after, err = a.db.Record(t.Context(), rec.ID); err != nil {
			t.Fatal(err)
		}
		return after.Run.Block.ContraCheck == core.ContraRan
	})
	if after.BLUF != "4 units: all ok" {
		t.Errorf("%s", after.BLUF)
	}
	// Four units of five items, and the six pairs they form among themselves: each asked once, over all runs.
	if total := asked.Load(); total != 4*5+6 || judged >= total {
		t.Errorf("%d requests in all, %d before the death", total, judged)
	}
}

// Every connection to the database is cut in mid-run: the run is done all the same.
func TestTheDatabaseGoesAwayInMidRun(t *testing.T) {
	if !dbtest.Native() {
		t.Skip("needs a second connection: runs on a native Postgres, with STOROZH_TEST_DATABASE_URL")
	}
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 50 * time.Millisecond; f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, func(c *Config) { c.Concurrency = 1 })
	id, err := a.Check(t.Context(), e.manifest("s", "2026-05-01T12:00:00Z"), "")
	if err != nil {
		t.Fatal(err)
	}
	settled(t, "a judged pair", func() bool { return model.Counts().Completions > 3 })
	for range 3 {
		// The connection that asks is cut as well.
		_, _ = a.db.SQL().Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
		time.Sleep(100 * time.Millisecond)
	}
	settled(t, "the end of the run", func() bool {
		rec, err := a.db.Record(t.Context(), id)
		return err == nil && rec.Run.Status == core.Done
	})
	if rec, err := a.db.Record(t.Context(), id); err != nil || rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		t.Errorf("%+v %v", rec, err)
	}
}
