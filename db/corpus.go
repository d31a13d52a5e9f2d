package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

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

// Items gives every item of the corpus that was read from dir, and the faults of that reading; none if it never was.
func (d *DB) Items(ctx context.Context, dir string) ([]core.Item, []core.Fault, error) {
	state, _, err := d.Corpus(ctx, dir)
	if err != nil {
		if errors.Is(err, core.ErrNotFound) {
			err = nil
		}
		return nil, nil, err
	}
	var rows []itemRow
	err = d.x.SelectContext(ctx, &rows, `
		SELECT i.* FROM items i JOIN corpora c ON c.id = i.corpus_id WHERE c.dir = $1 ORDER BY i.path, i.start_line, i.item`, text(dir))
	if err != nil {
		return nil, nil, wrap(err, "Items")
	}
	items := make([]core.Item, len(rows))
	for i, r := range rows {
		items[i] = r.item()
	}
	return items, state.Faults, nil
}

// SaveCorpus makes the stored corpus of dir equal to what was read at commit: items that are gone are deleted, unchanged ones are not
// touched. hash gives an item's text hash, the key of its vectors and verdicts.
func (d *DB) SaveCorpus(ctx context.Context, dir, commit string, items []core.Item, faults []core.Fault, hash func(core.Item) []byte) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		id, err := corpusID(ctx, tx, dir)
		if err != nil {
			return err
		}
		have := map[string]itemRow{}
		if err := loadItems(ctx, tx, id, have); err != nil {
			return err
		}
		if err := syncItems(ctx, tx, id, have, items, hash); err != nil {
			return err
		}
		f, err := json.Marshal(faults)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE corpora SET commit = $2, read_at = now(), stale = false, reason = '', faults = $3 WHERE id = $1`, id, commit, text(string(f)))
		return err
	})
	return wrap(err, "SaveCorpus")
}

func corpusID(ctx context.Context, tx *sqlx.Tx, dir string) (int64, error) {
	var id int64
	// The update makes the row come back, and locked, when it is there already: two runs sync one after the other.
	err := tx.GetContext(ctx, &id, "INSERT INTO corpora (dir) VALUES ($1) ON CONFLICT (dir) DO UPDATE SET dir = excluded.dir RETURNING id", text(dir))
	return id, err
}

func loadItems(ctx context.Context, tx *sqlx.Tx, id int64, into map[string]itemRow) error {
	var rows []itemRow
	if err := tx.SelectContext(ctx, &rows, "SELECT * FROM items WHERE corpus_id = $1", id); err != nil {
		return err
	}
	for _, r := range rows {
		into[r.Item] = r
	}
	return nil
}

func syncItems(ctx context.Context, tx *sqlx.Tx, id int64, have map[string]itemRow, items []core.Item, hash func(core.Item) []byte) error {
	var fresh []itemRow
	var gone []string
	keep := make(map[string]bool, len(items))
	for _, it := range items {
		row := itemRow{
			CorpusID: id, Item: text(it.ID), Path: text(it.Path), Anchor: text(it.Anchor), Kind: string(it.Kind), Title: text(it.Title),
			Text: text(it.Text), Normative: text(it.Normative), StartLine: it.StartLine, EndLine: it.EndLine, Blob: it.Blob, TextHash: hash(it),
		}
		if keep[row.Item] {
			continue // two names that differ only in what Postgres cannot store
		}
		keep[row.Item] = true
		old, ok := have[row.Item]
		switch {
		case ok && old.item() == row.item():
			continue
		case ok:
			gone = append(gone, row.Item)
		}
		fresh = append(fresh, row)
	}
	for name := range have {
		if !keep[name] {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		if _, err := tx.ExecContext(ctx, "DELETE FROM items WHERE corpus_id = $1 AND item = ANY($2)", id, list(gone)); err != nil {
			return err
		}
	}
	return insertAll(ctx, tx, `
		INSERT INTO items (corpus_id, item, path, anchor, kind, title, text, normative, start_line, end_line, blob, text_hash)
		VALUES (:corpus_id, :item, :path, :anchor, :kind, :title, :text, :normative, :start_line, :end_line, :blob, :text_hash)`, fresh)
}

// MarkStale records that dir could not be read; its last good items stay in use.
func (d *DB) MarkStale(ctx context.Context, dir, reason string) error {
	_, err := d.x.ExecContext(ctx, `
		INSERT INTO corpora (dir, stale, reason) VALUES ($1, true, $2) ON CONFLICT (dir) DO UPDATE SET stale = true, reason = excluded.reason`,
		text(dir), text(reason))
	return wrap(err, "MarkStale")
}

// Corpus describes the stored corpus of dir; its zero value if it was never read.
func (d *DB) Corpus(ctx context.Context, dir string) (core.CorpusState, sql.NullTime, error) {
	var row struct {
		Commit string       `db:"commit"`
		ReadAt sql.NullTime `db:"read_at"`
		Stale  bool         `db:"stale"`
		Reason string       `db:"reason"`
		Faults []byte       `db:"faults"`
		Items  int          `db:"items"`
	}
	err := d.x.GetContext(ctx, &row, `
		SELECT commit, read_at, stale, reason, faults, (SELECT count(*) FROM items i WHERE i.corpus_id = c.id) AS items
		FROM corpora c WHERE dir = $1`, text(dir))
	if err = wrap(err, "Corpus"); err != nil {
		return core.CorpusState{}, sql.NullTime{}, err
	}
	s := core.CorpusState{Commit: row.Commit, Items: row.Items, Stale: row.Stale, Reason: row.Reason}
	if err := json.Unmarshal(row.Faults, &s.Faults); err != nil {
		return s, row.ReadAt, fmt.Errorf("db.Corpus: faults: %w", err)
	}
	return s, row.ReadAt, nil
}
