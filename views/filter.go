package views

import (
	"net/url"
	"strings"

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

// filterRules are the filters in the order of their links; the first serves for an unknown or absent name.
var filterRules = []struct {
	name, kind string
	keep       func(core.UnitResult) bool // nil: units with a flag that is open to the reader
}{
	{"all", "", func(core.UnitResult) bool { return true }},
	{"open", "wait", nil},
	{"flagged", "", func(u core.UnitResult) bool { return u.Flag.Flagged() }},
	{"misroute", "misroute", func(u core.UnitResult) bool { return u.Flag.Routing == core.Misroute }},
	{"contra", "contra", func(u core.UnitResult) bool { return u.Flag.Semantic == core.Contra }},
	{"dup", "dup", func(u core.UnitResult) bool { return u.Flag.Semantic == core.Dup }},
	{"unjudged", "unjudged", func(u core.UnitResult) bool { return u.Unjudged }},
	{"ok", "ok", func(u core.UnitResult) bool { return !u.Flag.Flagged() && !u.Unjudged }},
}

// filterName is the filter that a name chooses: the name itself, or empty for all.
func filterName(show string) string {
	for _, r := range filterRules[1:] {
		if r.name == show {
			return show
		}
	}
	return ""
}

// filters counts the units under each filter, of those that the search keeps, and returns the ones that the chosen filter keeps. open
// tells the units with a flag that the reader has still to decide.
func filters(base string, in ReviewInput, open map[string]bool) ([]Filter, []core.UnitResult) {
	found := in.Units
	if find := strings.ToLower(strings.TrimSpace(short(in.Find, nameLimit))); find != "" {
		found = nil
		for _, u := range in.Units {
			if holds(u, find) {
				found = append(found, u)
			}
		}
	}
	out := make([]Filter, 0, len(filterRules))
	kept := make([]core.UnitResult, 0, len(found))
	for i, r := range filterRules {
		f := Filter{Name: r.name, Kind: r.kind, URL: filterURL(base, r.name, in.Find), Current: r.name == filterName(in.Show) || i == 0 && filterName(in.Show) == ""}
		if r.keep == nil {
			f.Name = "to decide"
		}
		for _, u := range found {
			if r.keep == nil && !open[u.Unit.ID] || r.keep != nil && !r.keep(u) {
				continue
			}
			f.Count++
			if f.Current {
				kept = append(kept, u)
			}
		}
		out = append(out, f)
	}
	return out, kept
}

// holds tells whether a unit, or an item near it, has words in its name or text; find is in lower case.
func holds(u core.UnitResult, find string) bool {
	for _, s := range []string{u.Unit.ID, u.Unit.Title, u.Unit.Text} {
		if strings.Contains(strings.ToLower(s), find) {
			return true
		}
	}
	for _, p := range u.Pairs {
		if strings.Contains(strings.ToLower(p.Item), find) {
			return true
		}
	}
	return false
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
