package routing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

func TestBuiltInIsC3(t *testing.T) {
	t.Parallel()
	p := BuiltIn()
	want := map[core.UnitType]string{
		core.Lesson: core.Shield, core.Invariant: core.Shield,
		core.Skill: core.NeuroMatrix, core.Agent: core.NeuroMatrix, core.Hook: core.NeuroMatrix,
		core.SandboxMechanism: core.Mirabilis, core.State: core.Mirabilis,
		core.Genome: core.Darwin, core.Meta: core.Darwin,
	}
	if d := cmp.Diff(want, p.homes); d != "" {
		t.Errorf("homes (-want +got):\n%s", d)
	}
	lanes := map[string]string{
		core.Mirabilis: CodeLane, core.NeuroMatrix: CodeLane, core.Darwin: KnowledgeLane, core.Shield: KnowledgeLane,
	}
	if d := cmp.Diff(lanes, p.lanes); d != "" {
		t.Errorf("lanes (-want +got):\n%s", d)
	}
	if p.Source != BuiltInSource {
		t.Errorf("source = %q", p.Source)
	}
	for _, ut := range c3Types {
		wantKnowledge := ut == core.Lesson || ut == core.Invariant || ut == core.Genome || ut == core.Meta
		if p.Knowledge(ut) != wantKnowledge {
			t.Errorf("Knowledge(%s) = %v", ut, !wantKnowledge)
		}
	}
	if p.Knowledge("poem") {
		t.Error("a type without a home is no knowledge")
	}
}

const darwinFile = `# Registry

The routing-policy says: lesson -> mirabilis (this is prose and binds nobody).

` + "```go\nlesson -> nowhere\n```" + `

- kept since spring:

  ` + "```text" + `
  Routing-Policy:   unit-type → repo
    lesson|invariant  ->  Learning (α_S)  [knowledge]   # the classroom
    skill | agent | hook → neuro-matrix
    sandbox-mechanism, state => Mirabilis
    genome | meta → darwin
    poem → shield
  ` + "```" + `

And later:

    lane-map    repo → lane
      mirabilis, neuro-matrix, workshop = code-lane (fast)

      darwin, SolitaryEquilibriumShield = knowledge-lane

` + "~~~\nrouting-policy\n lesson → darwin\n~~~\n"

func TestParsePolicyTolerates(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"unix": darwinFile, "crlf": strings.ReplaceAll(darwinFile, "\n", "\r\n")} {
		p, err := ParsePolicy(text, DefaultAliases())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for ut, want := range map[core.UnitType]string{
			core.Lesson: "shield", core.State: "mirabilis", core.Hook: "neuro-matrix", core.Meta: "darwin", "poem": "shield",
		} {
			if got, _ := p.Home(ut); got != want {
				t.Errorf("%s: Home(%s) = %q, want %q", name, ut, got, want)
			}
		}
		for repo, want := range map[string]string{"workshop": CodeLane, "shield": KnowledgeLane, "attic": ""} {
			if got := p.Lane(repo); got != want {
				t.Errorf("%s: Lane(%s) = %q, want %q", name, repo, got, want)
			}
		}
	}
}

func TestParsePolicyRefuses(t *testing.T) {
	t.Parallel()
	fence := func(s string) string { return "```\n" + s + "\n```\n" }
	lanes := "lane-map\n mirabilis, neuro-matrix = code-lane\n darwin, shield = knowledge-lane\n"
	types := "routing-policy\n lesson | invariant → shield\n skill|agent|hook → neuro-matrix\n sandbox-mechanism|state → mirabilis\n genome|meta → darwin\n"
	if _, err := ParsePolicy(fence(types+lanes), DefaultAliases()); err != nil {
		t.Fatalf("the whole must parse: %v", err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "`routing-policy`"},
		"prose only":    {types + lanes, "`routing-policy`"},
		"no lanes":      {fence(types), "`lane-map`"},
		"half written":  {fence(strings.Replace(types, "state", "", 1) + lanes), `"state"`},
		"two homes":     {fence(types + " hook → darwin\n" + lanes), "two homes"},
		"two lanes":     {fence(types + lanes + " shield = code-lane"), "two lanes"},
		"homeless lane": {fence(types + strings.Replace(lanes, "darwin, ", "", 1)), `"darwin"`},
		"huge":          {strings.Repeat("x", maxPolicy+1), "bytes"},
	} {
		p, err := ParsePolicy(c.text, DefaultAliases())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want it to name %s", name, err, c.want)
		}
		if len(p.homes) > 0 {
			t.Errorf("%s: half a policy came back", name)
		}
	}
}

