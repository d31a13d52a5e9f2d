package db

import (
	"context"
	"time"

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

// EmbedModels gives the models that have vectors of dir's corpus, the most complete first, and how many different texts the corpus has.
func (d *DB) EmbedModels(ctx context.Context, dir string) (models []core.EmbedModel, texts int, err error) {
	var rows []struct {
		ID     int    `db:"id"`
		Name   string `db:"name"`
		Prefix string `db:"prefix"`
		Dim    int    `db:"dim"`
		Texts  int    `db:"texts"`
		Of     int    `db:"of"`
	}
	err = d.x.SelectContext(ctx, &rows, `
		WITH t AS MATERIALIZED (SELECT DISTINCT i.text_hash FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1)
		SELECT coalesce(m.id, 0) AS id, coalesce(m.name, '') AS name, coalesce(m.prefix, '') AS prefix, coalesce(m.dim, 0) AS dim,
			(SELECT count(*) FROM t JOIN embeddings e ON e.model_id = m.id AND e.text_hash = t.text_hash) AS texts, total.n AS of
		FROM (SELECT count(*) AS n FROM t) total LEFT JOIN embed_models m ON true ORDER BY texts DESC, id DESC`, text(dir))
	if err != nil {
		return nil, 0, wrap(err, "EmbedModels")
	}
	for _, r := range rows {
		texts = r.Of
		if r.Texts > 0 {
			models = append(models, core.EmbedModel{ID: r.ID, Name: r.Name, Prefix: r.Prefix, Dim: r.Dim, Texts: r.Texts})
		}
	}
	return models, texts, nil
}

// MarkEmbedded records that every item of dir's corpus has a vector of this model, as long as the corpus still has that revision. If it was on
// its way there, it has arrived.
func (d *DB) MarkEmbedded(ctx context.Context, dir string, revision int64, model int) error {
	_, err := d.x.ExecContext(ctx, `
		UPDATE corpora SET embedded = $3, reindexing = nullif(reindexing, $3) WHERE dir = $1 AND revision = $2`,
		text(dir), revision, model)
	return wrap(err, "MarkEmbedded")
}

// SetReindexing records which model is on its way to a vector of every item of dir's corpus; 0: none.
func (d *DB) SetReindexing(ctx context.Context, dir string, model int) error {
	_, err := d.x.ExecContext(ctx, "UPDATE corpora SET reindexing = nullif($2, 0) WHERE dir = $1 AND reindexing IS DISTINCT FROM nullif($2, 0)",
		text(dir), model)
	return wrap(err, "SetReindexing")
}

// reindexed counts the texts of a corpus that have a vector of the model.
func (d *DB) reindexed(ctx context.Context, corpus, model int64) (core.Progress, error) {
	var p struct {
		Done int `db:"done"`
		Of   int `db:"of"`
	}
	err := d.x.GetContext(ctx, &p, `
		SELECT count(e.model_id) AS done, count(*) AS of FROM (SELECT DISTINCT text_hash FROM items WHERE corpus_id = $1) t
		LEFT JOIN embeddings e ON e.model_id = $2 AND e.text_hash = t.text_hash`, corpus, model)
	return core.Progress{Done: p.Done, Of: p.Of}, err
}

// UseEmbedModel notes that a model is in use, once an hour.
func (d *DB) UseEmbedModel(ctx context.Context, id int) error {
	_, err := d.x.ExecContext(ctx, "UPDATE embed_models SET used_at = now() WHERE id = $1 AND used_at < now() - interval '1 hour'", id)
	return wrap(err, "UseEmbedModel")
}

// DropEmbedModels lets go of the vectors of models that were last used before a time and that no corpus goes by, and tells how many models that
// were. Until then a change back costs nothing.
func (d *DB) DropEmbedModels(ctx context.Context, before time.Time) (int, error) {
	var ids []int
	err := d.x.SelectContext(ctx, &ids, `
		SELECT id FROM embed_models m WHERE used_at < $1
			AND NOT EXISTS (SELECT 1 FROM corpora c WHERE c.embedded = m.id OR c.reindexing = m.id)`, before)
	if err != nil {
		return 0, wrap(err, "DropEmbedModels")
	}
	for i, id := range ids {
		if err := d.dropVectorIndex(ctx, id); err != nil {
			return i, wrap(err, "DropEmbedModels")
		}
		if _, err := d.x.ExecContext(ctx, "DELETE FROM embed_models WHERE id = $1", id); err != nil {
			return i, wrap(err, "DropEmbedModels")
		}
	}
	return len(ids), nil
}
