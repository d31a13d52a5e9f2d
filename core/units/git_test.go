package units

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// gitRepo is a real repository in a temporary folder.
type gitRepo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB) gitRepo {
	t.Helper()
	r := gitRepo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.name", "Tester")
	r.git("config", "user.email", "tester@example.org")
	return r
}

func (r gitRepo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

func (r gitRepo) write(name, text string) {
	r.t.Helper()
	p := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// harvest is the manifest entry that mirabilis would write: lines read one by one, a final carriage return dropped, joined without
// a final newline; names from the porcelain status, cut at the first arrow.
func (r gitRepo) harvest(name string) core.Repo {
	r.t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.git("diff", "HEAD"), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	out := core.Repo{Name: name, Dir: r.dir, Diff: strings.Join(lines, "\n")}
	for _, l := range strings.Split(r.git("status", "--porcelain"), "\n") {
		if len(l) <= 3 {
			continue
		}
		f := strings.TrimSpace(l[3:])
		if _, after, ok := strings.Cut(f, " -> "); ok {
			f = after
		}
		out.Files = append(out.Files, f)
	}
	return out
}

func prose(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s line %d says something of its own\n", word, i)
	}
	return b.String()
}

// oddNames are file names that have broken parsers of diffs.
var oddNames = []string{
	"plain.md", "with space.md", "план.md", `quo"te.md`, "tab\there.md", "new\nline.md", "notes -> old.md", "src/a b/k.go", "a/b/a.md",
	"b/x.md", "back\\slash.md", "ünï 日本.md", "trailing space ",
}

// busy makes every kind of change at once.
func busy(t testing.TB) gitRepo {
	r := newRepo(t)
	for i, n := range oddNames {
		r.write("edit/"+n, prose(20, fmt.Sprint("e", i))+"\n"+prose(5, "tail"))
		r.write("gone/"+n, prose(3, fmt.Sprint("g", i)))
		r.write("move/"+n, prose(12, fmt.Sprint("m", i)))
	}
	r.write("pic.bin", "\x00\x01old")
	r.write("gone.bin", "\x00\x01gone")
	r.write("run.sh", "#!/bin/sh\necho run\n")
	r.write("kind", "a regular file\nwith two lines\n")
	r.write("header.md", "-- old note\n++ keep\n"+prose(12, "mid")+"-- last\n")
	r.write("empty-gone", "")
	r.write("copied.md", prose(30, "copy"))
	r.git("init", "-q", "sub")
	s := gitRepo{t, filepath.Join(r.dir, "sub")}
	s.git("config", "user.name", "Tester")
	s.git("config", "user.email", "tester@example.org")
	s.write("q", "1\n")
	s.git("add", ".")
	s.git("commit", "-qm", "one")
	r.git("add", ".")
	r.git("commit", "-qm", "base")

	for i, n := range oddNames {
		r.write("edit/"+n, prose(10, fmt.Sprint("e", i))+"-- changed\n"+prose(20, fmt.Sprint("e", i))[200:]+"\n")
		r.git("rm", "-q", "--", "gone/"+n)
		r.git("mv", "--", "move/"+n, "moved "+fmt.Sprint(i)+" "+filepath.Base(n))
		r.write("fresh/"+n, prose(4, fmt.Sprint("f", i)))
	}
	r.write("pic.bin", "\x00\x01new")
	r.write("fresh.bin", "\x00\x01fresh")
	r.git("rm", "-q", "gone.bin", "empty-gone")
	r.write("empty-fresh", "")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, "kind")); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"kind": "run.sh", "link": "header.md"} {
		if err := os.Symlink(to, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r.write("header.md", "++ keep\n"+prose(12, "mid"))
	r.write("copied.md", prose(30, "copy")+"more\n")
	r.write("the copy.md", prose(30, "copy")+"less\n")
	s.write("q", "2\n")
	s.git("commit", "-qam", "two")
	s.write("q", "3\n")
	r.git("add", "-A")
	s.write("untracked", "u\n")
	return r
}

// truth is what git says about the changes in its own machine form.
func (r gitRepo) truth() []string {
	r.t.Helper()
	fields := strings.Split(strings.TrimSuffix(r.git("diff", "HEAD", "--raw", "-z"), "\x00"), "\x00")
	binary := map[string]bool{"pic.bin": true, "fresh.bin": true}
	var out []string
	for i := 0; i < len(fields); {
		meta := strings.Fields(fields[i])
		status, newMode := meta[4][:1], meta[1]
		old, path := "", fields[i+1]
		i += 2
		if status == "R" || status == "C" {
			old, path = path, fields[i]
			i++
		}
		action := map[string]core.Action{
			"A": core.Added, "D": core.Removed, "M": core.Edited, "R": core.Renamed, "C": core.Copied, "T": core.Edited, "U": core.Unmerged,
		}[status]
		switch {
		case status == "D":
		case newMode == "160000":
			action = core.Submodule
		case newMode == "120000":
			action = core.Symlink
		case binary[path]:
			action = core.Binary
		case status == "M" && path == "run.sh":
			action = core.ModeOnly
		}
		out = append(out, fmt.Sprintf("%q from %q: %s", path, old, action))
	}
	sort.Strings(out)
	return out
}

func derived(files []File) []string {
	stands := map[string]bool{}
	for _, f := range files {
		stands[f.Path] = stands[f.Path] || f.Action != core.Removed
	}
	var out []string
	for _, f := range files {
		if f.Action == core.Removed && stands[f.Path] {
			continue // a change of type is a deletion and a creation
		}
		out = append(out, fmt.Sprintf("%q from %q: %s", f.Path, f.OldPath, f.Action))
	}
	sort.Strings(out)
	return out
}

// settings are the user's settings that change what a diff looks like (C1).
var settings = map[string][]string{
	"default":        nil,
	"noprefix":       {"diff.noprefix=true"},
	"mnemonic":       {"diff.mnemonicPrefix=true"},
	"suppressBlank":  {"diff.suppressBlankEmpty=true"},
	"colour":         {"color.ui=always"},
	"colour moved":   {"color.ui=always", "diff.colorMoved=zebra", "diff.wsErrorHighlight=all"},
	"no context":     {"diff.context=0"},
	"much context":   {"diff.context=100", "diff.interHunkContext=100"},
	"submodule log":  {"diff.submodule=log"},
	"submodule diff": {"diff.submodule=diff"},
	"copies":         {"diff.renames=copies"},
	"no renames":     {"diff.renames=false"},
	"plain names":    {"core.quotePath=false"},
	"everything":     {"diff.noprefix=true", "color.ui=always", "diff.context=0", "diff.submodule=log", "diff.renames=copies", "diff.suppressBlankEmpty=true", "core.quotePath=false"},
	"long ids":       {"core.abbrev=40", "diff.algorithm=histogram", "diff.mnemonicPrefix=true", "diff.submodule=diff"},
}

func TestRealGit(t *testing.T) {
	t.Parallel()
	r := busy(t)
	for name, config := range settings {
		r.git("config", "--local", "include.path", r.include(config))
		h := r.harvest("shield")
		files, warnings := ParseDiff(h.Diff)
		if d := cmp.Diff(r.truth(), derived(files)); d != "" {
			t.Errorf("%s: git and ParseDiff disagree (-git +ours):\n%s", name, d)
		}
		if len(warnings) > 0 {
			t.Errorf("%s: warnings %q", name, warnings)
		}
		for _, f := range files {
			if f.Cut {
				t.Errorf("%s: %s counts as cut", name, f.Path)
			}
			if f.Path == "header.md" && !strings.Contains(linesOf(f.Hunks[0]), "--- old note|") {
				t.Errorf("%s: the deleted line that looks like a header is gone: %q", name, linesOf(f.Hunks[0]))
			}
		}
		r.applied(name, files)
		d := Derive(core.Manifest{Repos: []core.Repo{h}}, Options{Classify: allLessons})
		if len(d.NotInDiff) > 0 {
			t.Errorf("%s: everything is in the diff, listed as missing: %q", name, d.NotInDiff)
		}
	}
}

// applied checks that HEAD with the hunks applied is what lies in the work tree.
func (r gitRepo) applied(setting string, files []File) {
	r.t.Helper()
	n := 0
	for _, f := range files {
		if f.Action != core.Edited && (f.Action != core.Renamed || len(f.Hunks) == 0) {
			continue
		}
		old := f.Path
		if f.OldPath != "" {
			old = f.OldPath
		}
		head, ok := r.head("", old, f.OldBlob)
		if !ok {
			r.t.Fatalf("%s: no HEAD text for %q, blob %s", setting, old, f.OldBlob)
		}
		v, ok := wholeView(head, f.Hunks)
		if !ok {
			r.t.Errorf("%s: the hunks of %q do not fit HEAD", setting, f.Path)
			continue
		}
		now, err := os.ReadFile(filepath.Join(r.dir, f.Path))
		if err != nil {
			r.t.Fatal(err)
		}
		if v.after.text()+"\n" != string(now) || v.before.text()+"\n" != head {
			r.t.Errorf("%s: %q: the texts differ from git's", setting, f.Path)
		}
		n++
	}
	if n < len(oddNames) {
		r.t.Errorf("%s: only %d files were applied", setting, n)
	}
}

// include writes a config file outside the work tree and returns its path.
func (r gitRepo) include(config []string) string {
	r.t.Helper()
	p := filepath.Join(r.dir, ".git", "extra")
	var b strings.Builder
	for _, c := range config {
		key, value, _ := strings.Cut(c, "=")
		section, name, _ := strings.Cut(key, ".")
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, name, value)
	}
	if err := os.WriteFile(p, []byte(b.String()), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return p
}

func allLessons(_, path, _ string) (core.UnitType, string, bool) { return core.Lesson, "", true }

func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	r := busy(t)
	for _, name := range []string{"default", "noprefix", "submodule log", "everything"} {
		r.git("config", "--local", "include.path", r.include(settings[name]))
		diff := r.harvest("shield").Diff
		full, _ := ParseDiff(diff)
		known := map[string]bool{"": true}
		for _, f := range full {
			known[f.Path], known[f.OldPath] = true, true
		}
		for n := range diff {
			line := diff[strings.LastIndexByte(diff[:n], '\n')+1:]
			if strings.IndexByte("+- \x1b", line[0]) >= 0 && n%29 != 0 {
				continue // inside content a sample is enough
			}
			files, _ := ParseDiff(diff[:n])
			for _, f := range files {
				if !known[f.Path] || !known[f.OldPath] {
					t.Fatalf("%s: cut at byte %d invents %q from %q:\n…%s", name, n, f.Path, f.OldPath, diff[max(0, n-200):n])
				}
			}
			if n%97 == 0 {
				Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: diff[:n]}}}, Options{Classify: allLessons})
			}
		}
	}
}

func TestRealConflict(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("lessons/k.md", "base\n")
	r.git("add", ".")
	r.git("commit", "-qm", "base")
	r.git("checkout", "-q", "-b", "theirs")
	r.write("lessons/k.md", "theirs\n")
	r.git("commit", "-qam", "theirs")
	r.git("checkout", "-q", "main")
	r.git("rm", "-q", "lessons/k.md")
	r.git("commit", "-qm", "ours")
	cmd := exec.Command("git", "merge", "theirs")
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if cmd.Run() == nil {
		t.Fatal("the merge should conflict")
	}
	if err := os.Remove(filepath.Join(r.dir, "lessons/k.md")); err != nil {
		t.Fatal(err)
	}
	h := r.harvest("shield")
	d := Derive(core.Manifest{Repos: []core.Repo{h}}, Options{Classify: allLessons})
	// HEAD and the work tree agree that there is no such file; only the status knows of the conflict.
	if diff := cmp.Diff([]string{"shield/lessons/k.md"}, d.NotInDiff); h.Diff != "" || diff != "" {
		t.Errorf("diff %q, not in diff (-want +got):\n%s", h.Diff, diff)
	}
}
