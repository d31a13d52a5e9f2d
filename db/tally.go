package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"storozh/core"
)

// tallyColumns are the sums that trend_quarters and trend_days hold, in the order of a tally.
var tallyColumns = []string{
	"units", "misroute", "contra", "dup", "ok", "unjudged", "raised", "resolved", "agreed",
	"owner_land", "owner_fix", "owner_accept", "owner_drop", "claude_land", "claude_fix", "claude_accept", "claude_drop",
	"confirmed_misroute", "confirmed_contra", "confirmed_dup", "refuted_misroute", "refuted_contra", "refuted_dup",
	"waited_hour", "waited_4hours", "waited_day", "waited_3days", "waited_week", "waited_month", "waited_longer",
}

// Where the parts of a tally begin.
const (
	atRaised    = 6
	atResolved  = 7
	atAgreed    = 8
	atOwner     = 9
	atClaude    = 13
	atConfirmed = 17
	atRefuted   = 20
	atWaited    = 23
	tallySize   = 30
)

// tally is one row of sums, or a change of them.
type tally [tallySize]int

var tallyLabels = []string{"misroute", "contra", "dup"}

func (t tally) counts() core.TrendCounts {
	return core.TrendCounts{
		Units: t[0], Misroute: t[1], Contra: t[2], Dup: t[3], OK: t[4], Unjudged: t[5], Raised: t[atRaised], Resolved: t[atResolved],
	}
}

func (t tally) reviews() core.ReviewCounts {
	r := core.ReviewCounts{Agreed: t[atAgreed], Confirmed: map[string]int{}, Refuted: map[string]int{}}
	copy(r.By[0][:], t[atOwner:atClaude])
	copy(r.By[1][:], t[atClaude:atConfirmed])
	for i, l := range tallyLabels {
		r.Confirmed[l], r.Refuted[l] = t[atConfirmed+i], t[atRefuted+i]
	}
	copy(r.Waited[:], t[atWaited:])
	return r
}

// place is where a change of the sums belongs.
type place struct {
	repo   string
	bucket time.Time // begin of a quarter of an hour, UTC
}

// changes collects what one transaction does to the sums.
type changes map[place]tally

func (c changes) add(repo string, bucket time.Time, sign int, columns ...int) {
	p := place{repo, bucket.UTC()}
	t := c[p]
	for _, i := range columns {
		t[i] += sign
	}
	c[p] = t
}

// quarter is the quarter of an hour around an instant. Times no calendar page can show count as read at fallback.
func quarter(t, fallback time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1970 || t.Year() > 2200 {
		t = fallback.UTC()
	}
	return t.Truncate(15 * time.Minute)
}

// clip bounds a repo's name: it comes from outside and stands in indexes.
func clip(repo string) string {
	if len(repo) > 200 {
		repo = strings.ToValidUTF8(repo[:200], "")
	}
	return text(repo)
}

// apply adds the changes to the quarters and to the days of the zone they are kept in, in a fixed order, so that two transactions wait for
// each other and never block each other.
func (c changes) apply(ctx context.Context, tx *sqlx.Tx) error {
	zone, err := keptZone(ctx, tx)
	if err != nil {
		return err
	}
	days := changes{}
	for p, t := range c {
		if t == (tally{}) {
			delete(c, p)
			continue
		}
		d := place{p.repo, core.Day(p.bucket, zone)}
		sum := days[d]
		for i, n := range t {
			sum[i] += n
		}
		days[d] = sum
	}
	if err := c.upsert(ctx, tx, "trend_quarters", "bucket"); err != nil {
		return err
	}
	return days.upsert(ctx, tx, "trend_days", "day")
}

func (c changes) upsert(ctx context.Context, tx *sqlx.Tx, table, key string) error {
	places := make([]place, 0, len(c))
	for p, t := range c {
		if t != (tally{}) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if n := strings.Compare(a.repo, b.repo); n != 0 {
			return n
		}
		return a.bucket.Compare(b.bucket)
	})
	query := upsertTally(table, key)
	for _, p := range places {
		args := []any{p.repo, p.bucket}
		for _, n := range c[p] {
			args = append(args, n)
		}
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

func upsertTally(table, key string) string {
	values, sets := []string{"$1", "$2"}, []string{}
	for i, col := range tallyColumns {
		values = append(values, fmt.Sprintf("$%d", i+3))
		sets = append(sets, fmt.Sprintf("%s = %s.%s + excluded.%s", col, table, col, col))
	}
	return fmt.Sprintf("INSERT INTO %s (repo, %s, %s) VALUES (%s) ON CONFLICT (repo, %s) DO UPDATE SET %s",
		table, key, strings.Join(tallyColumns, ", "), strings.Join(values, ", "), key, strings.Join(sets, ", "))
}