func TestAliases(t *testing.T) {
	t.Parallel()
	a, err := ParseAliases(" Notes = Learning , core2=mirabilis,, x=y")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"solitaryEQUILIBRIUMshield": "shield", "learning": "shield", "Shield": "shield", "NOTES": "shield",
		"core2": "mirabilis", "X": "y", "Attic": "Attic", " darwin ": "darwin", "": "",
	} {
		if got := a.Canonical(name); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", name, got, want)
		}
	}
	for _, bad := range []string{"notes", "=shield", "notes="} {
		if _, err := ParseAliases(bad); err == nil {
			t.Errorf("ParseAliases(%q): no error", bad)
		}
	}
	p, err := ParsePolicy(strings.ReplaceAll(darwinFile, "Learning", "classroom")+"\n    lane-map\n", DefaultAliases())
	if err == nil {
		t.Fatalf("classroom has no lane yet: %v", p)
	}
}

// TestConfiguredAliasesHoldInDarwinsFile: a name that only the configuration knows, in one table or in both.
func TestConfiguredAliasesHoldInDarwinsFile(t *testing.T) {
	t.Parallel()
	a, err := ParseAliases("Classroom=shield")
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range []*strings.Replacer{
		strings.NewReplacer("Learning", "classroom", "SolitaryEquilibriumShield", "classroom"), strings.NewReplacer("Learning", "classroom"),
	} {
		p, err := ParsePolicy(names.Replace(darwinFile), a)
		if err != nil {
			t.Fatal(err)
		}
		if home, _ := p.Home(core.Lesson); home != "shield" || p.Lane("shield") != KnowledgeLane || p.Lane("classroom") != "" {
			t.Errorf("home %q, lanes %v", home, p.lanes)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := BuiltIn()
	for name, c := range map[string]struct {
		unit core.Unit
		want Check
	}{
		"at home":         {core.Unit{Repo: "shield", Type: core.Lesson}, Check{core.RoutingOK, "shield", ""}},
		"across lanes":    {core.Unit{Repo: "neuro-matrix", Type: core.Lesson}, Check{core.Misroute, "shield", core.CrossLane}},
		"inside the lane": {core.Unit{Repo: "darwin", Type: core.Lesson}, Check{core.Misroute, "shield", ""}},
		"unknown repo":    {core.Unit{Repo: "attic", Type: core.Hook}, Check{core.Misroute, "neuro-matrix", ""}},
		"deletion":        {core.Unit{Repo: "mirabilis", Type: core.Lesson, Action: core.Removed}, Check{core.RoutingOK, "shield", ""}},
		"rename":          {core.Unit{Repo: "mirabilis", Type: core.Skill, Action: core.Renamed}, Check{core.Misroute, "neuro-matrix", ""}},
		"rule's home":     {core.Unit{Repo: "darwin", Type: core.Lesson, Home: "darwin"}, Check{core.RoutingOK, "darwin", ""}},
		"rule's home far": {core.Unit{Repo: "shield", Type: core.Lesson, Home: "mirabilis"}, Check{core.Misroute, "mirabilis", core.CrossLane}},
		"type unknown":    {core.Unit{Repo: "darwin", Type: "poem"}, Check{core.RoutingOK, "darwin", ""}},
	} {
		if got := p.Check(c.unit); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTouchesPolicy(t *testing.T) {
	t.Parallel()
	unit := func(u core.Unit) core.Derivation { return core.Derivation{Units: []core.Unit{u}} }
	for name, c := range map[string]struct {
		d    core.Derivation
		want bool
	}{
		"untouched":    {unit(core.Unit{Repo: "darwin", Path: "genome/other.md"}), false},
		"other repo":   {unit(core.Unit{Repo: "shield", Path: PolicyPath}), false},
		"edited":       {unit(core.Unit{Repo: "darwin", Path: PolicyPath}), true},
		"moved away":   {unit(core.Unit{Repo: "darwin", Path: "x.md", OldPath: PolicyPath}), true},
		"unclassified": {core.Derivation{Unclassified: []string{"darwin/" + PolicyPath}}, true},
		"not in diff":  {core.Derivation{NotInDiff: []string{"darwin/" + PolicyPath}}, true},
		"span":         {core.Derivation{Replaced: []core.Span{{Repo: "darwin", Path: PolicyPath}}}, true},
	} {
		got := TouchesPolicy(c.d, core.Darwin, PolicyPath)
		if (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(darwinFile)
	f.Add("```\n" + builtIn)
	f.Add("    routing-policy\n    a → ) ] (b\n\tlane-map\n\t = \n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy(text, DefaultAliases())
		if err != nil {
			if len(p.homes) > 0 || len(p.lanes) > 0 {
				t.Fatal("an error with half a policy")
			}
			return
		}
		for _, ut := range c3Types {
			if home, ok := p.Home(ut); !ok || p.Lane(home) == "" {
				t.Fatalf("accepted although %s has home %q without a lane", ut, home)
			}
		}
	})
}
