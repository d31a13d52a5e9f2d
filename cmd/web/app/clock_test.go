package app

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
	"storozh/db/dbtest"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// setting is one way in which a clock is set: by a time server that has just been reached, by hand, after a flat battery.
type setting struct {
	whole bool // the machine's, and so the database's, too; false: only that of the process, for the database is on another machine
	by    time.Duration
}

func (s setting) String() string {
	if s.whole {
		return fmt.Sprint("the machine's clock by ", s.by)
	}
	return fmt.Sprint("the process's clock by ", s.by)
}

// clocks are those of a process, of its database, and of the rest of the world.
type clocks struct{ process, world atomic.Int64 } // how far they are from the database's

func (c *clocks) now() time.Time     { return time.Now().Add(time.Duration(c.process.Load())) }
func (c *clocks) outside() time.Time { return time.Now().Add(time.Duration(c.world.Load())) }

// set sets a clock. The database's can't be set, so all that it holds is moved instead, and the world with it.
func (c *clocks) set(t *testing.T, a *App, s setting) {
	t.Helper()
	if s.whole {
		dbtest.Jump(t, a.db, s.by)
		c.world.Add(-int64(s.by))
	} else {
		c.process.Add(int64(s.by))
	}
}

// The clock is set while a run is in work: it ends once, with one block, each question asked once or, by a second worker, once more.
func TestTheClockJumpsInMidRun(t *testing.T) {
	for _, jump := range []setting{{true, day}, {true, -day}, {false, day}, {false, -day}} {
		t.Run(jump.String(), func(t *testing.T) {
			e := newEco(t)
			workday(e)
			asked := &tally{n: map[string]int{}}
			model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 30 * time.Millisecond; f.Answer = asked.count(rules(workdayRules)) })
			var c clocks
			a := newApp(t, e, model, func(cfg *Config) {
				cfg.Concurrency, cfg.Now = 2, c.now
				if !jump.whole {
					cfg.ManifestPath = "" // the way into the file goes by no clock that was set: once is enough
				}
			})
			base := serveWeb(t, a)
			owner := visit(t, base, a.cfg.OwnerToken)
			raw := e.manifest("s", "2026-05-01T12:00:00Z")
			if jump.whole {
				writeFile(t, a.cfg.ManifestPath, raw)
			}
			began := c.now()
			if r := post(t, base+hookURL, raw, bearerID("x")...); r.status != http.StatusAccepted {
				t.Fatalf("%+v", r)
			}
			settled(t, "a run in work", func() bool { return model.Counts().Completions > 3 })
			c.set(t, a, jump)
			rec := theOnlyRun(t, a)
			if rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
				t.Error(rec.BLUF)
			}
			if all, _, more := asked.repeated(); more > 0 {
				t.Errorf("of %d questions %d were asked more than twice", all, more)
			}
			ranAt, err := time.Parse(time.RFC3339, rec.Run.Block.RanAt)
			if now := c.now(); err != nil || !between(ranAt, began, began.Add(time.Minute)) && !between(ranAt, now.Add(-time.Minute), now) {
				t.Errorf("ranAt %s (%v)", rec.Run.Block.RanAt, err)
			}
			if r := owner.open("/"); r.status != http.StatusOK {
				t.Errorf("the session from before: %d", r.status)
			}
			if jump.whole {
				oneBlock(t, a.cfg.ManifestPath, raw, rec.Run.WriteBack)
			}
		})
	}
}

func between(t, from, to time.Time) bool {
	return !t.Before(from.Truncate(time.Second)) && !t.After(to)
}

