package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// The tests of this file share one server, and with it its one connection: they run one after the other.

func TestVectors(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE EXTENSION IF NOT EXISTS vector`)
	mustExec(t, db, `CREATE TABLE items (id int, embedding vector)`)
	defer mustExec(t, db, `DROP TABLE items`)
	mustExec(t, db, `INSERT INTO items VALUES (1, '[1,0,0]'), (2, '[0,1,0]'), (3, $1)`, "[0.9,0.1,0]")
	var ids []int
	if err := db.SelectContext(limited(t), &ids, `SELECT id FROM items ORDER BY (embedding <=> $1) + 0 LIMIT 2`, "[1,0.2,0]"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(ids) != "[3 1]" {
		t.Errorf("nearest items %v, want [3 1]", ids)
	}
}

func TestSettings(t *testing.T) {
	db := pool(t, shared)
	for name, want := range map[string]string{"max_wal_size": "64MB", "min_wal_size": "32MB", "server_encoding": "UTF8", "server_version": shared.Version()} {
		if got := value[string](t, db, `SELECT current_setting($1)`, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if !strings.HasPrefix(shared.Version(), "18.") {
		t.Errorf("version %q", shared.Version())
	}
}

func TestErrorsAreAnswers(t *testing.T) {
	db := pool(t, shared)
	for query, code := range map[string]pqerror.Code{
		`SELECT * FROM nowhere`:      "42P01",
		`SELECT 1/$1::int`:           "22012",
		`SELECT $1::int + 'x'::int`:  "22P02",
		`SELECT 1; SELECT 1/0`:       "22012",
		`SELECT 'copy' FROM nowhere`: "42P01",
	} {
		var args []any
		if strings.Contains(query, "$1") {
			args = append(args, 0)
		}
		_, err := db.ExecContext(limited(t), query, args...)
		var e *pq.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v, want code %s", query, err, code)
		}
		if got := value[string](t, db, `SELECT 'copy'`); got != "copy" {
			t.Errorf("after %s: %q", query, got)
		}
	}
}

// A connection that goes away takes with it all that was its own.
func TestLostConnection(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE TABLE lost (n int)`)
	defer mustExec(t, db, `DROP TABLE lost`)
	conn, err := db.Conn(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, `SET search_path = pg_catalog`)
	mustExec(t, conn, `SELECT pg_advisory_lock(7)`)
	mustExec(t, conn, `CREATE TEMP TABLE scratch (n int)`)
	mustExec(t, conn, `PREPARE mine AS SELECT 1`)
	mustExec(t, conn, `BEGIN`)
	mustExec(t, conn, `INSERT INTO public.lost VALUES (1)`)
	drop(conn)

	if n := value[int](t, db, `SELECT count(*) FROM lost`); n != 0 {
		t.Errorf("%d rows of a transaction that was never committed", n)
	}
	left := value[string](t, db, `SELECT concat_ws(' ', current_setting('search_path'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),
		(SELECT count(*) FROM pg_prepared_statements WHERE name = 'mine'), to_regclass('scratch') IS NULL)`)
	if want := "public 0 0 t"; left != want {
		t.Errorf("left behind: %s, want %s", left, want)
	}
}

// drop cuts the network connection under conn.
func drop(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return errBad })
	conn.Close()
}

var errBad = badConn{}

type badConn struct{}

func (badConn) Error() string        { return "dropped by the test" }
func (badConn) Is(target error) bool { return target.Error() == "driver: bad connection" }

