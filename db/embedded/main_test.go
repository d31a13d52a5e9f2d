package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
)

// hostEnv makes the test binary be a host process of a database, for a test to kill.
const hostEnv = "STOROZH_TEST_EMBEDDED_HOST"

// shared is one database in memory for all tests that only talk SQL.
var shared *Server

func TestMain(m *testing.M) {
	if dir := os.Getenv(hostEnv); dir != "" {
		host(dir)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	s, err := Start(context.Background(), Options{CacheDir: cacheDir(), Memory: true, Progress: func(l string) { fmt.Fprintln(os.Stderr, l) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = s
	code := m.Run()
	if err := s.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func cacheDir() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "storozh")
}

// start starts a database of the test's own.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = cacheDir()
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// pool opens a pool of one, as the product does.
func pool(t *testing.T, s *Server) *sqlx.DB {
	t.Helper()
	db, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(s *Server) (*sqlx.DB, error) {
	db, err := sqlx.Open("postgres", s.DSN())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// limited is the test's context with a limit that only a hang would reach.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// alive tells whether the process runs. An orphan that has ended may stay listed until the system's first process takes notice.
func alive(pid int) bool {
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, state, _ := strings.Cut(string(b), ") ")
		return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func mustExec(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(limited(t), query, args...); err != nil {
		t.Fatalf("%.80s: %v", query, err)
	}
}

func value[T any](t *testing.T, db *sqlx.DB, query string, args ...any) (v T) {
	t.Helper()
	if err := db.GetContext(limited(t), &v, query, args...); err != nil {
		t.Fatalf("%.80s: %v", query, err)
	}
	return v
}
