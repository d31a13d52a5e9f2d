package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// git runs git as a user would, with a configuration of its own.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always",
		"-c", "init.defaultBranch=main", "-c", "safe.directory=*"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var shield = map[string]string{
	"claims/claims.ttl":      "@prefix ex: <http://e/> .\nex:net.v2 ex:text \"Prices are net\" .\nex:broken ex:text \"open .\n",
	"claims/README.md":       "not a claim\n",
	"invariants/core.txt":    "#1 [critical] [O] Times are UTC | Why: zones | Counter: the export screen\n#2\n",
	"invariants.txt":         "#9 Rounded once\n",
	"lessons/урок.ru.md":     "---\nsummary: Границы\n---\nОдна граница.\n",
	"lessons/new\nline.md":   "# L\n\nodd name\n",
	"lessons/picture.png":    "\x89PNG\x00",
	"lessons/blob":           "\x00\x01",
	"lessons/nul.md":         "half\x00written \xff\n",
	"memory/empty.md":        "",
	"memory/long.md":         "# Notes\n\n- " + strings.Repeat("слово ", 300) + "\n- second\n",
	"docs/lessons/not.md":    "elsewhere\n",
	"invariants-of-old.json": "{}",
}

// wantIDs are the items of the shield above.
var wantIDs = []string{
	"shield/claims/claims.ttl#ex:net.v2", "shield/invariants.txt#9", "shield/invariants/core.txt#1",
	"shield/lessons/new\nline.md", "shield/lessons/nul.md", "shield/lessons/урок.ru.md", "shield/memory/long.md#L3", "shield/memory/long.md#L4",
}

// newShield makes a repository with one commit.
func newShield(t testing.TB, init ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shield")
	git(t, filepath.Dir(dir), append(append([]string{"init", "-q"}, init...), dir)...)
	write(t, dir, shield)
	if err := os.Symlink("урок.ru.md", filepath.Join(dir, "lessons/link.md")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "corpus")
	return dir
}

func ids(items []core.Item) (out []string) {
	for _, it := range items {
		out = append(out, it.ID)
	}
	return out
}

func mustRead(t testing.TB, dir string) Snapshot {
	t.Helper()
	snap, err := Read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	write(t, dir, map[string]string{"lessons/uncommitted.md": "not yet\n", "invariants.txt": "#9 Changed here\n#10 Only here\n"})
	snap := mustRead(t, dir)
	if d := cmp.Diff(wantIDs, ids(snap.Items)); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	if snap.Commit != git(t, dir, "rev-parse", "HEAD") {
		t.Errorf("commit %q", snap.Commit)
	}
	want := core.Item{ID: "shield/invariants/core.txt#1", Path: "invariants/core.txt", Anchor: "1", Kind: core.KindInvariant,
		Text:      "#1 [critical] [O] Times are UTC | Why: zones | Counter: the export screen",
		Normative: "[O] Times are UTC\nCounter: the export screen", StartLine: 1, EndLine: 1, Blob: git(t, dir, "rev-parse", "HEAD:invariants/core.txt")}
	if d := cmp.Diff(want, snap.Items[2]); d != "" {
		t.Errorf("item (-want +got):\n%s", d)
	}
	if len(snap.Faults) != 1 || snap.Faults[0].Path != "claims/claims.ttl" || snap.Faults[0].Line != 3 {
		t.Errorf("faults %v", snap.Faults)
	}
	kinds := map[core.Kind]int{}
	for _, it := range snap.Items {
		kinds[it.Kind]++
	}
	if d := cmp.Diff(map[core.Kind]int{core.KindClaim: 1, core.KindInvariant: 2, core.KindLesson: 3, core.KindMemory: 2}, kinds); d != "" {
		t.Error(d)
	}
}

