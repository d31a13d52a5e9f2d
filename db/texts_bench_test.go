package db_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"storozh/core/localllm"
)

// cached is how many sentences one file of the cache holds.
const cached = 500

// realVectors are vectors of at least n sentences of the Go standard library's doc comments, by the model at STOROZH_TEST_REAL_EMBED_URL
// (`.ci/embedder` starts one). They are made once, which takes minutes, and kept in the user's cache folder.
func realVectors(b *testing.B, n int) [][]float32 {
	b.Helper()
	url := os.Getenv("STOROZH_TEST_REAL_EMBED_URL")
	if url == "" {
		b.Skip("STOROZH_TEST_REAL_EMBED_URL is not set: .ci/embedder starts a real model and prints its URL")
	}
	client, err := localllm.New(localllm.Config{BaseURL: url, Timeout: 10 * time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	models, err := client.Resolve(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	texts := sentences(b)
	n = (n + cached - 1) / cached * cached
	if len(texts) < n {
		b.Skipf("the standard library has %d sentences, %d are asked for", len(texts), n)
	}
	var out [][]float32
	for len(out) < n {
		part := texts[len(out) : len(out)+cached]
		vectors, err := remembered(models.Embed, part, func() ([][]float32, error) { return client.EmbedBatch(b.Context(), part) })
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, vectors...)
	}
	return out
}

// remembered gives the vectors of these texts by that model from the user's cache folder; what is not there is made and put there.
func remembered(model string, texts []string, embed func() ([][]float32, error)) (vectors [][]float32, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "storozh", "bench-vectors")
	sum := sha256.Sum256([]byte(model + "\x00" + strings.Join(texts, "\x00")))
	name := filepath.Join(dir, fmt.Sprintf("%x.gob", sum[:16]))
	if raw, err := os.ReadFile(name); err == nil {
		if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&vectors); err == nil && len(vectors) == len(texts) {
			return vectors, nil
		}
	}
	vectors, err = embed()
	if err != nil {
		return nil, err
	}
	var raw bytes.Buffer
	if err := gob.NewEncoder(&raw).Encode(vectors); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// A half-written file must not bear the name.
	if err := os.WriteFile(name+".new", raw.Bytes(), 0o644); err != nil {
		return nil, err
	}
	return vectors, os.Rename(name+".new", name)
}

// sentences are those of the doc comments in GOROOT/src, of 30 to 300 characters, each once, in an order that has nothing to do with where they
// stand: the first n are a sample of all.
func sentences(b *testing.B) []string {
	b.Helper()
	seen := map[string]bool{}
	root := filepath.Join(build.Default.GOROOT, "src")
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{"cmd", "vendor", "testdata"}, e.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, doc := range docs(file) {
			for _, s := range sentencesOf(doc.Text()) {
				seen[s] = true
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	byHash := func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return bytes.Compare(x[:], y[:])
	}
	slices.SortFunc(out, byHash)
	return out
}

// docs are the comments that say what something is: of the package, and of what is declared, with fields and methods.
func docs(file *ast.File) []*ast.CommentGroup {
	out := []*ast.CommentGroup{file.Doc}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out = append(out, n.Doc)
			return false
		case *ast.GenDecl:
			out = append(out, n.Doc)
		case *ast.TypeSpec:
			out = append(out, n.Doc)
		case *ast.ValueSpec:
			out = append(out, n.Doc)
		case *ast.Field:
			out = append(out, n.Doc)
		}
		return true
	})
	return out
}

var (
	ends  = regexp.MustCompile(`[.!?:]\s+`)
	prose = regexp.MustCompile(`^\p{L}[^\x60{}<>=|]*[.!?]$`)
)

// sentencesOf takes the whole sentences out of a comment; code and tables are indented and stay out.
func sentencesOf(doc string) []string {
	var out []string
	for _, paragraph := range strings.Split(doc, "\n\n") {
		if strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n\t") || strings.HasPrefix(paragraph, " ") {
			continue
		}
		for _, s := range strings.Split(ends.ReplaceAllStringFunc(paragraph, func(e string) string { return e[:1] + "\x00" }), "\x00") {
			s = strings.Join(strings.Fields(s), " ")
			if n := utf8.RuneCountInString(s); n >= 30 && n <= 300 && prose.MatchString(s) {
				out = append(out, s)
			}
		}
	}
	return out
}
