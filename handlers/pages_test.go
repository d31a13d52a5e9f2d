package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"storozh/core"
)

func TestInboxEmptyOffersTheSample(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.signedIn(ownerToken)
	page := h.do(b, http.MethodGet, "/", nil)
	for _, want := range []string{"Run the sample", "/home/me/manifest.json", h.url + "/webhooks/mirabilis", "as soon as it exists"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	got := h.do(b, http.MethodPost, "/sample", form("_csrf", hiddenField(t, page.body)), "Content-Type", "application/x-www-form-urlencoded")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/manifests/1" {
		t.Errorf("status %d to %q", got.status, got.header.Get("Location"))
	}
	if got := h.do(b, http.MethodGet, "/manifests/1", nil); !strings.Contains(got.body, `data-progress="/manifests/1/progress"`) {
		t.Errorf("the page does not follow the run: %s", got.body)
	}
}

func TestInboxFoldsSupersededManifests(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 20 {
		h.put()
	}
	for i := range 19 {
		h.mem.records[i].SupersededBy = 20
	}
	page := h.do(h.signedIn(ownerToken), http.MethodGet, "/", nil).body
	open, folded, ok := strings.Cut(page, "<details")
	if !ok || strings.Count(open, `class="entry"`) != 1 || strings.Count(folded, `class="entry"`) != 19 || !strings.Contains(folded, "19 earlier manifests") {
		t.Errorf("the inbox does not fold the session: %d open, %d folded", strings.Count(open, `class="entry"`), strings.Count(folded, `class="entry"`))
	}
}

func TestInboxPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range pageSize + 1 {
		h.put()
	}
	b := h.signedIn(ownerToken)
	if page := h.do(b, http.MethodGet, "/", nil).body; !strings.Contains(page, `href="/?after=2"`) {
		t.Error("no way to the older manifests")
	}
	if page := h.do(b, http.MethodGet, "/?after=2", nil).body; strings.Count(page, `class="entry"`) != 1 || strings.Contains(page, "Run the sample</h2>") {
		t.Error("the second page does not hold the last manifest")
	}
}

func TestReviewPageOfAFinishedRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(claudeToken)
	page := h.do(b, http.MethodGet, "/manifests/1", nil).body
	for _, want := range []string{"1 unit: 1 contra; 1 file not in the diff", "git -C /eco/shield add -N -- lessons/new.md", "Clocks run on <mark>local time</mark>.",
		"Clocks run on <mark>UTC</mark>.", "UTC against local time", "0.910", "/api/manifests/1/manifest"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := h.do(b, http.MethodGet, "/manifests/1/text?part=item&unit=shield/lessons/tide.md&item=shield/invariants%232", nil); got.body != "Clocks run on UTC." || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("the whole text: status %d %q", got.status, got.body)
	}
	if got := h.do(b, http.MethodGet, "/manifests/1/text?part=item&unit=shield/lessons/tide.md&item=shield/invariants%239", nil); got.status != 404 {
		t.Errorf("another item: status %d", got.status)
	}
}

func TestProgressTellsTheScriptWhenToReload(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	h.mem.records[0].Run.Status, h.mem.records[0].Run.Progress = core.Running, core.Progress{Done: 3, Of: 12}
	var got progressJSON
	for _, want := range []progressJSON{
		{Run: 10, Status: core.Running, Line: "running: 3 of 12 pairs judged", Progress: core.Progress{Done: 3, Of: 12}},
		{Run: 10, Status: core.Done, Line: "1 unit: 1 contra; 1 file not in the diff", Finished: true, Progress: core.Progress{Done: 3, Of: 12}},
	} {
		if err := json.Unmarshal([]byte(h.do(b, http.MethodGet, "/manifests/1/progress", nil).body), &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		h.mem.finish(1)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.Ready = func(context.Context) error { return errors.New("no database at /secret") } })
	got := h.do(h.browser(), http.MethodGet, "/readyz", nil)
	if got.status != http.StatusServiceUnavailable || strings.Contains(got.body, "secret") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestDemoIsSaidOnEveryPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.Demo = true })
	h.put()
	b := h.signedIn(ownerToken)
	for _, path := range []string{"/", "/manifests/1", "/status", "/login", "/nothing"} {
		if got := h.do(b, http.MethodGet, path, nil); !strings.Contains(got.body, "Demo model") {
			t.Errorf("%s does not name the demo model", path)
		}
	}
}
