package app

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"storozh/core"
	"storozh/core/localllm"
)

// instruments measure what this process does; what the database knows is asked of it at each look (handlers).
type instruments struct {
	registry *prometheus.Registry
	model    *prometheus.HistogramVec
	pairs    *prometheus.CounterVec
	ended    *prometheus.CounterVec
}

// latencies reach from a cached small answer to a cold model load, in seconds.
var latencies = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160}

func newInstruments() *instruments {
	in := &instruments{
		registry: prometheus.NewRegistry(),
		model: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "storozh_model_seconds", Help: "How long the local model took, by call and outcome; retries included.", Buckets: latencies,
		}, []string{"call", "outcome"}),
		pairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "storozh_pairs_total", Help: "Pairs of the runs that this process finished, by label.",
		}, []string{"label"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "storozh_write_backs_total", Help: "Blocks that this process brought to their file or was refused, by state.",
		}, []string{"state"}),
	}
	for _, l := range []string{string(core.Contra), string(core.Dup), string(core.OK), unjudgedLabel} {
		in.pairs.WithLabelValues(l) // so that a rate has a zero to start from
	}
	in.registry.MustRegister(in.model, in.pairs, in.ended, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return in
}

const unjudgedLabel = "unjudged"

// judged counts the pairs of a finished run.
func (in *instruments) judged(res core.Result) {
	for _, u := range res.Units {
		for _, p := range u.Pairs {
			label := string(p.Label)
			if label == "" {
				label = unjudgedLabel
			}
			in.pairs.WithLabelValues(label).Inc()
		}
	}
}

func (in *instruments) wrote(w core.WriteBack) { in.ended.WithLabelValues(string(w.State)).Inc() }

// observed is a model whose calls are timed. The guard does not know that it is being measured.
type observed struct {
	localllm.Model
	seconds *prometheus.HistogramVec
}

func (o observed) watch(call string, began time.Time, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, context.Canceled):
		outcome = "cancelled"
	case localllm.KindOf(err) == localllm.KindCutOff:
		outcome = "cut off"
	case err != nil:
		outcome = "error"
	}
	o.seconds.WithLabelValues(call, outcome).Observe(time.Since(began).Seconds())
}

// Embeddings times the model's.
func (o observed) Embeddings(ctx context.Context, text string) ([]float32, error) {
	began := time.Now()
	v, err := o.Model.Embeddings(ctx, text)
	o.watch("embed", began, err)
	return v, err
}

// EmbedBatch times the model's.
func (o observed) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	began := time.Now()
	v, err := o.Model.EmbedBatch(ctx, texts)
	o.watch("embed", began, err)
	return v, err
}

// Complete times the model's.
func (o observed) Complete(ctx context.Context, prompt string, opts localllm.Opts) (string, error) {
	began := time.Now()
	v, err := o.Model.Complete(ctx, prompt, opts)
	o.watch("complete", began, err)
	return v, err
}
