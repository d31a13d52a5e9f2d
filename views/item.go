package views

import (
	"net/url"
	"strconv"
	"strings"

	"storozh/core"
)

// itemTextLimit bounds the text of an item on its own page, in bytes.
const itemTextLimit = 100_000

// ItemInput is what [NewItem] needs.
type ItemInput struct {
	ID       string // untrusted
	Item     *core.Item
	Commit   string             // at which the item was read
	Judged   string             // its text as last judged, for an item that is gone
	Meetings []core.ItemMeeting // latest run first
	All      bool               // there are no more meetings than these
}

// ItemPageModel is the page of one item: what it says, where it stands, and every unit that ever ran against it.
type ItemPageModel struct {
	Page
	ID       string
	Gone     bool // no longer in the corpus
	Facts    []Fact
	Text     Excerpt
	Counts   []Badge // how often it was which label
	Meetings []MeetingView
	All      bool
}

// MeetingView is one unit that was compared with the item.
type MeetingView struct {
	core.ItemMeeting
	Badge Badge
	URL   string // the unit on its manifest's page
	Pair  PairView
}

// NewItem builds the page of an item. With All unset the list of meetings is cut.
func NewItem(p Page, in ItemInput) ItemPageModel {
	m := ItemPageModel{Page: p, ID: in.ID, Gone: in.Item == nil, All: in.All}
	m.Title = in.ID
	body := in.Judged
	if i := in.Item; i != nil {
		body = i.Text
		m.Facts = itemFacts(*i, in.Commit)
	}
	head, left := cut(body, itemTextLimit)
	m.Text = Excerpt{Text: head, Left: left, Markdown: markdownLevel(proseItem(in.ID), itemHeading)}
	seen := map[core.Label]int{}
	for _, meeting := range in.Meetings {
		m.Meetings = append(m.Meetings, newMeeting(meeting))
		seen[meeting.Label]++
	}
	for _, l := range []core.Label{core.Contra, core.Dup, core.OK, ""} {
		if n := seen[l]; n > 0 {
			b := labelBadge(l)
			b.Word = strconv.Itoa(n) + " " + b.Word
			m.Counts = append(m.Counts, b)
		}
	}
	return m
}

func newMeeting(m core.ItemMeeting) MeetingView {
	return MeetingView{
		ItemMeeting: m, Badge: labelBadge(m.Label), Pair: PairView{Similarity: m.Similarity},
		URL: manifestURL(m.ManifestID) + "?unit=" + url.QueryEscape(m.UnitID),
	}
}

func itemFacts(i core.Item, commit string) []Fact {
	lines := strconv.Itoa(i.StartLine)
	if i.EndLine > i.StartLine {
		lines += "–" + strconv.Itoa(i.EndLine)
	}
	out := []Fact{{Name: "Kind", Value: string(i.Kind)}, {Name: "File", Value: short(i.Path, nameLimit)}, {Name: "Lines", Value: lines},
		{Name: "Commit", Value: short(commit, 12)}}
	if i.Title != "" && !strings.HasPrefix(i.Text, i.Title) {
		out = append(out, Fact{Name: "Title", Value: short(i.Title, nameLimit)})
	}
	return out
}

// decisionLine is a cosigner's word in one line.
func decisionLine(d core.Decision) string {
	line := string(d.By) + ": " + ChoiceWord(d.Choice)
	if d.Rationale != "" {
		line += ", “" + short(d.Rationale, 300) + "”"
	}
	return line
}
