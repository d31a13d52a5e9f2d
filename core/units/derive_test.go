package units

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"storozh/core"
)

// byFolder classifies as the default rules do, as far as these tests need it.
func byFolder(_, path, declared string) (core.UnitType, string, bool) {
	if declared == "skill" || declared == "lesson" {
		return core.UnitType(declared), "", true
	}
	folder, _, _ := strings.Cut(path, "/")
	t, ok := map[string]core.UnitType{
		"lessons": core.Lesson, "claims": core.Invariant, "invariants": core.Invariant, "invariants.txt": core.Invariant,
		"skills": core.Skill, "hooks": core.Hook,
	}[folder]
	return t, "", ok
}

func canonical(name string) string {
	if name == "learning" {
		return core.Shield
	}
	return name
}

// head reads HEAD of a real repository, whatever blob is asked for.
func (r gitRepo) head(_, path, blob string) (string, bool) {
	cmd := exec.Command("git", "-C", r.dir, "cat-file", "blob", "HEAD:"+path)
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(strings.TrimSpace(r.git("rev-parse", "HEAD:"+path)), blob) {
		return "", false
	}
	return string(out), true
}

// amend commits the old files and puts the new ones in place; an empty new text deletes.
func amend(t *testing.T, before, after map[string]string) gitRepo {
	t.Helper()
	r := newRepo(t)
	r.write(".keep", "")
	for name, text := range before {
		r.write(name, text)
	}
	r.git("add", ".")
	r.git("commit", "-qm", "base")
	for name, text := range after {
		if text == "" {
			r.git("rm", "-q", name)
		} else {
			r.write(name, text)
		}
	}
	r.git("add", "-A")
	return r
}

func (r gitRepo) derive(withHead bool) core.Derivation {
	o := Options{Canonical: canonical, Classify: byFolder}
	if withHead {
		o.Head = r.head
	}
	return Derive(core.Manifest{Repos: []core.Repo{r.harvest("learning")}}, o)
}

// unitBrief is what most tests compare of a unit.
type unitBrief struct {
	ID        string
	Action    core.Action
	Normative string
	Replaces  []string
	Start     int
}

func unitBriefs(units []core.Unit) []unitBrief {
	var out []unitBrief
	for _, u := range units {
		out = append(out, unitBrief{u.ID, u.Action, u.Normative, u.Replaces, u.StartLine})
	}
	return out
}

