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

type corpusRow struct {
	ID         int64         `db:"id"`
	Dir        string        `db:"dir"`
	Commit     string        `db:"commit"`
	ReadAt     sql.NullTime  `db:"read_at"`
	Stale      bool          `db:"stale"`
	Reason     string        `db:"reason"`
	Faults     []byte        `db:"faults"`
	Splitter   int           `db:"splitter"`
	Revision   int64         `db:"revision"`
	Items      int           `db:"items"`
	Embedded   sql.NullInt64 `db:"embedded"`
	Reindexing sql.NullInt64 `db:"reindexing"`
}

func (r corpusRow) head() (core.CorpusHead, error) {
	h := core.CorpusHead{
		CorpusState: core.CorpusState{Commit: r.Commit, Items: r.Items, Stale: r.Stale, Reason: r.Reason},
		Splitter:    r.Splitter, Revision: r.Revision, Embedded: int(r.Embedded.Int64), Reindex: int(r.Reindexing.Int64),
	}
	if err := json.Unmarshal(r.Faults, &h.Faults); err != nil {
		return h, fmt.Errorf("faults of the corpus of %s: %w", r.Dir, err)
	}
	return h, nil
}

func (d *DB) corpusRow(ctx context.Context, dir string) (corpusRow, error) {
	var row corpusRow
	err := d.x.GetContext(ctx, &row, "SELECT * FROM corpora WHERE dir = $1", text(dir))
	return row, err
}

// CorpusHead gives what is stored of the corpus of dir, without its items; the zero value if it was never read.
func (d *DB) CorpusHead(ctx context.Context, dir string) (core.CorpusHead, error) {
	row, err := d.corpusRow(ctx, dir)
	if errors.Is(err, sql.ErrNoRows) {
		return core.CorpusHead{}, nil
	}
	if err != nil {
		return core.CorpusHead{}, wrap(err, "CorpusHead")
	}
	h, err := row.head()
	return h, wrap(err, "CorpusHead")
}

// Corpus describes the stored corpus of dir, with the time of its last good reading; core.ErrNotFound if it was never read.
func (d *DB) Corpus(ctx context.Context, dir string) (core.CorpusState, sql.NullTime, error) {
	row, err := d.corpusRow(ctx, dir)
	if err != nil {
		return core.CorpusState{}, sql.NullTime{}, wrap(err, "Corpus")
	}
	h, err := row.head()
	if err == nil && row.Reindexing.Valid {
		h.Reindexing, err = d.reindexed(ctx, row.ID, row.Reindexing.Int64)
	}
	return h.CorpusState, row.ReadAt, wrap(err, "Corpus")
}

// SaveCorpus writes down what a reading of dir found: items that are gone or different are replaced, others are not touched. hash gives an
// item's text hash, the key of its vectors and verdicts. core.ErrConflict: somebody else's reading came in between, so that r goes by what is
// no longer stored.
func (d *DB) SaveCorpus(ctx context.Context, dir string, r core.CorpusReading, hash func(core.Item) []byte) error {
	faults, err := json.Marshal(r.Faults)
	if err != nil {
		return wrap(err, "SaveCorpus")
	}
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		row, err := lockCorpus(ctx, tx, dir)
		if err != nil {
			return err
		}
		if row.Revision != r.Revision {
			return fmt.Errorf("%w: the corpus of %s was read by another run meanwhile", core.ErrConflict, dir)
		}
		fresh, gone, err := d.saveItems(ctx, tx, row.ID, row.Items, r, hash)
		if err != nil {
			return err
		}
		if fresh+gone > 0 {
			_, err = tx.ExecContext(ctx, `
				UPDATE corpora SET revision = revision + 1, items = (SELECT count(*) FROM items i WHERE i.corpus_id = corpora.id),
					embedded = CASE WHEN $2 THEN NULL ELSE embedded END WHERE id = $1`, row.ID, fresh > 0)
			if err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE corpora SET commit = $2, splitter = $3, read_at = now(), stale = false, reason = '', faults = $4 WHERE id = $1`,
			row.ID, r.Commit, r.Splitter, text(string(faults)))
		return err
	})
	return wrap(err, "SaveCorpus")
}

// lockCorpus gives the row of dir, made if need be, and keeps others from it until the transaction ends: two runs sync one after the other.
func lockCorpus(ctx context.Context, tx *sqlx.Tx, dir string) (corpusRow, error) {
	var row corpusRow
	err := tx.GetContext(ctx, &row, "INSERT INTO corpora (dir) VALUES ($1) ON CONFLICT (dir) DO UPDATE SET dir = excluded.dir RETURNING *", text(dir))
	return row, err
}

// MarkStale records that dir could not be read; its last good items stay in use.
func (d *DB) MarkStale(ctx context.Context, dir, reason string) error {
	_, err := d.x.ExecContext(ctx, `
		INSERT INTO corpora (dir, stale, reason) VALUES ($1, true, $2) ON CONFLICT (dir) DO UPDATE SET stale = true, reason = excluded.reason`,
		text(dir), text(reason))
	return wrap(err, "MarkStale")
}
