package views

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"storozh/core"
)

// Limits of one unit on the page, in bytes, and of all unit bodies together, which keeps the page below 1 MB.
const (
	bodyBudget = 680_000
	textLimit  = 4_000
	itemLimit  = 2_500
	quietLimit = 1_200 // both, for a unit without a flag
	nameLimit  = 200
	namesLimit = 5     // ids of one kind listed on a unit
	unitMarkup = 2_100 // what the markup of a unit and of a pair costs besides its texts
	pairMarkup = 1_100
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
	Against  string // the neighbour that Text's marked words are compared with, or were too different from; empty: none
	Replaces Names  // passages of the old text that this unit edits or moves from
	Resolved Names  // items it clashed with, which the same changeset removes or rewrites
	Session  string // path of what the session said about the unit's file
	Diff     Diff
	Flags    []FlagView // what is to be decided about it
	Decided  bool       // the reader has decided all of them
	Signer   Page       // for the forms

	Name       string // page on which a missed clash is named; empty: there is no text that could have one
	Missed     []MissedMark
	MissedMore int // that are not listed
}

// PairView is one neighbour beside the unit.
type PairView struct {
	Item       string // without core.SiblingPrefix
	Sibling    bool   // another unit of the same manifest, not an item
	Title      string
	Badge      Badge
	Similarity float64
	Words      bool // found by shared words, beside the nearest
	Note       string
	Judge      string // model that answered; empty: none did
	Prompt     string // prompt version
	Cached     bool
	Resolved   bool   // the item goes with this manifest: a clash is shown, not flagged
	Unstable   bool   // the judge's answers differed
	Hint       string // what a reviewer should look at; never a label
	Text       Excerpt
	Fold       bool   // an ok neighbour: folded
	URL        string // the item's page
}

// newUnit builds the view of a unit; base is the path of the manifest's page, reason as [Reason] gives it.
func newUnit(base string, u core.UnitResult, reason string) UnitView {
	v := UnitView{
		ID: u.Unit.ID, DOM: domID(u.Unit.ID), URL: base + "?unit=" + url.QueryEscape(u.Unit.ID),
		Repo: u.Unit.Observed, Where: strings.TrimPrefix(u.Unit.ID, u.Unit.Repo+"/"), Title: u.Unit.Title,
		Kind: u.Unit.Type, Action: u.Unit.Action, OldPath: u.Unit.OldPath, Badges: unitBadges(u),
		Quiet: u.Urgency() == core.UrgentNot, Routing: u.Flag.Routing, Expected: u.Flag.ExpectedRepo,
		Cross: u.Flag.Severity == core.CrossLane, Reason: reason, Judged: u.Flag.Semantic != "",
	}
	text, item := textLimit, itemLimit
	if v.Quiet {
		text, item = quietLimit, quietLimit
	}
	v.Text = excerpt(u.Unit.Text, text, wholeIfLong(u.Unit.Text, base, u.Unit.ID, "unit", ""))
	v.Text.Markdown = markdownLevel(u.Unit.Type == core.Lesson && prose(u.Unit.Path), unitHeading)
	v.Session = base + "/transcript?unit=" + url.QueryEscape(u.Unit.ID)
	v.Replaces = newNames(slices.DeleteFunc(slices.Clone(u.Unit.Replaces), func(id string) bool { return id == u.Unit.ID })) // edited says that
	v.Hidden = Hidden(u.Unit.ID) || Hidden(u.Unit.Text) || Hidden(u.Unit.Diff)
	for _, p := range u.Pairs {
		pv := newPair(base, p, item, wholeIfLong(p.ItemText, base, u.Unit.ID, "item", p.Item))
		v.Hidden = v.Hidden || Hidden(p.ItemText)
		v.Pairs = append(v.Pairs, pv)
	}
	v.Diff = newDiff(u.Unit.Diff, wholeURL(base, u.Unit.ID, "diff", ""))
	return v
}

func newPair(base string, p core.Pair, limit int, whole string) PairView {
	v := PairView{
		Item: p.Item, Title: p.ItemTitle, Badge: labelBadge(p.Label), Similarity: p.Similarity, Note: p.Note, Cached: p.Cached,
		Judge: p.Judge, Prompt: p.Prompt, Fold: p.Label == core.OK, URL: ItemURL(p.Item),
		Resolved: p.Resolved, Unstable: p.Unstable, Words: p.Words, Hint: p.Hint,
	}
	if unit, ok := strings.CutPrefix(p.Item, core.SiblingPrefix); ok {
		v.Item, v.Sibling, v.URL = unit, true, base+"?unit="+url.QueryEscape(unit)
	}
	if v.Fold {
		limit = min(limit, quietLimit)
	}
	v.Text = excerpt(p.ItemText, limit, whole)
	v.Text.Markdown = markdownLevel(proseItem(p.Item), unitHeading)
	if p.Label == "" && p.Unjudged != "" {
		v.Badge.Word = "unjudged: " + Plain(short(p.Unjudged, 120))
	}
	return v
}

// near heads the neighbours: how many are items, and how many are other units of the manifest.
func (v UnitView) near() string {
	siblings := 0
	for _, p := range v.Pairs {
		if p.Sibling {
			siblings++
		}
	}
	switch items := len(v.Pairs) - siblings; {
	case siblings == 0:
		return fmt.Sprintf("Nearest in the corpus (%d)", items)
	case items == 0:
		return fmt.Sprintf("In the same changeset (%d)", siblings)
	default:
		return fmt.Sprintf("Nearest in the corpus (%d) and in the same changeset (%d)", items, siblings)
	}
}

// compact is the same unit as one line that links to the page with this unit alone.
func (v UnitView) compact() UnitView {
	v.Brief, v.Text, v.Pairs, v.Diff, v.Reason = true, Excerpt{}, nil, Diff{}, ""
	return v
}

// cost estimates the bytes of HTML that the unit's body takes.
func (v UnitView) cost() int {
	n := unitMarkup + v.Text.cost() + 3*len(v.ID) + len(v.Text.Whole) + v.Replaces.cost() + v.Diff.cost() + v.missedCost()
	for _, f := range v.Flags {
		n += f.cost()
	}
	for _, p := range v.Pairs {
		if p.compared() {
			n += markTag * (min(runLimit, len(p.Text.Text)/8) + min(runLimit, len(v.Text.Text)/8))
		}
		n += pairMarkup + p.Text.cost() + len(p.Note) + len(p.Hint) + 4*len(p.Item) + len(p.Text.Whole)
	}
	return n
}

// compared tells whether words are marked in this pair: it carries a flag.
func (p PairView) compared() bool {
	return p.Badge.Kind == string(core.Contra) || p.Badge.Kind == string(core.Dup)
}

// similarity is the number beside the meter.
func (p PairView) similarity() string { return strconv.FormatFloat(p.Similarity, 'f', 3, 64) }

// meter is the same clamped to what a meter can show.
func (p PairView) meter() string {
	return strconv.FormatFloat(min(max(p.Similarity, 0), 1), 'f', 3, 64)
}

// domID is the id of a unit's element.
func domID(unit string) string { return "unit-" + core.UnitMark(unit) }

// wholeIfLong is wholeURL for a text that may be cut, else empty: most are not, and writing two thousand addresses takes longer than
// writing the texts.
func wholeIfLong(text, base, unit, part, item string) string {
	if len(text) <= quietLimit {
		return ""
	}
	return wholeURL(base, unit, part, item)
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
