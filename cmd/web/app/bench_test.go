package app

import (
	"fmt"
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

// BenchmarkRun takes a manifest of 20 new lessons through the guard with a model that takes 100 ms and answers 4 requests at once. It
// reports the time as a ratio to the model's own ideal schedule (one embedding request, then all pairs through 4 slots), and what a second
// run of the same manifest asks the model.
func BenchmarkRun(b *testing.B) {
	const units, k, delay, slots = 20, 5, 100 * time.Millisecond, 4
	e := newEco(b)
	for i := range units {
		e.change(fmt.Sprintf("shield/lessons/new-%02d.md", i), fmt.Sprintf("# Lesson %d\n\nWhat number %d taught us about part %d.\n", i, i*i, i*7))
	}
	m, err := manifest.Parse(e.manifest("bench", "2026-05-01T12:00:00Z"))
	if err != nil {
		b.Fatal(err)
	}
	ratio, again := 0.0, 0
	for b.Loop() {
		b.StopTimer()
		model := llmtest.Start(b, func(f *llmtest.Faults) { f.Delay = delay; f.Answer = rules(nil) })
		client, err := localllm.New(localllm.Config{BaseURL: model.URL})
		if err != nil {
			b.Fatal(err)
		}
		d := dbtest.Open(b)
		g := guard.New(d, client, guard.Options{
			K: k, Concurrency: slots, Secret: []byte("s"), Ecosystem: e.dir, ShieldDir: e.dir + "/" + core.Shield,
			Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases(),
		})
		b.StartTimer()
		start := time.Now()
		res, err := g.Run(b.Context(), guard.Job{Manifest: m, RanAt: start})
		took := time.Since(start)
		if err != nil || res.Block.Summary.OK != units {
			b.Fatalf("%+v %v", res.Block, err)
		}
		b.StopTimer()
		asked := model.Counts()
		// One request for the list of models and one for all embeddings come before the first pair.
		ideal := delay + delay*time.Duration((asked.Completions+slots-1)/slots)
		if asked.Models > 0 {
			ideal += delay
		}
		ratio += float64(took) / float64(ideal)
		if _, err := g.Run(b.Context(), guard.Job{Manifest: m, RanAt: start}); err != nil {
			b.Fatal(err)
		}
		now := model.Counts()
		again += now.Completions + now.Chat + now.Embeddings - asked.Completions - asked.Chat - asked.Embeddings
		b.StartTimer()
	}
	b.ReportMetric(ratio/float64(b.N), "x-ideal")
	b.ReportMetric(float64(again), "calls-in-second-run")
}
