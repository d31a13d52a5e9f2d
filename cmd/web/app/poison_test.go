package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/db"
	"storozh/db/dbtest"
)

// A run in the middle of which the process dies again and again is not taken over for ever: it may be what kills it. The runs behind it are
// done, and it can be judged again.
func TestARunThatKillsItsProcessFailsForGood(t *testing.T) {
	e := newEco(t)
	workday(e)
	d := dbtest.Open(t)
	a := wiredApp(t, newConfig(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })), d)
	id, err := a.Check(t.Context(), e.manifest("s", "2026-05-01T12:00:00Z"), "")
	if err != nil {
		t.Fatal(err)
	}
	for range db.MaxDeaths {
		run, err := d.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.SQL().Exec("UPDATE runs SET lease_until = now() - interval '1 second' WHERE id = $1", run.ID); err != nil { // its process died
			t.Fatal(err)
		}
	}
	behind, err := a.Check(t.Context(), []byte(`{"sessionId":"behind","repos":null}`), "")
	if err != nil {
		t.Fatal(err)
	}
	first, err := d.Claim(t.Context())
	if err != nil || first.ManifestID != behind {
		t.Errorf("first comes manifest %d, want %d (%v)", first.ManifestID, behind, err)
	}
	if err := d.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	wait := a.Work(ctx)
	t.Cleanup(func() { stop(); wait() })
	for _, m := range []int64{id, behind} {
		if err := a.Wait(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := d.Record(t.Context(), id)
	if err != nil || rec.Run.Status != core.Failed || !strings.Contains(rec.Run.Error, fmt.Sprintf("killed, crashed or stood still %d times", db.MaxDeaths)) {
		t.Errorf("%s %q %v", rec.Run.Status, rec.Run.Error, err)
	}
	if rec, err := d.Record(t.Context(), behind); err != nil || rec.Run.Status != core.Done {
		t.Errorf("the run behind it: %s %v", rec.Run.Status, err)
	}
	if _, err := a.Rerun(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if rec, err := d.Record(t.Context(), id); err != nil || rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		t.Errorf("judged again: %s %q %v", rec.Run.Status, rec.BLUF, err)
	}
}

// clumsy is a model of which a call brings out a fault of ours.
type clumsy struct {
	localllm.Model
	embeds bool
}

func (m clumsy) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	if m.embeds {
		panic("in an embedding")
	}
	return m.Model.EmbedBatch(ctx, texts)
}

func (m clumsy) Complete(context.Context, string, localllm.Opts) (string, error) {
	panic("in a verdict")
}

// A fault of ours that a text brings out fails the run, not the process, in whichever goroutine it comes out.
func TestAPanicFailsTheRunAlone(t *testing.T) {
	for name, embeds := range map[string]bool{"while embedding": true, "while judging": false} {
		t.Run(name, func(t *testing.T) {
			e := newEco(t)
			workday(e)
			model := llmtest.Start(t)
			a := wiredApp(t, newConfig(t, e, model), dbtest.Open(t))
			a.guard = guard.New(a.db, clumsy{clientOf(t, model), embeds}, guardOptions(e, 5, 2))
			id, err := a.Check(t.Context(), e.manifest("s", "2026-05-01T12:00:00Z"), "")
			if err != nil {
				t.Fatal(err)
			}
			run, err := a.db.Claim(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			a.do(t.Context(), run)
			rec, err := a.db.Record(t.Context(), id)
			if err != nil || rec.Run.Status != core.Queued || rec.Run.Error != "an internal error; the log has the details" {
				t.Errorf("%s %q %v", rec.Run.Status, rec.Run.Error, err)
			}
		})
	}
}
