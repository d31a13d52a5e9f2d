package guard

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/corpus"
	"storozh/core/routing"
	"storozh/core/units"
)

// TestBothSidesSplitAlike: a new file gives the same passages, under the same ids and with the same binding text, as a unit before the commit
// and as an item behind it. Otherwise a unit could meet itself.
func TestBothSidesSplitAlike(t *testing.T) {
	t.Parallel()
	pieces := []string{"#1 ", "#2 ", "#1 ", "\n", "\n", "\n\n", "  ", "- ", "# ", "## Правила\n", "```\n", "---\n", "===\n", "summary: a: b\n", " | Why: ", " | Counter: ", "ex:a ",
		"ex:b ", "\"s\" ", "\"\"\"", ". ", "; ", ", ", "<http://x/> ", "@prefix ex: <urn:x> .\n", "> ", "привет ", "\r\n", "<!--", "-->", "[O] ", "\xfd\xd0\xfd", "\xe2\x82", strings.Repeat("слова and words ", 60)}
	names := []string{"lessons/l%d.md", "claims/c%d.ttl", "invariants/i%d.txt", "memory/m%d.ru.md", "lessons/no-ending-%d"}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "empty")
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 300 {
		var text strings.Builder
		for range 1 + r.IntN(40) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		name := filepath.Join(dir, fmt.Sprintf(names[i%len(names)], i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-N", ".")
	lines := strings.Split(strings.TrimSuffix(git("diff", "--no-renames", "HEAD"), "\n"), "\n")
	for i := range lines { // as mirabilis captures it
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	diff := string([]rune(strings.Join(lines, "\n"))) // and writes it as JSON
	d := units.Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: diff}}}, units.Options{Classify: routing.DefaultRules().Classify})
	git("add", ".")
	git("commit", "-q", "-m", "all")
	snap, err := corpus.Read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asUnits, asItems []string
	for _, u := range d.Units {
		if u.Normative != "" {
			asUnits = append(asUnits, fmt.Sprintf("%s %d %q %q", u.ID, u.StartLine, u.Title, u.Normative))
		}
	}
	for _, it := range snap.Items {
		asItems = append(asItems, fmt.Sprintf("%s %d %q %q", it.ID, it.StartLine, it.Title, it.Normative))
	}
	slices.Sort(asUnits)
	slices.Sort(asItems)
	if diff := cmp.Diff(asItems, asUnits); diff != "" || len(asItems) < 150 {
		t.Errorf("%d items (-items +units):\n%s", len(asItems), diff)
	}
}
