package db

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// batch gathers rows of one table for one INSERT.
type batch struct {
	tx    *sqlx.Tx
	table tableInfo
	args  []any
	size  int
	total int64
}

func (b *batch) add(ctx context.Context, t tableInfo, row map[string]*string) error {
	full := len(b.args)+len(t.columns) > 60_000 || b.size > importBytes
	if t.name != b.table.name || full {
		if err := b.flush(ctx); err != nil {
			return err
		}
		b.table = t
	}
	if len(row) != len(t.columns) {
		return fmt.Errorf("%w: a row of %s has %d columns, not %d", core.ErrInvalid, t.name, len(row), len(t.columns))
	}
	for _, c := range t.columns {
		v, ok := row[c.Name]
		switch {
		case !ok:
			return fmt.Errorf("%w: a row of %s lacks the column %s", core.ErrInvalid, t.name, c.Name)
		case v == nil:
			b.args = append(b.args, nil)
		case c.bytes():
			raw, err := base64.StdEncoding.DecodeString(*v)
			if err != nil {
				return fmt.Errorf("%w: %s.%s: %w", core.ErrInvalid, t.name, c.Name, err)
			}
			b.args = append(b.args, raw)
			b.size += len(raw)
		default:
			b.args = append(b.args, *v)
			b.size += len(*v)
		}
	}
	b.total++
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.args) == 0 {
		return nil
	}
	var values strings.Builder
	for i := range b.args {
		c := b.table.columns[i%len(b.table.columns)]
		switch {
		case i == 0:
			values.WriteString("(")
		case i%len(b.table.columns) == 0:
			values.WriteString("), (")
		default:
			values.WriteString(", ")
		}
		if c.bytes() {
			fmt.Fprintf(&values, "$%d::bytea", i+1)
		} else {
			fmt.Fprintf(&values, "$%d::text::%s", i+1, c.Type)
		}
	}
	_, err := b.tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES %s)",
		pq.QuoteIdentifier(b.table.name), quoted("", b.table.columns), values.String()), b.args...)
	b.args, b.size = b.args[:0], 0
	return err
}

// setSequences makes new rows go on after the imported ones.
func setSequences(ctx context.Context, tx *sqlx.Tx, all []tableInfo) error {
	for _, t := range all {
		for _, c := range t.columns {
			if !c.Identity {
				continue
			}
			name := pq.QuoteIdentifier(t.name)
			_, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence($1, $2), coalesce(max(%s), 1), max(%s) IS NOT NULL) FROM %s",
				pq.QuoteIdentifier(c.Name), pq.QuoteIdentifier(c.Name), name), name, c.Name)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
