package routing

import (
	"fmt"
	"strings"
	"unicode"

	"storozh/core"
)

// c3Types are the words that C3 must give a home to; a policy may name more.
var c3Types = []core.UnitType{
	core.Lesson, core.Invariant, core.Skill, core.Agent, core.Hook,
	core.SandboxMechanism, core.State, core.Genome, core.Meta,
}

// maxPolicy caps how much of a registry file is read, in bytes: C3 is a dozen lines, a huge file is not the policy.
const maxPolicy = 4 << 20

// ParsePolicy finds the `routing-policy` and `lane-map` tables in the code blocks (fenced or indented) of darwin's registry file
// (C3). The blocks are the policy, the prose is not. The first table of each name counts. Spacing, `->` for `→`, notes in
// brackets and extra types or repos are fine; repo names come out canonical by the aliases. A missing table, a type of C3
// without a home, a type with two homes, or a home without a lane is an error that names it.
func ParsePolicy(markdown string, a Aliases) (Policy, error) {
	if len(markdown) > maxPolicy {
		return Policy{}, fmt.Errorf("routing policy: the file has %d bytes, more than the %d that are read", len(markdown), maxPolicy)
	}
	r := reader{
		policy:  Policy{homes: map[core.UnitType]string{}, lanes: map[string]string{}},
		aliases: a,
	}
	eachCodeLine(markdown, r.line)
	if r.err != nil {
		return Policy{}, fmt.Errorf("routing policy: %w", r.err)
	}
	if err := r.policy.complete(); err != nil {
		return Policy{}, fmt.Errorf("routing policy: %w", err)
	}
	return r.policy, nil
}

// complete tells what a policy lacks to be usable.
func (p Policy) complete() error {
	if len(p.homes) == 0 {
		return fmt.Errorf("no code block with a `routing-policy` table was found")
	}
	if len(p.lanes) == 0 {
		return fmt.Errorf("no code block with a `lane-map` table was found")
	}
	for _, t := range c3Types {
		home, ok := p.homes[t]
		if !ok {
			return fmt.Errorf("the table names no repo for the type %q", t)
		}
		if p.lanes[home] == "" {
			return fmt.Errorf("the lane-map names no lane for %q, the home of %q", home, t)
		}
	}
	return nil
}

// reader collects the two tables line by line.
type reader struct {
	policy  Policy
	aliases Aliases
	table   string // the table being read: "routing-policy", "lane-map" or ""
	seen    map[string]bool
	err     error
}

// line reads one line of a code block; first marks the block's first line, where a table of another block has ended.
func (r *reader) line(no int, text string, first bool) {
	if first {
		r.table = ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	word, _, _ = strings.Cut(word, "\t")
	if name := strings.ToLower(strings.TrimRight(word, ":")); name == "routing-policy" || name == "lane-map" {
		r.open(name)
		return
	}
	text = strings.TrimSpace(dropNotes(text))
	if r.err != nil || text == "" {
		return
	}
	switch r.table {
	case "routing-policy":
		if types, repo, ok := cutArrow(text); ok {
			r.home(no, types, repo)
		}
	case "lane-map":
		if repos, lane, ok := strings.Cut(text, "="); ok {
			r.lane(no, repos, lane)
		}
	}
}

// open starts a table; a second table of the same name is history and is skipped.
func (r *reader) open(name string) {
	if r.seen[name] {
		r.table = ""
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.table, r.seen[name] = name, true
}

func (r *reader) home(no int, types, repo string) {
	home := r.aliases.Canonical(repo)
	if home == "" {
		return
	}
	for _, w := range strings.FieldsFunc(types, isSeparator) {
		t := core.UnitType(strings.ToLower(w))
		if old, ok := r.policy.homes[t]; ok && old != home {
			r.err = fmt.Errorf("line %d: the type %q has two homes, %q and %q", no, t, old, home)
			return
		}
		r.policy.homes[t] = home
	}
}

func (r *reader) lane(no int, repos, lane string) {
	lane = strings.ToLower(strings.TrimSpace(lane))
	for _, w := range strings.FieldsFunc(repos, isSeparator) {
		repo := r.aliases.Canonical(w)
		if old, ok := r.policy.lanes[repo]; ok && old != lane {
			r.err = fmt.Errorf("line %d: the repo %q lies in two lanes, %q and %q", no, repo, old, lane)
			return
		}
		if lane != "" {
			r.policy.lanes[repo] = lane
		}
	}
}

func isSeparator(c rune) bool { return c == '|' || c == ',' || unicode.IsSpace(c) }

// cutArrow splits at `→`, `->` or `=>`.
func cutArrow(s string) (left, right string, ok bool) {
	for _, arrow := range []string{"→", "->", "=>"} {
		if left, right, ok = strings.Cut(s, arrow); ok {
			return strings.TrimSpace(left), strings.TrimSpace(right), true
		}
	}
	return "", "", false
}

// dropNotes removes `(…)` and `[…]` and what follows a `#`: comments in the table.
func dropNotes(s string) string {
	var b strings.Builder
	depth := 0
	for _, c := range s {
		switch {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(0, depth-1)
		case c == '#' && depth == 0:
			return b.String()
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}
