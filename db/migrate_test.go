package db_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"storozh/db"
	"storozh/db/dbtest"
)

var quiet = slog.New(slog.DiscardHandler)

// emptyDatabase makes a further database on the native server.
func emptyDatabase(t *testing.T, name string) string {
	t.Helper()
	if !dbtest.Native() {
		t.Skip("the embedded Postgres has one database and one connection: runs on a native one, with STOROZH_TEST_DATABASE_URL")
	}
	u, err := url.Parse(dbtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	d := dbtest.Open(t)
	name = strings.TrimPrefix(u.Path, "/") + "_" + name
	if _, err := d.SQL().Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := d.SQL().Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + name
	return u.String()
}

func open(t *testing.T, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestTwoInstancesMigrateTogether(t *testing.T) {
	dsn := emptyDatabase(t, "twice")
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 2 {
		d := open(t, dsn)
		wg.Go(func() {
			n, err := d.Migrate(context.Background(), quiet)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wg.Wait()
	if n, err := open(t, dsn).Migrate(t.Context(), quiet); n != 0 || err != nil {
		t.Errorf("%d migrations are left over (%v)", n, err)
	}
	if total < 2 {
		t.Errorf("%d migrations ran", total)
	}
}

// A migration that fails leaves nothing of itself behind, says what was wrong, and goes through once that is mended.
func TestAMigrationThatFailsHalfWay(t *testing.T) {
	d := open(t, emptyDatabase(t, "half"))
	if _, err := d.SQL().Exec("CREATE TABLE verdicts (theirs integer)"); err != nil { // somebody else's, in the middle of the first migration
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), quiet); err == nil || !strings.Contains(err.Error(), `"verdicts" already exists`) {
		t.Fatalf("got %v", err)
	}
	var left bool
	if err := d.SQL().QueryRow("SELECT to_regclass('manifests') IS NOT NULL").Scan(&left); err != nil || left {
		t.Errorf("half of the migration stayed (%v)", err)
	}
	if _, err := d.SQL().Exec("DROP TABLE verdicts"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), quiet); err != nil {
		t.Errorf("after it was mended: %v", err)
	}
}
