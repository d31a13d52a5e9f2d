package guard

import (
	"context"
	"slices"

	"storozh/core"
	"storozh/core/keyword"
)

// wordSearch finds items by the words they share with a unit. An embedding that does not know a language, or a name, puts the item that a unit
// contradicts anywhere: of 20 Russian statements an English model had the item they deny 2 times among its nearest 5, and with one more by words 18
// times (docs/models.md).
type wordSearch struct {
	ids   []string
	index *keyword.Index
}

// searchWords indexes the corpus for the words of this run's units, once per run.
func (f *finder) searchWords(ctx context.Context) (*wordSearch, error) {
	if f.words != nil {
		return f.words, nil
	}
	texts := make([]string, len(f.todo))
	for i, u := range f.todo {
		texts[i] = wordsOf(u.Unit.Title, u.Unit.Normative)
	}
	s, index := &wordSearch{}, keyword.For(texts...)
	err := f.store.EachItem(ctx, f.opt.ShieldDir, func(id, title, normative string) {
		s.ids = append(s.ids, id)
		index.Add(wordsOf(title, normative))
	})
	if err != nil {
		return nil, err
	}
	s.index = index.Index()
	f.words = s
	return s, nil
}

func wordsOf(title, normative string) string { return title + "\n" + normative }

// addByWords appends to the neighbours of each unit the best item by words that is not among them (keyword.Index.Best). That costs the judge at most one question
// per unit, and takes none of the nearest away.
func (f *finder) addByWords(ctx context.Context, batch []*core.UnitResult, hashes [][]byte, own [][]string, near [][]core.Near, model int) error {
	if f.opt.NoWords {
		return nil
	}
	search, err := f.searchWords(ctx)
	if err != nil {
		return err
	}
	found := make([]string, len(batch))
	for i, u := range batch {
		at, ok := search.index.Best(wordsOf(u.Unit.Title, u.Unit.Normative), func(at int) bool {
			id := search.ids[at]
			return f.ex.replaced[id] || slices.Contains(own[i], id) || slices.ContainsFunc(near[i], func(n core.Near) bool { return n.Item == id })
		})
		if ok {
			found[i] = search.ids[at]
		}
	}
	similar, err := f.store.Similarities(ctx, f.opt.ShieldDir, model, hashes, found)
	if err != nil {
		return err
	}
	for i, n := range similar {
		if n.Item != "" {
			n.Words = true
			near[i] = append(near[i], n)
		}
	}
	return nil
}