func TestReadAgain(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	first := mustRead(t, dir)
	known := Known(filesOf(first), first.Faults)
	git(t, dir, "rm", "-q", "invariants.txt")
	write(t, dir, map[string]string{"lessons/nul.md": "whole now\n", "memory/more.md": "And more.\n"})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "more")
	snap, err := Read(t.Context(), dir, known)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"claims/claims.ttl", "lessons/blob", "lessons/nul.md", "memory/empty.md", "memory/more.md"}, snap.Read); d != "" {
		t.Error(d) // what is faulty, what holds no item, and what is new
	}
	if snap.Reused != 4 || snap.Files != 9 || !slices.Equal(snap.Gone, []string{"invariants.txt"}) {
		t.Errorf("reused %d of %d files, gone %q", snap.Reused, snap.Files, snap.Gone)
	}
	if len(snap.Faults) != 1 {
		t.Errorf("faults %v", snap.Faults)
	}
	if d := cmp.Diff([]string{"shield/claims/claims.ttl#ex:net.v2", "shield/lessons/nul.md", "shield/memory/more.md"}, ids(snap.Items)); d != "" {
		t.Error(d)
	}
}

// filesOf is what is kept of a snapshot: the files that hold an item.
func filesOf(s Snapshot) map[string]string {
	out := map[string]string{}
	for _, it := range s.Items {
		out[it.Path] = it.Blob
	}
	return out
}

// TestKinds reads the same corpus from the kinds of repositories that users have.
func TestKinds(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T) string{
		"linked worktree": func(t *testing.T) string {
			tree := filepath.Join(t.TempDir(), "tree")
			git(t, newShield(t), "worktree", "add", "-q", "--detach", tree)
			return tree
		},
		"alternates": func(t *testing.T) string {
			clone := filepath.Join(t.TempDir(), "clone")
			git(t, ".", "clone", "-q", "--shared", newShield(t), clone)
			return clone
		},
		"sparse checkout": func(t *testing.T) string {
			dir := newShield(t)
			git(t, dir, "sparse-checkout", "set", "docs")
			if _, err := os.Stat(filepath.Join(dir, "lessons")); !os.IsNotExist(err) {
				t.Fatalf("lessons are still there: %v", err)
			}
			return dir
		},
		"SHA-256": func(t *testing.T) string { return newShield(t, "--object-format=sha256") },
		"bare": func(t *testing.T) string {
			clone := filepath.Join(t.TempDir(), "bare.git")
			git(t, ".", "clone", "-q", "--bare", newShield(t), clone)
			return clone
		},
		"partial clone": func(t *testing.T) string { _, clone := partial(t); return clone },
		"behind a symbolic link": func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(newShield(t), link); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"hostile configuration": func(t *testing.T) string {
			dir := newShield(t)
			git(t, dir, "config", "core.quotePath", "true")
			git(t, dir, "config", "core.pager", "false")
			git(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(dir, "ran"))
			t.Cleanup(func() {
				if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
					t.Error("a program of the repository's configuration was run")
				}
			})
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			snap := mustRead(t, prepare(t))
			if d := cmp.Diff(wantIDs, ids(snap.Items)); d != "" {
				t.Errorf("items (-want +got):\n%s", d)
			}
			if len(snap.Faults) != 1 {
				t.Errorf("faults %v", snap.Faults)
			}
		})
	}
}

