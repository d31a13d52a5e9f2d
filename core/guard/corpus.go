package guard

import (
	"context"
	"fmt"

	"storozh/core"
	"storozh/core/corpus"
	"storozh/core/judge"
	"storozh/core/passage"
)

// readCorpus brings the stored corpus up to shield's HEAD. Files whose blob is known are neither read nor parsed again. When the repo
// cannot be read the last good items serve, marked stale, with a warning.
func (w *work) readCorpus(ctx context.Context) error {
	old, faults, err := w.store.Items(ctx, w.opt.ShieldDir)
	if err != nil {
		return err
	}
	snap, err := corpus.Read(ctx, w.opt.ShieldDir, corpus.Known(old, faults))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.items = old
		w.corpus = core.CorpusState{Items: len(old), Stale: true, Reason: err.Error()}
		if len(old) > 0 {
			w.warnings = append(w.warnings, fmt.Sprintf("shield corpus: %v; the last good version was used", err))
		}
		return w.store.MarkStale(ctx, w.opt.ShieldDir, err.Error())
	}
	w.items = snap.Items
	w.corpus = core.CorpusState{Commit: snap.Commit, Items: len(snap.Items), Faults: snap.Faults}
	return w.store.SaveCorpus(ctx, w.opt.ShieldDir, snap.Commit, snap.Items, snap.Faults, itemHash)
}

func itemHash(i core.Item) []byte { return judge.TextHash(textOfItem(i)) }

// exclusion finds the items that a unit is never compared with: itself, and what this manifest removes or rewrites.
type exclusion struct {
	byPath   map[string][]core.Item // full path, `shield/…` → its items
	replaced map[string]bool        // ids that the manifest removes or rewrites
}

func newExclusion(items []core.Item, spans []core.Span) exclusion {
	e := exclusion{byPath: map[string][]core.Item{}, replaced: map[string]bool{}}
	for _, it := range items {
		p := core.Shield + "/" + it.Path
		e.byPath[p] = append(e.byPath[p], it)
	}
	for _, s := range spans {
		for _, it := range e.byPath[s.Repo+"/"+s.Path] {
			if touches(s, it) {
				e.replaced[it.ID] = true
			}
		}
	}
	return e
}

// touches tells whether a span of the old text takes in an item: the passage of that anchor, else by lines; a span without either is
// the whole file.
func touches(s core.Span, it core.Item) bool {
	switch {
	case s.Anchor != "" && s.Anchor == it.Anchor:
		return true
	case s.Start == 0:
		return s.Anchor == ""
	default:
		return it.StartLine <= s.End && s.Start <= it.EndLine
	}
}

// own lists the items that are the unit itself: its id, what it edits or moves from, and, if it was committed meanwhile, the same text at
// the same path.
func (e exclusion) own(u core.Unit) []string {
	out := append([]string{u.ID}, u.Replaces...)
	text := passage.Normalise(u.Normative)
	for _, it := range e.byPath[u.Repo+"/"+u.Path] {
		if it.ID != u.ID && passage.Normalise(it.Normative) == text {
			out = append(out, it.ID)
		}
	}
	return out
}

// Sync reads the corpus and embeds what is new, without a manifest, so that the first run need not wait for it.
func (g *Guard) Sync(ctx context.Context) (core.CorpusState, error) {
	w := &work{Guard: g}
	if err := w.readCorpus(ctx); err != nil {
		return w.corpus, err
	}
	if len(w.items) == 0 {
		return w.corpus, nil
	}
	var err error
	if w.models, err = g.model.Resolve(ctx); err != nil {
		return w.corpus, err
	}
	_, err = w.embed(ctx, nil, nil)
	return w.corpus, err
}
