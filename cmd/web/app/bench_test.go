package app

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
	"storozh/core/routing"
	"storozh/db/dbtest"
)

// BenchmarkRun takes a manifest of new lessons through the guard with a model that takes 100 ms and answers 4 requests at once. It reports the
// time as a ratio to the model's own ideal schedule (the list of models, one embedding request, then all pairs through 4 slots without a
// gap), what a second run of the same manifest asks the model, and the memory that the result holds per pair.
func BenchmarkRun(b *testing.B) {
	for _, units := range []int{20, 500} {
		b.Run(fmt.Sprintf("units=%d", units), func(b *testing.B) { benchRun(b, units) })
	}
}

func benchRun(b *testing.B, units int) {
	const k, delay, slots = 5, 100 * time.Millisecond, 4
	m := newLessons(b, newEco(b), units)
	var ratio, perPair float64
	again := 0
	for b.Loop() {
		b.StopTimer()
		model := llmtest.Start(b, func(f *llmtest.Faults) { f.Delay = delay; f.Answer = rules(nil) })
		g := guardOver(b, m.eco, model, k, slots)
		before := liveHeap()
		b.StartTimer()
		start := time.Now()
		res, err := g.Run(b.Context(), guard.Job{Manifest: m.Manifest, RanAt: start})
		took := time.Since(start)
		b.StopTimer()
		if err != nil || res.Block.Summary.OK != units {
			b.Fatalf("%+v %v", res.Block, err)
		}
		pairs := 0
		for _, u := range res.Units {
			pairs += len(u.Pairs)
		}
		perPair += float64(liveHeap()-before) / float64(pairs)
		asked := model.Counts()
		ideal := delay*time.Duration(asked.Models) + delay + delay*time.Duration((asked.Completions+slots-1)/slots)
		ratio += float64(took) / float64(ideal)
		if res, err = g.Run(b.Context(), guard.Job{Manifest: m.Manifest, RanAt: start}); err != nil {
			b.Fatal(err)
		}
		now := model.Counts()
		again += now.Completions + now.Chat + now.Embeddings - asked.Completions - asked.Chat - asked.Embeddings
		b.StartTimer()
	}
	b.ReportMetric(ratio/float64(b.N), "x-ideal")
	b.ReportMetric(float64(again), "calls-in-second-run")
	b.ReportMetric(perPair/float64(b.N), "heap-B/pair")
}

// harvested is a manifest with the folder it was made from.
type harvested struct {
	core.Manifest
	eco eco
}

func newLessons(t testing.TB, e eco, n int) harvested {
	t.Helper()
	for i := range n {
		e.write(fmt.Sprintf("shield/lessons/new-%03d.md", i), fmt.Sprintf("# Lesson %d\n\nWhat number %d taught us about part %d.\n", i, i*i, i*7))
	}
	e.git(core.Shield, "add", "-N", "--", "lessons")
	m, err := manifest.Parse(e.manifest("bench", "2026-05-01T12:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return harvested{m, e}
}

// guardOver is a guard over an empty database.
func guardOver(t testing.TB, e eco, model *llmtest.Server, k, slots int) *guard.Guard {
	t.Helper()
	return guard.New(dbtest.Open(t), clientOf(t, model), guardOptions(e, k, slots))
}

func clientOf(t testing.TB, model *llmtest.Server) *localllm.Client {
	t.Helper()
	c, err := localllm.New(localllm.Config{BaseURL: model.URL, MaxRetries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func guardOptions(e eco, k, slots int) guard.Options {
	return guard.Options{
		K: k, Concurrency: slots, Secret: []byte("s"), Ecosystem: e.dir, ShieldDir: e.dir + "/" + core.Shield,
		Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases(),
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
