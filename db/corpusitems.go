package db

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

type itemRow struct {
	CorpusID  int64  `db:"corpus_id"`
	Item      string `db:"item"`
	Path      string `db:"path"`
	Anchor    string `db:"anchor"`
	Kind      string `db:"kind"`
	Title     string `db:"title"`
	Text      string `db:"text"`
	Normative string `db:"normative"`
	StartLine int    `db:"start_line"`
	EndLine   int    `db:"end_line"`
	Blob      string `db:"blob"`
	TextHash  []byte `db:"text_hash"`
}

func (r itemRow) item() core.Item {
	return core.Item{
		ID: r.Item, Path: r.Path, Anchor: r.Anchor, Kind: core.Kind(r.Kind), Title: r.Title, Text: r.Text, Normative: r.Normative,
		StartLine: r.StartLine, EndLine: r.EndLine, Blob: r.Blob,
	}
}

func toItemRow(corpus int64, it core.Item, hash func(core.Item) []byte) itemRow {
	return itemRow{
		CorpusID: corpus, Item: text(it.ID), Path: text(it.Path), Anchor: text(it.Anchor), Kind: string(it.Kind), Title: text(it.Title),
		Text: text(it.Text), Normative: text(it.Normative), StartLine: it.StartLine, EndLine: it.EndLine, Blob: it.Blob, TextHash: hash(it),
	}
}

func itemsOf(rows []itemRow) []core.Item {
	out := make([]core.Item, len(rows))
	for i, r := range rows {
		out[i] = r.item()
	}
	return out
}

// CorpusFiles gives the files of the stored corpus of dir that hold an item: path → blob.
func (d *DB) CorpusFiles(ctx context.Context, dir string) (map[string]string, error) {
	var rows []struct {
		Path string `db:"path"`
		Blob string `db:"blob"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT i.path, min(i.blob) AS blob FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1 GROUP BY i.path`, text(dir))
	if err != nil {
		return nil, wrap(err, "CorpusFiles")
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.Path] = r.Blob
	}
	return out, nil
}

// ItemsAt gives the items of dir's corpus in these files, by path and line.
func (d *DB) ItemsAt(ctx context.Context, dir string, paths []string) ([]core.Item, error) {
	var rows []itemRow
	err := d.x.SelectContext(ctx, &rows, `
		SELECT i.* FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1 AND i.path = ANY($2)
		ORDER BY i.path, i.start_line, i.item`, text(dir), list(paths))
	return itemsOf(rows), wrap(err, "ItemsAt")
}

// ItemsByID gives the items of dir's corpus with these ids, in no order; those that are not there are left out.
func (d *DB) ItemsByID(ctx context.Context, dir string, ids []string) ([]core.Item, error) {
	var rows []itemRow
	err := d.x.SelectContext(ctx, &rows, "SELECT i.* FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1 AND i.item = ANY($2)",
		text(dir), list(ids))
	return itemsOf(rows), wrap(err, "ItemsByID")
}

// saveItems makes the items of the files that were read equal to r.Items, where so many are stored, and tells how many rows it added and removed.
func (d *DB) saveItems(ctx context.Context, tx *sqlx.Tx, corpus int64, stored int, r core.CorpusReading, hash func(core.Item) []byte) (added, removed int, err error) {
	have := map[string]itemRow{}
	if stored > 0 {
		if have, err = itemsIn(ctx, tx, corpus, r.Files); err != nil {
			return 0, 0, err
		}
	}
	var fresh []itemRow
	keep := make(map[string]bool, len(r.Items))
	for _, it := range r.Items {
		row := toItemRow(corpus, it, hash)
		if keep[row.Item] {
			continue // two names that differ only in what Postgres cannot store
		}
		keep[row.Item] = true
		if old, ok := have[row.Item]; ok && old.item() == row.item() {
			delete(have, row.Item)
			continue
		}
		fresh = append(fresh, row)
	}
	// What is left in have is gone, or has another content now.
	if removed, err = removeItems(ctx, tx, corpus, have, r.Gone); err != nil {
		return 0, 0, err
	}
	return len(fresh), removed, d.insertItems(ctx, tx, fresh)
}

// removeItems deletes rows by id, and all of files that are gone.
func removeItems(ctx context.Context, tx *sqlx.Tx, corpus int64, rows map[string]itemRow, files []string) (int, error) {
	if len(rows)+len(files) == 0 {
		return 0, nil
	}
	ids := make(pq.StringArray, 0, len(rows))
	for id := range rows {
		ids = append(ids, id)
	}
	res, err := tx.ExecContext(ctx, "DELETE FROM items WHERE corpus_id = $1 AND (item = ANY($2) OR path = ANY($3))", corpus, ids, list(files))
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

func itemsIn(ctx context.Context, tx *sqlx.Tx, corpus int64, paths []string) (map[string]itemRow, error) {
	have := map[string]itemRow{}
	if len(paths) == 0 {
		return have, nil
	}
	var rows []itemRow
	if err := tx.SelectContext(ctx, &rows, "SELECT * FROM items WHERE corpus_id = $1 AND path = ANY($2)", corpus, list(paths)); err != nil {
		return nil, err
	}
	for _, r := range rows {
		have[r.Item] = r
	}
	return have, nil
}

// insertItems adds rows. An id that is there already, under another path that makes the same id, stays as it is.
func (d *DB) insertItems(ctx context.Context, tx *sqlx.Tx, rows []itemRow) error {
	if len(rows) < copyFrom || d.single {
		return insertAll(ctx, tx, `
			INSERT INTO items (corpus_id, item, path, anchor, kind, title, text, normative, start_line, end_line, blob, text_hash)
			VALUES (:corpus_id, :item, :path, :anchor, :kind, :title, :text, :normative, :start_line, :end_line, :blob, :text_hash)
			ON CONFLICT DO NOTHING`, rows)
	}
	columns := []string{"corpus_id", "item", "path", "anchor", "kind", "title", "text", "normative", "start_line", "end_line", "blob", "text_hash"}
	return copyNew(ctx, tx, "items", columns, len(rows), func(i int) []any {
		r := rows[i]
		return []any{r.CorpusID, r.Item, r.Path, r.Anchor, r.Kind, r.Title, r.Text, r.Normative, r.StartLine, r.EndLine, r.Blob, r.TextHash}
	})
}
