package db

import (
	"context"

	"github.com/lib/pq"

	"storozh/core"
)

// wordsOf is how much of an item's text the search by words looks at, in characters.
const wordsOf = 4000

// EachItem hands out id, title and the begin of the binding text of every item of the corpus that was read from dir, by id, for a search by
// words. each must not use the database.
func (d *DB) EachItem(ctx context.Context, dir string, each func(id, title, normative string)) error {
	rows, err := d.x.QueryContext(ctx, `
		SELECT i.item, left(i.title, $2), left(i.normative, $2) FROM items i JOIN corpora c ON c.id = i.corpus_id
		WHERE c.dir = $1 ORDER BY i.item`, text(dir), wordsOf)
	if err != nil {
		return wrap(err, "EachItem")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, title, normative string
		if err := rows.Scan(&id, &title, &normative); err != nil {
			return wrap(err, "EachItem")
		}
		each(id, title, normative)
	}
	return wrap(rows.Err(), "EachItem")
}

// Similarities gives, for each text hash, the cosine of its vector and that of one item of dir; an entry is empty where either has none.
func (d *DB) Similarities(ctx context.Context, dir string, modelID int, hashes [][]byte, items []string) ([]core.Near, error) {
	out := make([]core.Near, len(hashes))
	var rows []nearRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT q.ord, i.item, e.embedding <=> qe.embedding AS distance
		FROM unnest($3::bytea[], $4::text[]) WITH ORDINALITY q (hash, item, ord)
		JOIN embeddings qe ON qe.model_id = $2 AND qe.text_hash = q.hash
		JOIN items i ON i.corpus_id = (SELECT id FROM corpora WHERE dir = $1) AND i.item = q.item
		JOIN embeddings e ON e.model_id = $2 AND e.text_hash = i.text_hash`, text(dir), modelID, pq.ByteaArray(hashes), pq.StringArray(items))
	if err != nil {
		return nil, wrap(err, "Similarities")
	}
	for _, r := range rows {
		out[r.Ord-1] = core.Near{Item: *r.Item, Similarity: 1 - r.Distance}
	}
	return out, nil
}
