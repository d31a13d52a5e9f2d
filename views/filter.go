package views

import (
	"net/url"
	"slices"
	"strconv"

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
		f := Filter{Name: name, Kind: filterIcons[name], Count: in.Counts[name], URL: unitsURL(base, filterName(name), searched(in.Find), 0)}
		f.Current = in.Unit == "" && (name == filterName(in.Show) || i == 0 && filterName(in.Show) == "")
		if name == core.ShowOpen {
			f.Name = "to decide"
		}
		out = append(out, f)
	}
	return out
}

// unitsURL is the page of the units that a filter and a search leave, from one on; what is empty or 0 is left out.
func unitsURL(base, show, find string, from int) string {
	q := url.Values{}
	for name, value := range map[string]string{"show": show, "q": find} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if from > 0 {
		q.Set("from", strconv.Itoa(from))
	}
	if len(q) == 0 {
		return base
	}
	return base + "?" + q.Encode()
}
