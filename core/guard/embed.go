package guard

import (
	"context"
	"errors"
	"fmt"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// embedBatch is how many texts are embedded before what was found is kept.
const embedBatch = 64

// vectors are the embeddings of one model, by text hash.
type vectors struct {
	model  int // 0: not registered yet
	dim    int
	byHash map[string][]float32
}

type pendingText struct {
	hash []byte
	text judge.Text
}

// embed makes sure that every item and every unit to judge has a vector. An error of the model (see localllm.KindOf) ends in a skip.
func (w *work) embed(ctx context.Context, todo []*core.UnitResult) (*vectors, error) {
	prefix := localllm.Prefix(w.models.Embed)
	id, dim, err := w.store.EmbedModel(ctx, w.models.Embed, prefix)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	v, err := w.embedWith(ctx, todo, id, dim)
	var changed dimension
	if errors.As(err, &changed) {
		if id, err = w.store.AddEmbedModel(ctx, w.models.Embed, prefix, int(changed)); err != nil {
			return nil, err
		}
		v, err = w.embedWith(ctx, todo, id, int(changed))
	}
	return v, err
}

// dimension is the length of the model's vectors now, where those kept have another: all are made anew, under a new model id.
type dimension int

func (d dimension) Error() string {
	return fmt.Sprintf("the embedding model changed the length of its vectors: now %d", int(d))
}

func (w *work) embedWith(ctx context.Context, todo []*core.UnitResult, model, dim int) (*vectors, error) {
	v := &vectors{model: model, dim: dim}
	missing, err := w.missingTexts(ctx, todo, v)
	if err != nil {
		return nil, err
	}
	for len(missing) > 0 {
		n := min(len(missing), embedBatch)
		if err := w.embedChunk(ctx, missing[:n], v); err != nil {
			return nil, err
		}
		missing = missing[n:]
	}
	return v, nil
}

// missingTexts loads the vectors of the units that are kept, and lists each text without one once: items first.
func (w *work) missingTexts(ctx context.Context, todo []*core.UnitResult, v *vectors) ([]pendingText, error) {
	var missing []pendingText
	items, err := w.store.MissingEmbeddings(ctx, w.opt.ShieldDir, v.model)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, it := range items {
		h := itemHash(it)
		seen[string(h)] = true
		missing = append(missing, pendingText{h, textOfItem(it)})
	}
	hashes := make([][]byte, len(todo))
	for i, u := range todo {
		hashes[i] = judge.TextHash(textOfUnit(u.Unit))
	}
	if v.byHash, err = w.store.Embeddings(ctx, v.model, hashes); err != nil {
		return nil, err
	}
	for i, u := range todo {
		h := string(hashes[i])
		if v.byHash[h] == nil && !seen[h] {
			seen[h] = true
			missing = append(missing, pendingText{hashes[i], textOfUnit(u.Unit)})
		}
	}
	return missing, nil
}

// embedChunk embeds up to one batch and keeps it.
func (w *work) embedChunk(ctx context.Context, chunk []pendingText, v *vectors) error {
	texts, hashes := make([]string, len(chunk)), make([][]byte, len(chunk))
	for i, p := range chunk {
		texts[i], hashes[i] = localllm.EmbedText(w.models.Embed, p.text.Title, p.text.Statement), p.hash
	}
	vecs, err := w.model.EmbedBatch(ctx, texts)
	if err != nil {
		return err
	}
	switch got := len(vecs[0]); {
	case v.model == 0: // never seen before: what it gives now is its length
		if v.model, err = w.store.AddEmbedModel(ctx, w.models.Embed, localllm.Prefix(w.models.Embed), got); err != nil {
			return err
		}
		v.dim = got
	case got != v.dim:
		return dimension(got)
	}
	for i, p := range chunk {
		v.byHash[string(p.hash)] = vecs[i]
	}
	return w.store.SaveEmbeddings(ctx, v.model, hashes, vecs)
}
