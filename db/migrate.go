package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"storozh/db/migrations"
)

// ErrNewerSchema means that a newer Storozh has migrated this database.
var ErrNewerSchema = errors.New("this database was written by a newer Storozh: start that version, or use another database")

// Migrate brings the schema up to date and returns how many migrations ran. Two instances may start together on a native Postgres: a
// session lock orders them. The embedded one has a single connection and needs none.
func (d *DB) Migrate(ctx context.Context, log *slog.Logger) (int, error) {
	opts := []goose.ProviderOption{goose.WithSlog(log), goose.WithDisableGlobalRegistry(true)}
	if !d.single {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return 0, fmt.Errorf("migrations: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(goose.DialectPostgres, d.x.DB, migrations.FS, opts...)
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	if err := d.refuseNewer(ctx, p); err != nil {
		return 0, err
	}
	done, err := p.Up(ctx)
	if err != nil {
		return len(done), fmt.Errorf("migrations: %w (pgvector must be installed on this Postgres, and the user must be allowed to create the extension `vector`)", err)
	}
	return len(done), nil
}

func (d *DB) refuseNewer(ctx context.Context, p *goose.Provider) error {
	var there bool
	if err := d.x.GetContext(ctx, &there, "SELECT to_regclass('goose_db_version') IS NOT NULL"); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if !there {
		return nil
	}
	var version int64
	if err := d.x.GetContext(ctx, &version, "SELECT coalesce(max(version_id), 0) FROM goose_db_version"); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	known := int64(0)
	for _, s := range p.ListSources() {
		known = max(known, s.Version)
	}
	if version > known {
		return fmt.Errorf("%w (schema %d, this version knows %d)", ErrNewerSchema, version, known)
	}
	return nil
}
