package units

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// TestTextThatWasNotReadIsWarnedOf: a lesson that git takes for binary, or that a merge left in pieces, has nothing to judge. Without a word
// about it the manifest would be "all ok".
func TestTextThatWasNotReadIsWarnedOf(t *testing.T) {
	t.Parallel()
	utf16 := "\xff\xfeR\x00u\x00l\x00e\x00\n\x00"
	r := amend(t, map[string]string{"lessons/wide.md": utf16, "hooks/pic.bin": "\x00a", "lessons/attr.md": "Rule.\n", ".gitattributes": "lessons/attr.md -diff\n"},
		map[string]string{"lessons/wide.md": utf16 + "x\x00", "hooks/pic.bin": "\x00b", "lessons/attr.md": "Another rule.\n"})
	d := r.derive(true)
	if len(d.Units) != 3 || len(d.Warnings) != 2 || !strings.HasPrefix(d.Warnings[0], "shield/lessons/attr.md: ") || !strings.HasPrefix(d.Warnings[1], "shield/lessons/wide.md: ") {
		t.Errorf("units %v, warnings %q", unitBriefs(d.Units), d.Warnings)
	}
}

func TestAnUnfinishedMergeIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("lessons/k.md", "base\n")
	r.write("hooks/h.sh", "base\n")
	r.git("add", ".")
	r.git("commit", "-qm", "base")
	for _, side := range []string{"theirs", "ours"} {
		r.git("checkout", "-qB", side, "main")
		r.write("lessons/k.md", side+" say a rule\n")
		r.write("hooks/h.sh", side+"\n")
		r.git("commit", "-qam", side)
	}
	cmd := exec.Command("git", "merge", "theirs")
	cmd.Dir = r.dir
	if cmd.Run() == nil {
		t.Fatal("the merge should conflict")
	}
	d := r.derive(true)
	want := []string{"shield/lessons/k.md: it holds the marks of a merge conflict; both sides were checked as they stand"}
	if diff := cmp.Diff(want, d.Warnings); diff != "" {
		t.Error(diff)
	}
	noted := Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: "* Unmerged path lessons/k.md\n* Unmerged path hooks/h.sh\n", Files: []string{"lessons/k.md", "hooks/h.sh"}}}},
		Options{Classify: byFolder})
	if len(noted.Units) != 2 || len(noted.Warnings) != 2 {
		t.Errorf("units %v, warnings %q", unitBriefs(noted.Units), noted.Warnings)
	}
}

// TestACutDiffGivesNoUselessCommand: what stood behind the cut is not untracked, and `git add` would not bring it in.
func TestACutDiffGivesNoUselessCommand(t *testing.T) {
	t.Parallel()
	r := amend(t, map[string]string{"lessons/m.md": "old\n", "lessons/z.md": "old\n"}, map[string]string{"lessons/z.md": "new rule\n"})
	r.write("lessons/m.md", "A rule.\n"+strings.Repeat("x", 1<<20)+"\n")
	r.write("lessons/a.md", "untracked\n")
	h := r.harvest("shield")
	h.Diff = h.Diff[:strings.Index(h.Diff, "\n+xxx")]
	d := Derive(core.Manifest{Repos: []core.Repo{h}}, Options{Classify: byFolder})
	if diff := cmp.Diff([]string{"shield/lessons/a.md", "shield/lessons/z.md"}, d.NotInDiff); diff != "" {
		t.Error(diff)
	}
	if len(d.AddCommands) != 1 || !strings.HasSuffix(d.AddCommands[0], " add -N -- lessons/a.md") {
		t.Errorf("commands %q", d.AddCommands)
	}
	if len(d.Warnings) != 2 || !strings.Contains(d.Warnings[1], "stopped reading the diff in lessons/m.md") {
		t.Errorf("warnings %q", d.Warnings)
	}
}