func wantUnits(t *testing.T, d core.Derivation, want []unitBrief) {
	t.Helper()
	if diff := cmp.Diff(want, unitBriefs(d.Units), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if len(d.Warnings) > 0 {
		t.Errorf("warnings %q", d.Warnings)
	}
}

func wantSpans(t *testing.T, d core.Derivation, want []core.Span) {
	t.Helper()
	if diff := cmp.Diff(want, d.Replaced, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

const rules = "# Rules\n#1 [critical] [O] Times are stored in UTC. | Why: one clock | Counter: the export screen shows local time.\n" +
	"#2 [style] [P] Names may be long.\n#3 [O] Money is an integer.\n#4 [O] Logs are lines.\n#5 [F] No globals.\n"

func TestInvariants(t *testing.T) {
	t.Parallel()
	after := strings.NewReplacer("Names may be long", "Names must be short", "#4 [O] Logs are lines.\n", "").Replace(rules) + "#6 [O] Tests run offline.\n"
	r := amend(t, map[string]string{"invariants.txt": rules}, map[string]string{"invariants.txt": after})
	for _, withHead := range []bool{true, false} {
		d := r.derive(withHead)
		var got []unitBrief
		for _, u := range unitBriefs(d.Units) {
			u.Normative = ""
			got = append(got, u)
		}
		want := []unitBrief{
			{"shield/invariants.txt#2", core.Edited, "", []string{"shield/invariants.txt#2"}, 3},
			{"shield/invariants.txt#6", core.Added, "", nil, 6},
			{"shield/invariants.txt#4", core.Removed, "", nil, 5},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("HEAD known %v (-want +got):\n%s", withHead, diff)
		}
		if n := d.Units[0].Normative; !strings.Contains(n, "must be short") {
			t.Errorf("normative %q", n)
		}
		if withHead {
			wantSpans(t, d, []core.Span{
				{Repo: "shield", Path: "invariants.txt", Anchor: "2", Start: 3, End: 3},
				{Repo: "shield", Path: "invariants.txt", Anchor: "4", Start: 5, End: 5},
			})
			continue
		}
		if s := d.Replaced[0]; s.Anchor != "" || s.Start != 1 || s.End != 6 {
			t.Errorf("without HEAD the whole hunk counts as replaced, got %+v", s)
		}
	}
}

func longLesson(bullets ...string) string {
	return "---\ntype: lesson\n---\n# Notes\n\n" + strings.Repeat("Long prose that fills the page. ", 60) + "\n\n## Habits\n\n" +
		strings.Join(bullets, "\n") + "\n\n## Notes\n\nA last word about caches.\n"
}

func TestLessonBullets(t *testing.T) {
	t.Parallel()
	a, b, c := "- Retry only what is idempotent.", "- Никогда не пиши в чужой файл.", "- Close what you open."
	b2, n := "- Никогда не пиши в чужой открытый файл.", "- Measure before you tune."
	for name, config := range map[string][]string{"default": nil, "no context": {"diff.context=0"}} {
		r := amend(t, map[string]string{"lessons/l.md": longLesson(a, b, c)}, map[string]string{"lessons/l.md": longLesson(n, a, b2)})
		r.git("config", "include.path", r.include(config))
		d := r.derive(true)
		t.Log(name)
		wantUnits(t, d, []unitBrief{
			{"shield/lessons/l.md#L10", core.Added, "Notes › Habits\n\nMeasure before you tune.", nil, 10},
			{"shield/lessons/l.md#L12", core.Edited, "Notes › Habits\n\nНикогда не пиши в чужой открытый файл.", []string{"shield/lessons/l.md#L11"}, 12},
			{"shield/lessons/l.md#L12~2", core.Removed, "", nil, 12},
		})
	}
}

func TestLessonBulletsWithoutHead(t *testing.T) {
	t.Parallel()
	a, b := "- Retry only what is idempotent.", "- Close what you open."
	r := amend(t, map[string]string{"lessons/l.md": longLesson(a, b)}, map[string]string{"lessons/l.md": longLesson(a, "- Measure before you tune.", b)})
	d := r.derive(false)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/l.md#L11", core.Added, "Habits\n\nMeasure before you tune.", nil, 11},
	})
	wantSpans(t, d, []core.Span{{Repo: "shield", Path: "lessons/l.md", Start: 8, End: 13}})
}

func TestShortLesson(t *testing.T) {
	t.Parallel()
	r := amend(t, map[string]string{"lessons/s.md": "# S\n\nBody one.\n", "lessons/gone.md": "# G\n\nGone.\n", "lessons/space.md": "# W\n\nSame words.\n"},
		map[string]string{"lessons/s.md": "# S\n\nBody one.\nBody two.\n", "lessons/gone.md": "", "lessons/new.md": "# N\n\nNew.\n", "lessons/space.md": "# W\n\nSame  words.\n"})
	d := r.derive(true)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/gone.md", core.Removed, "", nil, 1},
		{"shield/lessons/new.md", core.Added, "# N\n\nNew.", nil, 1},
		{"shield/lessons/s.md", core.Edited, "# S\n\nBody one.\nBody two.", []string{"shield/lessons/s.md"}, 1},
	})
	wantSpans(t, d, []core.Span{{Repo: "shield", Path: "lessons/gone.md"}, {Repo: "shield", Path: "lessons/s.md"}})
	if u := d.Units[0]; u.Text == "" || u.Observed != "learning" || u.Repo != "shield" || u.Title != "G" {
		t.Errorf("removed unit: %+v", u)
	}
}

