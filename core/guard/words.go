package guard

import (
	"context"
	"slices"

	"storozh/core"
	"storozh/core/keyword"
)

// WordSearch finds items of a corpus by the words they share with a text. An embedding that does not know a language, or a name, puts the item
// that a unit contradicts anywhere: of 20 Russian statements an English model had the item they deny 2 times among its nearest 5, and with one
// more by words 18 times (docs/models.md).
type WordSearch struct {
	IDs   []string // of the items, by the index's numbers of texts
	Index *keyword.Index
}

// NewWordSearch indexes the corpus of dir for texts, as [WordsOf] gives them; no others can be looked for.
func NewWordSearch(ctx context.Context, store interface {
	EachItem(ctx context.Context, dir string, each func(id, title, normative string)) error
}, dir string, texts ...string) (*WordSearch, error) {
	s, index := &WordSearch{}, keyword.For(texts...)
	err := store.EachItem(ctx, dir, func(id, title, normative string) {
		s.IDs = append(s.IDs, id)
		index.Add(WordsOf(title, normative))
	})
	if err != nil {
		return nil, err
	}
	s.Index = index.Index()
	return s, nil
}

// WordsOf is what is searched of a unit or an item.
func WordsOf(title, statement string) string { return title + "\n" + statement }

// searchWords indexes the corpus for the words of this run's units, once per comparison.
func (f *finder) searchWords(ctx context.Context) (err error) {
	if f.words == nil {
		texts := make([]string, len(f.todo))
		for i, u := range f.todo {
			texts[i] = WordsOf(u.Unit.Title, u.Unit.Normative)
		}
		f.words, err = NewWordSearch(ctx, f.store, f.opt.ShieldDir, texts...)
	}
	return err
}

// addByWords appends to the neighbours of each unit the best item by words that is not among them (keyword.Index.Best). That costs the judge at
// most one question per unit, and takes none of the nearest away.
func (f *finder) addByWords(ctx context.Context, batch []*core.UnitResult, hashes [][]byte, own [][]string, near [][]core.Near, model int) error {
	if f.opt.NoWords {
		return nil
	}
	if err := f.searchWords(ctx); err != nil {
		return err
	}
	found := make([]string, len(batch))
	for i, u := range batch {
		at, ok := f.words.Index.Best(WordsOf(u.Unit.Title, u.Unit.Normative), func(at int) bool {
			id := f.words.IDs[at]
			return f.ex.replaced[id] || slices.Contains(own[i], id) || slices.ContainsFunc(near[i], func(n core.Near) bool { return n.Item == id })
		})
		if ok {
			found[i] = f.words.IDs[at]
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
