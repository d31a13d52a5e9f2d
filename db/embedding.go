package db

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pgvector/pgvector-go"

	"storozh/core"
)

// Embeddings gives the vectors that are kept for these text hashes; missing ones are absent from the map, whose key is the hash.
func (d *DB) Embeddings(ctx context.Context, modelID int, hashes [][]byte) (map[string][]float32, error) {
	var rows []struct {
		Hash      []byte          `db:"text_hash"`
		Embedding pgvector.Vector `db:"embedding"`
	}
	err := d.x.SelectContext(ctx, &rows, "SELECT text_hash, embedding FROM embeddings WHERE model_id = $1 AND text_hash = ANY($2)",
		modelID, pq.ByteaArray(hashes))
	if err != nil {
		return nil, wrap(err, "Embeddings")
	}
	out := make(map[string][]float32, len(rows))
	for _, r := range rows {
		out[string(r.Hash)] = r.Embedding.Slice()
	}
	return out, nil
}

// MissingEmbeddings lists up to limit items of dir that have no vector of this model yet, each text once, in the order of their text hashes,
// those after a hash only (nil: from the first).
func (d *DB) MissingEmbeddings(ctx context.Context, dir string, modelID int, after []byte, limit int) ([]core.Item, error) {
	var rows []itemRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT DISTINCT ON (i.text_hash) i.* FROM items i
		WHERE i.corpus_id = (SELECT id FROM corpora WHERE dir = $1) AND i.text_hash > $3
			AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = $2 AND e.text_hash = i.text_hash)
		ORDER BY i.text_hash LIMIT $4`, text(dir), modelID, append([]byte{}, after...), limit)
	if err != nil {
		return nil, wrap(err, "MissingEmbeddings")
	}
	return itemsOf(rows), nil
}

// CountMissing counts the texts of dir's corpus that have no vector of this model yet.
func (d *DB) CountMissing(ctx context.Context, dir string, modelID int) (int, error) {
	var n int
	err := d.x.GetContext(ctx, &n, `
		SELECT count(DISTINCT i.text_hash) FROM items i
		WHERE i.corpus_id = (SELECT id FROM corpora WHERE dir = $1)
			AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = $2 AND e.text_hash = i.text_hash)`, text(dir), modelID)
	return n, wrap(err, "CountMissing")
}

// SampleEmbedding gives an item of dir that has a vector of this model, with that vector; core.ErrNotFound if there is none.
func (d *DB) SampleEmbedding(ctx context.Context, dir string, modelID int) (core.Item, []float32, error) {
	var row struct {
		itemRow
		Embedding pgvector.Vector `db:"embedding"`
	}
	err := d.x.GetContext(ctx, &row, `
		SELECT i.*, e.embedding FROM items i JOIN embeddings e ON e.model_id = $2 AND e.text_hash = i.text_hash
		WHERE i.corpus_id = (SELECT id FROM corpora WHERE dir = $1) ORDER BY i.text_hash LIMIT 1`, text(dir), modelID)
	return row.item(), row.Embedding.Slice(), wrap(err, "SampleEmbedding")
}

// SaveEmbeddings keeps vectors by text hash; those that are there already stay.
func (d *DB) SaveEmbeddings(ctx context.Context, modelID int, hashes [][]byte, vectors [][]float32) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		if len(hashes) >= copyFrom && !d.single {
			return copyNew(ctx, tx, "embeddings", []string{"model_id", "text_hash", "embedding"}, len(hashes), func(i int) []any {
				return []any{modelID, hashes[i], pgvector.NewVector(vectors[i])}
			})
		}
		type row struct {
			Model     int             `db:"model_id"`
			Hash      []byte          `db:"text_hash"`
			Embedding pgvector.Vector `db:"embedding"`
		}
		rows := make([]row, len(hashes))
		for i, h := range hashes {
			rows[i] = row{modelID, h, pgvector.NewVector(vectors[i])}
		}
		return insertAll(ctx, tx, `
			INSERT INTO embeddings (model_id, text_hash, embedding) VALUES (:model_id, :text_hash, :embedding)
			ON CONFLICT DO NOTHING`, rows)
	})
	return wrap(err, "SaveEmbeddings")
}