// TestGrowing: a lesson that grows beyond one passage. The sections that were there already are no units.
func TestGrowing(t *testing.T) {
	t.Parallel()
	old := "# Top\n\nIntro stays.\n\n## Keep\n\nKept as it was.\n\n## Turn\n\nThe old way is right.\nA second line stays.\n"
	grown := strings.Replace(old, "The old way is right.", "The new way is right.", 1) + "\n## Fresh\n\n" + strings.Repeat("Fresh matter. ", 120) + "\n"
	d := amend(t, map[string]string{"lessons/g.md": old}, map[string]string{"lessons/g.md": grown}).derive(true)
	var got []string
	for _, u := range d.Units {
		got = append(got, u.ID+" "+string(u.Action)+" "+strings.Join(u.Replaces, ","))
	}
	want := []string{"shield/lessons/g.md#turn edited shield/lessons/g.md", "shield/lessons/g.md#fresh added "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	text := longLesson("- One habit of mine.", "- Another habit here.")
	r := amend(t, map[string]string{"lessons/a.md": text, "lessons/p.md": prose(20, "pure")}, nil)
	r.git("mv", "lessons/a.md", "lessons/b.md")
	r.git("mv", "lessons/p.md", "lessons/q.md")
	r.write("lessons/b.md", strings.Replace(text, "Another habit here", "Another habit there", 1))
	d := r.derive(true)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/b.md#L11", core.Edited, "Notes › Habits\n\nAnother habit there.", []string{"shield/lessons/a.md#L11"}, 11},
		{"shield/lessons/q.md", core.Renamed, "", nil, 0},
	})
	wantSpans(t, d, []core.Span{{Repo: "shield", Path: "lessons/a.md"}, {Repo: "shield", Path: "lessons/p.md"}})
}

// TestAHeadPutInBetween: a new invariant before another one's Counter takes that away. The other has no changed line, and says more than before.
func TestAHeadPutInBetween(t *testing.T) {
	t.Parallel()
	const old = "#1 [O] Times are UTC.\n  | Counter: the export screen.\n#2 [O] Names are short.\n"
	r := amend(t, map[string]string{"invariants.txt": old}, map[string]string{"invariants.txt": strings.Replace(old, "  | Counter", "#3 [O] Logs are lines.\n  | Counter", 1)})
	for _, withHead := range []bool{true, false} {
		wantUnits(t, r.derive(withHead), []unitBrief{
			{"shield/invariants.txt#1", core.Edited, "[O] Times are UTC.", []string{"shield/invariants.txt#1"}, 1},
			{"shield/invariants.txt#3", core.Edited, "[O] Logs are lines.\nCounter: the export screen.", []string{"shield/invariants.txt#1"}, 2},
		})
	}
}

const ttl = "@prefix ex: <urn:ex#> .\n@prefix rdfs: <urn:r#> .\n\nex:a rdfs:comment \"Prices are net.\" .\n\nex:b rdfs:comment \"Tax is shown.\" .\n"

func TestClaims(t *testing.T) {
	t.Parallel()
	after := strings.Replace(ttl, "net", "gross", 1) + "\nex:c rdfs:comment \"Rounding is half up.\" .\n"
	r := amend(t, map[string]string{"claims/claims.ttl": ttl}, map[string]string{"claims/claims.ttl": after})
	for _, withHead := range []bool{true, false} {
		wantUnits(t, r.derive(withHead), []unitBrief{
			{"shield/claims/claims.ttl#ex:a", core.Edited, "Prices are gross.", []string{"shield/claims/claims.ttl#ex:a"}, 4},
			{"shield/claims/claims.ttl#ex:c", core.Added, "Rounding is half up.", nil, 8},
		})
	}
}

func TestSkillsAndCode(t *testing.T) {
	t.Parallel()
	skill := "---\nname: Deploy\n---\n# Deploy\n\n## Before\n\n" + prose(12, "step") + "\n## After\n\n- Watch the graphs.\n"
	r := amend(t, map[string]string{"skills/d.md": skill, "hooks/h.sh": "echo 1\n", "README.md": "x\n"},
		map[string]string{"skills/d.md": strings.Replace(skill, "step line 6", "stop line 6", 1) + "- Tell the others.\n",
			"hooks/h.sh": "echo 2\n", "README.md": "y\n", "skills/new.md": "# New\n\nDo it.\n", "declared.md": "---\ntype: skill\n---\nBe kind.\n"})
	d := r.derive(true)
	wantUnits(t, d, []unitBrief{
		{"shield/declared.md", core.Added, "---\ntype: skill\n---\nBe kind.", nil, 1},
		{"shield/hooks/h.sh", core.Edited, "", []string{"shield/hooks/h.sh"}, 1},
		{"shield/skills/d.md", core.Edited, "## Before\nstop line 6 says something of its own\n## After\n- Tell the others.", []string{"shield/skills/d.md"}, 1},
		{"shield/skills/new.md", core.Added, "# New\n\nDo it.", nil, 1},
	})
	if diff := cmp.Diff([]string{"shield/README.md"}, d.Unclassified); diff != "" {
		t.Error(diff)
	}
	if u := d.Units[2]; u.Title != "Deploy" || !strings.Contains(u.Diff, "+- Tell the others.") {
		t.Errorf("skill: title %q, diff %q", u.Title, u.Diff)
	}
}

