package app

import (
	"context"
	"path/filepath"
	"slices"

	"storozh/core"
	"storozh/core/guard"
)

// AddMissed keeps a clash that a cosigner names. An item that the run did not bring is taken as the corpus has it now.
func (f front) AddMissed(ctx context.Context, m core.Missed) (core.Missed, bool, error) {
	if m.ItemHash == nil {
		item, _, err := f.Item(ctx, m.Item)
		if err != nil {
			return core.Missed{}, false, err
		}
		m.ItemHash = guard.ItemHash(item)
	}
	return f.DB.AddMissed(ctx, m)
}

// ByWords gives the items that share words with a text, best first. A manifest of the sample has the sample's corpus.
func (f front) ByWords(ctx context.Context, source core.Source, text string, n int) ([]core.Item, error) {
	dir := f.app.cfg.ShieldDir
	if source == core.SourceSample {
		dir = filepath.Join(f.app.sampleEcosystem(), core.Shield)
	}
	search, err := guard.NewWordSearch(ctx, f.DB, dir, text)
	if err != nil {
		return nil, err
	}
	var best []string
	for _, h := range search.Index.Nearest(text, n) {
		best = append(best, search.IDs[h.Text])
	}
	items, err := f.DB.ItemsByID(ctx, dir, best)
	slices.SortFunc(items, func(a, b core.Item) int { return slices.Index(best, a.ID) - slices.Index(best, b.ID) })
	return items, err
}
