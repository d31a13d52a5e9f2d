package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const (
	exportPage  = 500     // rows read at once
	exportBytes = 8 << 20 // and what they may hold about
)

// Export writes everything that the database holds as JSON lines, as of one moment, and tells how many rows. It pages by key, so that
// neither side ever holds a whole table.
func (d *DB) Export(ctx context.Context, w io.Writer) (int64, error) {
	var rows int64
	tx, err := d.x.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return 0, wrap(err, "Export")
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	schema, err := schemaVersion(ctx, tx)
	if err != nil {
		return 0, wrap(err, "Export")
	}
	all, err := tables(ctx, tx)
	if err != nil {
		return 0, wrap(err, "Export")
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(exportHead{Storozh: "export", Schema: schema}); err != nil {
		return 0, fmt.Errorf("db.Export: %w", err)
	}
	for _, t := range all {
		n, err := exportTable(ctx, tx, t, enc)
		if rows += n; err != nil {
			return rows, wrap(err, "Export: "+t.name)
		}
	}
	return rows, wrap(enc.Encode(exportLine{End: true, Rows: rows}), "Export")
}

// exportTable writes one table. Pages shrink where rows are wide: one manifest may have megabytes.
func exportTable(ctx context.Context, tx *sqlx.Tx, t tableInfo, enc *json.Encoder) (int64, error) {
	var after []any
	var total int64
	for limit := 1; ; {
		rows, last, size, err := exportRows(ctx, tx, t, after, limit, enc)
		if total += int64(rows); err != nil || rows < limit {
			return total, err
		}
		after = last
		limit = min(exportPage, max(1, exportBytes/(1+size/rows)))
	}
}

func exportRows(ctx context.Context, tx *sqlx.Tx, t tableInfo, after []any, limit int, enc *json.Encoder) (n int, last []any, size int, err error) {
	rows, err := tx.QueryContext(ctx, exportQuery(t, len(after) > 0, limit), after...)
	if err != nil {
		return 0, nil, 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		values := make([]sql.NullString, len(t.columns))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return n, nil, size, err
		}
		row := make(map[string]*string, len(values))
		last = nil
		for i, c := range t.columns {
			if !values[i].Valid {
				row[c.Name] = nil
				continue
			}
			v := values[i].String
			if c.Key {
				last = append(last, v)
			}
			size += len(v)
			row[c.Name] = &v
		}
		if err := enc.Encode(exportLine{Table: t.name, Row: row}); err != nil {
			return n, nil, size, err
		}
		n++
	}
	return n, last, size, rows.Err()
}

// exportQuery reads a page of a table in its text form, from its begin or after a key (in the same form).
func exportQuery(t tableInfo, after bool, limit int) string {
	texts := make([]string, len(t.columns))
	for i, c := range t.columns {
		name := "t." + pq.QuoteIdentifier(c.Name)
		texts[i] = name + "::text"
		if c.bytes() {
			texts[i] = "translate(encode(" + name + ", 'base64'), E'\\n', '')"
		}
	}
	where := ""
	if after {
		marks := make([]string, len(t.key))
		for i, c := range t.key {
			marks[i] = fmt.Sprintf("$%d::text::%s", i+1, c.Type)
			if c.bytes() {
				marks[i] = fmt.Sprintf("decode($%d, 'base64')", i+1)
			}
		}
		where = fmt.Sprintf("WHERE (%s) > (%s) ", quoted("t.", t.key), strings.Join(marks, ", "))
	}
	// The key is named with its table: a bare name would mean the text form beside it, which sorts 10 before 2.
	return fmt.Sprintf("SELECT %s FROM %s t %sORDER BY %s LIMIT %d", strings.Join(texts, ", "), pq.QuoteIdentifier(t.name), where, quoted("t.", t.key), limit)
}
