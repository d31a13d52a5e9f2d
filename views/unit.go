package views

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"storozh/core"
)

// Limits of one unit on the page, in bytes, and of all unit bodies together, which keeps the page below 1 MB.
const (
	bodyBudget  = 680_000
	textLimit   = 4_000
	itemLimit   = 2_500
	quietLimit  = 1_200 // both, for a unit without a flag
	diffLimit   = 8_000
	lineLimit   = 160
	nameLimit   = 200
	unitMarkup  = 1_900 // what the markup of a unit and of a pair costs besides its texts
	pairMarkup  = 1_000
	diffLineTag = 30
)

// UnitView is one unit with everything a cosigner looks at.
type UnitView struct {
	ID       string
	DOM      string // id of its element: the permalink is #DOM
	URL      string // the page that shows this unit alone
	Repo     string // where it landed, as the manifest says
	Where    string // its id without the repo
	Title    string
	Kind     core.UnitType
	Action   core.Action
	OldPath  string
	Badges   []Badge
	Hidden   bool // some of its texts hold invisible or reordering characters
	Quiet    bool // nothing to decide and nothing unjudged: folded
	Open     bool // shown alone: nothing is folded
	Brief    bool // one line only, the page is full
	Routing  core.Routing
	Expected string
	Cross    bool
	Reason   string
	Judged   bool // Reason is a judge's note, not the reason why there is none
	Text     Excerpt
	Pairs    []PairView
	Diff     []DiffLine
	DiffLeft string // what was left out of the diff, in words; empty: nothing
	DiffURL  string // the whole diff
}

// PairView is one neighbour beside the unit.
type PairView struct {
	Item       string
	Title      string
	Badge      Badge
	Similarity float64
	Note       string
	Cached     bool
	Text       Excerpt
	Fold       bool // an ok neighbour: folded
}

// newUnit builds the view of a unit; base is the path of the manifest's page, reason as [Reason] gives it.
func newUnit(base string, u core.UnitResult, reason string) UnitView {
	v := UnitView{
		ID: u.Unit.ID, DOM: domID(u.Unit.ID), URL: base + "?unit=" + url.QueryEscape(u.Unit.ID),
		Repo: u.Unit.Observed, Where: strings.TrimPrefix(u.Unit.ID, u.Unit.Repo+"/"), Title: u.Unit.Title,
		Kind: u.Unit.Type, Action: u.Unit.Action, OldPath: u.Unit.OldPath, Badges: unitBadges(u),
		Quiet: urgency(u) == 3, Routing: u.Flag.Routing, Expected: u.Flag.ExpectedRepo,
		Cross: u.Flag.Severity == core.CrossLane, Reason: reason, Judged: u.Flag.Semantic != "",
	}
	text, item := textLimit, itemLimit
	if v.Quiet {
		text, item = quietLimit, quietLimit
	}
	v.Text = excerpt(u.Unit.Text, text, wholeURL(base, u.Unit.ID, "unit", ""))
	v.Hidden = Hidden(u.Unit.ID) || Hidden(u.Unit.Text) || Hidden(u.Unit.Diff)
	for _, p := range u.Pairs {
		pv := newPair(p, item, wholeURL(base, u.Unit.ID, "item", p.Item))
		v.Hidden = v.Hidden || Hidden(p.ItemText)
		v.Pairs = append(v.Pairs, pv)
	}
	v.diff(u.Unit.Diff, wholeURL(base, u.Unit.ID, "diff", ""))
	return v
}

func newPair(p core.Pair, limit int, whole string) PairView {
	v := PairView{
		Item: p.Item, Title: p.ItemTitle, Badge: labelBadge(p.Label), Similarity: p.Similarity, Note: p.Note, Cached: p.Cached,
		Fold: p.Label == core.OK,
	}
	if v.Fold {
		limit = min(limit, quietLimit)
	}
	v.Text = excerpt(p.ItemText, limit, whole)
	if p.Label == "" && p.Unjudged != "" {
		v.Badge.Word = "unjudged: " + Plain(short(p.Unjudged, 120))
	}
	return v
}

// diff cuts the evidence to what a page can carry.
func (v *UnitView) diff(diff, whole string) {
	if diff == "" {
		return
	}
	head, left := cut(diff, diffLimit)
	lines, more := diffLines(head, lineLimit)
	v.Diff = lines
	if more > 0 || left > 0 {
		v.DiffLeft, v.DiffURL = "the beginning of "+bytesWord(len(diff)), whole
	}
}

// compact is the same unit as one line that links to the page with this unit alone.
func (v UnitView) compact() UnitView {
	v.Brief, v.Text, v.Pairs, v.Diff, v.Reason = true, Excerpt{}, nil, nil, ""
	return v
}

// cost estimates the bytes of HTML that the unit's body takes.
func (v UnitView) cost() int {
	n := unitMarkup + v.Text.cost() + 2*len(v.ID) + len(v.Text.Whole)
	for _, p := range v.Pairs {
		n += pairMarkup + p.Text.cost() + len(p.Note) + 2*len(p.Item) + len(p.Text.Whole)
	}
	for _, l := range v.Diff {
		n += diffLineTag + Excerpt{Text: l.Text}.cost()
	}
	return n
}

// similarity is the number beside the meter.
func (p PairView) similarity() string { return strconv.FormatFloat(p.Similarity, 'f', 3, 64) }

// meter is the same clamped to what a meter can show.
func (p PairView) meter() string {
	return strconv.FormatFloat(min(max(p.Similarity, 0), 1), 'f', 3, 64)
}

// domID is the id of a unit's element. Unit ids hold any character, so it is a hash; it stays the same from run to run.
func domID(unit string) string {
	sum := sha256.Sum256([]byte(unit))
	return "unit-" + hex.EncodeToString(sum[:6])
}

// wholeURL is the path of a whole text as text/plain.
func wholeURL(base, unit, part, item string) string {
	q := url.Values{"unit": {unit}, "part": {part}}
	if item != "" {
		q.Set("item", item)
	}
	return base + "/text?" + q.Encode()
}

// routeNote says why a unit that is not misrouted lies well where it is.
func routeNote(u UnitView) string {
	if u.Action == core.Removed {
		return ": a removal is never a misroute"
	}
	return ", where the policy wants a " + string(u.Kind)
}

// misrouteNote says what the policy wants of a misrouted unit, and how urgent it is.
func misrouteNote(u UnitView) string {
	if u.Cross {
		return ": that is where the policy sends a " + string(u.Kind) + ", and it is in the other lane"
	}
	return ": that is where the policy sends a " + string(u.Kind)
}
