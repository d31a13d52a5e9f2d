package db

import (
	"context"
	"errors"

	"storozh/core"
)

// maxMost bounds the list of items that were contradicted.
const maxMost = 20

// CorpusView describes the corpus that was read from dir. A corpus that was never read has nothing but counts of zero.
func (d *DB) CorpusView(ctx context.Context, dir string) (core.CorpusView, error) {
	v := core.CorpusView{Kinds: map[core.Kind]int{}}
	state, at, err := d.Corpus(ctx, dir)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return v, err
	}
	v.CorpusState, v.ReadAt = state, utc(at)
	var kinds []struct {
		Kind  string `db:"kind"`
		N     int    `db:"n"`
		Never int    `db:"never"`
	}
	err = d.x.SelectContext(ctx, &kinds, `
		SELECT i.kind, count(*) AS n, count(*) FILTER (WHERE t.item IS NULL) AS never
		FROM items i JOIN corpora c ON c.id = i.corpus_id LEFT JOIN item_tallies t ON t.item = i.item AND t.met > 0
		WHERE c.dir = $1 GROUP BY i.kind`, text(dir))
	if err != nil {
		return v, wrap(err, "CorpusView")
	}
	for _, k := range kinds {
		v.Kinds[core.Kind(k.Kind)] = k.N
		v.Never += k.Never
	}
	v.Most, err = d.mostContradicted(ctx, dir)
	return v, wrap(err, "CorpusView")
}

type tallyRow struct {
	Item   string  `db:"item"`
	Met    int     `db:"met"`
	Contra int     `db:"contra"`
	Dup    int     `db:"dup"`
	Title  *string `db:"title"`
	Text   *string `db:"text"`
	Kind   *string `db:"kind"`
	Path   *string `db:"path"`
}

func (r tallyRow) tally() core.ItemTally {
	t := core.ItemTally{Item: core.Item{ID: r.Item}, Met: r.Met, Contra: r.Contra, Dup: r.Dup, Gone: r.Kind == nil}
	if !t.Gone {
		t.Title, t.Text, t.Kind, t.Path = *r.Title, *r.Text, core.Kind(*r.Kind), *r.Path
	}
	return t
}

func (d *DB) mostContradicted(ctx context.Context, dir string) ([]core.ItemTally, error) {
	var rows []tallyRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT t.item, t.met, t.contra, t.dup, i.title, i.text, i.kind, i.path
		FROM (SELECT * FROM item_tallies WHERE contra > 0 ORDER BY contra DESC, item LIMIT $2) t
		LEFT JOIN (items i JOIN corpora c ON c.id = i.corpus_id AND c.dir = $1) ON i.item = t.item ORDER BY t.contra DESC, t.item`, text(dir), maxMost)
	return tallies(rows), err
}

func tallies(rows []tallyRow) []core.ItemTally {
	out := make([]core.ItemTally, len(rows))
	for i, r := range rows {
		out[i] = r.tally()
	}
	return out
}

// ListItems lists items of the corpus that was read from dir by id, and the id that the next page begins after (empty: there is none).
func (d *DB) ListItems(ctx context.Context, dir string, q core.ItemQuery) ([]core.ItemTally, string, error) {
	limit := q.Limit
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	var rows []tallyRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT i.item, coalesce(t.met, 0) AS met, coalesce(t.contra, 0) AS contra, coalesce(t.dup, 0) AS dup, i.title, i.text, i.kind, i.path
		FROM items i JOIN corpora c ON c.id = i.corpus_id LEFT JOIN item_tallies t ON t.item = i.item
		WHERE c.dir = $1 AND ($2 = '' OR i.kind = $2) AND ($3 = '' OR strpos(lower(i.item || ' ' || i.title || ' ' || i.text), lower($3)) > 0)
			AND (NOT $4 OR coalesce(t.met, 0) = 0) AND i.item > $5
		ORDER BY i.item LIMIT $6`, text(dir), text(string(q.Kind)), text(q.Text), q.Never, text(q.After), limit+1)
	if err != nil {
		return nil, "", wrap(err, "ListItems")
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = rows[limit-1].Item
	}
	return tallies(rows), next, nil
}
