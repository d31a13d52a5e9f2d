package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"storozh/core"
	"storozh/core/corpus"
	"storozh/core/judge"
)

// readTries is how often the corpus is read when other runs store another reading in between.
const readTries = 4

// readCorpus brings the stored corpus up to shield's HEAD, and loads what of it this manifest names. At the commit that is stored nothing is
// read; else only files whose blob is another. When the repo cannot be read the last good items serve, marked stale, with a warning.
func (w *work) readCorpus(ctx context.Context) error {
	var err error
	for try := 0; ; try++ {
		if err = w.syncCorpus(ctx); !errors.Is(err, core.ErrConflict) || try == readTries {
			break
		}
	}
	if err != nil {
		return err
	}
	w.corpus = w.head.CorpusState
	if paths := w.shieldPaths(); len(paths) > 0 {
		w.items, err = w.store.ItemsAt(ctx, w.opt.ShieldDir, paths)
	}
	return err
}

func (w *work) syncCorpus(ctx context.Context) error {
	var err error
	if w.head, err = w.store.CorpusHead(ctx, w.opt.ShieldDir); err != nil {
		return err
	}
	reading, err := w.lookAtShield(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var failed storeError
	switch {
	case errors.As(err, &failed):
		return failed.err
	case err != nil:
		return w.goStale(ctx, err)
	}
	if err := w.store.SaveCorpus(ctx, w.opt.ShieldDir, reading, ItemHash); err != nil {
		return err
	}
	w.head, err = w.store.CorpusHead(ctx, w.opt.ShieldDir)
	return err
}

// storeError is an error of the store, where one of git could come as well.
type storeError struct{ err error }

func (e storeError) Error() string { return e.err.Error() }

// lookAtShield finds what is different at shield's HEAD. A place that could not be read is tried again each time: it may have been git that
// failed.
func (w *work) lookAtShield(ctx context.Context) (core.CorpusReading, error) {
	r := core.CorpusReading{Revision: w.head.Revision, Splitter: corpus.Splitter}
	same := w.head.Splitter == corpus.Splitter
	if same && !w.head.Stale && len(w.head.Faults) == 0 {
		commit, err := corpus.Head(ctx, w.opt.ShieldDir)
		if err != nil || commit == w.head.Commit {
			r.Commit = commit
			return r, err
		}
	}
	known, err := w.store.CorpusFiles(ctx, w.opt.ShieldDir)
	if err != nil {
		return r, storeError{err}
	}
	if !same {
		for path := range known {
			known[path] = "" // the same bytes may give other items
		}
	}
	snap, err := corpus.Read(ctx, w.opt.ShieldDir, corpus.Known(known, w.head.Faults))
	r.Commit, r.Files, r.Gone, r.Items, r.Faults = snap.Commit, snap.Read, snap.Gone, snap.Items, snap.Faults
	return r, err
}

// goStale keeps the last good items in use.
func (w *work) goStale(ctx context.Context, why error) error {
	w.head.Stale, w.head.Reason = true, why.Error()
	if w.head.Items > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("shield corpus: %v; the last good version was used", why))
	}
	return w.store.MarkStale(ctx, w.opt.ShieldDir, why.Error())
}

// shieldPaths lists the files of shield that this manifest changes.
func (w *work) shieldPaths() []string {
	seen := map[string]bool{}
	for _, u := range w.units {
		if u.Unit.Repo == core.Shield {
			seen[u.Unit.Path] = true
		}
	}
	for _, s := range w.derived.Replaced {
		if s.Repo == core.Shield {
			seen[s.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// itemsOf loads the items that were found near, by id.
func (w *work) itemsOf(ctx context.Context, near [][]core.Near) (map[string]core.Item, error) {
	seen := map[string]bool{}
	var ids []string
	for _, n := range slices.Concat(near...) {
		if !seen[n.Item] {
			seen[n.Item] = true
			ids = append(ids, n.Item)
		}
	}
	items, err := w.store.ItemsByID(ctx, w.opt.ShieldDir, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]core.Item, len(items))
	for _, it := range items {
		byID[it.ID] = it
	}
	return byID, nil
}

// ItemHash is the hash of what the judge reads of an item: the key of its vectors and part of its verdicts'.
func ItemHash(i core.Item) []byte { return judge.TextHash(textOfItem(i)) }

// Sync reads the corpus and embeds what is new, without a manifest, so that the first run need not wait for it.
func (g *Guard) Sync(ctx context.Context) (core.CorpusState, error) {
	w := &work{Guard: g, patient: true}
	if err := w.readCorpus(ctx); err != nil {
		return w.corpus, err
	}
	if w.corpus.Items == 0 {
		return w.corpus, nil
	}
	var err error
	if w.models, err = g.model.Resolve(ctx); err != nil {
		return w.corpus, err
	}
	_, err = w.embed(ctx, nil, nil)
	return w.corpus, err
}
