package guard

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/routing"
)

// TestARenamedFolderCostsAFewGitProcesses: with processes for each file, a thousand moved lessons took minutes on a busy machine.
func TestARenamedFolderCostsAFewGitProcesses(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	eco, bin := t.TempDir(), t.TempDir()
	dir, calls := filepath.Join(eco, "darwin"), filepath.Join(bin, "calls")
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(git, append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	const files = 450
	if err := os.MkdirAll(filepath.Join(dir, "lessons"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		text := fmt.Sprintf("---\ntype: skill\n---\nFile %d has %d words of its own.\n", i, i*7)
		if err := os.WriteFile(filepath.Join(dir, "lessons", fmt.Sprintf("l%03d.md", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	run("add", ".")
	run("commit", "-qm", "base")
	run("mv", "lessons", "memory")
	for i := range files / 9 { // some are edited as well
		name := filepath.Join(dir, "memory", fmt.Sprintf("l%03d.md", i*9))
		text, _ := os.ReadFile(name)
		if err := os.WriteFile(name, append(text, "One more line.\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := core.Manifest{Repos: []core.Repo{{Name: "darwin", Dir: dir, Diff: run("-c", "diff.renameLimit=0", "diff", "HEAD")}}}

	shim := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %q\nexec %q \"$@\"\n", calls, git)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w := work{Guard: New(nil, nil, Options{Ecosystem: eco, Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases()}), job: Job{Manifest: m}}
	w.derive(t.Context())

	edited := 0
	for _, u := range w.units {
		if u.Unit.Type != core.Skill || !strings.HasPrefix(u.Unit.OldPath, "lessons/") {
			t.Fatalf("the type that the file's front matter declares is lost: %+v", u.Unit)
		}
		if u.Unit.Normative != "" {
			edited++
		}
	}
	if len(w.units) != files || edited != files/9 {
		t.Errorf("%d units, %d of them edited", len(w.units), edited)
	}
	log, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte("\n")); n > 12 {
		t.Errorf("%d git processes for %d files", n, files)
	}
}

// TestARepoWithoutACommitGetsNoUselessCommand is case D5: what is listed is not checked, and `git add` would not change that.
func TestARepoWithoutACommitGetsNoUselessCommand(t *testing.T) {
	t.Parallel()
	eco := t.TempDir()
	for _, repo := range []string{"unborn", "born"} {
		dir := filepath.Join(eco, repo)
		for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
			if repo == "unborn" && args[0] != "init" {
				continue
			}
			if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
	}
	files := []string{"lessons/"}
	m := core.Manifest{Repos: []core.Repo{{Name: "unborn", Dir: "/e/unborn", Files: files}, {Name: "born", Dir: "/e/born", Files: files}}}
	w := work{Guard: New(nil, nil, Options{Ecosystem: eco, Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases()}), job: Job{Manifest: m}}
	w.derive(t.Context())
	if got := strings.Join(w.derived.NotInDiff, " "); got != "born/lessons/ unborn/lessons/" {
		t.Errorf("not in the diff: %s", got)
	}
	if got := strings.Join(w.derived.AddCommands, "\n"); got != "git -C /e/born add -N -- lessons/" {
		t.Errorf("commands: %s", got)
	}
	if len(w.warnings) != 1 || !strings.HasPrefix(w.warnings[0], "unborn: the repo has no commit yet") {
		t.Errorf("warnings %q", w.warnings)
	}
}
