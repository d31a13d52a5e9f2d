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