// partial makes a clone without the contents of files.
func partial(t *testing.T) (remote, clone string) {
	remote, clone = newShield(t), filepath.Join(t.TempDir(), "clone")
	git(t, remote, "config", "uploadpack.allowFilter", "true")
	git(t, remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	git(t, ".", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+remote, clone)
	return remote, clone
}

// TestPartialCloneWithoutRemote keeps what is there and reports what is not.
func TestPartialCloneWithoutRemote(t *testing.T) {
	t.Parallel()
	remote, clone := partial(t)
	git(t, clone, "cat-file", "-p", "HEAD:invariants.txt") // fetched
	git(t, clone, "cat-file", "-p", "HEAD:memory/long.md")
	if err := os.Rename(remote, remote+"-gone"); err != nil {
		t.Fatal(err)
	}
	snap := mustRead(t, clone)
	if d := cmp.Diff([]string{"shield/invariants.txt#9", "shield/memory/long.md#L3", "shield/memory/long.md#L4"}, ids(snap.Items)); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	missing := 0
	for _, f := range snap.Faults {
		if f.Path == "" || !strings.Contains(f.What, "not in this clone") {
			t.Errorf("fault %+v", f)
		}
		missing++
	}
	if missing != 7 {
		t.Errorf("%d faults: %v", missing, snap.Faults)
	}
}

func TestForeignOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	theirs := newShield(t)
	err := filepath.WalkDir(theirs, func(p string, _ os.DirEntry, err error) error { return errors.Join(err, os.Lchown(p, nobody, nobody)) })
	if err != nil {
		t.Fatal(err)
	}
	plain := exec.Command("git", "-C", theirs, "rev-parse", "HEAD")
	plain.Env = environment(theirs)
	if plain.Run() == nil {
		t.Error("git trusts the folder anyway: this test proves nothing")
	}
	if d := cmp.Diff(wantIDs, ids(mustRead(t, theirs).Items)); d != "" {
		t.Error(d)
	}
	// The other way round: a user without rights reads what belongs to root.
	ours := newShield(t)
	for p := filepath.Dir(ours); p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	repo := Open(ours)
	repo.as = &syscall.Credential{Uid: nobody, Gid: nobody}
	snap, err := read(t.Context(), repo, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wantIDs, ids(snap.Items)); d != "" {
		t.Error(d)
	}
}

func TestNoCorpus(t *testing.T) {
	t.Parallel()
	unborn := t.TempDir()
	git(t, unborn, "init", "-q")
	inside := filepath.Join(newShield(t), "lessons")
	for _, c := range []struct {
		dir  string
		want error
	}{
		{unborn, ErrNoCommits},
		{t.TempDir(), ErrNotARepo},
		{filepath.Join(unborn, "missing"), ErrNotARepo},
		{inside, ErrNotARepo}, // a folder of another repository is no repository
	} {
		_, err := Read(t.Context(), c.dir, nil)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.dir) || len(err.Error()) > 3*maxStderr {
			t.Errorf("%s: %v, want %v", c.dir, err, c.want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Read(ctx, unborn, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	empty := t.TempDir()
	git(t, empty, "init", "-q")
	git(t, empty, "commit", "-q", "--allow-empty", "-m", "nothing")
	if snap := mustRead(t, empty); len(snap.Items) != 0 || snap.Commit == "" {
		t.Errorf("%+v", snap)
	}
}

func TestHugeFile(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	write(t, dir, map[string]string{"lessons/huge.md": strings.Repeat("слово ", MaxFile/11+1), "lessons/zz.md": "after it\n"})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "huge")
	snap := mustRead(t, dir)
	if len(snap.Items) != len(wantIDs)+1 || len(snap.Faults) != 2 || snap.Faults[1].Path != "lessons/huge.md" || snap.Faults[1].Line != 0 {
		t.Errorf("items %q, faults %v", ids(snap.Items), snap.Faults)
	}
}

// TestAFileThatBecomesUnreadableKeepsItsLastItems: half a corpus would silently miss contradictions.
func TestAFileThatBecomesUnreadableKeepsItsLastItems(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	first := mustRead(t, dir)
	write(t, dir, map[string]string{
		"invariants.txt":      strings.Repeat("#9 [O] too much\n", MaxFile/16+1),
		"lessons/nul.md":      "\xff\xfeR\x00u\x00l\x00e\x00",
		"lessons/newcomer.md": "R\x00u\x00l\x00e\x00 \x00o\x00n\x00e\x00",
	})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "unreadable")
	snap, err := Read(t.Context(), dir, Known(filesOf(first), first.Faults))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"invariants.txt", "lessons/nul.md"} {
		if slices.Contains(snap.Read, path) || slices.Contains(snap.Gone, path) {
			t.Errorf("the items of %s would be dropped: read %q, gone %q", path, snap.Read, snap.Gone)
		}
	}
	var said []string
	for _, f := range snap.Faults {
		said = append(said, fmt.Sprintf("%s %d %v", f.Path, f.Line, strings.HasSuffix(f.What, "its last good version stays in use")))
	}
	want := []string{"claims/claims.ttl 3 false", "invariants.txt 0 true", "lessons/newcomer.md 0 false", "lessons/nul.md 0 true"}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	for _, it := range snap.Items {
		if it.Path != "claims/claims.ttl" {
			t.Errorf("item %+v", it)
		}
	}
}

