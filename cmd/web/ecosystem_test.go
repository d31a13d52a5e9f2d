package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ecosystem is a folder of real git repos in a machine's home, where the dashboard looks for them.
type ecosystem struct {
	t    *testing.T
	home string
}

// invariants is a small corpus at HEAD; three neighbours for everything.
const invariants = "#1 [critical] [F] deploy on a Friday | Why: nobody is there on Saturday\n" +
	"#2 [important] [O] tests run before every merge | Why: red main\n" +
	"#3 [important] [O] store all timestamps in UTC | Counter: the export screen shows local time\n"

func (m machine) ecosystem(head map[string]string) ecosystem {
	m.t.Helper()
	e := ecosystem{m.t, m.home}
	for name, text := range head {
		e.write(name, text)
	}
	for _, dir := range e.repos() {
		e.commit(dir)
	}
	if err := os.MkdirAll(filepath.Dir(e.manifestFile()), 0o700); err != nil {
		m.t.Fatal(err)
	}
	return e
}

func (e ecosystem) commit(dir string) {
	e.t.Helper()
	e.git(dir, "init", "-q", "-b", "main")
	e.git(dir, "add", "-A")
	e.git(dir, "commit", "-q", "--allow-empty", "-m", "state")
}

func (e ecosystem) manifestFile() string {
	return filepath.Join(e.home, ".claude", "changeset-manifest.json")
}

func (e ecosystem) repos() []string {
	e.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(e.home, "ecosystem", "*"))
	if err != nil {
		e.t.Fatal(err)
	}
	return dirs
}

// write puts a text at `<repo>/<path>`.
func (e ecosystem) write(name, text string) {
	e.t.Helper()
	p := filepath.Join(e.home, "ecosystem", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e ecosystem) git(dir string, args ...string) string {
	e.t.Helper()
	cmd := exec.CommandContext(e.t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=tester", "-c", "user.email=tester@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		e.t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

// stop does what happens when an agent session stops: everything that changed goes into the watched manifest file. It gives the bytes.
func (e ecosystem) stop(session, stamp string) []byte {
	e.t.Helper()
	type repo struct {
		Name  string   `json:"name"`
		Dir   string   `json:"dir"`
		Diff  string   `json:"diff"`
		Files []string `json:"files"`
	}
	var repos []repo
	for _, dir := range e.repos() {
		e.git(dir, "add", "-A", "-N")
		r := repo{Name: filepath.Base(dir), Dir: dir, Diff: strings.TrimSuffix(e.git(dir, "diff", "HEAD"), "\n")}
		for line := range strings.SplitSeq(e.git(dir, "status", "--porcelain"), "\n") {
			if len(line) > 3 {
				r.Files = append(r.Files, line[3:])
			}
		}
		if r.Diff != "" {
			repos = append(repos, r)
		}
	}
	raw, err := json.MarshalIndent(map[string]any{
		"sessionId": session, "timestamp": stamp, "repos": repos,
		"session": map[string]string{"transcriptMinusTools": "user: запиши, чему мы научились\nassistant: done <script>window.__pwned=1</script>, see lessons"},
	}, "", "  ")
	if err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(e.manifestFile(), raw, 0o600); err != nil {
		e.t.Fatal(err)
	}
	return raw
}
