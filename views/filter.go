package views

import (
	"net/url"
	"slices"

	"storozh/core"
)

// Filter is one way to narrow the units of the review page, as a link.
type Filter struct {
	Name    string
	Kind    string // of the badge whose icon it carries; empty: none
	Count   int
	URL     string
	Current bool
}

// filterIcons are the badges whose icons the filters carry; the others carry none.
var filterIcons = map[string]string{
	core.ShowOpen: "wait", core.ShowMisroute: "misroute", core.ShowContra: "contra", core.ShowDup: "dup", core.ShowUnjudged: "unjudged",
	core.ShowOK: "ok",
}

// filterName is the filter that a name chooses: the name itself, or empty for all.
func filterName(show string) string {
	if show != core.ShowAll && slices.Contains(core.UnitFilters(), show) {
		return show
	}
	return ""
}

// filters links the filters, each with the units it would leave.
func filters(base string, in ReviewInput) []Filter {
	names := core.UnitFilters()
	out := make([]Filter, 0, len(names))
	for i, name := range names {
		f := Filter{Name: name, Kind: filterIcons[name], Count: in.Counts[name], URL: filterURL(base, name, searched(in.Find))}
		f.Current = in.Unit == "" && (name == filterName(in.Show) || i == 0 && filterName(in.Show) == "")
		if name == core.ShowOpen {
			f.Name = "to decide"
		}
		out = append(out, f)
	}
	return out
}

func filterURL(base, name, find string) string {
	q := url.Values{}
	if name != "all" {
		q.Set("show", name)
	}
	if find != "" {
		q.Set("q", find)
	}
	if len(q) == 0 {
		return base
	}
	return base + "?" + q.Encode()
}

// urgency orders units: contradictions and cross-lane misroutes, other flags, unjudged ones, the rest.
func urgency(u core.UnitResult) int {
	switch {
	case u.Flag.Semantic == core.Contra, u.Flag.Severity == core.CrossLane && u.Flag.Routing == core.Misroute:
		return 0
	case u.Flag.Flagged():
		return 1
	case u.Unjudged:
		return 2
	}
	return 3
}
