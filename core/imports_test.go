package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed is the table of the house: which packages of the project each package may import. A package that is not listed fails the
// test, so that every new one is placed on purpose. `…` at the end means that folder and all below.
var allowed = map[string][]string{
	"core":           {},
	"core/passage":   {"core"},
	"core/manifest":  {"core"},
	"core/blocktest": {"core", "core/manifest"},
	"core/units":     {"core", "core/passage"},
	"core/routing":   {"core"},
	"core/corpus":    {"core", "core/passage"},
	"core/localllm":  {"core"},
	"core/judge":     {"core"},
	"core/eval":      {"core", "core/guard", "core/judge", "core/keyword", "core/localllm"},
	"core/keyword":   {},
	"core/review":    {"core"},
	"core/trends":    {"core"},
	"core/guard":     {"core", "core/passage", "core/manifest", "core/units", "core/routing", "core/corpus", "core/localllm", "core/judge", "core/keyword"},
	"db":             {"core", "db/migrations"},
	"db/migrations":  {},
	"db/embedded":    {},
	"db/dbtest":      {"db", "db/embedded"},
	"views":          {"core", "core/trends", "static"},
	// handlers speak to every part of the core through interfaces of their own.
	"handlers":              {"core", "core/manifest", "core/review", "core/trends", "core/units", "views"},
	"static":                {},
	"cmd/web/app":           {"…"},
	"cmd/web":               {"…"},
	"core/localllm/llmtest": {"core", "core/localllm"},
}

// forbidden names what may not be used below a folder, as `import path` or `import path.Name`, with the reason.
var forbidden = []struct {
	below  string
	except []string
	what   string
	why    string
}{
	{"core", nil, "database/sql", "the core knows no SQL"},
	{"core", nil, "github.com/jmoiron/sqlx", "the core knows no SQL"},
	{"core", nil, "github.com/labstack/echo/v4", "the core serves no HTTP"},
	{"core", []string{"core/localllm", "core/localllm/llmtest"}, "net/http", "only the model's client speaks HTTP"},
	{"core", nil, "time.Now", "the core has no clock"},
	{"core", nil, "time.Since", "the core has no clock"},
	{"views", nil, "time.Now", "views have no clock"},
	{"views", nil, "database/sql", "views ask no database"},
	{"handlers", nil, "database/sql", "handlers go through their interfaces"},
	// db/embedded hands parts of the environment on to Node and npm (PATH, proxies); it sets itself up by nothing in it.
	{"", []string{"cmd/web", "db/dbtest"}, "os.Getenv", "only cmd/web reads the environment"},
	{"", []string{"cmd/web", "db/embedded"}, "os.LookupEnv", "only cmd/web reads the environment"},
	{"", []string{"cmd/web", "db/embedded"}, "os.Environ", "only cmd/web reads the environment"},
}

func TestImports(t *testing.T) {
	t.Parallel()
	files := goFiles(t)
	if len(files) < 40 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(files))
	}
	seen := map[string]bool{}
	for name, file := range files {
		pkg := path.Dir(name)
		if pkg == "." {
			t.Errorf("%s: no package lies at the top", name)
		}
		seen[pkg] = true
		checkImports(t, name, pkg, file)
		checkForbidden(t, name, pkg, file)
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("the table lists %s, which does not exist", pkg)
		}
	}
}

func checkImports(t *testing.T, name, pkg string, file *ast.File) {
	t.Helper()
	may, ok := allowed[pkg]
	if !ok {
		t.Errorf("%s: package %s is not in the table of imports", name, pkg)
		return
	}
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		inner, ours := strings.CutPrefix(p, "storozh/")
		if ours && !slices.Contains(may, "…") && !slices.Contains(may, inner) {
			t.Errorf("%s: %s may not import %s", name, pkg, inner)
		}
	}
}

func checkForbidden(t *testing.T, name, pkg string, file *ast.File) {
	t.Helper()
	imports := map[string]bool{}
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		imports[p] = true
	}
	uses := selectors(file)
	for _, f := range forbidden {
		if f.below != "" && pkg != f.below && !strings.HasPrefix(pkg, f.below+"/") || slices.Contains(f.except, pkg) {
			continue
		}
		if imports[f.what] || uses[f.what] {
			t.Errorf("%s: uses %s, but %s", name, f.what, f.why)
		}
	}
}

// selectors lists what a file uses of other packages, as `time.Now`.
func selectors(file *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				out[x.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
	return out
}

// goFiles parses every Go file of the project that is not a test, by its path from the top.
func goFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ast.File{}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		out[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
