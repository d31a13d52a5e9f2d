package views

import (
	"net/url"
	"slices"
	"strconv"

	"storozh/core"
	"storozh/core/trends"
)

// MissedTyped is what a reader typed into the page about a missed clash. All of it is untrusted.
type MissedTyped struct {
	Manifest                   int64
	Unit, Q, Item, Label, Note string
}

// fields are what a sign-in form carries along, as names and values.
func (t MissedTyped) fields() [][2]string {
	return [][2]string{{"form", "missed"}, {"manifest", idText(t.Manifest)}, {"unit", t.Unit}, {"q", t.Q}, {"item", t.Item}, {"label", t.Label}}
}

// MissedInput is what [NewMissed] needs.
type MissedInput struct {
	Record core.Record
	Unit   core.UnitResult
	Named  []core.Missed // of this unit's content, of both cosigners
	Items  []core.Item   // of the corpus, that share words with the search or with the unit
	Typed  MissedTyped
	Why    string // why what was handed in was not kept; empty: nothing was
}

// MissedModel is the page on which an item is named that a unit clashes with.
type MissedModel struct {
	Page
	Typed MissedTyped
	Why   string
	Post  string // path that takes the form
	Back  string // the unit on its manifest's page
	Where string // the unit's id
	Text  Excerpt
	Marks []MissedMark
	Items []Candidate
}

// Candidate is one item that may be meant.
type Candidate struct {
	ID, URL string
	Badge   Badge // what the run made of it; no Kind: it was not brought
	Text    string
}

// MissedMark is one clash that a cosigner names, as it stands on a unit.
type MissedMark struct {
	core.Missed
	URL string
	How string // what the run had made of it
	Own bool   // the reader's own word
}

// labels are the two that can be named, each with what it means.
func (m MissedModel) labels() []Badge { return []Badge{labelBadge(core.Contra), labelBadge(core.Dup)} }

// listed tells whether the item that was typed is one of the list.
func (m MissedModel) listed() bool {
	return slices.ContainsFunc(m.Items, func(c Candidate) bool { return c.ID == m.Typed.Item })
}

// pasted is the item as it was typed, unless the list has it.
func (m MissedModel) pasted() string {
	if m.listed() {
		return ""
	}
	return m.Typed.Item
}

// NewMissed builds the page.
func NewMissed(p Page, in MissedInput) MissedModel {
	base := manifestURL(in.Record.ID)
	id := in.Unit.Unit.ID
	p.Title = "A missed clash"
	m := MissedModel{
		Page: p, Typed: in.Typed, Why: in.Why, Post: base + "/missed", Back: base + "?unit=" + url.QueryEscape(id), Where: id,
		Text:  excerpt(in.Unit.Unit.Text, textLimit, wholeURL(base, id, "unit", "")),
		Marks: missedMarks(p, in.Named),
	}
	brought := map[string]core.Pair{}
	for _, pair := range in.Unit.Pairs {
		brought[pair.Item] = pair
	}
	for _, it := range in.Items {
		c := Candidate{ID: it.ID, URL: ItemURL(it.ID), Text: it.Text}
		if pair, ok := brought[it.ID]; ok {
			c.Badge = labelBadge(pair.Label)
		}
		m.Items = append(m.Items, c)
	}
	return m
}

func missedMarks(p Page, all []core.Missed) []MissedMark {
	var out []MissedMark
	for _, m := range all {
		out = append(out, MissedMark{Missed: m, URL: ItemURL(m.Item), How: missedHow(m), Own: m.By == p.Signed})
	}
	return out
}

// missedHow says where the clash was lost.
func missedHow(m core.Missed) string {
	switch {
	case m.Rank == 0:
		return "the retrieval did not bring it"
	case m.Said == "":
		return "it was brought and not judged"
	}
	return "it was brought and judged " + string(m.Said)
}

// missed adds to a unit what cosigners name of it, and the way to name more.
func (v *UnitView) missed(p Page, base string, in ReviewInput, u core.UnitResult) {
	if !in.CanName || u.Unit.Normative == "" {
		return
	}
	v.Name = base + "/missed" + v.URL[len(base):]
	all := in.Missed[u.Unit.ID]
	if len(all) == 0 {
		return
	}
	v.Badges = append(v.Badges, Badge{Kind: "info", Word: strconv.Itoa(len(all)) + " missed", Hint: "clashes that a cosigner names; no label"})
	v.Missed, v.MissedMore = missedMarks(p, all[:min(len(all), missedShown)]), max(0, len(all)-missedShown)
}

// missedShown is how many marks stand on a unit; its page has all.
const missedShown = 10

// missedMarkup is what the markup of one mark costs, besides its texts.
const missedMarkup = 260

func (v UnitView) missedCost() int {
	n := len(v.Name)
	for _, m := range v.Missed {
		n += missedMarkup + len(m.URL) + 2*min(len(m.Item), nameLimit) + 3*min(len(m.Note), noteLimit)
	}
	return n
}

// noteLimit bounds a note on a unit, in bytes.
const noteLimit = 600

// InUseFigures is the recall in use as the evaluation page shows it.
type InUseFigures struct {
	core.InUse
	Rate core.Rate
}

// NewInUse turns the counts into a share with its interval.
func NewInUse(u core.InUse) *InUseFigures { return &InUseFigures{u, InUseRate(u)} }

// InUseRate is the share of the known clashes that were found, with Wilson's interval.
func InUseRate(u core.InUse) core.Rate {
	r := core.Rate{N: u.Found, Of: u.Known()}
	r.Low, r.High = trends.Wilson(r.N, r.Of)
	if r.Of > 0 {
		r.Value = float64(r.N) / float64(r.Of)
	}
	return r
}
