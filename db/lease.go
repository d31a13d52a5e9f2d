package db

import (
	"context"
	"time"
)

// Lease takes or renews the lease of that name for a process, and tells whether it has it. It ends by itself, so that a process that was
// killed keeps nobody from the work for longer than hold.
func (d *DB) Lease(ctx context.Context, name, holder string, hold time.Duration) (bool, error) {
	res, err := d.x.ExecContext(ctx, `
		INSERT INTO leases (name, holder, held_until) VALUES ($1, $2, now() + $3::double precision * interval '1 second')
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
		WHERE leases.holder = excluded.holder OR leases.held_until < now()`, name, holder, hold.Seconds())
	if err != nil {
		return false, wrap(err, "Lease")
	}
	n, err := res.RowsAffected()
	return n > 0, wrap(err, "Lease")
}

// EndLease gives a lease back, if it is this holder's.
func (d *DB) EndLease(ctx context.Context, name, holder string) error {
	_, err := d.x.ExecContext(ctx, "DELETE FROM leases WHERE name = $1 AND holder = $2", name, holder)
	return wrap(err, "EndLease")
}
