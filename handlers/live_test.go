package handlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// stream opens the event stream of a manifest and gives its events as they come, until it ends.
func (h *house) stream(b *http.Client, id int64) <-chan progressJSON {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, fmt.Sprintf("%s/manifests/%d/events", h.url, id), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	res, err := b.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || kind != "text/event-stream" {
		h.t.Fatalf("status %d, %s", res.StatusCode, kind)
	}
	out := make(chan progressJSON, 16)
	go func() {
		defer close(out)
		defer func() { _ = res.Body.Close() }()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var p progressJSON
				if json.Unmarshal([]byte(data), &p) == nil {
					out <- p
				}
			}
		}
	}()
	return out
}

// next waits for an event; false: the stream has ended.
func next(t *testing.T, events <-chan progressJSON) (progressJSON, bool) {
	t.Helper()
	select {
	case p, ok := <-events:
		return p, ok
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return progressJSON{}, false
}

func TestTheStreamFollowsARunToItsEnd(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Changed = func() <-chan struct{} { return changed } })
	h.put()
	h.mem.mu.Lock()
	h.mem.records[0].Run = core.Run{ID: 11, ManifestID: 1, Status: core.Running, Progress: core.Progress{Done: 1, Of: 12}}
	h.mem.mu.Unlock()
	events := h.stream(h.signedIn(ownerToken), 1)
	first, _ := next(t, events)
	if diff := cmp.Diff(progressJSON{Run: 11, Status: core.Running, Line: "running: 1 of 12 pairs judged", Progress: core.Progress{Done: 1, Of: 12}}, first); diff != "" {
		t.Error(diff)
	}
	h.mem.mu.Lock()
	h.mem.records[0].Run.Progress.Done = 3
	h.mem.mu.Unlock()
	if p, _ := next(t, events); p.Line != "running: 3 of 12 pairs judged" || p.Done != 3 {
		t.Errorf("got %+v", p)
	}
	h.mem.finish(1)
	close(changed)
	if p, _ := next(t, events); !p.Finished || p.Status != core.Done {
		t.Errorf("got %+v", p)
	}
	if p, more := next(t, events); more {
		t.Errorf("the stream goes on: %+v", p)
	}
}

func TestTheStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	closing := make(chan struct{})
	h := newHouse(t, func(c *Config) { c.Closing = closing })
	h.put()
	h.mem.records[0].Run = core.Run{ID: 11, ManifestID: 1, Status: core.Queued}
	events := h.stream(h.signedIn(ownerToken), 1)
	next(t, events)
	close(closing)
	if p, more := next(t, events); more {
		t.Errorf("the stream goes on: %+v", p)
	}
}

func TestANewRunOverAnEarlierResult(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	for status, want := range map[core.Status][]string{
		core.Running:   {"data-over", "A new run: ", "running: 2 of 9 pairs judged", `action="/manifests/1/cancel"`},
		core.Queued:    {"data-over", "queued", `action="/manifests/1/cancel"`},
		core.Failed:    {"The latest run failed", "the disk is full.", "Judge again"},
		core.Cancelled: {"The latest run was cancelled", "Judge again"},
	} {
		h.mem.records[0].Run = core.Run{ID: 11, ManifestID: 1, Status: status, Error: "the disk is full.", Progress: core.Progress{Done: 2, Of: 9}}
		page := h.do(b, http.MethodGet, "/manifests/1", nil).body
		for _, s := range append(want, "1 unit: 1 contra", "tide.md", `class="choose"`) {
			if !strings.Contains(page, s) {
				t.Errorf("%s: the page lacks %q", status, s)
			}
		}
		if got := h.seenBy(ownerToken); got.Status != status || len(got.Units) != 1 || got.Storozh == nil || got.Queue != core.QueueYours {
			t.Errorf("%s: the API hides the earlier result: %+v", status, got)
		}
		if page := h.do(b, http.MethodGet, "/", nil).body; !strings.Contains(page, "1 unit: 1 contra") || !strings.Contains(page, string(status)) {
			t.Errorf("%s: the inbox hides the earlier result, or the status", status)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	h.mem.records[0].Run.Status = core.Running
	for _, want := range []string{"The run is being cancelled.", "The run had ended before it could be cancelled."} {
		if got := h.post(b, "/manifests/1/cancel", url.Values{}); got.status != http.StatusSeeOther {
			t.Errorf("status %d: %s", got.status, got.body)
		}
		if page := h.do(b, http.MethodGet, "/manifests/1", nil).body; !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(h.mem.cancelled) != 1 {
		t.Errorf("cancelled %v", h.mem.cancelled)
	}
}

func TestSignOutEverywhereEndsTheReadersSessionsAlone(t *testing.T) {
	t.Parallel()
	for _, hashed := range []bool{false, true} {
		h := newHouse(t, func(c *Config) { c.Sessions.HashTokenInStore = hashed })
		here, there, claude := h.signedIn(ownerToken), h.signedIn(ownerToken), h.signedIn(claudeToken)
		if got := h.post(here, "/logout/everywhere", url.Values{}); got.status != http.StatusSeeOther || got.header.Get("Location") != "/login" {
			t.Errorf("status %d to %q", got.status, got.header.Get("Location"))
		}
		for who, tc := range map[string]struct {
			b    *http.Client
			want int
		}{"here": {here, 303}, "there": {there, 303}, "claude": {claude, 200}} {
			if got := h.do(tc.b, http.MethodGet, "/", nil); got.status != tc.want {
				t.Errorf("hashed %v, %s: status %d, want %d", hashed, who, got.status, tc.want)
			}
		}
	}
}

func TestTheReaderSeesTheirOwnCommandAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) {
		c.Markers = func() []core.Marker {
			return []core.Marker{{Cosigner: core.Owner, State: core.MarkerFresh, Age: 90 * time.Second}, {Cosigner: core.Claude, State: core.MarkerUnseen}}
		}
	})
	h.put()
	for token, who := range map[string][2]core.Cosigner{ownerToken: {core.Owner, core.Claude}, claudeToken: {core.Claude, core.Owner}} {
		page := h.do(h.signedIn(token), http.MethodGet, "/manifests/1", nil).body
		if !strings.Contains(page, "~/.claude-cosign-"+string(who[0])) || strings.Contains(page, "~/.claude-cosign-"+string(who[1])) {
			t.Errorf("%s does not see their own command alone", who[0])
		}
		for _, want := range []string{"fresh, 1 min old", "not visible from here", "Storozh never writes one"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
	}
}

// A stream outlives the limits that the server sets for short answers.
func TestTheStreamOutlivesTheServersDeadlines(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	short := httptest.NewUnstartedServer(h.echo)
	short.Config.ReadTimeout, short.Config.WriteTimeout = 700*time.Millisecond, 700*time.Millisecond
	short.Start()
	t.Cleanup(short.Close)
	h.url = short.URL
	h.mem.records[0].Run = core.Run{ID: 11, ManifestID: 1, Status: core.Running, Progress: core.Progress{Of: 12}}
	events := h.stream(h.signedIn(ownerToken), 1)
	for done := 0; done < 3; done++ {
		if p, more := next(t, events); !more || p.Done != done {
			t.Fatalf("after %d s: %+v, more %v", done, p, more)
		}
		h.mem.mu.Lock()
		h.mem.records[0].Run.Progress.Done++
		h.mem.mu.Unlock()
	}
}
