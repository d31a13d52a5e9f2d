package guard

import (
	"context"
	"errors"

	"storozh/core"
	"storozh/core/judge"
)

const (
	embedBatch = 64   // texts that are embedded before what was found is kept
	itemPage   = 1024 // items that are in memory at once on their way to a vector
	embedInRun = 256  // texts of the corpus that a run embeds by a new model itself, where an older model could serve
)

// vectors are the embeddings of one model: those of the run's units, by text hash.
type vectors struct {
	model  int // 0: not registered yet
	dim    int
	wanted map[string]bool // hashes of the units' texts
	byHash map[string][]float32
	aside  []string // ids of items for which the model gives no vector
}

// of is the vector of a unit's text; nil if it has none yet.
func (v *vectors) of(u core.Unit) []float32 { return v.byHash[string(judge.TextHash(textOfUnit(u)))] }

type pendingText struct {
	hash []byte
	text judge.Text
	item string // its id; empty: a unit's text
}

// embed makes sure that every item and every unit to judge has a vector of one model. ready, which may be nil, is called whenever more of the
// units may have theirs: all items have by then. An error of the model (see localllm.KindOf) ends in a skip.
func (w *work) embed(ctx context.Context, todo []*core.UnitResult, ready func(*vectors) error) (*vectors, error) {
	m, err := w.configured(ctx)
	if err != nil {
		return nil, err
	}
	v, err := w.embedBy(ctx, m, todo, ready)
	var changed dimension
	if errors.As(err, &changed) {
		if m, err = w.changedLength(ctx, m, changed); err != nil {
			return nil, err
		}
		v, err = w.embedBy(ctx, m, todo, ready)
	}
	return v, err
}

// embedBy embeds by m; or, while m lacks too many items to be waited for, by an older model.
func (w *work) embedBy(ctx context.Context, m embedder, todo []*core.UnitResult, ready func(*vectors) error) (*vectors, error) {
	if m.id == 0 || w.head.Embedded != m.id {
		older, err := w.olderFor(ctx, &m)
		if err != nil {
			return nil, err
		}
		if older != nil {
			m = *older
		}
	}
	return w.embedWith(ctx, m, todo, ready)
}

func (w *work) embedWith(ctx context.Context, m embedder, todo []*core.UnitResult, ready func(*vectors) error) (*vectors, error) {
	v := &vectors{model: m.id, dim: m.dim, wanted: map[string]bool{}}
	hashes := make([][]byte, len(todo))
	for i, u := range todo {
		hashes[i] = judge.TextHash(textOfUnit(u.Unit))
		v.wanted[string(hashes[i])] = true
	}
	var err error
	if v.byHash, err = w.store.Embeddings(ctx, v.model, hashes); err != nil {
		return nil, err
	}
	complete := m.id != 0 && w.head.Embedded == m.id
	var missing []pendingText
	if !complete {
		if missing, err = w.embedPages(ctx, m, v); err != nil {
			return nil, err
		}
	}
	items := len(missing)
	missing = append(missing, v.missingUnits(missing, hashes, todo)...)
	for done := 0; done < len(missing); {
		n := min(len(missing)-done, embedBatch)
		if err := w.embedChunk(ctx, m, missing[done:done+n], v); err != nil {
			return nil, err
		}
		done += n
		if done >= items && done < len(missing) && ready != nil {
			if err := ready(v); err != nil {
				return nil, err
			}
		}
	}
	if len(v.aside) > 0 {
		w.warnings = append(w.warnings, asideNotice(m.name, v.aside))
	} else if !complete && v.model != 0 {
		if err := w.store.MarkEmbedded(ctx, w.opt.ShieldDir, w.head.Revision, v.model); err != nil {
			return nil, err
		}
	}
	if ready != nil {
		return v, ready(v)
	}
	return v, nil
}

// embedPages embeds the items without a vector, but for the last page, which it gives back: it can share a request with the units.
func (w *work) embedPages(ctx context.Context, m embedder, v *vectors) ([]pendingText, error) {
	var after []byte
	for {
		page, err := w.missingItems(ctx, v.model, after)
		if err != nil || len(page) < itemPage {
			return page, err
		}
		if err := w.embedAll(ctx, m, page, v); err != nil {
			return nil, err
		}
		after = page[len(page)-1].hash
	}
}

// missingItems lists a page of the items that have no vector, those after a hash.
func (w *work) missingItems(ctx context.Context, model int, after []byte) ([]pendingText, error) {
	items, err := w.store.MissingEmbeddings(ctx, w.opt.ShieldDir, model, after, itemPage)
	if err != nil {
		return nil, err
	}
	out := make([]pendingText, len(items))
	for i, it := range items {
		out[i] = pendingText{ItemHash(it), textOfItem(it), it.ID}
	}
	return out, nil
}

// missingUnits lists each unit's text without a vector once; those of items are on their way.
func (v *vectors) missingUnits(items []pendingText, hashes [][]byte, todo []*core.UnitResult) []pendingText {
	seen := map[string]bool{}
	for _, p := range items {
		seen[string(p.hash)] = true
	}
	var out []pendingText
	for i, u := range todo {
		if h := string(hashes[i]); v.byHash[h] == nil && !seen[h] {
			seen[h] = true
			out = append(out, pendingText{hashes[i], textOfUnit(u.Unit), ""})
		}
	}
	return out
}

func (w *work) embedAll(ctx context.Context, m embedder, texts []pendingText, v *vectors) error {
	for len(texts) > 0 {
		n := min(len(texts), embedBatch)
		if err := w.embedChunk(ctx, m, texts[:n], v); err != nil {
			return err
		}
		texts = texts[n:]
	}
	return nil
}

// embedTexts embeds up to one batch and keeps it.
func (w *work) embedTexts(ctx context.Context, m embedder, chunk []pendingText, v *vectors) error {
	texts, hashes := make([]string, len(chunk)), make([][]byte, len(chunk))
	for i, p := range chunk {
		texts[i], hashes[i] = m.words(p.text), p.hash
	}
	vecs, err := m.ask(ctx, texts)
	if err != nil {
		return err
	}
	switch got := len(vecs[0]); {
	case v.model == 0: // never seen before: what it gives now is its length
		if v.model, err = w.store.AddEmbedModel(ctx, m.name, m.prefix, got); err != nil {
			return err
		}
		v.dim = got
	case got != v.dim:
		return dimension(got)
	}
	for i, p := range chunk {
		if v.wanted[string(p.hash)] {
			v.byHash[string(p.hash)] = vecs[i]
		}
	}
	return w.store.SaveEmbeddings(ctx, v.model, hashes, vecs)
}
