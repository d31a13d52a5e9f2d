package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestHandlerServesHashedNamesForEver(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"} {
		rec := httptest.NewRecorder()
		Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, Path(name), nil))
		if rec.Code != http.StatusOK || rec.Body.Len() == 0 {
			t.Errorf("%s: status %d with %d bytes", name, rec.Code, rec.Body.Len())
		}
		if got := rec.Header().Get("Content-Type"); !strings.HasPrefix(got, kind) {
			t.Errorf("%s: content type %q, want %q", name, got, kind)
		}
		if got := rec.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: cache control %q", name, got)
		}
	}
}

func TestHandlerZipsAndRevalidates(t *testing.T) {
	t.Parallel()
	get := func(method, name string, header ...string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, Path(name), nil)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		rec := httptest.NewRecorder()
		Handler().ServeHTTP(rec, req)
		return rec
	}
	plain := get(http.MethodGet, "app.css")
	zipped := get(http.MethodGet, "app.css", "Accept-Encoding", "br;q=1.0, GZIP;q=0.8")
	z, err := gzip.NewReader(bytes.NewReader(zipped.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(body, plain.Body.Bytes()) || zipped.Body.Len() > plain.Body.Len()/2 {
		t.Errorf("%v: %d bytes of %d, zipped %d", err, len(body), plain.Body.Len(), zipped.Body.Len())
	}
	for _, rec := range []*httptest.ResponseRecorder{plain, zipped} {
		if rec.Header().Get("Vary") != "Accept-Encoding" || rec.Header().Get("Content-Length") != strconv.Itoa(rec.Body.Len()) {
			t.Errorf("headers %v of %d bytes", rec.Header(), rec.Body.Len())
		}
	}
	for _, none := range []string{"", "identity", "gzip;q=0", "br, gzip; q=0.0, *"} {
		if got := get(http.MethodGet, "app.css", "Accept-Encoding", none); got.Header().Get("Content-Encoding") != "" || got.Body.Len() != plain.Body.Len() {
			t.Errorf("Accept-Encoding %q: %v", none, got.Header())
		}
	}
	if head := get(http.MethodHead, "app.css", "Accept-Encoding", "gzip"); head.Body.Len() != 0 || head.Header().Get("Content-Length") != zipped.Header().Get("Content-Length") {
		t.Errorf("HEAD: %d bytes, %v", head.Body.Len(), head.Header())
	}
	tag := zipped.Header().Get("ETag")
	if tag == plain.Header().Get("ETag") {
		t.Error("two contents have one tag")
	}
	for since, want := range map[string]int{tag: 304, `"other", W/` + tag: 304, `"other"`: 200, plain.Header().Get("ETag"): 200} {
		got := get(http.MethodGet, "app.css", "Accept-Encoding", "gzip", "If-None-Match", since)
		if got.Code != want || want == 304 && (got.Body.Len() != 0 || got.Header().Get("ETag") != tag || got.Header().Get("Vary") == "") {
			t.Errorf("If-None-Match %s: status %d, %v", since, got.Code, got.Header())
		}
	}
	if icon := get(http.MethodGet, "icon.svg", "Accept-Encoding", "gzip"); icon.Header().Get("Content-Encoding") != "" {
		t.Error("a file of a few bytes was zipped")
	}
}

func TestHandlerKnowsNoPlainNames(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"app.css", "static.go", "", "../static.go"} {
		rec := httptest.NewRecorder()
		Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, Prefix+p, nil))
		if rec.Code != http.StatusNotFound {
			t.Errorf("%q: status %d, want 404", p, rec.Code)
		}
	}
}

// Our own rule for issue after issue: all own JavaScript stays below 15 kB, and no file names another host.
func TestFilesStaySmallAndLocal(t *testing.T) {
	t.Parallel()
	js, _ := files.ReadFile("app.js")
	if len(js) > 15_000 {
		t.Errorf("app.js has %d bytes", len(js))
	}
	for _, name := range []string{"app.css", "app.js"} {
		body, _ := files.ReadFile(name)
		if strings.Contains(string(body), "://") {
			t.Errorf("%s names another host", name)
		}
	}
}
