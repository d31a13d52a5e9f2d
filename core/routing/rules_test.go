package routing

import (
	"strings"
	"testing"

	"storozh/core"
)

func TestClassifyDefaults(t *testing.T) {
	t.Parallel()
	r := DefaultRules()
	for _, c := range []struct {
		repo, path, declared string
		want                 core.UnitType // empty: unclassified
	}{
		{"mirabilis", "lessons/deep/er/план.md", "", core.Lesson},
		{"attic", "memory/x", "", core.Lesson},
		{"shield", "claims/claims.ttl", "", core.Invariant},
		{"shield", "invariants.txt", "", core.Invariant},
		{"shield", "invariants-core.txt", "", core.Invariant},
		{"shield", "sub/invariants.txt", "", ""},
		{"shield", "invariants/core", "", core.Invariant},
		{"neuro-matrix", "skills/a/SKILL.md", "", core.Skill},
		{"darwin", "agents/a.md", "", core.Agent},
		{"mirabilis", "hooks/pre.sh", "", core.Hook},
		{"neuro-matrix", "scripts/x.sh", "", core.Hook},
		{"mirabilis", "scripts/x.sh", "", ""},
		{"darwin", "GENOME.md", "", core.Genome},
		{"shield", "docs/GENOME.md", "", ""},
		{"neuro-matrix", "cmd/tool/main.go", "", core.SandboxMechanism},
		{"neuro-matrix", ".devcontainer/a.json", "", core.SandboxMechanism},
		{"mirabilis", "docker-compose.dev.yml", "", core.SandboxMechanism},
		{"mirabilis", "Makefile", "", core.SandboxMechanism},
		{"darwin", "Makefile", "", ""},
		{"mirabilis", "state/now.json", "", core.State},
		{"darwin", "state/now.json", "", ""},
		{"darwin", "dept/a/b.md", "", core.Genome},
		{"darwin", "meta/x.md", "", core.Meta},
		{"shield", "meta/x.md", "", ""},
		{"shield", "README.md", "", ""},
		{"shield", "lessons", "", ""},
		{"shield", "README.md", " Lesson ", core.Lesson},
		{"neuro-matrix", "skills/a.md", "hook", core.Hook},
		{"neuro-matrix", "skills/a.md", "poem", core.Skill},
		{"shield", "README.md", "feedback", ""},
	} {
		got, home, ok := r.Classify(c.repo, c.path, c.declared)
		if got != c.want || ok != (c.want != "") || home != "" {
			t.Errorf("Classify(%s, %s, %q) = %q, %q, %v; want %q", c.repo, c.path, c.declared, got, home, ok, c.want)
		}
	}
}

func TestParseRules(t *testing.T) {
	t.Parallel()
	r, err := ParseRules([]byte("rules:\n- {type: Poem, only: learning, home: Darwin, paths: [\"verse/**/*.md\"]}\n- {type: lesson, paths: [\"**\"]}\n"), DefaultAliases())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		repo, path, declared string
		want                 core.UnitType
		home                 string
	}{
		{"shield", "verse/a.md", "", "poem", "darwin"},
		{"shield", "verse/x/y/a.md", "skill", core.Skill, "darwin"},
		{"darwin", "verse/a.md", "", core.Lesson, ""},
		{"darwin", "q", "poem", "poem", ""},
	} {
		if got, home, ok := r.Classify(c.repo, c.path, c.declared); !ok || got != c.want || home != c.home {
			t.Errorf("%+v: got %q, %q, %v", c, got, home, ok)
		}
	}
	for text, want := range map[string]string{
		"":                                     "rules",
		"rules: 3":                             "path rules",
		"rules: [{type: a}]":                   "no paths",
		"rules: [{paths: [b]}]":                "no type",
		"rules: [{type: a, paths: [/b]}]":      "root",
		"rules: [{type: a, paths: [x**]}]":     "alone",
		"rules: [{type: a, paths: [../b]}]":    "dots",
		"rules: [{type: a, path: [b]}]":        "path",
		"rules: [{type: a, paths: [b]}, {}]":   "rule 2",
		"rules: [{type: a, paths: [b]}]\nx: [": "path rules",
	} {
		if _, err := ParseRules([]byte(text), DefaultAliases()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRules(%q): %v, want it to say %q", text, err, want)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true}, {"a", "b/a", false}, {"a", "a/b", false},
		{"*", "a", true}, {"*", "a/b", false}, {"*.md", ".md", true}, {"a*b*c", "a-b-b-c", true}, {"a*b", "a-b-c", false},
		{"?.md", "я.md", true}, {"?.md", "яя.md", false}, {"*я", "oя", true},
		{"a/**", "a", false}, {"a/**", "a/", false}, {"a/**", "a/b", true}, {"a/**", "a/b/c", true}, {"a/**", "ab/c", false},
		{"**/z", "z", true}, {"**/z", "a/b/z", true}, {"**/z", "a/zz", false},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/m/**/z", "a/m/x/m/z", true}, {"a/**/m/**/z", "a/x/z", false},
		{"a/*/c", "a/b/c", true}, {"a/*/c", "a/c", false}, {"**", "a/b", true},
	} {
		g, err := parseGlob(c.pattern)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		if got := g.match(c.path); got != c.want {
			t.Errorf("%s against %s = %v", c.pattern, c.path, got)
		}
	}
}

func TestGlobIsNotExponential(t *testing.T) {
	t.Parallel()
	g, err := parseGlob(strings.Repeat("**/a/", 20) + strings.Repeat("*a", 50) + "b")
	if err != nil {
		t.Fatal(err)
	}
	if g.match(strings.Repeat("a/", 2000) + strings.Repeat("a", 2000)) {
		t.Error("it has no b")
	}
}