func TestStaleHead(t *testing.T) {
	t.Parallel()
	r := amend(t, map[string]string{"invariants.txt": rules}, map[string]string{"invariants.txt": strings.Replace(rules, "Money is", "Cash is", 1)})
	lies := func(_, _, _ string) (string, bool) { return "#3 [O] Something else.\n", true }
	d := Derive(core.Manifest{Repos: []core.Repo{r.harvest("shield")}}, Options{Classify: byFolder, Head: lies})
	if len(d.Units) != 1 || d.Units[0].Anchor != "3" || d.Replaced[0].Anchor != "" {
		t.Errorf("a HEAD text that the hunks don't fit must not be used: %+v %+v", d.Units, d.Replaced)
	}
}

func TestNotInDiff(t *testing.T) {
	t.Parallel()
	d := Derive(core.Manifest{Repos: []core.Repo{
		{Name: "learning", Dir: "/home/it's me/x", Files: []string{"newdir/", `"lessons/\320\277 q.md"`, `old.md"`, "../up", "a*.md", "a*.md"}},
		{Name: "darwin", Dir: "/d", Diff: edited("a/notes -> old.md", "b/notes -> old.md"), Files: []string{`old.md"`, "plain"}},
		{Name: "mirabilis", Dir: "/m", Diff: edited("a/q", "b/q"), Files: []string{"q"}},
	}}, Options{Canonical: canonical})
	want := []string{"darwin/plain", "shield/a*.md", "shield/lessons/п q.md", "shield/newdir/", "shield/… -> old.md"}
	if diff := cmp.Diff(want, d.NotInDiff); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	commands := []string{
		`git -C '/home/it'\''s me/x' add -N -- '*-> old.md' ':(literal)a*.md' 'lessons/п q.md' newdir/`,
		`git -C /d add -N -- plain`,
	}
	if diff := cmp.Diff(commands, d.AddCommands); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(d.Units) > 0 || len(d.Warnings) != 1 {
		t.Errorf("units %v, warnings %q", d.Units, d.Warnings)
	}
}

// TestAddCommand runs the command: afterwards nothing is missing.
func TestAddCommand(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("k", "")
	r.git("add", ".")
	r.git("commit", "-qm", "base")
	for _, n := range []string{"deep/er/план.md", "it's -> odd.md", "st*r.md", "$(date).md", ":magic.md", "q\"t.md", "-dash.md"} {
		r.write(n, "text\n")
	}
	d := r.derive(false)
	if len(d.AddCommands) != 1 || len(d.Units) != 0 || len(d.NotInDiff) != 7 {
		t.Fatalf("%+v", d)
	}
	if out, err := exec.Command("sh", "-c", d.AddCommands[0]).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", d.AddCommands[0], err, out)
	}
	if d = r.derive(false); len(d.NotInDiff) > 0 || len(d.Unclassified) != 7 {
		t.Errorf("after %q still missing: %q, found %q", d.AddCommands, d.NotInDiff, d.Unclassified)
	}
}

func TestSameRepoTwice(t *testing.T) {
	t.Parallel()
	diff := "diff --git a/lessons/n.md b/lessons/n.md\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ b/lessons/n.md\n@@ -0,0 +1 @@\n+Be brief."
	d := Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: diff}, {Name: "learning", Diff: diff}}}, Options{Canonical: canonical, Classify: byFolder})
	if len(d.Units) != 2 || d.Units[0].ID == d.Units[1].ID || d.Units[1].ID != "shield/lessons/n.md~2" || len(d.Warnings) != 1 {
		t.Errorf("units %+v, warnings %q", unitBriefs(d.Units), d.Warnings)
	}
}

