package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// ByToken finds the cosigner whose token has this SHA-256 hash; core.ErrNotFound if nobody's has. The look-up is by hash, so its time
// tells nothing about the token.
func (d *DB) ByToken(ctx context.Context, hash [32]byte) (core.Cosigner, error) {
	var c core.Cosigner
	err := d.x.GetContext(ctx, &c, "SELECT cosigner FROM cosigner_tokens WHERE hash = $1", hash[:])
	return c, wrap(err, "ByToken")
}

// SetToken keeps the hash of a cosigner's token in place of an earlier one.
func (d *DB) SetToken(ctx context.Context, c core.Cosigner, hash [32]byte) error {
	_, err := d.x.ExecContext(ctx, `
		INSERT INTO cosigner_tokens (cosigner, hash) VALUES ($1, $2)
		ON CONFLICT (cosigner) DO UPDATE SET hash = excluded.hash, created_at = now()
		WHERE cosigner_tokens.hash <> excluded.hash`, c, hash[:])
	return wrap(err, "SetToken")
}

// AddToken keeps the hash of a first token, unless the cosigner has one; of two at the same time one is kept. It tells whether it was this one.
func (d *DB) AddToken(ctx context.Context, c core.Cosigner, hash [32]byte) (bool, error) {
	res, err := d.x.ExecContext(ctx, "INSERT INTO cosigner_tokens (cosigner, hash) VALUES ($1, $2) ON CONFLICT (cosigner) DO NOTHING", c, hash[:])
	if err != nil {
		return false, wrap(err, "AddToken")
	}
	n, err := res.RowsAffected()
	return n > 0, wrap(err, "AddToken")
}

// HasToken tells whether a cosigner has a token.
func (d *DB) HasToken(ctx context.Context, c core.Cosigner) (bool, error) {
	var ok bool
	err := d.x.GetContext(ctx, &ok, "SELECT EXISTS (SELECT 1 FROM cosigner_tokens WHERE cosigner = $1)", c)
	return ok, wrap(err, "HasToken")
}

// AddLink keeps the hash of a one-time link and forgets those that have expired. A link is valid for a day at most: one that seems to be
// valid for longer was made before the clock was set back, and is refused.
func (d *DB) AddLink(ctx context.Context, c core.Cosigner, hash [32]byte, valid time.Duration) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM login_links WHERE expires_at < now()"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO login_links (hash, cosigner, expires_at) VALUES ($1, $2, now() + $3 * interval '1 millisecond')`,
			hash[:], c, valid.Milliseconds())
		return err
	})
	return wrap(err, "AddLink")
}

// RedeemLink uses a one-time link up and tells whose it was; core.ErrNotFound if it is unknown, used or expired.
func (d *DB) RedeemLink(ctx context.Context, hash [32]byte) (core.Cosigner, error) {
	var c core.Cosigner
	err := d.x.GetContext(ctx, &c, `
		UPDATE login_links SET used_at = now()
		WHERE hash = $1 AND used_at IS NULL AND expires_at > now() AND expires_at <= now() + $2 * interval '1 millisecond'
		RETURNING cosigner`, hash[:], clockSlack.Milliseconds())
	return c, wrap(err, "RedeemLink")
}

// DropLinks makes a cosigner's unused links worthless.
func (d *DB) DropLinks(ctx context.Context, c core.Cosigner) error {
	_, err := d.x.ExecContext(ctx, "DELETE FROM login_links WHERE cosigner = $1 AND used_at IS NULL", c)
	return wrap(err, "DropLinks")
}
