// Package dbtest gives tests a migrated, empty database: the embedded Postgres, or the native one that STOROZH_TEST_DATABASE_URL names.
//
// One server (embedded) or one database (native) serves a whole test process; [Open] empties its tables. Tests that use it do not run in
// parallel. A package that uses it needs
//
//	func TestMain(m *testing.M) { os.Exit(dbtest.Run(m)) }
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/db"
	"storozh/db/embedded"
)

const limit = 5 * time.Minute // a first start installs the embedded Postgres

var shared struct {
	once sync.Once
	dsn  string
	db   *db.DB
	err  error
	end  []func()
}

// Run runs a package's tests and then ends the server or drops the database.
func Run(m *testing.M) int {
	code := m.Run()
	for i := len(shared.end) - 1; i >= 0; i-- {
		shared.end[i]()
	}
	return code
}

// Open gives the process's database with every table empty.
func Open(t testing.TB) *db.DB {
	t.Helper()
	shared.once.Do(func() { shared.err = start() })
	if shared.err != nil {
		t.Fatalf("test database: %v", shared.err)
	}
	truncate(t, shared.db)
	return shared.db
}

// Native tells whether the tests run on a native Postgres.
func Native() bool { return os.Getenv("STOROZH_TEST_DATABASE_URL") != "" }

// DSN gives the address of the process's database, for tests that start processes of their own; empty on the embedded Postgres, which
// serves one connection.
func DSN(t testing.TB) string {
	t.Helper()
	Open(t)
	if !Native() {
		return ""
	}
	return shared.dsn
}

// CacheDir is where the embedded Postgres keeps its packages, as the product does.
func CacheDir() (string, error) {
	c, err := os.UserCacheDir()
	return filepath.Join(c, "storozh"), err
}

func start() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	connect := startEmbedded
	if Native() {
		connect = createNative
	}
	dsn, err := connect(ctx)
	if err != nil {
		return err
	}
	d, err := db.Open(ctx, dsn, !Native())
	if err != nil {
		return err
	}
	shared.end = append(shared.end, func() { _ = d.Close() })
	shared.dsn, shared.db = dsn, d
	_, err = d.Migrate(ctx, slog.New(slog.DiscardHandler))
	return err
}

func startEmbedded(ctx context.Context) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	s, err := embedded.Start(ctx, embedded.Options{CacheDir: cache, Memory: true, Progress: func(l string) { fmt.Fprintln(os.Stderr, l) }})
	if err != nil {
		return "", err
	}
	shared.end = append(shared.end, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
	return s.DSN(), nil
}

// createNative makes a database of this process's own on the native server: packages are tested beside each other.
func createNative(ctx context.Context) (string, error) {
	u, err := url.Parse(os.Getenv("STOROZH_TEST_DATABASE_URL"))
	if err != nil {
		return "", fmt.Errorf("STOROZH_TEST_DATABASE_URL: %w", err)
	}
	admin, err := sql.Open("postgres", u.String())
	if err != nil {
		return "", err
	}
	name := "storozh_test_" + strings.ToLower(rand.Text()[:12])
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		_ = admin.Close()
		return "", err
	}
	shared.end = append(shared.end, func() {
		_, _ = admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		_ = admin.Close()
	})
	u.Path = "/" + name
	return u.String(), nil
}

func truncate(t testing.TB, d *db.DB) {
	t.Helper()
	var tables string
	err := d.SQL().QueryRow(`
		SELECT coalesce(string_agg(quote_ident(tablename), ', '), '') FROM pg_tables
		WHERE schemaname = 'public' AND tablename <> 'goose_db_version'`).Scan(&tables)
	if err == nil && tables != "" {
		_, err = d.SQL().Exec("TRUNCATE " + tables + " RESTART IDENTITY CASCADE")
	}
	if err != nil {
		t.Fatalf("empty the test database: %v", err)
	}
}
