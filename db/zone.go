package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"storozh/core"
)

const zoneSetting = "trends-zone"

// SetTrendZone makes the days of the trends those of a zone. If they were of another one they are made anew from the quarters, which hold
// for any zone. zone must have a name of the IANA database: other processes find it by that.
func (d *DB) SetTrendZone(ctx context.Context, zone *time.Location) error {
	err := d.transact(ctx, func(tx *sqlx.Tx) error {
		// The update locks the row: whoever counts meanwhile waits, and then sees the new zone.
		var old []byte
		err := tx.GetContext(ctx, &old, `
			INSERT INTO settings (key, value) VALUES ($1, '') ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING value`, zoneSetting)
		if err != nil {
			return err
		}
		if string(old) == zone.String() {
			return nil
		}
		if _, err := tx.ExecContext(ctx, "UPDATE settings SET value = $2 WHERE key = $1", zoneSetting, []byte(zone.String())); err != nil {
			return err
		}
		return remakeDays(ctx, tx, zone)
	})
	return wrap(err, "SetTrendZone")
}

// keptZone is the zone of the days, locked against a change until the transaction ends; UTC before one was set.
func keptZone(ctx context.Context, tx *sqlx.Tx) (*time.Location, error) {
	var name []byte
	err := tx.GetContext(ctx, &name, "SELECT value FROM settings WHERE key = $1 FOR SHARE", zoneSetting)
	if errors.Is(err, sql.ErrNoRows) {
		return time.UTC, nil
	}
	if err != nil {
		return nil, err
	}
	return loadZone(string(name))
}

func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name) // "" is UTC
	if err != nil {
		return nil, fmt.Errorf("the zone %q in which the days are kept is unknown here: %w", name, err)
	}
	return zone, nil
}

// remakeDays sums the quarters up by the days of a zone.
func remakeDays(ctx context.Context, tx *sqlx.Tx, zone *time.Location) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM trend_days"); err != nil {
		return err
	}
	var utc []time.Time
	if err := tx.SelectContext(ctx, &utc, "SELECT DISTINCT date_trunc('day', bucket AT TIME ZONE 'UTC') FROM trend_quarters ORDER BY 1"); err != nil {
		return err
	}
	var days, starts, ends pq.StringArray
	last := time.Time{}
	for _, u := range utc {
		for shift := -1; shift <= 1; shift++ { // a local day overlaps up to two days of UTC, at most one away
			day := time.Date(u.Year(), u.Month(), u.Day()+shift, 0, 0, 0, 0, time.UTC)
			if !day.After(last) {
				continue
			}
			last = day
			days = append(days, day.Format(time.DateOnly))
			starts = append(starts, core.DayStart(day, zone).UTC().Format(time.RFC3339))
			ends = append(ends, core.DayStart(day.AddDate(0, 0, 1), zone).UTC().Format(time.RFC3339))
		}
	}
	sums := make([]string, len(tallyColumns))
	for i, c := range tallyColumns {
		sums[i] = "sum(q." + c + ")"
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`
		INSERT INTO trend_days (repo, day, %s)
		SELECT q.repo, d.day, %s FROM unnest($1::date[], $2::timestamptz[], $3::timestamptz[]) AS d (day, starts, ends)
		JOIN trend_quarters q ON q.bucket >= d.starts AND q.bucket < d.ends GROUP BY q.repo, d.day`,
		strings.Join(tallyColumns, ", "), strings.Join(sums, ", ")), days, starts, ends)
	return err
}
