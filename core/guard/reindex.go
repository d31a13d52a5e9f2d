package guard

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"storozh/core/localllm"
)

// sameModel is the cosine from which a vector made now counts as the kept one of the same text: rounding differs, another model's are far off.
const sameModel = 0.98

// olderFor finds a model by which this run can be compared while m is being indexed: one that has vectors of (nearly) every item and that the
// server still answers with. nil: there is none, or m needs none. Then the run waits until m has embedded the items, however long that takes:
// half an index would silently miss contradictions.
func (w *work) olderFor(ctx context.Context, m *embedder) (*embedder, error) {
	if w.patient {
		return nil, nil
	}
	missing, err := w.store.CountMissing(ctx, w.opt.ShieldDir, m.id)
	if err != nil || missing <= embedInRun {
		return nil, err
	}
	older, texts, err := w.completeModel(ctx, m.id)
	if older == nil || err != nil {
		return nil, err
	}
	if ok, err := w.stillAnswers(ctx, older); !ok || err != nil {
		return nil, err
	}
	if err := w.register(ctx, m); err != nil {
		return nil, err
	}
	if err := w.store.SetReindexing(ctx, w.opt.ShieldDir, m.id); err != nil {
		return nil, err
	}
	w.warnings = append(w.warnings, fmt.Sprintf("reindexing: %s of %s items have vectors of the new model %s; this run was compared by those of %s",
		grouped(texts-missing), grouped(texts), m.name, older.name))
	w.models.Embed = older.name
	return older, nil
}

// completeModel is the model other than that of id not whose vectors cover the corpus, but for what a run would embed itself; nil if there is
// none. texts counts the corpus.
func (w *work) completeModel(ctx context.Context, not int) (m *embedder, texts int, err error) {
	models, texts, err := w.store.EmbedModels(ctx, w.opt.ShieldDir)
	if err != nil {
		return nil, 0, err
	}
	for _, o := range models {
		if o.ID != not && texts-o.Texts <= embedInRun {
			return &embedder{id: o.ID, name: o.Name, prefix: o.Prefix, dim: o.Dim}, texts, nil
		}
	}
	return nil, texts, nil
}

// stillAnswers tells whether the server can be asked for an older model's vectors: a kept one must come out again. Some servers take every name
// for the model that is loaded.
func (w *work) stillAnswers(ctx context.Context, m *embedder) (bool, error) {
	by, ok := w.model.(localllm.NamedEmbedder)
	if !ok {
		return false, nil
	}
	m.ask = func(ctx context.Context, texts []string) ([][]float32, error) {
		return by.EmbedWith(ctx, m.name, texts)
	}
	item, kept, err := w.store.SampleEmbedding(ctx, w.opt.ShieldDir, m.id)
	if err != nil {
		return false, err
	}
	now, err := m.ask(ctx, []string{m.words(textOfItem(item))})
	if err != nil {
		return false, ctx.Err()
	}
	return len(now[0]) == len(kept) && dot(unitLength(now[0]), unitLength(kept)) >= sameModel, nil
}

// register makes sure that a model has an id: one text shows the length of its vectors.
func (w *work) register(ctx context.Context, m *embedder) error {
	if m.id != 0 {
		return nil
	}
	first, err := w.missingItems(ctx, 0, nil)
	if err != nil || len(first) == 0 {
		return err
	}
	v := &vectors{}
	if err := w.embedTexts(ctx, *m, first[:1], v); err != nil {
		return err
	}
	m.id, m.dim = v.model, v.dim
	return nil
}

// Reindex goes on with the vectors of a new embedding model, if a run has begun that, until every item has one; the next run is then compared by
// them. between is called before each batch with the number of texts done in this call; its error ends the work, which may go on later. An error
// of the model, too.
func (g *Guard) Reindex(ctx context.Context, between func(ctx context.Context, done int) error) error {
	w := &work{Guard: g, patient: true}
	var err error
	if w.head, err = g.store.CorpusHead(ctx, g.opt.ShieldDir); err != nil || w.head.Reindex == 0 {
		return err
	}
	if w.models, err = g.model.Resolve(ctx); err != nil {
		return err
	}
	m, err := w.configured(ctx)
	if err != nil {
		return err
	}
	if m.id != w.head.Reindex || w.head.Embedded == m.id { // it was changed once more, or a run has done it
		return g.store.SetReindexing(ctx, g.opt.ShieldDir, 0)
	}
	err = w.reindex(ctx, m, between)
	var changed dimension
	if errors.As(err, &changed) { // another model under the same name: the next run finds out what can be done
		return errors.Join(g.store.SetReindexing(ctx, g.opt.ShieldDir, 0), err)
	}
	return err
}

func (w *work) reindex(ctx context.Context, m embedder, between func(ctx context.Context, done int) error) error {
	v := &vectors{model: m.id, dim: m.dim}
	done := 0
	var after []byte
	for {
		var err error
		if after == nil { // a pass begins: if nothing is missing, that holds for this revision
			if w.head, err = w.store.CorpusHead(ctx, w.opt.ShieldDir); err != nil {
				return err
			}
		}
		page, err := w.missingItems(ctx, m.id, after)
		if err != nil {
			return err
		}
		if len(page) == 0 && after == nil {
			return w.store.MarkEmbedded(ctx, w.opt.ShieldDir, w.head.Revision, m.id)
		}
		after = nil
		for rest := page; len(rest) > 0; {
			if err := between(ctx, done); err != nil {
				return err
			}
			n := min(len(rest), embedBatch)
			if err := w.embedTexts(ctx, m, rest[:n], v); err != nil {
				return err
			}
			after, rest, done = rest[n-1].hash, rest[n:], done+n
		}
	}
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
