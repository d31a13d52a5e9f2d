package db

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pgvector/pgvector-go"

	"storozh/core"
)

// EmbedModel gives the id and vector length under which vectors of this model and prefix were last kept; core.ErrNotFound if there are none.
func (d *DB) EmbedModel(ctx context.Context, name, prefix string) (id, dim int, err error) {
	var row struct {
		ID  int `db:"id"`
		Dim int `db:"dim"`
	}
	err = d.x.GetContext(ctx, &row, "SELECT id, dim FROM embed_models WHERE name = $1 AND prefix = $2 ORDER BY id DESC LIMIT 1", text(name), text(prefix))
	return row.ID, row.Dim, wrap(err, "EmbedModel")
}

// AddEmbedModel registers a model with vectors of length dim and gives its id. A model whose vectors change their length is another
// model: its old vectors are never compared with the new ones.
func (d *DB) AddEmbedModel(ctx context.Context, name, prefix string, dim int) (int, error) {
	var id int
	err := d.x.GetContext(ctx, &id, `
		INSERT INTO embed_models (name, prefix, dim) VALUES ($1, $2, $3)
		ON CONFLICT (name, prefix, dim) DO UPDATE SET dim = excluded.dim RETURNING id`, text(name), text(prefix), dim)
	return id, wrap(err, "AddEmbedModel")
}

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

// MissingEmbeddings lists the items of dir that have no vector of this model yet, each text once.
func (d *DB) MissingEmbeddings(ctx context.Context, dir string, modelID int) ([]core.Item, error) {
	var rows []itemRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT DISTINCT ON (i.text_hash) i.* FROM items i JOIN corpora c ON c.id = i.corpus_id
		WHERE c.dir = $1 AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = $2 AND e.text_hash = i.text_hash)
		ORDER BY i.text_hash, i.item`, text(dir), modelID)
	if err != nil {
		return nil, wrap(err, "MissingEmbeddings")
	}
	items := make([]core.Item, len(rows))
	for i, r := range rows {
		items[i] = r.item()
	}
	return items, nil
}

// SaveEmbeddings keeps vectors by text hash; those that are there already stay.
func (d *DB) SaveEmbeddings(ctx context.Context, modelID int, hashes [][]byte, vectors [][]float32) error {
	type row struct {
		Model     int             `db:"model_id"`
		Hash      []byte          `db:"text_hash"`
		Embedding pgvector.Vector `db:"embedding"`
	}
	rows := make([]row, len(hashes))
	for i, h := range hashes {
		rows[i] = row{modelID, h, pgvector.NewVector(vectors[i])}
	}
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		return insertAll(ctx, tx, `
			INSERT INTO embeddings (model_id, text_hash, embedding) VALUES (:model_id, :text_hash, :embedding)
			ON CONFLICT DO NOTHING`, rows)
	})
	return wrap(err, "SaveEmbeddings")
}

// NearestAll gives, for each text hash, the ids of the n items of dir nearest to its vector, nearest first, in one round trip; none for a hash
// whose vector is not kept. The search is exact: `+ 0` keeps an index from answering approximately.
func (d *DB) NearestAll(ctx context.Context, dir string, modelID int, hashes [][]byte, n int) ([][]core.Near, error) {
	var rows []struct {
		Ord      int     `db:"ord"`
		Item     string  `db:"item"`
		Distance float64 `db:"distance"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT q.ord, near.item, near.distance
		FROM unnest($3::bytea[]) WITH ORDINALITY q (hash, ord)
		JOIN embeddings qe ON qe.model_id = $2 AND qe.text_hash = q.hash
		CROSS JOIN LATERAL (
			SELECT i.item, e.embedding <=> qe.embedding AS distance
			FROM items i JOIN corpora c ON c.id = i.corpus_id JOIN embeddings e ON e.model_id = $2 AND e.text_hash = i.text_hash
			WHERE c.dir = $1 ORDER BY (e.embedding <=> qe.embedding) + 0, i.item LIMIT $4) near
		ORDER BY q.ord, near.distance, near.item`, text(dir), modelID, pq.ByteaArray(hashes), n)
	if err != nil {
		return nil, wrap(err, "NearestAll")
	}
	out := make([][]core.Near, len(hashes))
	for _, r := range rows {
		out[r.Ord-1] = append(out[r.Ord-1], core.Near{Item: r.Item, Similarity: 1 - r.Distance})
	}
	return out, nil
}

// Secret gives the installation's own random secret of that name, made at its first use.
func (d *DB) Secret(ctx context.Context, key string, fresh func() []byte) ([]byte, error) {
	var v []byte
	err := d.x.GetContext(ctx, &v, "SELECT value FROM settings WHERE key = $1", key)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return v, wrap(err, "Secret")
	}
	// Another instance may be first: what stands in the table counts.
	err = d.x.GetContext(ctx, &v, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING value", key, fresh())
	return v, wrap(err, "Secret")
}
