package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"storozh/core"
)

// Trends gives what was counted in a stretch of calendar days, from the sums: its cost follows the days asked for, not the flags in them.
func (d *DB) Trends(ctx context.Context, q core.TrendQuery) (core.TrendData, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	days, sum, err := d.trendDays(ctx, q)
	if err != nil {
		return core.TrendData{}, wrap(err, "Trends")
	}
	out := core.TrendData{Days: days, Reviews: sum.reviews()}
	out.Events, err = d.trendEvents(ctx, q)
	return out, wrap(err, "Trends")
}

// trendDays reads the days; those kept are of another zone only while processes of two zones share a database, and then the quarters serve.
func (d *DB) trendDays(ctx context.Context, q core.TrendQuery) ([]core.TrendRow, tally, error) {
	var kept string
	err := d.x.GetContext(ctx, &kept, "SELECT coalesce((SELECT convert_from(value, 'UTF8') FROM settings WHERE key = $1), '')", zoneSetting)
	if err != nil {
		return nil, tally{}, err
	}
	zone, err := loadZone(kept)
	if err != nil || zone.String() != q.Zone.String() {
		return d.trendQuarters(ctx, q)
	}
	key := "day"
	if q.By == "week" || q.By == "month" { // Postgres' weeks begin on Monday, too
		key = "date_trunc('" + q.By + "', day::timestamp)"
	}
	return d.readTallies(ctx, "trend_days", key, "day BETWEEN $1 AND $2", q.Repo, func(t time.Time) time.Time { return core.Day(t, time.UTC) },
		q.From.Format(time.DateOnly), q.To.Format(time.DateOnly))
}

func (d *DB) trendQuarters(ctx context.Context, q core.TrendQuery) ([]core.TrendRow, tally, error) {
	return d.readTallies(ctx, "trend_quarters", "bucket", "bucket >= $1 AND bucket < $2", q.Repo, func(t time.Time) time.Time { return core.Day(t, q.Zone) },
		core.DayStart(q.From, q.Zone), core.DayStart(q.To.AddDate(0, 0, 1), q.Zone))
}

// readTallies reads rows of counts, joining those of one repo and day, and the sum of what was decided.
func (d *DB) readTallies(ctx context.Context, table, key, where, repo string, day func(time.Time) time.Time, args ...any) ([]core.TrendRow, tally, error) {
	if repo != "" {
		where, args = where+" AND repo = $3", append(args, repo)
	}
	counts := make([]string, atAgreed)
	for i, c := range tallyColumns[:atAgreed] {
		counts[i] = "sum(" + c + ")"
	}
	out, err := d.readCounts(ctx, fmt.Sprintf("SELECT repo, %s AS at, %s FROM %s WHERE %s GROUP BY 1, 2 ORDER BY 1, 2",
		key, strings.Join(counts, ", "), table, where), args, day)
	if err != nil {
		return nil, tally{}, err
	}
	sums := make([]string, 0, tallySize)
	for _, c := range tallyColumns[atAgreed:] {
		sums = append(sums, "coalesce(sum("+c+"), 0)")
	}
	var sum tally
	into := make([]any, 0, tallySize)
	for i := range sum[atAgreed:] {
		into = append(into, &sum[atAgreed+i])
	}
	err = d.x.QueryRowContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(sums, ", "), table, where), args...).Scan(into...)
	return out, sum, err
}

func (d *DB) readCounts(ctx context.Context, query string, args []any, day func(time.Time) time.Time) ([]core.TrendRow, error) {
	rows, err := d.x.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []core.TrendRow
	for rows.Next() {
		var r core.TrendRow
		var t tally
		if err := rows.Scan(&r.Repo, &r.At, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[atRaised], &t[atResolved]); err != nil {
			return nil, err
		}
		r.At, r.TrendCounts = day(r.At), t.counts()
		if k := len(out); k > 0 && out[k-1].Repo == r.Repo && out[k-1].At.Equal(r.At) {
			out[k-1].TrendCounts = out[k-1].Add(r.TrendCounts)
			continue
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// maxEvents bounds the marks of one page; the latest count.
const maxEvents = 500

// trendEvents finds where what runs were judged with changed: it walks the values of each kind by day and first use, from the last one
// before the stretch.
func (d *DB) trendEvents(ctx context.Context, q core.TrendQuery) ([]core.TrendEvent, error) {
	from, to := core.DayStart(q.From, q.Zone).UTC(), core.DayStart(q.To.AddDate(0, 0, 1), q.Zone).UTC()
	var rows []struct {
		Kind    string    `db:"kind"`
		Value   string    `db:"value"`
		FirstAt time.Time `db:"first_at"`
	}
	err := d.x.SelectContext(ctx, &rows, `
		SELECT s.kind, s.value, s.first_at FROM unnest($3::text[]) AS k (kind) CROSS JOIN LATERAL (
			(SELECT kind, value, first_at, day FROM trend_settings WHERE kind = k.kind AND day < $1 ORDER BY day DESC, first_at DESC LIMIT 1)
			UNION ALL
			(SELECT kind, value, first_at, day FROM trend_settings WHERE kind = k.kind AND day BETWEEN $1 AND $2)) s
		ORDER BY s.kind, s.day, s.first_at, s.value`,
		from.Format(time.DateOnly), to.Format(time.DateOnly), pq.StringArray{"corpus", "embed-model", "judge-model", "policy", "prompt"})
	if err != nil {
		return nil, err
	}
	var out []core.TrendEvent
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if a.Kind == b.Kind && a.Value != b.Value && !b.FirstAt.Before(from) && b.FirstAt.Before(to) {
			out = append(out, core.TrendEvent{At: b.FirstAt.UTC(), Kind: b.Kind, Before: a.Value, After: b.Value})
		}
	}
	slices.SortStableFunc(out, func(a, b core.TrendEvent) int { return a.At.Compare(b.At) })
	if len(out) > maxEvents {
		out = out[len(out)-maxEvents:]
	}
	return out, nil
}

// maxRepos bounds the list of repos: their names come from outside.
const maxRepos = 200

// TrendRepos lists the repos in which anything was ever counted, by name.
func (d *DB) TrendRepos(ctx context.Context) ([]string, error) {
	var out []string
	// A skip scan: one look into the index per repo, however many days it has.
	err := d.x.SelectContext(ctx, &out, `
		WITH RECURSIVE r AS (
			(SELECT repo FROM trend_days ORDER BY repo LIMIT 1)
			UNION ALL
			SELECT (SELECT t.repo FROM trend_days t WHERE t.repo > r.repo ORDER BY t.repo LIMIT 1) FROM r WHERE r.repo IS NOT NULL)
		SELECT repo FROM r WHERE repo IS NOT NULL LIMIT $1`, maxRepos)
	return out, wrap(err, "TrendRepos")
}
