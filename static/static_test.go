package static

import (
	"net/http"
	"net/http/httptest"
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
