package views

import (
	"sort"
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
	Find     string  // the search, as typed
	Show     string  // the filter in use; empty: all
	Notices  []Notice
	Filters  []Filter
	One      bool // only one unit was asked for
	Units    []UnitView
	Compact  int // units of this list that are one line each, because the page is full
	Beyond   int // units that are not listed at all: the least urgent of more than unitsLimit
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
	Find        string // words that a unit must hold, untrusted; empty: all
	Flags       []FlagInput
	Markers     []core.Marker
	Flash       string
	Diff        string // "split" or "unified", untrusted: asked for, so that diffs stand open; empty: unified and folded
}

// NewReview builds the review page.
func NewReview(p Page, in ReviewInput) Review {
	latest := in.Record.Run
	in.Record = shown(in.Record)
	r := in.Record
	id := strconv.FormatInt(r.ID, 10)
	m := Review{
		Page: p, Record: r, Latest: latest, Line: Line(r), Live: !latest.Status.Finished(), Over: latest.ID != r.Run.ID, Base: manifestURL(r.ID),
		Flash: in.Flash, Standing: newStanding(p, r, in), Cosign: newCosign(p.Signed, in.Markers), Find: short(in.Find, nameLimit),
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

// units filters, orders and builds the unit views within the page's budget.
func (m *Review) units(in ReviewInput) {
	var kept []core.UnitResult
	panels := map[string][]FlagView{}
	open := map[string]bool{}
	for _, f := range in.Flags {
		panels[f.Flag.UnitID] = append(panels[f.Flag.UnitID], newFlag(m.Page, m.Base, in.Show, in.Unit != "", f))
		open[f.Flag.UnitID] = open[f.Flag.UnitID] || f.Mine == nil
	}
	m.Filters, kept = filters(m.Base, in, open)
	m.Show = filterName(in.Show)
	if in.Unit != "" {
		kept = only(in.Units, in.Unit)
		m.One = len(kept) == 1
		for i := range m.Filters {
			m.Filters[i].Current = false
		}
	}
	sort.SliceStable(kept, func(i, j int) bool { return urgency(kept[i]) < urgency(kept[j]) })
	left := bodyBudget
	if len(kept) > unitsLimit {
		m.Beyond, kept = len(kept)-unitsLimit, kept[:unitsLimit]
	}
	for _, u := range kept {
		v := newUnit(m.Base, u, Reason(u, m.Record.Run.Block))
		v.Flags, v.Signer = panels[u.Unit.ID], m.Page
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