// A clock that is wrong for a while makes nobody a sender, and lets no recorded delivery in a second time, though old deliveries were cleared
// away meanwhile.
func TestDeliveriesWhileTheClockJumps(t *testing.T) {
	for _, jump := range []setting{{true, day}, {true, -day}, {true, year}, {true, -year}, {false, day}, {false, -day}, {false, year}, {false, -year}} {
		t.Run(jump.String(), func(t *testing.T) {
			var c clocks
			a := idleApp(t, func(cfg *Config) { cfg.Now = c.now })
			base := serveWeb(t, a)
			body := []byte(`{"sessionId":"recorded"}`)
			headers := signedAt(c.outside(), "recorded", body)
			first := post(t, base+hookURL, body, headers...)
			if first.status != http.StatusAccepted {
				t.Fatalf("%+v", first)
			}
			c.set(t, a, jump)
			if r := post(t, base+hookURL, []byte(`{}`), signedAt(c.outside(), "other", []byte(`{}`))...); r.status != http.StatusUnauthorized {
				t.Errorf("signed at another time than ours: %d", r.status)
			}
			for i := range 70 { // more than it takes for a clean-up
				if r := post(t, base+hookURL, fmt.Appendf(nil, `{"sessionId":"%d"}`, i), bearerID(fmt.Sprint(i))...); r.status != http.StatusAccepted {
					t.Fatalf("%+v", r)
				}
			}
			c.set(t, a, setting{jump.whole, -jump.by})
			if d, err := a.db.Delivery(t.Context(), 1); err != nil || d.DeliveryID != "recorded" {
				t.Errorf("forgotten by a clock that was wrong: %+v %v", d, err)
			}
			n := runs(t, a)
			again := post(t, base+hookURL, body, headers...)
			if again.status != first.status || again.body != first.body || runs(t, a) != n {
				t.Errorf("the recorded delivery got %+v, at first %+v", again, first)
			}
			if r := post(t, base+hookURL, []byte(`{"x":1}`), bearerID("recorded")...); r.status != http.StatusConflict {
				t.Errorf("its id with another body: %d", r.status)
			}
		})
	}
}

// Retention never goes by one reading of the clock: what is dropped is gone.
func TestRetentionWhileTheClockJumps(t *testing.T) {
	var c clocks
	a := idleApp(t, func(cfg *Config) { cfg.KeepRaw, cfg.Now = 90*day, c.now })
	id, err := a.Check(t.Context(), []byte(`{"sessionId":"s"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	run, err := a.db.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.db.Finish(t.Context(), run, core.Result{Block: core.Block{Flags: []core.Flag{}, ContraCheck: core.ContraRan}}, true); err != nil {
		t.Fatal(err)
	}
	last := c.now()
	look := func(after time.Duration) (kept bool) {
		c.set(t, a, setting{false, after})
		last = a.dropOld(t.Context(), last)
		_, err := a.db.RawManifest(t.Context(), id)
		return err == nil
	}
	for i, step := range []time.Duration{time.Hour, year, -year, -year, year, year, -year} {
		if !look(step) {
			t.Fatalf("dropped at step %d, by a clock that was wrong", i)
		}
	}
	if look(year); look(time.Hour) {
		t.Error("kept, though the clock has shown the later time for an hour")
	}
}

// oneBlock wants a file to hold what it held, with one block in it.
func oneBlock(t *testing.T, path string, raw []byte, w core.WriteBack) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	without, err := manifest.Strip(b)
	if err != nil || !bytes.Equal(without, raw) || bytes.Count(b, []byte(`"contra-check"`)) != 1 || w.State != core.Written {
		t.Errorf("%+v, and the file holds %s (%v)", w, b, err)
	}
}

// tally counts how often each question was put to the model.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) count(answer func(string) string) func(string) string {
	return func(prompt string) string {
		c.mu.Lock()
		c.n[prompt]++
		c.mu.Unlock()
		return answer(prompt)
	}
}

// repeated tells how many questions were asked, and how many of those more than once, or more than twice.
func (c *tally) repeated() (all, twice, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.n {
		switch {
		case n == 2:
			twice++
		case n > 2:
			more++
		}
	}
	return len(c.n), twice, more
}

// theOnlyRun waits for the end of the run of the only manifest, its way into the file included.
func theOnlyRun(t *testing.T, a *App) core.Record {
	t.Helper()
	var recs []core.Record
	settled(t, "the end of the run", func() bool {
		var err error
		recs, _, err = a.db.Records(t.Context(), core.RecordQuery{IncludeSuperseded: true})
		return err == nil && len(recs) > 0 && recs[0].Run.Status.Finished() && recs[0].Run.WriteBack.State != core.WritePend
	})
	if n := runs(t, a); len(recs) != 1 || n != 1 || recs[0].Run.Status != core.Done {
		t.Fatalf("%d manifests, %d runs, the last is %s: %s", len(recs), n, recs[0].Run.Status, recs[0].Run.Error)
	}
	return recs[0]
}
