// Package db keeps Storozh's records in Postgres with pgvector, through sqlx and lib/pq.
//
// One file per aggregate (manifest, run, result, corpus, embedding, verdict, identity). A public method owns its transaction; begin and
// commit exist in [DB.transact] only. Driver errors never leave the package bare: "no rows" is core.ErrNotFound, a broken rule
// core.ErrConflict, a database that is gone core.ErrNoDatabase, all else is wrapped with the method's name.
//
// The same SQL runs on a native Postgres and on the embedded one, whose pool is a single connection: no method uses the pool inside a
// transaction or while rows are open.
package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

// DB is a handle on the database. Safe for concurrent use.
type DB struct {
	x      *sqlx.DB
	single bool // a pool of one: the embedded Postgres
	dsn    string

	indexFrom  int      // see vectorindex.go
	sights     sync.Map // sightKey → sight
	statements sync.Map // text → *sqlx.Stmt
}

// nativePool bounds the connections of one process to a native Postgres: workers, pages and health checks together stay well below.
const nativePool = 16

// Open connects and checks the connection. dsn is a URL or a keyword string as lib/pq takes it; single is true for the embedded
// Postgres. The error names neither user nor password.
func Open(ctx context.Context, dsn string, single bool) (*DB, error) {
	x, err := sqlx.Open("postgres", dsn)
	if err != nil {
		return nil, fmt.Errorf("the database address cannot be read: %w", redact(err, dsn))
	}
	size := nativePool
	if single {
		size = 1
	}
	x.SetMaxOpenConns(size)
	x.SetMaxIdleConns(size)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := x.PingContext(ctx); err != nil {
		_ = x.Close()
		return nil, fmt.Errorf("the database does not answer: %w", redact(err, dsn))
	}
	return &DB{x: x, single: single, dsn: dsn, indexFrom: indexFrom}, nil
}

// SQL gives the plain handle, for libraries that bring their own statements (session store, maintenance).
func (d *DB) SQL() *sql.DB { return d.x.DB }

// Close ends all connections.
func (d *DB) Close() error { return d.x.Close() }

// Ping tells whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	_, err := d.x.ExecContext(ctx, "SELECT 1")
	return wrap(err, "Ping")
}

// Version is the server's version, such as `17.5`.
func (d *DB) Version(ctx context.Context) (string, error) {
	var v string
	err := d.x.GetContext(ctx, &v, "SELECT split_part(current_setting('server_version'), ' ', 1)")
	return v, wrap(err, "Version")
}

// transact runs f in one transaction: committed when f returns nil, rolled back otherwise.
func (d *DB) transact(ctx context.Context, f func(tx *sqlx.Tx) error) error {
	tx, err := d.x.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// wrap names the method and translates driver errors by code.
func wrap(err error, method string) error {
	var pe *pq.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("db.%s: %w", method, core.ErrNotFound)
	case errors.As(err, &pe) && pe.Code.Class() == "23": // integrity constraint violation
		return fmt.Errorf("db.%s: %w: %s", method, core.ErrConflict, pe.Message)
	case lost(err):
		return fmt.Errorf("db.%s: %w: %w", method, core.ErrNoDatabase, err)
	}
	return fmt.Errorf("db.%s: %w", method, err)
}

// text makes a string fit for a text column: Postgres refuses NUL and invalid UTF-8, both of which manifests can hold. The raw
// manifest keeps them.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// noNUL makes a JSON document fit for the database: Postgres refuses the escape of NUL, too, when it is asked for a part of the document.
func noNUL(doc []byte) string {
	const escape, instead = `\u0000`, `\ufffd`
	if !bytes.Contains(doc, []byte(escape)) {
		return string(doc)
	}
	var out strings.Builder
	for i := 0; i < len(doc); {
		switch {
		case doc[i] != '\\':
			out.WriteByte(doc[i])
			i++
		case bytes.HasPrefix(doc[i:], []byte(escape)):
			out.WriteString(instead)
			i += len(escape)
		default: // a backslash and what it escapes, which can be a backslash
			n := min(2, len(doc)-i)
			out.Write(doc[i : i+n])
			i += n
		}
	}
	return out.String()
}

// list makes strings fit for a text[] column.
func list(in []string) pq.StringArray {
	out := make(pq.StringArray, len(in))
	for i, s := range in {
		out[i] = text(s)
	}
	return out
}

// redact keeps the password of a DSN out of an error that quotes it.
func redact(err error, dsn string) error {
	if dsn != "" && strings.Contains(err.Error(), dsn) {
		return errors.New(strings.ReplaceAll(err.Error(), dsn, "<DATABASE_URL>"))
	}
	return err
}
