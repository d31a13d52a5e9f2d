package views

import (
	"strconv"

	"storozh/core"
)

// Review is the page of one manifest with its latest run.
type Review struct {
	Page
	Record   core.Record // with the run that is shown: the latest judged one
	Latest   core.Run    // the latest, whatever became of it
	Line     string      // the h1: BLUF or how far the run is
	Live     bool        // the latest run has not ended: the script follows it, a link reloads
	Over     bool        // an earlier result is shown while it has not, or since it came to nothing
	Flash    string      // what became of the reader's last press; empty: nothing
	Standing Standing
	Cosign   *Cosign // nil: markers are not looked at
	Find     string  // the search, as it is looked for
	Show     string  // the filter in use; empty: all
	Notices  []Notice
	Filters  []Filter
	One      bool // only one unit was asked for
	Units    []UnitView
	Compact  int    // units of this list that are one line each, because the page is full
	Stretch  string // which of the units are on this page; empty: all
	Before   string // the page of more urgent units; empty: this is the first
	After    string // the page of less urgent units; empty: this is the last
	At       string // path that the mark of a unit is put behind for the page that holds it; empty: all are here
	Facts    []Fact
	Earlier  []Entry
	JSON     string // path of the API's answer
	Download string // path of the manifest with its block
	Base     string // path of this page
}

// ReviewInput is what [NewReview] needs.
type ReviewInput struct {
	Record      core.Record
	Units       []core.UnitResult // those of this page, or the only one; none before the run is done
	Counts      map[string]int    // units under each of core.UnitFilters, of those that Find keeps
	From        int               // units before this page
	Judged      int               // pairs with a label, of the whole run
	Cached      int               // of these: from an earlier run
	AddCommands []string
	Superseded  []core.Record
	Show        string // filter, untrusted
	Unit        string // id of the only unit to show, untrusted; empty: all
	Find        string // words that a unit must hold, untrusted; empty: all
	Flags       []FlagInput
	Markers     []core.Marker
	Flash       string
	CanName     bool                     // missed clashes can be named
	Missed      map[string][]core.Missed // by unit: what cosigners name of it
	Diff        string                   // "split" or "unified", untrusted: asked for, so that diffs stand open; empty: unified and folded
}

// NewReview builds the review page.
func NewReview(p Page, in ReviewInput) Review {
	latest := in.Record.Run
	in.Record = shown(in.Record)
	r := in.Record
	id := strconv.FormatInt(r.ID, 10)
	m := Review{
		Page: p, Record: r, Latest: latest, Line: Line(r), Live: !latest.Status.Finished(), Over: latest.ID != r.Run.ID, Base: manifestURL(r.ID),
		Flash: in.Flash, Standing: newStanding(p, r, in), Cosign: newCosign(p.Signed, in.Markers), Find: searched(in.Find),
		JSON: "/api/manifests/" + id, Download: "/api/manifests/" + id + "/manifest",
	}
	m.Title = m.Line
	m.Demo = m.Demo || r.Run.Demo
	for _, old := range in.Superseded {
		m.Earlier = append(m.Earlier, entry(old))
	}
	m.Facts = facts(p, r, in)
	if b := r.Run.Block; b != nil {
		m.Notices = blockNotices(*b, in.AddCommands)
	}
	if n, ok := runNotice(latest, m.Over); ok {
		m.Notices = append([]Notice{n}, m.Notices...)
	}
	m.units(in)
	if m.One {
		m.Notices = nil // they are about the whole manifest, which is one link away
	}
	return m
}

// latest is the record with its latest run, judged or not.
func (m Review) latest() core.Record {
	r := m.Record
	r.Run = m.Latest
	return r
}

// units builds the unit views within the page's budget.
func (m *Review) units(in ReviewInput) {
	here := make(map[string]bool, len(in.Units))
	for _, u := range in.Units {
		here[u.Unit.ID] = true
	}
	panels := map[string][]FlagView{}
	open := map[string]bool{}
	for _, f := range in.Flags {
		if id := f.Flag.UnitID; here[id] {
			panels[id] = append(panels[id], newFlag(m.Page, m.Base, in.Show, in.Unit != "", f))
			open[id] = open[id] || f.Mine == nil
		}
	}
	m.Filters, m.Show, m.One = filters(m.Base, in), filterName(in.Show), in.Unit != "" && len(in.Units) == 1
	if in.Unit == "" {
		m.pages(in)
	}
	left := bodyBudget
	for _, u := range in.Units {
		v := newUnit(m.Base, u, Reason(u, m.Record.Run.Block))
		v.Flags, v.Signer = panels[u.Unit.ID], m.Page
		v.missed(m.Page, m.Base, in, u)
		v.Decided = len(v.Flags) > 0 && !open[u.Unit.ID]
		if cost := v.cost(); cost <= left || m.One {
			left -= cost
			v.complete(in, m.Base, u)
		} else {
			v = v.compact()
			m.Compact++
		}
		v.Open = m.One
		m.Units = append(m.Units, v)
	}
}

// Reason says what the judge noted about a unit, or why it has no label: the API's `reason`. Empty: there was nothing to judge.
func Reason(u core.UnitResult, b *core.Block) string {
	if u.Flag.Semantic != "" || !u.Unjudged {
		return u.Flag.JudgeNote
	}
	for _, p := range u.Pairs {
		if p.Label == "" && p.Unjudged != "" {
			return p.Unjudged
		}
	}
	if b != nil && b.ContraCheck != core.ContraRan {
		return b.ContraCheck
	}
	return "no answer was recorded"
}

// runNotice explains a run that ended without a block.
func runNotice(run core.Run, over bool) (Notice, bool) {
	title, body := "", "The manifest is kept; Judge again starts a new run."
	if over {
		body = "What you see is the result of the run before; its decisions hold. Judge again starts a new run."
	}
	switch run.Status {
	case core.Failed:
		if title = "The run failed, nothing was flagged"; over {
			title = "The latest run failed"
		}
		return Notice{Kind: "error", Title: title, Body: run.Error + " " + body}, true
	case core.Cancelled:
		if title = "The run was cancelled"; over {
			title = "The latest run was cancelled"
		}
		return Notice{Kind: "info", Title: title, Body: body}, true
	}
	return Notice{}, false
}
