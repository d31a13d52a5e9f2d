package db

import (
	"context"
	"database/sql"
	"errors"
)

// Secret gives the installation's own random secret of that name, made at its first use.
func (d *DB) Secret(ctx context.Context, key string, fresh func() []byte) ([]byte, error) {
	var v []byte
	err := d.x.GetContext(ctx, &v, "SELECT value FROM settings WHERE key = $1", key)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return v, wrap(err, "Secret")
	}
	// Another instance may be first: what stands in the table counts.
	err = d.x.GetContext(ctx, &v, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING value", key, fresh())
	return v, wrap(err, "Secret")
}