func TestHeadFileAndText(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	repo := Open(dir)
	for _, name := range []string{"lessons/урок.ru.md", "lessons/new\nline.md", "docs/lessons/not.md"} {
		write(t, dir, map[string]string{name: "changed since\n"})
		text, blob, err := repo.HeadFile(t.Context(), name)
		if err != nil || string(text) != shield[name] || blob != git(t, dir, "rev-parse", "HEAD:"+name) {
			t.Errorf("HeadFile(%q) = %q, %s, %v", name, text, blob, err)
		}
		for range 2 { // the second time it was read ahead
			for _, abbrev := range []string{blob[:7], ""} {
				if got, ok := repo.Text(t.Context(), name, abbrev); !ok || got != shield[name] {
					t.Errorf("Text(%q, %q) = %q, %t", name, abbrev, got, ok)
				}
			}
			repo.Ahead(t.Context(), []string{name, "none.md", "lessons/nul.md"}, []string{blob[:7], "", "0000000"})
		}
		for _, other := range []string{"000", "0000000", blob + "0"} {
			if _, ok := repo.Text(t.Context(), name, other); ok {
				t.Errorf("Text(%q, %q) found something", name, other)
			}
		}
	}
	for _, name := range []string{"lessons", "lessons/", "lessons/link.md", "*", "none.md", "", "/etc/passwd", "../x"} {
		if _, _, err := repo.HeadFile(t.Context(), name); err == nil {
			t.Errorf("HeadFile(%q) found something", name)
		}
		if _, ok := repo.Text(t.Context(), name, ""); ok {
			t.Errorf("Text(%q) found something", name)
		}
	}
	if _, _, err := repo.HeadFile(t.Context(), "none.md"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	dir := newShield(t)
	small, tree := git(t, dir, "rev-parse", "HEAD:invariants.txt"), git(t, dir, "rev-parse", "HEAD:lessons")
	long, none := git(t, dir, "rev-parse", "HEAD:memory/long.md"), strings.Repeat("ab", 20)
	got, bad := map[string]string{}, map[string]string{}
	err := Open(dir).each(t.Context(), []string{long, none, tree, small}, 100, func(id string, data []byte, problem string) {
		if problem != "" {
			bad[id] = problem
			return
		}
		got[id] = string(data)
	})
	if err != nil || len(got) != 1 || got[small] != shield["invariants.txt"] || len(bad) != 3 {
		t.Errorf("%q %v %v", got, bad, err)
	}
	if err := Open(dir).each(t.Context(), []string{"HEAD:invariants.txt"}, 100, nil); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("a name instead of an id: %v", err)
	}
}

// TestHangingRemote: a promisor remote that never answers ends with the context, and its processes with it.
func TestHangingRemote(t *testing.T) {
	t.Parallel()
	_, clone := partial(t)
	mark := filepath.Join(t.TempDir(), "upload")
	write(t, filepath.Dir(mark), map[string]string{"upload": "#!/bin/sh\necho $$ > " + mark + ".pid\nsleep 60\n"})
	if err := os.Chmod(mark, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "config", "remote.origin.uploadpack", mark)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	start := time.Now()
	if _, err := Read(ctx, clone, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	raw, err := os.ReadFile(mark + ".pid")
	if err != nil {
		t.Fatalf("the remote was never asked: %v", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(raw), &pid); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(state), ") Z") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("process %d outlived its context", pid)
}

// BenchmarkRead measures 2,000 files, all new and all known.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	git(b, dir, "init", "-q")
	files := map[string]string{}
	for i := range 2000 {
		files[fmt.Sprintf("lessons/%04d.md", i)] = fmt.Sprintf("# Lesson %d\n\n%s\n", i, strings.Repeat("слово ", 100))
	}
	write(b, dir, files)
	git(b, dir, "add", "-A")
	git(b, dir, "commit", "-q", "-m", "many")
	snap := mustRead(b, dir)
	for name, known := range map[string]map[string]string{"new": nil, "known": filesOf(snap)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(b.Context(), dir, known); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
