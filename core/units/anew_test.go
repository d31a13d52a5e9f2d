package units

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// TestAFileThatStandsAnewIsNotInTheDiff: a moved or unstaged file's old path can hold a new, untracked text, which the diff lacks. It must
// be listed, or nobody hears that it was not checked.
func TestAFileThatStandsAnewIsNotInTheDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config []string
		again  []string // old paths that stand again
		want   []string
	}{
		"both":              {nil, []string{"lessons/kept.md", "lessons/b.md"}, []string{"shield/lessons/b.md", "shield/lessons/kept.md"}},
		"none":              {nil, nil, nil},
		"no status renames": {[]string{"status.renames=false"}, nil, nil},
		"odd settings": {[]string{"status.renames=false", "diff.noprefix=true", "color.ui=always"}, []string{"lessons/kept.md", "lessons/b.md"},
			[]string{"shield/lessons/b.md", "shield/lessons/kept.md"}},
	} {
		r := amend(t, map[string]string{"lessons/kept.md": "Was tracked.\n", "lessons/b.md": prose(9, "b"), "lessons/z.md": "z\n"},
			map[string]string{"lessons/z.md": "z changed\n"})
		r.git("config", "include.path", r.include(c.config))
		r.git("rm", "-q", "--cached", "lessons/kept.md")
		if err := os.Remove(filepath.Join(r.dir, "lessons/kept.md")); err != nil {
			t.Fatal(err)
		}
		r.git("mv", "lessons/b.md", "lessons/c.md")
		for _, p := range c.again {
			r.write(p, "A new rule at the old place.\n")
		}
		h := r.harvest("shield")
		d := Derive(core.Manifest{Repos: []core.Repo{h}}, Options{Classify: byFolder})
		if diff := cmp.Diff(c.want, d.NotInDiff); diff != "" {
			t.Errorf("%s: files %q: not in the diff (-want +got):\n%s", name, h.Files, diff)
		}
		if len(d.AddCommands) != min(1, len(c.want)) {
			t.Errorf("%s: commands %q", name, d.AddCommands)
		}
	}
}
