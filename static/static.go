// Package static holds the style sheet, the one script and the icon of the pages, embedded in the binary.
//
// Every file is served under a name that carries a hash of its content, such as `/static/app.3f9a0c1b2d4e.css`. A name can
// therefore be cached for ever, and a new build is a new name. No file comes from another host (design §9).
package static

import (
	"bytes"
	"compress/gzip"
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
	body   []byte
	zipped []byte // the same gzipped; nil: not worth it
	kind   string // media type
	hash   string
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
		byName[name] = asset{body: body, zipped: zip(body), kind: kinds[ext], hash: hex.EncodeToString(sum[:6])}
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

// zipFrom is the size from which a file is compressed, in bytes.
const zipFrom = 1024

// zip compresses once, at the start, as well as can be.
func zip(body []byte) []byte {
	if len(body) < zipFrom {
		return nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(body)
	}
	if err != nil || z.Close() != nil {
		panic("static: a buffer cannot be written to")
	}
	return b.Bytes()
}

// AcceptsGzip tells whether an answer to a request with these headers may be gzipped (RFC 9110, 12.5.3).
func AcceptsGzip(h http.Header) bool {
	any := false
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		_, q, _ := strings.Cut(weight, "=")
		n, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		yes := err != nil || n > 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return yes
		case "*":
			any = yes
		}
	}
	return any
}

// Handler serves the files under [Prefix], cacheable for ever; any other name is 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := hashed[strings.TrimPrefix(r.URL.Path, Prefix)]
		if !ok {
			http.Error(w, "no such file", http.StatusNotFound)
			return
		}
		h, body, tag := w.Header(), a.body, `"`+a.hash+`"`
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		if a.zipped != nil {
			h.Add("Vary", "Accept-Encoding")
			if AcceptsGzip(r.Header) {
				body, tag = a.zipped, `"`+a.hash+`-gz"`
				h.Set("Content-Encoding", "gzip")
			}
		}
		h.Set("ETag", tag)
		if strings.Contains(r.Header.Get("If-None-Match"), tag) {
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", a.kind)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // the reader went away: nobody to tell
		}
	})
}
