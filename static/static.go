// Package static holds the style sheet, the one script and the icon of the pages, embedded in the binary.
//
// Every file is served under a name that carries a hash of its content, such as `/static/app.3f9a0c1b2d4e.css`. A name can
// therefore be cached for ever, and a new build is a new name. No file comes from another host (design §9).
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed app.css app.js icon.svg
var files embed.FS

// Prefix is the path under which [Handler] answers.
const Prefix = "/static/"

type asset struct {
	body []byte
	kind string // media type
}

// hashed maps names as served to their content, urls plain names to paths. Both are filled once and only read afterwards.
var hashed, urls = load()

var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func load() (map[string]asset, map[string]string) {
	byName, byPlain := map[string]asset{}, map[string]string{}
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("static: the embedded folder cannot be read: " + err.Error()) // a fault of the build, not of the input
	}
	for _, e := range entries {
		body, err := files.ReadFile(e.Name())
		if err != nil {
			panic("static: " + e.Name() + " cannot be read: " + err.Error())
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		byName[name] = asset{body: body, kind: kinds[ext]}
		byPlain[e.Name()] = Prefix + name
	}
	return byName, byPlain
}

// Path returns the path of a file with its hash, `/static/app.<hash>.css` for `app.css`. It panics for a name that was not
// embedded: that is a typing error in a template, found by the first test that renders it.
func Path(name string) string {
	p, ok := urls[name]
	if !ok {
		panic("static: no file named " + name)
	}
	return p
}

// Handler serves the files under [Prefix], cacheable for ever; any other name is 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := hashed[strings.TrimPrefix(r.URL.Path, Prefix)]
		if !ok {
			http.Error(w, "no such file", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", a.kind)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(a.body) // the reader went away: nobody to tell
		}
	})
}
