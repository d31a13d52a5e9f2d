package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"storozh/core"
)

var byOwner = []string{"Authorization", "Bearer " + ownerToken}

func TestAPIManifestShape(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	got := h.do(h.browser(), http.MethodGet, fmt.Sprintf("/api/manifests/%d", id), nil, byOwner...)
	want := `{"id":1,"sessionId":"s1","timestamp":null,"receivedAt":"2026-05-21T14:03:00Z","source":"file","status":"done",` +
		`"bluf":"1 unit: 1 contra; 1 file not in the diff","queue":"your turn","run":10,"progress":{"done":0,"of":0},` +
		`"storozh":{"ranAt":"2026-05-21T14:03:00Z","k":5,"contra-check":"ran","flags":[{"unit":"shield/lessons/tide.md","routing":"ok",` +
		`"observed-repo":"shield","expected-repo":"shield","semantic":"contra","against":["shield/invariants#2"],"judge-note":"UTC against local time"}],` +
		`"summary":{"units":1,"misroute":0,"contra":1,"dup":0,"ok":0},"not-in-diff":["shield/lessons/new.md"]},` +
		`"writeBack":{"state":"off","path":"","at":null,"detail":""},` +
		`"units":[{"unit":"shield/lessons/tide.md","repo":"shield","path":"lessons/tide.md","type":"lesson","action":"added","text":"Clocks run on local time.",` +
		`"routing":"ok","expectedRepo":"shield","severity":"","semantic":"contra","reason":"UTC against local time",` +
		`"pairs":[{"item":"shield/invariants#2","similarity":0.91,"label":"contra","note":"UTC against local time","cached":false,"text":"Clocks run on UTC."}],"decisions":[]}],` +
		`"notInDiff":["shield/lessons/new.md"],"unclassified":[],"resolved":[],"warnings":[]}` + "\n"
	if diff := cmp.Diff(want, got.body); got.status != 200 || diff != "" {
		t.Errorf("status %d (-want +got)\n%s", got.status, diff)
	}
}

func TestAPIManifestBeforeItsRunEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	h.mem.records[id-1].Run, h.mem.records[id-1].Judged = core.Run{Status: core.Running, Progress: core.Progress{Done: 3, Of: 12}}, nil
	h.mem.records[id-1].Target = "/home/me/manifest.json"
	var got map[string]any
	if err := json.Unmarshal([]byte(h.do(h.browser(), http.MethodGet, "/api/manifests/1", nil, byOwner...).body), &got); err != nil {
		t.Fatal(err)
	}
	if _, there := got["storozh"]; there {
		t.Error("there is a block before the run is done")
	}
	want := map[string]any{"bluf": "running: 3 of 12 pairs judged", "units": []any{}, "notInDiff": []any{}, "resolved": []any{},
		"writeBack": map[string]any{"state": "pending", "path": "/home/me/manifest.json", "at": nil, "detail": ""}}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", key, diff)
		}
	}
}

func TestAPIListPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		h.put()
	}
	h.mem.records[2].SupersededBy = 4
	var seen []int64
	after := ""
	for range 9 {
		var got listJSON
		res := h.do(h.browser(), http.MethodGet, "/api/manifests?limit=2&after="+after, nil, byOwner...)
		if err := json.Unmarshal([]byte(res.body), &got); err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Manifests {
			seen = append(seen, m.ID)
		}
		if after = got.Next; after == "" {
			break
		}
	}
	if diff := cmp.Diff([]int64{5, 4, 2, 1}, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := h.do(h.browser(), http.MethodGet, "/api/manifests?limit=none", nil, byOwner...); got.status != 400 {
		t.Errorf("limit=none: status %d", got.status)
	}
	empty := newHouse(t)
	if got := empty.do(empty.browser(), http.MethodGet, "/api/manifests", nil, byOwner...); got.body != `{"manifests":[],"next":""}`+"\n" {
		t.Errorf("empty: %s", got.body)
	}
}

