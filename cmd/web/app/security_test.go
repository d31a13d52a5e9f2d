package app

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each promise of SECURITY.md names tests, and each of them exists: a row without one, or with one that is gone, fails.
func TestSecurityPromises(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, promised, ok := strings.Cut(string(text), "## What is promised")
	promised, _, end := strings.Cut(promised, "## What is not promised")
	if !ok || !end {
		t.Fatal("SECURITY.md has lost its sections")
	}
	named := regexp.MustCompile("`([a-z/0-9]+)\\.(Test[A-Za-z0-9]+)`")
	tests := map[string]map[string]bool{} // by folder
	rows, inTable := 0, false
	for line := range strings.Lines(promised) {
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		if !inTable || strings.HasPrefix(line, "|---") {
			inTable = true // the head of a table and its rule
			continue
		}
		rows++
		found := named.FindAllStringSubmatch(line, -1)
		if len(found) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, f := range found {
			if tests[f[1]] == nil {
				tests[f[1]] = testsOf(t, filepath.Join(root, f[1]))
			}
			if !tests[f[1]][f[2]] {
				t.Errorf("%s has no %s, which is to hold: %s", f[1], f[2], line)
			}
		}
	}
	if rows < 25 {
		t.Errorf("only %d promises were found: the test looks in the wrong place", rows)
	}
}

// testsOf lists the test functions of a folder.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				out[f.Name.Name] = true
			}
		}
	}
	return out
}