func TestBigValue(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE TABLE big (b bytea)`)
	defer mustExec(t, db, `DROP TABLE big`)
	in := bytes.Repeat([]byte("storozh\x00\xff\n"), 64<<20/10)
	start := time.Now()
	mustExec(t, db, `INSERT INTO big VALUES ($1)`, in)
	inserted := time.Since(start)
	out := value[[]byte](t, db, `SELECT b FROM big`)
	if sha256.Sum256(in) != sha256.Sum256(out) {
		t.Errorf("%d bytes came back as %d others", len(in), len(out))
	}
	t.Logf("64 MiB: in %s, out %s, then %s resident", inserted.Round(time.Millisecond), (time.Since(start) - inserted).Round(time.Millisecond), resident(shared.cmd.Process.Pid))
}

// A cancelled statement still runs to its end (there is no way to stop it), but its answer must not become another's.
func TestCancel(t *testing.T) {
	db := pool(t, shared)
	for i := range 5 {
		ctx, cancel := context.WithTimeout(limited(t), time.Duration(i)*30*time.Millisecond)
		var n int
		err := db.GetContext(ctx, &n, `SELECT 111 FROM pg_sleep(0.3)`)
		cancel()
		if err == nil {
			t.Fatalf("round %d: not cancelled", i)
		}
		if got := value[int](t, db, `SELECT $1::int`, i); got != i {
			t.Fatalf("round %d: the next query got %d", i, got)
		}
	}
}

func TestCancelInTransaction(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE TABLE cancelled (n int)`)
	defer mustExec(t, db, `DROP TABLE cancelled`)
	ctx, cancel := context.WithTimeout(limited(t), 100*time.Millisecond)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = tx.ExecContext(ctx, `INSERT INTO cancelled SELECT 1 FROM pg_sleep(0.3)`) // lib/pq may still report success
	if err := tx.Commit(); err == nil {
		t.Error("committed after its context had ended")
	}
	if n := value[int](t, db, `SELECT count(*) FROM cancelled`); n != 0 {
		t.Errorf("%d rows of a cancelled transaction", n)
	}
}

func TestConcurrentGoroutines(t *testing.T) {
	db := pool(t, shared)
	const goroutines, rounds = 12, 60
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for r := range rounds {
				want, got := g*1000+r, -1
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				var err error
				switch r % 3 {
				case 0:
					err = db.GetContext(ctx, &got, `SELECT $1::int`, want)
				case 1:
					err = db.GetContext(ctx, &got, fmt.Sprintf(`SELECT %d`, want))
				default: // given up now and then, at a moment of its own
					short, giveUp := context.WithTimeout(ctx, time.Duration(r)*time.Millisecond)
					if err = db.GetContext(short, &got, `SELECT $1::int FROM pg_sleep(0.01)`, want); short.Err() != nil {
						got, err = want, nil
					}
					giveUp()
				}
				cancel()
				if err != nil || got != want {
					t.Errorf("asked for %d, got %d, %v", want, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCopyIsRefused(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE TABLE copied (n int)`)
	defer mustExec(t, db, `DROP TABLE copied`)
	for _, query := range []string{`COPY copied FROM STDIN`, `SELECT 1; COPY copied (n) FROM STDIN WITH (FORMAT binary); SELECT 2`, `copy copied from stdin`} {
		copyIn(t, db.DB, query)
		if n := value[int](t, db, `SELECT count(*) FROM copied`); n != 0 {
			t.Errorf("%s: %d rows", query, n)
		}
	}
}

// copyIn tries a COPY the way lib/pq does it, inside a transaction.
func copyIn(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	tx, err := db.BeginTx(limited(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(limited(t), query)
	if err == nil {
		for range 3 {
			if _, err = stmt.Exec(1); err != nil {
				break
			}
		}
		if err == nil {
			_, err = stmt.Exec()
		}
		if e := stmt.Close(); err == nil {
			err = e
		}
	}
	if err == nil || !strings.Contains(query, ";") && !strings.Contains(err.Error(), "COPY is not available in the embedded Postgres") {
		t.Errorf("%s: %v", query, err)
	}
}

func TestMaintain(t *testing.T) {
	db := pool(t, shared)
	mustExec(t, db, `CREATE TABLE dusty AS SELECT n FROM generate_series(1, 10000) n`)
	defer mustExec(t, db, `DROP TABLE dusty`)
	mustExec(t, db, `DELETE FROM dusty`)
	before := value[string](t, db, `SELECT redo_lsn FROM pg_control_checkpoint()`)
	if err := Maintain(limited(t), db.DB); err != nil {
		t.Fatal(err)
	}
	if after := value[string](t, db, `SELECT redo_lsn FROM pg_control_checkpoint()`); after == before {
		t.Errorf("no checkpoint: still at %s", after)
	}
	if size := value[int](t, db, `SELECT pg_relation_size('dusty')`); size != 0 {
		t.Errorf("dead rows still take %d bytes", size)
	}
}
