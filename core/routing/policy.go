package routing

import (
	_ "embed"

	"storozh/core"
)

// The lanes of C3.
const (
	CodeLane      = "code-lane"
	KnowledgeLane = "knowledge-lane"
)

// PolicyPath is where darwin keeps the policy, inside its repo (C3).
const PolicyPath = "genome/registry-new.md"

// BuiltInSource is the Source of the built-in copy.
const BuiltInSource = "built-in copy"

// Policy is contract C3: which repo a unit type belongs to, and which lane a repo lies in. The zero value knows nothing; use
// [BuiltIn] or [ParsePolicy].
type Policy struct {
	homes  map[core.UnitType]string // type → canonical repo
	lanes  map[string]string        // canonical repo → lane
	Source string                   // where it came from, for people: a path with commit, or [BuiltInSource]
}

//go:embed policy.txt
var builtIn string

// BuiltIn returns the copy of C3 that is compiled in. It serves when darwin's file is missing or unreadable.
func BuiltIn() Policy {
	p, err := ParsePolicy("```\n"+builtIn+"```\n", DefaultAliases())
	if err != nil {
		panic("routing: the embedded policy.txt is broken: " + err.Error()) // a build fault, caught by every test
	}
	p.Source = BuiltInSource
	return p
}

// Home returns the canonical repo that units of type t belong in; ok is false when the policy does not name t.
func (p Policy) Home(t core.UnitType) (repo string, ok bool) {
	repo, ok = p.homes[t]
	return repo, ok
}

// Lane returns the lane of a canonical repo: [CodeLane], [KnowledgeLane], another lane the policy names, or "" when unknown.
func (p Policy) Lane(repo string) string { return p.lanes[repo] }

// Knowledge tells whether the home of t lies in the knowledge lane. One such unit in a manifest starts the contra-check
// (design §5).
func (p Policy) Knowledge(t core.UnitType) bool { return p.lanes[p.homes[t]] == KnowledgeLane }

// Check is what routing says about one unit.
type Check struct {
	Routing  core.Routing
	Expected string // canonical repo; the observed one when nothing demands another
	Severity string // core.CrossLane, or empty
}

// Check compares where u lies with where it belongs. A path rule's home (u.Home) overrides the policy; a deletion is never a
// misroute; a misroute is cross-lane only when both lanes are known and differ (design §4).
func (p Policy) Check(u core.Unit) Check {
	home := u.Home
	if home == "" {
		var ok bool
		if home, ok = p.Home(u.Type); !ok {
			return Check{Routing: core.RoutingOK, Expected: u.Repo}
		}
	}
	if u.Action == core.Removed || u.Repo == home {
		return Check{Routing: core.RoutingOK, Expected: home}
	}
	c := Check{Routing: core.Misroute, Expected: home}
	if from, to := p.Lane(u.Repo), p.Lane(home); from != "" && to != "" && from != to {
		c.Severity = core.CrossLane
	}
	return c
}
