package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// failedSignInsKept bounds the entries that a stranger can cause.
const failedSignInsKept = 1000

// Audit keeps what was done, at the database's own time. e.At is not looked at.
func (d *DB) Audit(ctx context.Context, e core.AuditEntry) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		var id int64
		err := tx.GetContext(ctx, &id, "INSERT INTO audit (who, what, detail) VALUES ($1, $2, $3) RETURNING id", text(e.Who), e.What, text(e.Detail))
		if err != nil || e.What != core.AuditSignInFailed || id%pruneEvery != 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			DELETE FROM audit WHERE what = 'sign-in failed' AND id <= (
				SELECT id FROM audit WHERE what = 'sign-in failed' ORDER BY id DESC OFFSET $1 LIMIT 1)`, failedSignInsKept)
		return err
	})
	return wrap(err, "Audit")
}

// AuditTrail lists the last entries, newest first.
func (d *DB) AuditTrail(ctx context.Context, limit int) ([]core.AuditEntry, error) {
	var rows []struct {
		At     time.Time `db:"at"`
		Who    string    `db:"who"`
		What   string    `db:"what"`
		Detail string    `db:"detail"`
	}
	if err := d.x.SelectContext(ctx, &rows, "SELECT at, who, what, detail FROM audit ORDER BY id DESC LIMIT $1", limit); err != nil {
		return nil, wrap(err, "AuditTrail")
	}
	out := make([]core.AuditEntry, 0, len(rows))
	for _, r := range rows {
		out = append(out, core.AuditEntry{At: r.At.UTC(), Who: r.Who, What: core.AuditKind(r.What), Detail: r.Detail})
	}
	return out, nil
}

// Changed keeps value under key and tells whether another one stood there before; the first one is a change too.
func (d *DB) Changed(ctx context.Context, key string, value []byte) (before []byte, changed bool, err error) {
	err = d.transact(ctx, func(tx *sqlx.Tx) error {
		var old [][]byte
		if err := tx.SelectContext(ctx, &old, "SELECT value FROM settings WHERE key = $1 FOR UPDATE", key); err != nil {
			return err
		}
		if len(old) == 1 {
			before = old[0]
		}
		if changed = len(old) == 0 || string(before) != string(value); !changed {
			return nil
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
	return before, changed, wrap(err, "Changed")
}
