package trends

import (
	"fmt"
	"time"

	"storozh/core"
)

// By is the width of a bucket.
type By string

// The widths.
const (
	Day   By = "day"
	Week  By = "week" // ISO: from Monday
	Month By = "month"
)

// Widths lists the widths, narrowest first.
func Widths() []By { return []By{Day, Week, Month} }

// Limits of one chart.
const (
	MaxBuckets  = 160    // by day or week; a longer stretch is shown by the next width
	MaxMonths   = 240    // by month; of a longer stretch the end is shown
	defaultSpan = 12 * 7 // days, when no begin is asked for
	minYear     = 1970   // as for the times that are counted
	maxYear     = 2200   //
	dateForm    = "2006-01-02"
	wantDate    = "a date such as 2026-05-21"
	wantBy      = "day, week or month"
)

// Span is a stretch of calendar days with the width it is shown in.
type Span struct {
	From, To time.Time // calendar days, both included; To is not before From
	By       By
	Notes    []string // what was shown in another way than asked, for people
}

// NewSpan reads what a person asked for; empty texts get defaults: the last twelve weeks up to today, by day up to seven weeks and by week
// above. A stretch with too many buckets is shown by a wider one, and said so. core.ErrInvalid: a date or width that cannot be read, or
// dates the wrong way round.
func NewSpan(from, to, by string, today time.Time) (Span, error) {
	s := Span{To: today, By: By(by)}
	var err error
	if to != "" {
		if s.To, err = date("to", to); err != nil {
			return s, err
		}
	}
	s.From = s.To.AddDate(0, 0, 1-defaultSpan)
	if from != "" {
		if s.From, err = date("from", from); err != nil {
			return s, err
		}
	}
	if s.From.After(s.To) {
		return s, fmt.Errorf("%w: from (%s) lies after to (%s): exchange them", core.ErrInvalid, s.From.Format(dateForm), s.To.Format(dateForm))
	}
	switch s.By {
	case Day, Week, Month:
	case "":
		s.By = Week
		if s.To.Sub(s.From) < 7*7*24*time.Hour {
			s.By = Day
		}
	default:
		return s, fmt.Errorf("%w: by must be %s, not %q", core.ErrInvalid, wantBy, by)
	}
	s.widen(by != "")
	return s, nil
}

func date(name, text string) (time.Time, error) {
	t, err := time.Parse(dateForm, text)
	if err != nil || t.Year() < minYear || t.Year() > maxYear {
		return t, fmt.Errorf("%w: %s must be %s from %d to %d, not %q", core.ErrInvalid, name, wantDate, minYear, maxYear, text)
	}
	return t, nil
}

// widen keeps the number of buckets within what a chart can show.
func (s *Span) widen(say bool) {
	asked := s.By
	for s.By != Month && s.count(s.By, MaxBuckets) > MaxBuckets {
		s.By = map[By]By{Day: Week, Week: Month}[s.By]
	}
	if s.By != asked && say {
		s.Notes = append(s.Notes, fmt.Sprintf("By %s this stretch has more than %d buckets, so it is shown by %s.", asked, MaxBuckets, s.By))
	}
	if s.By == Month && s.count(Month, MaxMonths) > MaxMonths {
		first := Start(s.To, Month).AddDate(0, 1-MaxMonths, 0)
		s.Notes = append(s.Notes, fmt.Sprintf("The stretch is longer than %d months; only its end is shown, from %s.", MaxMonths, first.Format(dateForm)))
		s.From = first
	}
}

// count counts the buckets of a width up to one more than limit.
func (s *Span) count(by By, limit int) int {
	n := 0
	for b := Start(s.From, by); !b.After(s.To) && n <= limit; b = Next(b, by) {
		n++
	}
	return n
}

// Buckets lists the first days of all buckets of the span.
func (s Span) Buckets() []time.Time {
	var out []time.Time
	for b := Start(s.From, s.By); !b.After(s.To); b = Next(b, s.By) {
		out = append(out, b)
	}
	return out
}

// Bounds are the calendar days of a bucket that lie in the span, both included.
func (s Span) Bounds(bucket time.Time) (first, last time.Time) {
	first, last = bucket, Next(bucket, s.By).AddDate(0, 0, -1)
	if first.Before(s.From) {
		first = s.From
	}
	if last.After(s.To) {
		last = s.To
	}
	return first, last
}

// Start is the first day of the bucket that a calendar day lies in.
func Start(day time.Time, by By) time.Time {
	switch by {
	case Week:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case Month:
		return day.AddDate(0, 0, 1-day.Day())
	default:
		return day
	}
}

// Next is the first day of the following bucket.
func Next(start time.Time, by By) time.Time {
	switch by {
	case Week:
		return start.AddDate(0, 0, 7)
	case Month:
		return start.AddDate(0, 1, 0)
	default:
		return start.AddDate(0, 0, 1)
	}
}
