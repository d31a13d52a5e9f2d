package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/views"
)

// The corpus of these tests: one item that is there, and what all items met is in the units.
func (m *memory) Item(_ context.Context, id string) (core.Item, string, error) {
	if id != "shield/lessons/clock and #tide.md#часы" {
		return core.Item{}, "", fmt.Errorf("item: %w", core.ErrNotFound)
	}
	return core.Item{ID: id, Path: "lessons/clock and #tide.md", Kind: core.KindLesson, Text: "Clocks **run** on UTC.\u202e",
		StartLine: 3, EndLine: 5}, "4f2a91c07be3d1aa", nil
}

func (m *memory) Meetings(_ context.Context, item string) (out []core.ItemMeeting, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for run, units := range m.units {
		for _, u := range units {
			for _, p := range u.Pairs {
				if p.Item == item {
					out = append(out, core.ItemMeeting{ManifestID: run / 10, RunID: run, At: testNow.Add(-time.Hour), UnitID: u.Unit.ID, Similarity: p.Similarity,
						Label: p.Label, Note: p.Note, Decisions: []core.Decision{{By: core.Owner, Choice: core.Fix}, {By: core.Claude, Choice: core.Accept, Rationale: "local <time> is meant"}}})
				}
			}
		}
	}
	return out, nil
}

func TestItemPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	there := "shield/lessons/clock and #tide.md#часы"
	for _, path := range []string{views.ItemURL(there), "/items/?id=" + url.QueryEscape(there)} {
		got := h.do(b, http.MethodGet, path, nil)
		for _, want := range []string{"What it says", "Clocks <strong>run</strong> on UTC.", `<span class="cp">U+202E</span>`, "3–5", "4f2a91c07be3", "lesson", "None yet."} {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: status %d, lacks %q", path, got.status, want)
			}
		}
	}
}

// An item that is gone from the corpus keeps its history; one that never was is not found.
func TestItemPageOfAnItemThatIsGone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(claudeToken)
	got := h.do(b, http.MethodGet, "/items/shield/invariants%232", nil)
	for _, want := range []string{"No longer in the corpus", "What it said when last judged", "Clocks run on UTC.", "shield/lessons/tide.md", "0.910", "1 contra",
		"owner: fix", "claude: accept, “local &lt;time&gt; is meant”", `href="/manifests/1?unit=shield%2Flessons%2Ftide.md"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("status %d, lacks %q", got.status, want)
		}
	}
	for _, path := range []string{"/items/shield/invariants%239", "/items/", "/items/?id=", "/items/shield/invariants", "/items/" + strings.Repeat("x", 5000), "/items/%00%ff/../.."} {
		if got := h.do(b, http.MethodGet, path, nil); got.status != http.StatusNotFound {
			t.Errorf("%.40s: status %d", path, got.status)
		}
	}
	if page := h.do(b, http.MethodGet, "/manifests/1", nil).body; !strings.Contains(page, `href="/items/shield/invariants%232"`) {
		t.Error("the review page does not lead to the item")
	}
}

func TestTranscriptOnDemand(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	said := "user: please\nassistant: I wrote lessons/tide.md <b>now</b>\u202e.\n" + strings.Repeat("assistant: nothing of note here\n", 5000) + "user: the last line"
	h.mem.raw[1] = fmt.Appendf(nil, `{"sessionId":"s1","session":{"transcriptMinusTools":%q}}`, said)
	b := h.signedIn(ownerToken)
	first := h.do(b, http.MethodGet, "/manifests/1/transcript?unit=shield/lessons/tide.md", nil).body
	for _, want := range []string{"The session names this file once.", "I wrote <mark>lessons/tide.md</mark> &lt;b&gt;now&lt;/b&gt;<span class=\"cp\">U+202E</span>", "page 1 of 3", "page 2 →"} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if last := h.do(b, http.MethodGet, "/manifests/1/transcript?page=99", nil).body; !strings.Contains(last, "user: the last line") || !strings.Contains(last, "page 3 of 3") {
		t.Error("a page behind the last is not the last")
	}
	if got := h.do(b, http.MethodGet, "/manifests/1/transcript?unit=shield/other.md", nil); got.status != http.StatusNotFound {
		t.Errorf("another unit: status %d", got.status)
	}
	if got := h.do(b, http.MethodGet, "/manifests/1", nil).body; !strings.Contains(got, `href="/manifests/1/transcript?unit=shield%2Flessons%2Ftide.md"`) {
		t.Error("the review page does not lead to the transcript")
	}
}

// A session of megabytes that names the file all the time makes no page of megabytes.
func TestTranscriptOfMegabytesIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	said := strings.Repeat("assistant: tide.md again, Прилив и отлив. ", 200_000)
	h.mem.raw[1] = fmt.Appendf(nil, `{"session":{"transcriptMinusTools":%q}}`, said)
	b := h.signedIn(ownerToken)
	got := h.do(b, http.MethodGet, "/manifests/1/transcript?unit=shield/lessons/tide.md&page=50", nil)
	if len(got.body) > 250_000 || !strings.Contains(got.body, "thousands of times") {
		t.Errorf("status %d with %d bytes", got.status, len(got.body))
	}
}
