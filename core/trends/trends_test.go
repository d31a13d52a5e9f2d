package trends_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the machine that runs the tests may have no zones

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"storozh/core"
	"storozh/core/trends"
)

var zones = []string{
	"UTC", "Europe/Berlin", "Europe/Moscow", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo",
	"Pacific/Apia", "Pacific/Chatham", "Africa/Cairo",
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func day(s string) time.Time {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return d
}

// Whatever the zone and the width: nothing is lost and nothing counted twice.
func TestAnyBucketingKeepsTheTotal(t *testing.T) {
	t.Parallel()
	locations := make([]*time.Location, len(zones))
	for i, n := range zones {
		locations[i] = zone(t, n)
	}
	rapid.Check(t, func(t *rapid.T) {
		loc := rapid.SampledFrom(locations).Draw(t, "zone")
		by := rapid.SampledFrom(trends.Widths()).Draw(t, "by")
		base := time.Date(2010+rapid.IntRange(0, 19).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		var rows []core.TrendRow
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			at := base.Add(time.Duration(rapid.IntRange(0, 4*24*400).Draw(t, "quarter")) * 15 * time.Minute)
			c := core.TrendCounts{Units: rapid.IntRange(0, 9).Draw(t, "units"), Misroute: 1, Raised: 2}
			rows = append(rows, core.TrendRow{Repo: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "repo"), At: at, TrendCounts: c})
		}
		days := trends.Days(rows, loc)
		series := trends.Series(days, by)
		for name, got := range map[string][]core.TrendRow{"days": days, "series": series, "straight": trends.Series(trends.Days(rows, loc), by)} {
			if trends.Total(got) != trends.Total(rows) {
				t.Fatalf("%s: %+v of %+v", name, trends.Total(got), trends.Total(rows))
			}
		}
		for _, r := range series {
			if !trends.Start(r.At, by).Equal(r.At) {
				t.Fatalf("%s is no begin of a %s", r.At, by)
			}
		}
		if len(days) == 0 {
			return
		}
		span := trends.Span{From: days[0].At, To: days[0].At, By: by}
		for _, d := range days {
			if d.At.Before(span.From) {
				span.From = d.At
			}
			if d.At.After(span.To) {
				span.To = d.At
			}
		}
		line := trends.Line(days, span, "")
		if trends.Total(line) != trends.Total(rows) || len(line) != len(span.Buckets()) {
			t.Fatal("the line lost something")
		}
		covered := 0
		for _, b := range span.Buckets() {
			first, last := span.Bounds(b)
			covered += int(last.Sub(first)/(24*time.Hour)) + 1
		}
		if want := int(span.To.Sub(span.From)/(24*time.Hour)) + 1; covered != want {
			t.Fatalf("the bounds cover %d of %d days", covered, want)
		}
	})
}

// Days on which clocks change have 23 or 25 hours, half an hour more or less on Lord Howe Island, and some lack a midnight, or are missing
// altogether.
func TestDaysOfOtherLengths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		zone, day string
		quarters  int
	}{
		{"Europe/Berlin", "2026-03-29", 4 * 23},
		{"Europe/Berlin", "2026-10-25", 4 * 25},
		{"Europe/Berlin", "2026-07-01", 4 * 24},
		{"Australia/Lord_Howe", "2026-10-04", 4*24 - 2},
		{"Australia/Lord_Howe", "2026-04-05", 4*24 + 2},
		{"Asia/Kathmandu", "2026-03-29", 4 * 24},
		{"America/Sao_Paulo", "2018-11-04", 4 * 23}, // midnight does not exist
		{"America/Sao_Paulo", "2018-02-17", 4 * 25},
		{"Africa/Cairo", "2026-04-24", 4 * 23}, // nor here
		{"Pacific/Apia", "2011-12-30", 0},      // the day was left out
	}
	for _, tt := range tests {
		loc := zone(t, tt.zone)
		var rows []core.TrendRow
		begin := day(tt.day).AddDate(0, 0, -2)
		for q := range 4 * 24 * 5 {
			rows = append(rows, core.TrendRow{Repo: "a", At: begin.Add(time.Duration(q) * 15 * time.Minute), TrendCounts: core.TrendCounts{Units: 1}})
		}
		got := 0
		for _, d := range trends.Days(rows, loc) {
			if d.At.Equal(day(tt.day)) {
				got = d.Units
			}
		}
		if got != tt.quarters {
			t.Errorf("%s has %d quarters in %s, want %d", tt.day, got, tt.zone, tt.quarters)
		}
		// The instants between two beginnings are exactly the day.
		if span := core.DayStart(day(tt.day).AddDate(0, 0, 1), loc).Sub(core.DayStart(day(tt.day), loc)); span != time.Duration(tt.quarters)*15*time.Minute {
			t.Errorf("%s lasts %s in %s", tt.day, span, tt.zone)
		}
	}
}

// Every quarter of an hour is in the day whose beginning and end enclose it.
func TestDayStartAndDayAgree(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, name := range zones {
		loc := zone(t, name)
		for range 3000 {
			at := time.Unix(rnd.Int64N(60*365*24*4)*900, 0)
			d := core.Day(at, loc)
			if core.DayStart(d, loc).After(at) || !core.DayStart(d.AddDate(0, 0, 1), loc).After(at) {
				t.Fatalf("%s: %s is outside its day %s", name, at.UTC(), d)
			}
		}
	}
}