// parseEvidence reads the hunks of a [core.Unit]'s Diff, which is a whole section, or for a passage of a big file only the lines
// around it. A hunk that the cap has cut off is left out.
func parseEvidence(diff string) []Hunk {
	if !strings.HasPrefix(diff, "@@ ") {
		files, _ := ParseDiff(diff)
		if len(files) == 0 {
			return nil
		}
		return files[0].Hunks
	}
	p := &parser{text: diff}
	var out []Hunk
	for p.more() {
		h, ok := p.hunk()
		if !ok {
			break
		}
		out = append(out, h)
	}
	return out
}

func TestEvidenceOfBigFile(t *testing.T) {
	t.Parallel()
	var bullets []string
	for range 300 {
		bullets = append(bullets, "- "+strings.Repeat("filler ", 20)+"ends.")
	}
	bullets[150] = "- The needle is here."
	d := amend(t, nil, map[string]string{"lessons/big.md": longLesson(bullets...)}).derive(true)
	for _, u := range d.Units {
		if len(u.Diff) > 16<<10 {
			t.Fatalf("%s carries %d bytes of evidence", u.ID, len(u.Diff))
		}
		if strings.Contains(u.Text, "needle") {
			hunks := parseEvidence(u.Diff)
			if len(hunks) != 1 || linesOf(hunks[0]) != "+"+u.Text+"|" || hunks[0].NewStart != u.StartLine {
				t.Errorf("evidence %q of %q at %d", u.Diff, u.Text, u.StartLine)
			}
		}
	}
}

// TestEvidenceAround: in a big file that was there before, the lines around a passage are shown too.
func TestEvidenceAround(t *testing.T) {
	t.Parallel()
	before := rules + strings.Repeat("\n# a heading in between\n", 10)
	for i := range 200 {
		before += "#1" + string(rune('a'+i%26)) + " padding without a number, as comments go\n"
	}
	r := amend(t, map[string]string{"invariants.txt": before}, map[string]string{"invariants.txt": strings.ReplaceAll(strings.Replace(before, "Names may", "Names must", 1), "padding", "stuffing")})
	d := r.derive(true)
	if len(d.Units) == 0 || d.Units[0].Anchor != "2" {
		t.Fatalf("units %+v", unitBriefs(d.Units))
	}
	hunks := parseEvidence(d.Units[0].Diff)
	if len(hunks) != 1 || hunks[0].OldStart != 1 || hunks[0].NewLines != 6 || !strings.Contains(linesOf(hunks[0]), "-#2 [style] [P] Names may be long.|+#2 [style] [P] Names must be long.|") {
		t.Errorf("evidence %q", d.Units[0].Diff)
	}
	if len(parseEvidence(edited("a/k", "b/k"))) != 1 || parseEvidence("nothing") != nil {
		t.Error("a whole section is evidence as well")
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("я", 300<<10)
	d := amend(t, nil, map[string]string{"skills/x.md": long}).derive(false)
	u := d.Units[0]
	if len(u.Normative) > maxNormative || len(u.Text) > maxText+len(cutNote) || len(u.Diff) > maxEvidence+len(cutNote) {
		t.Errorf("normative %d, text %d, diff %d bytes", len(u.Normative), len(u.Text), len(u.Diff))
	}
	if strings.Contains(u.Normative, "\ufffd") || strings.Trim(u.Normative, "я") != "" {
		t.Error("a rune was split")
	}
}

// Case J2: however long a text is, its exceptions stay with it.
func TestACounterBehindTheCutIsKept(t *testing.T) {
	t.Parallel()
	const counter = "Counter: the export screen shows local time."
	body := "# Times\n\nTimes are stored in UTC. " + strings.Repeat("Времена хранятся так. ", 8<<10) + "\n\n" + counter + "\n"
	u := amend(t, nil, map[string]string{"skills/times.md": body}).derive(false).Units[0]
	if len(u.Normative) > maxNormative || !strings.Contains(u.Normative, "stored in UTC") || !strings.Contains(u.Normative, "local time") {
		t.Errorf("%d bytes, at the end %q", len(u.Normative), u.Normative[len(u.Normative)-100:])
	}
}
