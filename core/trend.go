package core

import "time"

// ErrDropped means that a manifest's bytes are no longer kept; everything that was found about it is.
var ErrDropped = dropped{}

type dropped struct{}

func (dropped) Error() string {
	return "not found: the manifest's bytes were dropped by STOROZH_KEEP_RAW; units, flags and decisions are kept"
}
func (dropped) Unwrap() error { return ErrNotFound }

// TrendCounts counts units by flag as the block's summary does (C4), each (session, unit, content) once, and flags that came and went.
type TrendCounts struct {
	Units, Misroute, Contra, Dup, OK, Unjudged int
	Raised, Resolved                           int
}

// Add gives the sum of both.
func (t TrendCounts) Add(o TrendCounts) TrendCounts {
	return TrendCounts{
		t.Units + o.Units, t.Misroute + o.Misroute, t.Contra + o.Contra, t.Dup + o.Dup, t.OK + o.OK, t.Unjudged + o.Unjudged,
		t.Raised + o.Raised, t.Resolved + o.Resolved,
	}
}

// TrendRow is what was counted in one repo in one stretch of time.
type TrendRow struct {
	Repo string    // canonical name
	At   time.Time // begin of a quarter of an hour, or a calendar day as midnight UTC (see Day)
	TrendCounts
}

// ReviewCounts sums up what both cosigners decided. Flags that only one has decided are in none of it, so that it gives nothing away.
type ReviewCounts struct {
	Agreed    int            // flags on which both decided the same
	By        [2][4]int      // flags by what the owner (0) and claude (1) chose, in the order of Choices
	Confirmed map[string]int // decisions, two per flag, that say the flag was right (fix, drop-as-dup), by label
	Refuted   map[string]int // decisions that say it was not (land, accept), by label
	Waited    [7]int         // flags by the time until both had decided, in the classes of WaitClasses
}

// WaitClasses are the upper ends of the classes of ReviewCounts.Waited but the last, which has none.
func WaitClasses() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{time.Hour, 4 * time.Hour, day, 3 * day, 7 * day, 30 * day}
}

// TrendEvent is a change of what runs were judged with.
type TrendEvent struct {
	At     time.Time // the first manifest's own time under the new value, UTC
	Kind   string    // judge-model, prompt, embed-model, policy or corpus
	Before string
	After  string
}

// TrendQuery selects a stretch of calendar days.
type TrendQuery struct {
	Repo     string    // canonical name; empty: all
	From, To time.Time // calendar days (see Day), both included
	Zone     *time.Location
	By       string // "week" or "month": rows may come summed up by these, At being the bucket's first day; else by day
}

// TrendData is what was counted in a stretch of days.
type TrendData struct {
	Days    []TrendRow // by repo and day, or wider (TrendQuery.By); those without anything are absent
	Reviews ReviewCounts
	Events  []TrendEvent // oldest first; at most 500, the latest
}

// Day is the calendar day of an instant in a zone, as midnight UTC, so that days can be added and compared without a zone.
func Day(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// DayStart is the instant at which a calendar day begins in a zone. Where a change of the clocks skips midnight it is the first instant
// of the day.
func DayStart(day time.Time, zone *time.Location) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	for Day(t, zone).Before(day) { // midnight does not exist, and Go took the offset of before
		t = t.Add(15 * time.Minute)
	}
	return t
}

// FoundQuery selects units for the search, newest first. Empty fields do not narrow.
type FoundQuery struct {
	Text     string // words that all must begin a word of the unit
	Repo     string
	Label    string // misroute, contra, dup, unjudged, ok or flagged
	Type     UnitType
	Decision Choice     // what Reader decided on one of its flags
	State    FoundState // for Reader
	Reader   Cosigner
	From, To time.Time // instants; From included, To not; zero: open
	Went     FoundWent // From and To are about when a flag of the unit came or went, not about the manifest's own time
	After    string    // where the last page ended; empty: from the newest
	Limit    int       // 1 … 200; 0: 50
}

// FoundState says where the review of a unit's flags stands, for one cosigner.
type FoundState string

// The states. A unit without a flag has none.
const (
	FoundOpen     FoundState = "open"     // the reader has still to decide
	FoundDecided  FoundState = "decided"  // the reader has decided everything
	FoundDisagree FoundState = "disagree" // both have decided, and not the same
)

// FoundWent says what happened to a flag between FoundQuery's From and To.
type FoundWent string

// What can happen to a flag.
const (
	FoundRaised   FoundWent = "raised"   // it was first shown
	FoundResolved FoundWent = "resolved" // both decided fix or drop, or the session's latest manifest lacks it
)

// Found is one unit as the search shows it.
type Found struct {
	ManifestID int64
	UnitID     string
	Title      string
	Repo       string
	Type       UnitType
	At         time.Time // the manifest's own time, UTC
	Routing    Routing
	Semantic   Label
	Unjudged   bool
	Demo       bool
	Note       string   // the judge's
	Choices    []Choice // the reader's own, where they hold
}

// ItemTally is a corpus item with how often it was met.
type ItemTally struct {
	Item
	Met, Contra, Dup int // counted units that it was among the nearest of, and those with that label
	Gone             bool
}

// ItemQuery selects corpus items.
type ItemQuery struct {
	Kind  Kind   // empty: all
	Text  string // a part of id, title or text, in any letter case
	Never bool   // only those that no counted unit was ever compared with
	After string // id after which the page begins
	Limit int    // 1 … 200; 0: 50
}

// CorpusView is what the corpus page shows of the corpus.
type CorpusView struct {
	CorpusState
	ReadAt time.Time // zero: never
	Kinds  map[Kind]int
	Never  int         // items that no counted unit was ever compared with
	Most   []ItemTally // most often contradicted first
}
