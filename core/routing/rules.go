package routing

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"storozh/core"
)

// Rules give a path its unit type (design §4, "Type"). The zero value matches nothing; use [DefaultRules] or [ParseRules].
type Rules struct {
	rules []rule
	words map[string]core.UnitType // what front matter may declare
}

// rule is one entry of the rules file.
type rule struct {
	Type  core.UnitType `yaml:"type"`
	Paths []string      `yaml:"paths"`
	Only  string        `yaml:"only"`
	Home  string        `yaml:"home"`
	globs []glob
}

//go:embed rules.yaml
var defaultRules []byte

// maxRules caps a rules file, in bytes.
const maxRules = 1 << 20

// DefaultRules returns the embedded rules.yaml.
func DefaultRules() Rules {
	r, err := ParseRules(defaultRules, DefaultAliases())
	if err != nil {
		panic("routing: the embedded rules.yaml is broken: " + err.Error()) // a build fault, caught by every test
	}
	return r
}

// ParseRules reads a rules file (STOROZH_RULES) of the shape that rules.yaml shows. An unknown key, a rule without type or
// paths, or a glob that could never match is an error that names the rule by its number. Repo names come out canonical by the aliases.
func ParseRules(text []byte, aliases Aliases) (Rules, error) {
	if len(text) > maxRules {
		return Rules{}, fmt.Errorf("path rules: the file has %d bytes, more than the %d that are read", len(text), maxRules)
	}
	var file struct {
		Rules []rule `yaml:"rules"`
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.DisallowUnknownField()); err != nil {
		return Rules{}, fmt.Errorf("path rules: %w", err)
	}
	if len(file.Rules) == 0 {
		return Rules{}, fmt.Errorf("path rules: the file holds no `rules:`; see core/routing/rules.yaml for the shape")
	}
	out := Rules{rules: file.Rules, words: map[string]core.UnitType{}}
	for _, t := range c3Types {
		out.words[string(t)] = t
	}
	for i := range out.rules {
		r := &out.rules[i]
		r.Type = core.UnitType(strings.ToLower(strings.TrimSpace(string(r.Type))))
		r.Only, r.Home = aliases.Canonical(r.Only), aliases.Canonical(r.Home)
		if err := r.compile(); err != nil {
			return Rules{}, fmt.Errorf("path rules: rule %d: %w", i+1, err)
		}
		out.words[string(r.Type)] = r.Type
	}
	return out, nil
}

func (r *rule) compile() error {
	if r.Type == "" {
		return fmt.Errorf("it has no type")
	}
	if len(r.Paths) == 0 {
		return fmt.Errorf("it has no paths")
	}
	for _, p := range r.Paths {
		g, err := parseGlob(p)
		if err != nil {
			return err
		}
		r.globs = append(r.globs, g)
	}
	return nil
}

// Classify returns the type of the file at path in repo (canonical name), and the home that a path rule demands, if any.
// frontMatterType is the value of `type:` or `unit-type:` in the file's front matter: a word of C3 (or of the rules) there wins;
// else the first matching rule; else ok is false and the file is unclassified.
func (r Rules) Classify(repo, path, frontMatterType string) (t core.UnitType, home string, ok bool) {
	i := slices.IndexFunc(r.rules, func(c rule) bool { return c.matches(repo, path) })
	if i >= 0 {
		home = r.rules[i].Home
	}
	if t, ok = r.words[strings.ToLower(strings.TrimSpace(frontMatterType))]; ok {
		return t, home, true
	}
	if i < 0 {
		return "", "", false
	}
	return r.rules[i].Type, home, true
}

func (r rule) matches(repo, path string) bool {
	if r.Only != "" && r.Only != repo {
		return false
	}
	return slices.ContainsFunc(r.globs, func(g glob) bool { return g.match(path) })
}
