package guard

import (
	"context"
	"errors"
	"fmt"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// embedder is a model that embeds, as its vectors are kept.
type embedder struct {
	id     int // 0: not registered yet
	name   string
	prefix string
	dim    int
	ask    func(ctx context.Context, texts []string) ([][]float32, error)
}

// words is what is embedded of a text.
func (m embedder) words(t judge.Text) string {
	return m.prefix + localllm.EmbedText(m.name, t.Title, t.Statement)[len(localllm.Prefix(m.name)):]
}

// configured is the model in use.
func (w *work) configured(ctx context.Context) (embedder, error) {
	m := embedder{name: w.models.Embed, prefix: localllm.Prefix(w.models.Embed), ask: w.model.EmbedBatch}
	var err error
	m.id, m.dim, err = w.store.EmbedModel(ctx, m.name, m.prefix)
	if errors.Is(err, core.ErrNotFound) {
		err = nil
	}
	return m, err
}

// dimension is the length of the model's vectors now, where those kept have another: all are made anew, under a new model id.
type dimension int

func (d dimension) Error() string {
	return fmt.Sprintf("the embedding model changed the length of its vectors: now %d", int(d))
}

func (w *work) changedLength(ctx context.Context, m embedder, now dimension) (embedder, error) {
	var err error
	m.id, err = w.store.AddEmbedModel(ctx, m.name, m.prefix, int(now))
	m.dim = int(now)
	return m, err
}
