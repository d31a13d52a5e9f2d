package guard

import (
	"context"

	"storozh/core"
)

// Store keeps what runs share: the corpus as last read, vectors and verdicts. Hashes are SHA-256. Methods may be called from several
// goroutines at once.
type Store interface {
	// Items gives the items of the corpus last read from dir, and the faults of that reading.
	Items(ctx context.Context, dir string) ([]core.Item, []core.Fault, error)
	// SaveCorpus makes the stored corpus equal to items.
	SaveCorpus(ctx context.Context, dir, commit string, items []core.Item, faults []core.Fault, hash func(core.Item) []byte) error
	// MarkStale records that dir could not be read; the last good items stay.
	MarkStale(ctx context.Context, dir, reason string) error

	// EmbedModel gives id and vector length last used for a model and prefix; core.ErrNotFound if never.
	EmbedModel(ctx context.Context, name, prefix string) (id, dim int, err error)
	// AddEmbedModel registers a model with vectors of length dim.
	AddEmbedModel(ctx context.Context, name, prefix string, dim int) (id int, err error)
	// Embeddings gives the kept vectors by text hash.
	Embeddings(ctx context.Context, model int, hashes [][]byte) (map[string][]float32, error)
	// MissingEmbeddings lists items of dir without a vector, each text once.
	MissingEmbeddings(ctx context.Context, dir string, model int) ([]core.Item, error)
	// SaveEmbeddings keeps vectors by text hash.
	SaveEmbeddings(ctx context.Context, model int, hashes [][]byte, vectors [][]float32) error
	// NearestAll gives, for each text hash whose vector is kept, the ids of the n nearest items, nearest first.
	NearestAll(ctx context.Context, dir string, model int, hashes [][]byte, n int) ([][]core.Near, error)

	// Verdicts gives the kept verdicts by key.
	Verdicts(ctx context.Context, keys [][]byte) (map[string]core.Verdict, error)
	// SaveVerdicts keeps what the judge said of pairs, each under its key; no key comes twice in one call.
	SaveVerdicts(ctx context.Context, keys [][]byte, pairs []core.Pair) error
}
