package db

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// ownTables hold what an installation makes for itself at its first start; an import replaces it.
var ownTables = []string{"audit", "cosigner_tokens", "leases", "login_links", "sessions", "settings"}

const (
	importLine  = 512 << 20 // one line: a manifest of 64 MiB, in base64, with room
	importBytes = 4 << 20   // of one INSERT
)

// Import fills an empty database with what Export wrote, in one transaction: all or nothing. The installation's own secrets and tokens are
// replaced. core.ErrConflict: the database is not empty; core.ErrInvalid: the export is not whole, or of another schema.
func (d *DB) Import(ctx context.Context, r io.Reader) (int64, error) {
	var n int64
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		all, err := tables(ctx, tx)
		if err != nil {
			return err
		}
		if err := refuseFull(ctx, tx, all); err != nil {
			return err
		}
		restore, err := deferKeys(ctx, tx)
		if err != nil {
			return err
		}
		if n, err = load(ctx, tx, all, r); err != nil {
			return err
		}
		if err := restore(); err != nil {
			return err
		}
		return setSequences(ctx, tx, all)
	})
	return n, wrap(err, "Import")
}

func refuseFull(ctx context.Context, tx *sqlx.Tx, all []tableInfo) error {
	for _, t := range all {
		if slices.Contains(ownTables, t.name) {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+pq.QuoteIdentifier(t.name)); err != nil {
				return err
			}
			continue
		}
		var full bool
		if err := tx.GetContext(ctx, &full, "SELECT EXISTS (SELECT 1 FROM "+pq.QuoteIdentifier(t.name)+")"); err != nil {
			return err
		}
		if full {
			return fmt.Errorf("%w: the database is not empty (%s holds rows): import into a new one", core.ErrConflict, t.name)
		}
	}
	return nil
}

// deferKeys lets foreign keys be checked at the end: a manifest names the later one that superseded it. restore checks them and makes them
// as they were.
func deferKeys(ctx context.Context, tx *sqlx.Tx) (restore func() error, err error) {
	var keys []struct {
		Table string `db:"table_name"`
		Name  string `db:"name"`
	}
	err = tx.SelectContext(ctx, &keys, `
		SELECT c.conrelid::regclass::text AS table_name, c.conname AS name FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
		WHERE c.contype = 'f' AND n.nspname = 'public' AND NOT c.condeferrable ORDER BY 1, 2`)
	if err != nil {
		return nil, err
	}
	each := func(how string) error {
		for _, k := range keys {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s ALTER CONSTRAINT %s %s", k.Table, pq.QuoteIdentifier(k.Name), how)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := each("DEFERRABLE INITIALLY DEFERRED"); err != nil {
		return nil, err
	}
	return func() error {
		if _, err := tx.ExecContext(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
			return fmt.Errorf("%w: the export does not fit together: %w", core.ErrInvalid, err)
		}
		return each("NOT DEFERRABLE")
	}, nil
}

// load reads the lines and inserts them, rows of one table together.
func load(ctx context.Context, tx *sqlx.Tx, all []tableInfo, r io.Reader) (int64, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	if err := readHead(ctx, tx, in); err != nil {
		return 0, err
	}
	byName := map[string]tableInfo{}
	for _, t := range all {
		byName[t.name] = t
	}
	b := batch{tx: tx}
	for number := 2; ; number++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return b.total, fmt.Errorf("%w: the export is cut off after line %d", core.ErrInvalid, number-1)
		}
		var l exportLine
		if err == nil {
			err = json.Unmarshal(line, &l)
		}
		if err != nil {
			return b.total, fmt.Errorf("%w: line %d of the export cannot be read: %w", core.ErrInvalid, number, err)
		}
		if l.End {
			if err := b.flush(ctx); err != nil {
				return b.total, err
			}
			if b.total != l.Rows {
				return b.total, fmt.Errorf("%w: the export lacks rows: %d of %d are there", core.ErrInvalid, b.total, l.Rows)
			}
			return b.total, nil
		}
		t, ok := byName[l.Table]
		if !ok {
			return b.total, fmt.Errorf("%w: line %d of the export is of a table %.80q, which is unknown here", core.ErrInvalid, number, l.Table)
		}
		if err := b.add(ctx, t, l.Row); err != nil {
			return b.total, fmt.Errorf("line %d of the export: %w", number, err)
		}
	}
}

func readHead(ctx context.Context, tx *sqlx.Tx, in *bufio.Reader) error {
	var h exportHead
	line, err := readLine(in)
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	if err != nil || h.Storozh != "export" {
		return fmt.Errorf("%w: this is not an export of Storozh", core.ErrInvalid)
	}
	schema, err := schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	if h.Schema != schema {
		return fmt.Errorf("%w: the export has schema %d, this version %d: import with the version that exported, then start the new one",
			core.ErrInvalid, h.Schema, schema)
	}
	return nil
}

// readLine reads a line of bounded length; io.EOF at the end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > importLine:
			return nil, fmt.Errorf("longer than %d bytes", importLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}
