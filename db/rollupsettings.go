package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// perDay bounds how many values of one kind are kept of one day: a corpus with a commit per run would fill the time axis with marks.
const perDay = 8

// countSettings keeps what a run was judged with; what the manifest's earlier run was judged with is taken out.
func countSettings(ctx context.Context, tx *sqlx.Tx, run countedRun) error {
	var before countedRun
	err := tx.GetContext(ctx, &before, countedRunQuery+`
		WHERE r.manifest_id = $1 AND r.status = 'done' AND r.counted AND NOT r.demo AND r.id <> $2 ORDER BY r.id DESC LIMIT 1`,
		run.ManifestID, run.ID)
	if err = wrap(err, "countSettings"); err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	for _, s := range before.settings() {
		_, err := tx.ExecContext(ctx, "UPDATE trend_settings SET runs = runs - 1 WHERE day = $1 AND kind = $2 AND value = $3", before.day(), s.kind, s.value)
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM trend_settings WHERE day = $1 AND kind = $2 AND value = $3 AND runs < 1", before.day(), s.kind, s.value)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range run.settings() {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO trend_settings AS t (day, kind, value, first_at, runs)
			SELECT $1::date, $2::text, $3::text, $4::timestamptz, 1
			WHERE (SELECT count(*) FROM trend_settings WHERE day = $1::date AND kind = $2::text AND value <> $3::text) < $5
			ON CONFLICT (day, kind, value) DO UPDATE SET runs = t.runs + 1, first_at = least(t.first_at, excluded.first_at)`,
			run.day(), s.kind, s.value, quarterless(run), perDay)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r countedRun) day() string { return quarterless(r).Format(time.DateOnly) }

type setting struct{ kind, value string }

// settings lists what is known of a run, in a fixed order. A run that was skipped before any model was asked has no models.
func (r countedRun) settings() []setting {
	all := []setting{{"corpus", r.Corpus}, {"embed-model", r.Embed}, {"judge-model", r.Judge}, {"policy", r.Policy}, {"prompt", r.Prompt}}
	if r.Judge == "" {
		all[4].value = ""
	}
	for i := range all {
		if len(all[i].value) > 300 {
			all[i].value = strings.ToValidUTF8(all[i].value[:300], "")
		}
	}
	return slices.DeleteFunc(all, func(s setting) bool { return s.value == "" })
}

// CountRuns brings finished runs into the sums that are not there yet, oldest first, and tells how many; such are left by a version that
// kept no sums.
func (d *DB) CountRuns(ctx context.Context) (int, error) {
	for n := 0; ; n++ {
		var run core.Run
		err := d.x.QueryRowContext(ctx, "SELECT id, manifest_id FROM runs WHERE status = 'done' AND NOT counted ORDER BY id LIMIT 1").Scan(&run.ID, &run.ManifestID)
		if err = wrap(err, "CountRuns"); errors.Is(err, core.ErrNotFound) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		results, err := d.Units(ctx, run.ID)
		if err != nil {
			return n, err
		}
		err = d.transact(ctx, func(tx *sqlx.Tx) error {
			if err := tx.GetContext(ctx, new(int64), "SELECT id FROM manifests WHERE id = $1 FOR UPDATE", run.ManifestID); err != nil {
				return err
			}
			return d.rollup(ctx, tx, run.ID, results)
		})
		if err != nil {
			return n, wrap(err, "CountRuns")
		}
	}
}
