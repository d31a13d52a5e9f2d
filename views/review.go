package views

import (
	"sort"
	"strconv"

	"storozh/core"
)

// Review is the page of one manifest with its latest run.
type Review struct {
	Page
	Record   core.Record
	Line     string // the h1: BLUF or how far the run is
	Live     bool   // the run has not ended: the script polls, a link reloads
	Notices  []Notice
	Filters  []Filter
	One      bool // only one unit was asked for
	Units    []UnitView
	Compact  int // units of this list that are one line each, because the page is full
	Facts    []Fact
	Earlier  []Entry
	JSON     string // path of the API's answer
	Download string // path of the manifest with its block
	Base     string // path of this page
}

// ReviewInput is what [NewReview] needs.
type ReviewInput struct {
	Record      core.Record
	Units       []core.UnitResult // of the latest run, in the block's order; none before it is done
	AddCommands []string
	Superseded  []core.Record
	Show        string // filter, untrusted
	Unit        string // id of the only unit to show, untrusted; empty: all
}

// NewReview builds the review page.
func NewReview(p Page, in ReviewInput) Review {
	r := in.Record
	id := strconv.FormatInt(r.ID, 10)
	m := Review{
		Page: p, Record: r, Line: Line(r), Live: !r.Run.Status.Finished(), Base: manifestURL(r.ID),
		JSON: "/api/manifests/" + id, Download: "/api/manifests/" + id + "/manifest",
	}
	m.Title = m.Line
	m.Demo = m.Demo || r.Run.Demo
	for _, old := range in.Superseded {
		m.Earlier = append(m.Earlier, entry(old))
	}
	m.Facts = facts(p, r, in.Units)
	if b := r.Run.Block; b != nil {
		m.Notices = blockNotices(*b, in.AddCommands)
	}
	if n, ok := runNotice(r); ok {
		m.Notices = append([]Notice{n}, m.Notices...)
	}
	m.units(in)
	if m.One {
		m.Notices = nil // they are about the whole manifest, which is one link away
	}
	return m
}

// units filters, orders and builds the unit views within the page's budget.
func (m *Review) units(in ReviewInput) {
	var kept []core.UnitResult
	m.Filters, kept = filters(m.Base, in.Show, in.Units)
	if in.Unit != "" {
		kept = only(in.Units, in.Unit)
		m.One = len(kept) == 1
		for i := range m.Filters {
			m.Filters[i].Current = false
		}
	}
	sort.SliceStable(kept, func(i, j int) bool { return urgency(kept[i]) < urgency(kept[j]) })
	left := bodyBudget
	for _, u := range kept {
		v := newUnit(m.Base, u, Reason(u, m.Record.Run.Block))
		if cost := v.cost(); cost <= left || m.One {
			left -= cost
		} else {
			v = v.compact()
			m.Compact++
		}
		v.Open = m.One
		m.Units = append(m.Units, v)
	}
}

func only(units []core.UnitResult, id string) []core.UnitResult {
	for _, u := range units {
		if u.Unit.ID == id {
			return []core.UnitResult{u}
		}
	}
	return nil
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
func runNotice(r core.Record) (Notice, bool) {
	switch r.Run.Status {
	case core.Failed:
		return Notice{Kind: "error", Title: "The run failed, nothing was flagged", Body: r.Run.Error + " The manifest is kept; Judge again starts a new run."}, true
	case core.Cancelled:
		return Notice{Kind: "info", Title: "The run was cancelled", Body: "The manifest is kept; Judge again starts a new run."}, true
	}
	return Notice{}, false
}
