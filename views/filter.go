package views

import (
	"net/url"

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
	keep       func(core.UnitResult) bool
}{
	{"all", "", func(core.UnitResult) bool { return true }},
	{"flagged", "", func(u core.UnitResult) bool { return u.Flag.Flagged() }},
	{"misroute", "misroute", func(u core.UnitResult) bool { return u.Flag.Routing == core.Misroute }},
	{"contra", "contra", func(u core.UnitResult) bool { return u.Flag.Semantic == core.Contra }},
	{"dup", "dup", func(u core.UnitResult) bool { return u.Flag.Semantic == core.Dup }},
	{"unjudged", "unjudged", func(u core.UnitResult) bool { return u.Unjudged }},
	{"ok", "ok", func(u core.UnitResult) bool { return !u.Flag.Flagged() && !u.Unjudged }},
}

// filters counts the units under each filter and returns those that the chosen one keeps.
func filters(base, show string, units []core.UnitResult) ([]Filter, []core.UnitResult) {
	chosen := 0
	for i, r := range filterRules {
		if r.name == show {
			chosen = i
		}
	}
	out := make([]Filter, 0, len(filterRules))
	for i, r := range filterRules {
		f := Filter{Name: r.name, Kind: r.kind, URL: base, Current: i == chosen}
		if i > 0 {
			f.URL += "?show=" + url.QueryEscape(r.name)
		}
		for _, u := range units {
			if r.keep(u) {
				f.Count++
			}
		}
		out = append(out, f)
	}
	kept := make([]core.UnitResult, 0, len(units))
	for _, u := range units {
		if filterRules[chosen].keep(u) {
			kept = append(kept, u)
		}
	}
	return out, kept
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