func TestNewSpan(t *testing.T) {
	t.Parallel()
	today := day("2026-05-21")
	tests := []struct {
		from, to, by string
		want         trends.Span
		notes, err   string
	}{
		{want: trends.Span{From: day("2026-02-27"), To: today, By: trends.Week}},
		{from: "2026-05-01", want: trends.Span{From: day("2026-05-01"), To: today, By: trends.Day}},
		{from: "2026-05-01", to: "2026-05-01", by: "month", want: trends.Span{From: day("2026-05-01"), To: day("2026-05-01"), By: trends.Month}},
		{from: "2025-05-21", by: "day", want: trends.Span{From: day("2025-05-21"), To: today, By: trends.Week}, notes: "shown by week"},
		{from: "2026-06-01", err: "exchange them"},
		{from: "2026-05-01", to: "2026-04-01", err: "exchange them"},
		{by: "fortnight", err: `by must be day, week or month, not "fortnight"`},
		{from: "May", err: `from must be a date such as 2026-05-21`},
		{to: "2026-02-30", err: "to must be a date"},
		{from: "0001-01-01", err: "from 1970 to 2200"},
		{from: "1990-01-01", to: "2090-01-01", by: "day", want: trends.Span{From: day("2070-02-01"), To: day("2090-01-01"), By: trends.Month}, notes: "only its end"},
	}
	for _, tt := range tests {
		got, err := trends.NewSpan(tt.from, tt.to, tt.by, today)
		if tt.err != "" {
			if !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%+v: error %v", tt, err)
			}
			continue
		}
		if notes := strings.Join(got.Notes, " "); err != nil || !strings.Contains(notes, tt.notes) || (tt.notes == "") != (notes == "") {
			t.Errorf("%+v: notes %q, error %v", tt, got.Notes, err)
		}
		got.Notes = nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
		if n := len(got.Buckets()); n > trends.MaxMonths {
			t.Errorf("%d buckets", n)
		}
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ day, week, month string }{
		{"2026-05-18", "2026-05-18", "2026-05-01"}, // a Monday
		{"2026-05-24", "2026-05-18", "2026-05-01"}, // a Sunday
		{"2027-01-01", "2026-12-28", "2027-01-01"}, // ISO week 53 of the year before
		{"2024-02-29", "2024-02-26", "2024-02-01"},
	} {
		if got := trends.Start(day(tt.day), trends.Week); !got.Equal(day(tt.week)) {
			t.Errorf("week of %s: %s", tt.day, got)
		}
		if got := trends.Start(day(tt.day), trends.Month); !got.Equal(day(tt.month)) {
			t.Errorf("month of %s: %s", tt.day, got)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	span := trends.Span{From: day("2026-05-01"), To: day("2026-05-31"), By: trends.Week}
	events := []core.TrendEvent{
		{At: day("2026-04-30").Add(21 * time.Hour), Kind: "prompt"},     // 23:00 of the day before the span
		{At: day("2026-04-30").Add(22 * time.Hour), Kind: "corpus"},     // midnight
		{At: day("2026-05-03").Add(20 * time.Hour), Kind: "policy"},     // Sunday of that week
		{At: day("2026-05-12").Add(8 * time.Hour), Kind: "judge-model"}, // breaks
	}
	want := []trends.Mark{{At: day("2026-04-27"), Events: events[1:3]}, {At: day("2026-05-11"), Events: events[3:], Breaks: true}}
	if diff := cmp.Diff(want, trends.Marks(events, span, berlin)); diff != "" {
		t.Error(diff)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	if _, ok := trends.Rate(3, trends.MinRate-1); ok {
		t.Error("a rate of few")
	}
	if r, ok := trends.Rate(5, trends.MinRate); !ok || r != .25 {
		t.Error(r, ok)
	}
}

// Values from the literature: Wilson's interval as Newcombe (1998) prints it; κ of Cohen's own kind of table.
func TestFigures(t *testing.T) {
	t.Parallel()
	near := func(a, b float64) bool { return math.Abs(a-b) < 5e-5 }
	for _, tt := range []struct {
		hits, n   int
		low, high float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}, {0, 0, 0, 1}, {20, 20, .8389, 1}} {
		if low, high := trends.Wilson(tt.hits, tt.n); !near(low, tt.low) || !near(high, tt.high) {
			t.Errorf("%d of %d: %.4f … %.4f", tt.hits, tt.n, low, high)
		}
	}
	// 50 flags: both land 20, both fix 15, owner land and claude fix 5, the other way round 10: κ = (0.7 − 0.5) ÷ 0.5.
	k, n, ok := trends.Kappa(core.ReviewCounts{Agreed: 35, By: [2][4]int{{25, 25}, {30, 20}}})
	if !ok || n != 50 || !near(k, .4) {
		t.Errorf("κ %.4f, n %d, %t", k, n, ok)
	}
	if _, n, ok := trends.Kappa(core.ReviewCounts{Agreed: 3, By: [2][4]int{{3}, {3}}}); ok || n != 3 {
		t.Error("κ where chance alone explains all")
	}
	if _, _, ok := trends.Kappa(core.ReviewCounts{}); ok {
		t.Error("κ of nothing")
	}
	if d, n, ok := trends.Within([7]int{1, 1, 2}); !ok || n != 4 || d != 4*time.Hour {
		t.Error(d, n, ok)
	}
	if d, n, ok := trends.Within([7]int{6: 2}); !ok || n != 2 || d != 0 {
		t.Error(d, n, ok)
	}
}
