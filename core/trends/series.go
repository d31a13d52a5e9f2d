package trends

import (
	"slices"
	"strings"
	"time"

	"storozh/core"
)

// Days adds quarters of an hour (At: an instant) up to the calendar days of a zone (At: see core.Day), by repo and day.
func Days(quarters []core.TrendRow, zone *time.Location) []core.TrendRow {
	return collect(quarters, func(t time.Time) time.Time { return core.Day(t, zone) })
}

// Series adds days up to buckets (At: the bucket's first day), by repo and bucket. Buckets without anything are absent.
func Series(days []core.TrendRow, by By) []core.TrendRow {
	return collect(days, func(t time.Time) time.Time { return Start(t, by) })
}

func collect(rows []core.TrendRow, at func(time.Time) time.Time) []core.TrendRow {
	type key struct {
		repo string
		at   time.Time
	}
	sums := map[key]core.TrendCounts{}
	for _, r := range rows {
		k := key{r.Repo, at(r.At)}
		sums[k] = sums[k].Add(r.TrendCounts)
	}
	out := make([]core.TrendRow, 0, len(sums))
	for k, s := range sums {
		if s != (core.TrendCounts{}) {
			out = append(out, core.TrendRow{Repo: k.repo, At: k.at, TrendCounts: s})
		}
	}
	slices.SortFunc(out, func(a, b core.TrendRow) int {
		if n := strings.Compare(a.Repo, b.Repo); n != 0 {
			return n
		}
		return a.At.Compare(b.At)
	})
	return out
}

// Line gives one row for every bucket of the span, empty ones too: the rows of one repo, or of all together if repo is empty.
func Line(days []core.TrendRow, s Span, repo string) []core.TrendRow {
	sums := map[time.Time]core.TrendCounts{}
	for _, d := range days {
		if repo == "" || d.Repo == repo {
			b := Start(d.At, s.By)
			sums[b] = sums[b].Add(d.TrendCounts)
		}
	}
	var out []core.TrendRow
	for _, b := range s.Buckets() {
		out = append(out, core.TrendRow{Repo: repo, At: b, TrendCounts: sums[b]})
	}
	return out
}

// Total adds rows up.
func Total(rows []core.TrendRow) core.TrendCounts {
	var sum core.TrendCounts
	for _, r := range rows {
		sum = sum.Add(r.TrendCounts)
	}
	return sum
}

// ByRepo adds rows up per repo, the repo with the most units first.
func ByRepo(rows []core.TrendRow) []core.TrendRow {
	out := collect(rows, func(time.Time) time.Time { return time.Time{} })
	slices.SortStableFunc(out, func(a, b core.TrendRow) int { return b.Units - a.Units })
	return out
}

// Mark is all that changed within one bucket.
type Mark struct {
	At     time.Time // the bucket's first day
	Events []core.TrendEvent
	Breaks bool // judge model, prompt or embedding model: rates before and after are not of one kind
}

// Marks puts events into the buckets of a span, oldest first.
func Marks(events []core.TrendEvent, s Span, zone *time.Location) []Mark {
	var out []Mark
	for _, e := range events {
		d := core.Day(e.At, zone)
		if d.Before(s.From) || d.After(s.To) {
			continue
		}
		b := Start(d, s.By)
		i := slices.IndexFunc(out, func(m Mark) bool { return m.At.Equal(b) })
		if i < 0 {
			out, i = append(out, Mark{At: b}), len(out)
		}
		out[i].Events = append(out[i].Events, e)
		out[i].Breaks = out[i].Breaks || Breaks(e.Kind)
	}
	slices.SortStableFunc(out, func(a, b Mark) int { return a.At.Compare(b.At) })
	return out
}

// Breaks tells whether a change of this kind makes rates before and after incomparable.
func Breaks(kind string) bool {
	return kind == "judge-model" || kind == "prompt" || kind == "embed-model"
}
