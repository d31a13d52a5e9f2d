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

// of is the vector of a unit's text; nil if it has none yet.
func (v *vectors) of(u core.Unit) []float32 { return v.byHash[string(judge.TextHash(textOfUnit(u)))] }

type pendingText struct {
	hash []byte
	text judge.Text
}

// embed makes sure that every item and every unit to judge has a vector. ready, which may be nil, is called whenever more of the units may have
// theirs: all items have by then. An error of the model (see localllm.KindOf) ends in a skip.
func (w *work) embed(ctx context.Context, todo []*core.UnitResult, ready func(*vectors) error) (*vectors, error) {
	prefix := localllm.Prefix(w.models.Embed)
	id, dim, err := w.store.EmbedModel(ctx, w.models.Embed, prefix)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	v, err := w.embedWith(ctx, todo, id, dim, ready)
	var changed dimension
	if errors.As(err, &changed) {
		if id, err = w.store.AddEmbedModel(ctx, w.models.Embed, prefix, int(changed)); err != nil {
			return nil, err
		}
		v, err = w.embedWith(ctx, todo, id, int(changed), ready)
	}
	return v, err
}

// dimension is the length of the model's vectors now, where those kept have another: all are made anew, under a new model id.
type dimension int

func (d dimension) Error() string {
	return fmt.Sprintf("the embedding model changed the length of its vectors: now %d", int(d))
}

func (w *work) embedWith(ctx context.Context, todo []*core.UnitResult, model, dim int, ready func(*vectors) error) (*vectors, error) {
	v := &vectors{model: model, dim: dim}
	missing, items, err := w.missingTexts(ctx, todo, v)
	if err != nil {
		return nil, err
	}
	for done := 0; done < len(missing); {
		n := min(len(missing)-done, embedBatch)
		if err := w.embedChunk(ctx, missing[done:done+n], v); err != nil {
			return nil, err
		}
		done += n
		if done >= items && done < len(missing) && ready != nil {
			if err := ready(v); err != nil {
				return nil, err
			}
		}
	}
	if ready != nil {
		return v, ready(v)
	}
	return v, nil
}

// missingTexts loads the vectors of the units that are kept, and lists each text without one once: those of items first, of which it gives
// the number.
func (w *work) missingTexts(ctx context.Context, todo []*core.UnitResult, v *vectors) (missing []pendingText, ofItems int, err error) {
	items, err := w.store.MissingEmbeddings(ctx, w.opt.ShieldDir, v.model)
	if err != nil {
		return nil, 0, err
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
		return nil, 0, err
	}
	for i, u := range todo {
		h := string(hashes[i])
		if v.byHash[h] == nil && !seen[h] {
			seen[h] = true
			missing = append(missing, pendingText{hashes[i], textOfUnit(u.Unit)})
		}
	}
	return missing, len(items), nil
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
