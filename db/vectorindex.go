package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// Nearest items are found by an HNSW index where an exact search takes too long (design §3): one partial expression index per model, on a native
// Postgres, for corpora above indexFrom items. It is built in the background; until it is valid the search is exact.

const (
	indexFrom = 20_000 // items; up to here an exact search takes some tens of milliseconds per unit
	indexLock = 0x53746f726f7a68
	// Graph and vectors of 100,000 texts of 768 dimensions fit; what does not fit makes the build slower, not wrong.
	indexMemory = "512MB"
	sightFresh  = 20 * time.Second // how long what was seen is used without another look
)

// sight is what was last seen of the vectors that a corpus is searched by.
type sight struct {
	at      time.Time
	dir     string
	model   int
	mostly  bool   // most of the model's vectors are of this corpus
	indexed string // what the valid index casts to, such as vector(768); empty: there is none
}

type sightKey struct {
	dir   string
	model int
}

func vectorIndexName(model int) string { return fmt.Sprintf("embeddings_hnsw_%d", model) }

// indexType is what vectors of that length are cast to in an index, and its operator class; empty if no index can hold them.
func indexType(dim int) (typ, ops string) {
	switch {
	case dim <= 0 || dim > 4000:
		return "", ""
	case dim <= 2000:
		return fmt.Sprintf("vector(%d)", dim), "vector_cosine_ops"
	}
	return fmt.Sprintf("halfvec(%d)", dim), "halfvec_cosine_ops"
}

// indexState is what the catalog says about a model's index and the corpus that is to be searched.
type indexState struct {
	Items int             `db:"items"`
	Dim   int             `db:"dim"`
	Valid sql.NullBool    `db:"valid"` // NULL: there is no index
	Rows  sql.NullFloat64 `db:"rows"`  // in the index, estimated
}

func (d *DB) indexState(ctx context.Context, q sqlx.QueryerContext, dir string, model int) (indexState, error) {
	var s indexState
	err := sqlx.GetContext(ctx, q, &s, `
		SELECT c.items, m.dim, x.indisvalid AS valid, k.reltuples AS rows
		FROM corpora c JOIN embed_models m ON m.id = $2 LEFT JOIN pg_class k ON k.oid = to_regclass($3) LEFT JOIN pg_index x ON x.indexrelid = k.oid
		WHERE c.dir = $1`, text(dir), model, vectorIndexName(model))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return s, err
}

// sight looks at what the search can go by, if the last look is not of just now. What it says may be outdated or an estimate: the search is right
// all the same, only slower.
func (d *DB) sight(ctx context.Context, dir string, model int) (sight, error) {
	key := sightKey{dir, model}
	if seen, ok := d.sights.Load(key); ok && time.Since(seen.(sight).at) < sightFresh {
		return seen.(sight), nil
	}
	state, err := d.indexState(ctx, d.x, dir, model)
	if err != nil {
		return sight{}, err
	}
	s := sight{at: time.Now(), dir: text(dir), model: model}
	if typ, _ := indexType(state.Dim); state.Valid.Bool && state.Items > d.indexFrom && state.Rows.Float64 > 0 {
		s.indexed, s.mostly = typ, state.Rows.Float64 <= 2*float64(state.Items)
	} else if state.Items > 0 {
		// Counted no further than it matters.
		err = d.x.GetContext(ctx, &s.mostly, "SELECT count(*) <= $2 FROM (SELECT 1 FROM embeddings WHERE model_id = $1 LIMIT $2 + 1) e", model, 2*state.Items)
	}
	d.sights.Store(key, s)
	return s, err
}

// prepared gives a statement that stays prepared for the life of the process. There may only be few of them.
func (d *DB) prepared(ctx context.Context, query string) (*sqlx.Stmt, error) {
	if st, ok := d.statements.Load(query); ok {
		return st.(*sqlx.Stmt), nil
	}
	st, err := d.x.PreparexContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if first, ok := d.statements.LoadOrStore(query, st); ok {
		return first.(*sqlx.Stmt), st.Close()
	}
	return st, nil
}

// BuildVectorIndex builds the index of a model's vectors if dir's corpus is large enough to want one and there is none, and tells whether it did.
// It takes minutes, in which everything goes on. What a killed build has left is dropped first. One process builds at a time; to the others, and
// on the embedded Postgres, this does nothing.
func (d *DB) BuildVectorIndex(ctx context.Context, dir string, model int) (built bool, err error) {
	if d.single {
		return false, nil
	}
	s, err := d.indexState(ctx, d.x, dir, model)
	typ, ops := indexType(s.Dim)
	if err != nil || typ == "" || s.Items <= d.indexFrom || s.Valid.Bool {
		return false, wrap(err, "BuildVectorIndex")
	}
	_, err = d.withIndexLock(ctx, func(c *sqlx.Conn) error {
		if s, err = d.indexState(ctx, c, dir, model); err != nil || s.Valid.Bool { // another process was quicker
			return err
		}
		name := vectorIndexName(model)
		for _, q := range []string{
			"SET statement_timeout = 0",
			"SET maintenance_work_mem = '" + indexMemory + "'",
			"SET max_parallel_maintenance_workers = 0", // they share memory that containers are often short of, and cores that runs want
			"DROP INDEX CONCURRENTLY IF EXISTS " + name,
			fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON embeddings USING hnsw ((embedding::%s) %s) WHERE model_id = %d", name, typ, ops, model),
			"ANALYZE items", "ANALYZE embeddings",
		} {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		built = true
		return nil
	})
	d.sights.Clear()
	return built, wrap(err, "BuildVectorIndex")
}

// withIndexLock runs f on a connection of its own if no other process is at an index; held tells whether it did.
func (d *DB) withIndexLock(ctx context.Context, f func(c *sqlx.Conn) error) (held bool, err error) {
	c, err := d.x.Connx(ctx)
	if err != nil {
		return false, err
	}
	// The connection is not used again: its settings and its lock go with it.
	defer func() { _ = c.Raw(func(any) error { return driver.ErrBadConn }); _ = c.Close() }()
	if err := c.GetContext(ctx, &held, "SELECT pg_try_advisory_lock($1)", indexLock); err != nil || !held {
		return false, err
	}
	return true, f(c)
}

// dropVectorIndex drops a model's index, if there is one.
func (d *DB) dropVectorIndex(ctx context.Context, model int) error {
	if d.single {
		return nil
	}
	_, err := d.withIndexLock(ctx, func(c *sqlx.Conn) error {
		_, err := c.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+vectorIndexName(model))
		return err
	})
	d.sights.Clear()
	return err
}
