package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// An export is JSON lines. The first names the format, each further one is a row:
//
//	{"storozh":"export","schema":7}
//	{"table":"manifests","row":{"id":"1","content_hash":"base64…","superseded_by":null, …}}
//	{"end":true,"rows":1234}
//
// Values are strings in Postgres' own text form, which is exact for every type (vectors and floating point numbers too), but for bytea,
// which is base64; null is null. The last line tells a whole export from one that was cut off.

// exportHead is the first line of an export.
type exportHead struct {
	Storozh string `json:"storozh"`
	Schema  int64  `json:"schema"` // number of the last migration
}

// exportLine is any further line.
type exportLine struct {
	Table string             `json:"table,omitempty"`
	Row   map[string]*string `json:"row,omitempty"`
	End   bool               `json:"end,omitempty"`
	Rows  int64              `json:"rows,omitempty"`
}

// tableInfo is one table of the schema.
type tableInfo struct {
	name    string
	columns []columnInfo
	key     []columnInfo // primary key
}

type columnInfo struct {
	Table    string `db:"table_name"`
	Name     string `db:"name"`
	Type     string `db:"type"`
	Key      bool   `db:"key"`
	Identity bool   `db:"identity"`
}

// bytes tells whether the column's values travel as base64.
func (c columnInfo) bytes() bool { return c.Type == "bytea" }

// tables lists the tables of the schema but goose's own, by name, with the columns that hold values of their own.
func tables(ctx context.Context, q sqlx.QueryerContext) ([]tableInfo, error) {
	var cols []columnInfo
	err := sqlx.SelectContext(ctx, q, &cols, `
		SELECT c.relname AS table_name, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
			coalesce(a.attnum = ANY(i.indkey), false) AS key, a.attidentity <> '' AS identity
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname <> 'goose_db_version' AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attgenerated = ''
		ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, err
	}
	var out []tableInfo
	for _, c := range cols {
		if len(out) == 0 || out[len(out)-1].name != c.Table {
			out = append(out, tableInfo{name: c.Table})
		}
		t := &out[len(out)-1]
		t.columns = append(t.columns, c)
		if c.Key {
			t.key = append(t.key, c)
		}
	}
	for _, t := range out {
		if len(t.key) == 0 {
			return nil, fmt.Errorf("table %s has no primary key and cannot be paged", t.name)
		}
	}
	return out, nil
}

func schemaVersion(ctx context.Context, q sqlx.QueryerContext) (int64, error) {
	var v int64
	err := sqlx.GetContext(ctx, q, &v, "SELECT coalesce(max(version_id), 0) FROM goose_db_version")
	return v, err
}

// quoted lists columns as SQL, each behind a prefix.
func quoted(prefix string, columns []columnInfo) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = prefix + pq.QuoteIdentifier(c.Name)
	}
	return strings.Join(names, ", ")
}