func TestAPIRawManifestHasTheBlock(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	h.mem.raw[1] = []byte("{\n  \"sessionId\": \"s1\",\n  \"z\": 9007199254740993\n}")
	got := h.do(h.browser(), http.MethodGet, "/api/manifests/1/manifest", nil, byOwner...)
	if !strings.HasPrefix(got.body, "{\n  \"sessionId\": \"s1\",\n  \"z\": 9007199254740993,\n  \"storozh\": {") || !json.Valid([]byte(got.body)) {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	h.mem.records[0].Judged = nil
	if got := h.do(h.browser(), http.MethodGet, "/api/manifests/1/manifest", nil, byOwner...); got.body != string(h.mem.raw[1]) {
		t.Errorf("without a block: %s", got.body)
	}
}

func TestAPIRerun(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		status int
		fresh  []bool
	}{
		"":                {202, []bool{false}},
		`{"fresh":true}`:  {202, []bool{true}},
		`{"fresh":"yes"}`: {400, nil},
		`{`:               {400, nil},
		`{"x":"` + strings.Repeat("a", formBytes) + `"}`: {413, nil},
	} {
		h := newHouse(t)
		h.put()
		got := h.do(h.browser(), http.MethodPost, "/api/manifests/1/runs", strings.NewReader(body), byOwner...)
		if got.status != want.status {
			t.Errorf("%.20s: status %d, want %d: %s", body, got.status, want.status, got.body)
		}
		if diff := cmp.Diff(want.fresh, h.mem.fresh); diff != "" {
			t.Errorf("%.20s (-want +got)\n%s", body, diff)
		}
		if want.status != 202 {
			continue
		}
		if again := h.do(h.browser(), http.MethodPost, "/api/manifests/1/runs", nil, byOwner...); again.status != http.StatusConflict {
			t.Errorf("while it runs: status %d", again.status)
		}
	}
}

func TestErrorsBecomeAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	for _, path := range []string{"/manifests/99", "/manifests/none", "/manifests/-1", "/manifests/99999999999999999999", "/nothing"} {
		if got := h.do(b, http.MethodGet, path, nil); got.status != 404 || !strings.Contains(got.body, "<h1>Not found</h1>") {
			t.Errorf("%s: status %d: %.200s", path, got.status, got.body)
		}
	}
	if got := h.do(b, http.MethodGet, "/api/manifests/99", nil); got.status != 404 || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("status %d, type %q", got.status, got.header.Get("Content-Type"))
	}
	if got := h.do(b, http.MethodPut, "/manifests/1", nil, "Sec-Fetch-Site", "same-origin"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: status %d", got.status)
	}
	if got := h.do(b, http.MethodGet, "/nothing", nil, "Accept", "application/json"); got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("type %q", got.header.Get("Content-Type"))
	}
}

func TestInternalErrorsStayInside(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	h.mem.err = errors.New("dial unix /secret/path: refused")
	for _, path := range []string{"/", "/manifests/1", "/api/manifests/1"} {
		got := h.do(b, http.MethodGet, path, nil)
		if got.status != 500 || strings.Contains(got.body, "secret") || !strings.Contains(got.body, got.header.Get("X-Request-Id")) {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if !strings.Contains(h.log.String(), "secret/path") {
		t.Error("the log lacks the cause")
	}
}

func TestPanicBecomesAnErrorPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.echo.GET("/panic", func(echo.Context) error { panic("boom at home") })
	got := h.do(h.browser(), http.MethodGet, "/panic", nil)
	if got.status != 500 || strings.Contains(got.body, "boom") || !strings.Contains(h.log.String(), "boom at home") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestHeadersAndHosts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.AllowedHosts = []string{"Storozh.Lan:8787"} })
	page := h.do(h.browser(), http.MethodGet, "/login", nil)
	for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Strict-Transport-Security": ""} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, tc := range []struct {
		host, path string
		headers    []string
		want       int
	}{
		{"localhost:1", "/login", nil, 200},
		{"[::1]:8787", "/login", nil, 200},
		{"127.0.0.1", "/login", nil, 200},
		{"storozh.lan:9", "/login", nil, 200},
		{"evil.example", "/login", nil, 403},
		{"127.0.0.1.evil.example", "/", nil, 403},
		{"evil.example", "/api/manifests", nil, 403},
		{"host.docker.internal:8787", "/api/manifests", byOwner, 200},
		{"evil.example", "/healthz", nil, 200},
	} {
		if got := h.do(h.browser(), http.MethodGet, tc.path, nil, append([]string{"Host", tc.host}, tc.headers...)...); got.status != tc.want {
			t.Errorf("%s%s: status %d, want %d", tc.host, tc.path, got.status, tc.want)
		}
	}
	if got := h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader("{}"), "Host", "host.docker.internal:8787", "Authorization", "Bearer "+hookSecret); got.status != 202 {
		t.Errorf("webhook by another name: status %d", got.status)
	}
}
