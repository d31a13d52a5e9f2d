package db

import "context"

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
