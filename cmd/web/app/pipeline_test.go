package app

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/db/dbtest"
)

// oneAtATime is a server that holds one model at a time.
type oneAtATime struct{ *localllm.Client }

func (m oneAtATime) Resolve(ctx context.Context) (localllm.Models, error) {
	names, err := m.Client.Resolve(ctx)
	names.OneAtATime = true
	return names, err
}

// A unit's pairs are judged while later units are still being embedded, unless that would load one model after the other.
func TestJudgingBeginsBeforeTheLastUnitIsEmbedded(t *testing.T) {
	const units = 150
	m := newLessons(t, newEco(t), units)
	for _, single := range []bool{false, true} {
		var texts atomic.Int64
		judged := make(chan struct{})
		var first atomic.Int64 // texts embedded when the first pair was asked about
		model := llmtest.Start(t, func(f *llmtest.Faults) {
			f.Embedder = func(text string) []float32 {
				if n := texts.Add(1); n == units && !single {
					select { // the last batch waits for the first answer
					case <-judged:
					case <-time.After(time.Minute):
					}
				}
				v, _ := localllm.NewFake().Embeddings(t.Context(), text)
				return v
			}
			f.Answer = func(prompt string) string {
				if first.CompareAndSwap(0, texts.Load()) {
					close(judged)
				}
				return rules(nil)(prompt)
			}
		})
		client := clientOf(t, model)
		var asked localllm.Model = client
		if single {
			asked = oneAtATime{client}
		}
		g := guard.New(dbtest.Open(t), asked, guardOptions(m.eco, 2, 4))
		res, err := g.Run(t.Context(), guard.Job{Manifest: m.Manifest, RanAt: time.Now()})
		if err != nil || res.Block.Summary.OK != units {
			t.Fatalf("%+v %v", res.Block.Summary, err)
		}
		all := texts.Load()
		if early := first.Load() < all; early == single {
			t.Errorf("one model at a time %v: the first pair was asked about after %d of %d texts", single, first.Load(), all)
		}
		if n, most := model.Counts().Embeddings, (int(all)+63)/64; n != most {
			t.Errorf("one model at a time %v: %d embedding requests for %d texts", single, n, all)
		}
		for _, u := range res.Units {
			for i, p := range u.Pairs {
				if p.Label != core.OK || p.Rank != i+1 || strings.HasPrefix(p.Item, core.SiblingPrefix) != (i >= 2) {
					t.Fatalf("%s: %+v", u.Unit.ID, p)
				}
			}
		}
	}
}

// An embedder that is lost half-way: no unit is judged by half of its neighbours, nothing that was answered is asked again.
func TestTheEmbedderIsLostHalfWay(t *testing.T) {
	const units = 150
	m := newLessons(t, newEco(t), units)
	var lost atomic.Bool
	answered := make(chan struct{}, 10_000)
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Embedder = func(text string) []float32 {
			if strings.Contains(text, "Lesson 140") && !lost.Swap(true) {
				for range 20 {
					<-answered
				}
				panic(http.ErrAbortHandler)
			}
			v, _ := localllm.NewFake().Embeddings(t.Context(), text)
			return v
		}
		f.Answer = func(prompt string) string {
			answered <- struct{}{}
			return rules(nil)(prompt)
		}
	})
	g := guardOver(t, m.eco, model, 2, 4)
	run := func() core.Result {
		res, err := g.Run(t.Context(), guard.Job{Manifest: m.Manifest, RanAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := run()
	if res.Block.ContraCheck != core.SkippedUnreachable || res.Block.Summary.Unjudged != units {
		t.Fatalf("%s %+v", res.Block.ContraCheck, res.Block.Summary)
	}
	for _, u := range res.Units {
		if len(u.Pairs) > 0 || u.Flag.Semantic != "" {
			t.Fatalf("%+v", u)
		}
	}
	before := model.Counts().Completions
	res = run()
	pairs := map[string]bool{} // each text pair once, from whichever side
	for _, u := range res.Units {
		for _, p := range u.Pairs {
			a, b := string(p.UnitHash), string(p.ItemHash)
			if strings.HasPrefix(p.Item, core.SiblingPrefix) && a < b {
				a, b = b, a
			}
			pairs[a+b] = true
		}
	}
	if res.Block.Summary.OK != units {
		t.Errorf("%+v", res.Block.Summary)
	}
	// What was under way when the embedder was lost, at most one request per slot, may be asked again.
	if n := model.Counts().Completions; n > len(pairs)+4 || before < 20 {
		t.Errorf("%d requests, then %d in all, for %d pairs", before, n, len(pairs))
	}
}

// A run that is cut off keeps what was answered.
func TestACancelledRunKeepsItsVerdicts(t *testing.T) {
	m := newLessons(t, newEco(t), 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answers atomic.Int64
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			if answers.Add(1) == 30 {
				cancel()
			}
			return rules(nil)(prompt)
		}
	})
	g := guardOver(t, m.eco, model, 5, 4)
	if _, err := g.Run(ctx, guard.Job{Manifest: m.Manifest, RanAt: time.Now()}); err == nil {
		t.Fatal("the run came to its end")
	}
	first := answers.Load()
	res, err := g.Run(t.Context(), guard.Job{Manifest: m.Manifest, RanAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	cached := 0
	for _, u := range res.Units {
		for _, p := range u.Pairs {
			if p.Cached {
				cached++
			}
		}
	}
	if cached < 26 { // each of four slots may have been waiting for an answer
		t.Errorf("%d pairs from the cache after %d answers", cached, first)
	}
}
