package guard

import (
	"context"

	"storozh/core"
)

// Store keeps what runs share: the corpus as last read, vectors and verdicts. Hashes are SHA-256. Methods may be called from several
// goroutines at once.
type Store interface {
	// CorpusHead gives what is stored of dir's corpus, without its items; the zero value if it was never read.
	CorpusHead(ctx context.Context, dir string) (core.CorpusHead, error)
	// CorpusFiles gives the files that hold an item: path → blob.
	CorpusFiles(ctx context.Context, dir string) (map[string]string, error)
	// SaveCorpus writes down what a reading found; core.ErrConflict if another one came in between.
	SaveCorpus(ctx context.Context, dir string, r core.CorpusReading, hash func(core.Item) []byte) error
	// MarkStale records that dir could not be read; the last good items stay.
	MarkStale(ctx context.Context, dir, reason string) error
	// ItemsAt gives the items in these files.
	ItemsAt(ctx context.Context, dir string, paths []string) ([]core.Item, error)
	// ItemsByID gives the items with these ids, in no order; missing ones are left out.
	ItemsByID(ctx context.Context, dir string, ids []string) ([]core.Item, error)

	// EmbedModel gives id and vector length last used for a model and prefix; core.ErrNotFound if never.
	EmbedModel(ctx context.Context, name, prefix string) (id, dim int, err error)
	// AddEmbedModel registers a model with vectors of length dim.
	AddEmbedModel(ctx context.Context, name, prefix string, dim int) (id int, err error)
	// EmbedModels gives the models that have vectors of dir's corpus, the most complete first, and how many different texts the corpus has.
	EmbedModels(ctx context.Context, dir string) (models []core.EmbedModel, texts int, err error)
	// MarkEmbedded records that every item of dir has a vector of the model, if the corpus still has that revision.
	MarkEmbedded(ctx context.Context, dir string, revision int64, model int) error
	// SetReindexing records which model is on its way there; 0: none.
	SetReindexing(ctx context.Context, dir string, model int) error
	// Embeddings gives the kept vectors by text hash.
	Embeddings(ctx context.Context, model int, hashes [][]byte) (map[string][]float32, error)
	// MissingEmbeddings lists up to limit items of dir without a vector, each text once, by text hash, those after one only.
	MissingEmbeddings(ctx context.Context, dir string, model int, after []byte, limit int) ([]core.Item, error)
	// CountMissing counts the texts without a vector.
	CountMissing(ctx context.Context, dir string, model int) (int, error)
	// SampleEmbedding gives an item that has a vector of the model, with it; core.ErrNotFound if there is none.
	SampleEmbedding(ctx context.Context, dir string, model int) (core.Item, []float32, error)
	// SaveEmbeddings keeps vectors by text hash.
	SaveEmbeddings(ctx context.Context, model int, hashes [][]byte, vectors [][]float32) error
	// NearestAll gives, for each text hash whose vector is kept, the ids of the n nearest items, nearest first.
	NearestAll(ctx context.Context, dir string, model int, hashes [][]byte, n int) ([][]core.Near, error)
	// EachItem hands out every item of dir, by id, with no more of the text than a search by words looks at. each must not use the store.
	EachItem(ctx context.Context, dir string, each func(id, title, normative string)) error
	// Similarities gives, for each text hash, the cosine to one item; left out, by an empty id, where either has no vector.
	Similarities(ctx context.Context, dir string, model int, hashes [][]byte, items []string) ([]core.Near, error)

	// Verdicts gives the kept verdicts by key.
	Verdicts(ctx context.Context, keys [][]byte) (map[string]core.Verdict, error)
	// SaveVerdicts keeps what the judge said of pairs, each under its key; no key comes twice in one call.
	SaveVerdicts(ctx context.Context, keys [][]byte, pairs []core.Pair) error
}
