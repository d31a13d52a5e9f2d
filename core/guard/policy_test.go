package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/routing"
)

// TestAMovedPolicyAndItsNames: STOROZH_POLICY may name another file, and STOROZH_ALIASES names that only this house uses.
func TestAMovedPolicyAndItsNames(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "heredity")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	file := filepath.Join(dir, "laws", "registry.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "```\r\nrouting-policy\r\n lesson|invariant → classroom (α_S)\r\n skill|agent|hook → neuro-matrix\r\n sandbox-mechanism|state → mirabilis\r\n" +
		" genome|meta → heredity\r\nlane-map\r\n mirabilis, neuro-matrix = code-lane\r\n heredity, shield = knowledge-lane\r\n```\r\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "laws")
	aliases, err := routing.ParseAliases("classroom=shield,heredity=darwin")
	if err != nil {
		t.Fatal(err)
	}
	p, warning := loadPolicy(t.Context(), file, aliases)
	if home, _ := p.Home(core.Lesson); home != core.Shield || p.Lane(core.Darwin) != routing.KnowledgeLane || warning != "" || !strings.HasPrefix(p.Source, file) {
		t.Errorf("home %q, lane %q, source %q, warning %q", home, p.Lane(core.Darwin), p.Source, warning)
	}
	for path, want := range map[string]bool{"laws/registry.md": true, routing.PolicyPath: false} {
		w := work{Guard: New(nil, nil, Options{PolicyPath: file, Aliases: aliases})}
		w.derived.Units = []core.Unit{{Repo: core.Darwin, Path: path}}
		if got := w.touchesPolicy(); (got != "") != want {
			t.Errorf("%s: warning %q", path, got)
		}
	}
}
