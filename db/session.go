package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// clockSlack is how far back the clock may have been set without ending sessions and links: one that seems to live longer than it may at
// most, by more than this, was made while the clock was wrong.
const clockSlack = 24 * time.Hour

// Sessions keeps what browsers are signed in with, under the hash of their id. How long one lasts goes by the database's clock alone.
type Sessions struct {
	d    *DB
	life time.Duration // from the sign-in
	idle time.Duration // from the last use
}

// Sessions gives the store of sessions that end a while after the sign-in (life), or earlier if they are not used for a while (idle).
func (d *DB) Sessions(life, idle time.Duration) *Sessions {
	return &Sessions{d: d, life: life, idle: idle}
}

// Find gives a session's content; false if there is none, or it has ended.
func (s *Sessions) Find(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := s.d.x.GetContext(ctx, &data, `
		SELECT data FROM sessions WHERE token = $1 AND now() < expiry AND expiry <= now() + $2 * interval '1 millisecond'
			AND opened_at > now() - $3 * interval '1 millisecond' AND opened_at <= now() + $4 * interval '1 millisecond'`,
		token, (s.idle + clockSlack).Milliseconds(), s.life.Milliseconds(), clockSlack.Milliseconds())
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, wrap(err, "Sessions.Find")
}

// Add keeps a new session.
func (s *Sessions) Add(ctx context.Context, token string, data []byte) error {
	_, err := s.d.x.ExecContext(ctx, `
		INSERT INTO sessions (token, data, expiry) VALUES ($1, $2, now() + $3 * interval '1 millisecond')`,
		token, data, min(s.idle, s.life).Milliseconds())
	return wrap(err, "Sessions.Add")
}

// Update keeps new content of a session that is still there and prolongs it. One that was ended meanwhile stays so.
func (s *Sessions) Update(ctx context.Context, token string, data []byte) error {
	_, err := s.d.x.ExecContext(ctx, `
		UPDATE sessions SET data = $2, expiry = least(now() + $3 * interval '1 millisecond', opened_at + $4 * interval '1 millisecond')
		WHERE token = $1`, token, data, s.idle.Milliseconds(), s.life.Milliseconds())
	return wrap(err, "Sessions.Update")
}

// End removes a session for good.
func (s *Sessions) End(ctx context.Context, token string) error {
	_, err := s.d.x.ExecContext(ctx, "DELETE FROM sessions WHERE token = $1", token)
	return wrap(err, "Sessions.End")
}

// EndAll removes those sessions whose content is asked for, and tells how many.
func (s *Sessions) EndAll(ctx context.Context, ended func(data []byte) bool) (int, error) {
	var rows []struct {
		Token string `db:"token"`
		Data  []byte `db:"data"`
	}
	if err := s.d.x.SelectContext(ctx, &rows, "SELECT token, data FROM sessions"); err != nil {
		return 0, wrap(err, "Sessions.EndAll")
	}
	var tokens []string
	for _, r := range rows {
		if ended(r.Data) {
			tokens = append(tokens, r.Token)
		}
	}
	res, err := s.d.x.ExecContext(ctx, "DELETE FROM sessions WHERE token = ANY($1)", list(tokens))
	if err != nil {
		return 0, wrap(err, "Sessions.EndAll")
	}
	n, err := res.RowsAffected()
	return int(n), wrap(err, "Sessions.EndAll")
}

// Sweep removes sessions that have expired, now and then, until ctx ends.
func (s *Sessions) Sweep(ctx context.Context, every time.Duration, log *slog.Logger) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if _, err := s.d.x.ExecContext(ctx, "DELETE FROM sessions WHERE expiry < now()"); err != nil && ctx.Err() == nil {
			log.Warn("expired sessions not removed", "err", wrap(err, "Sessions.Sweep"))
		}
	}
}
