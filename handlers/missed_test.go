package handlers

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"storozh/core"
)

// recall is a Recall for these tests alone; the real one is tested against Postgres elsewhere.
type recall struct {
	mu     sync.Mutex
	kept   []core.Missed
	asked  string // the last question to ByWords
	stale  bool
	fail   error
	whatIf core.WhatIfData
	flags  []core.WhatIfFlag
	floor  int
}

func (r *recall) AddMissed(_ context.Context, m core.Missed) (core.Missed, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stale:
		return m, false, fmt.Errorf("%w: out of date", core.ErrConflict)
	case r.fail != nil:
		return m, false, r.fail
	case m.ItemHash == nil && m.Item != "shield/known.md":
		return m, false, core.ErrNotFound
	}
	m.ID = int64(len(r.kept) + 1)
	r.kept = append(r.kept, m)
	return m, true, nil
}

func (r *recall) MissedOf(_ context.Context, hashes []string) ([]core.Missed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []core.Missed
	for _, m := range r.kept {
		for _, h := range hashes {
			if m.Unit == h {
				out = append(out, m)
			}
		}
	}
	return out, r.fail
}

func (r *recall) InUse(context.Context) (core.InUse, error) {
	return core.InUse{Found: 3, NotBrought: 1}, r.fail
}

func (r *recall) ByWords(_ context.Context, _ core.Source, text string, n int) ([]core.Item, error) {
	r.asked = text
	return []core.Item{{ID: "shield/known.md", Text: `<script>alert(1)</script>` + strings.Repeat(" long", 500)}}[:min(n, 1)], r.fail
}

func (r *recall) WhatIf(_ context.Context, model string) (core.WhatIfData, error) {
	out := r.whatIf
	if model != "" {
		out.Model = model
	}
	return out, r.fail
}

func (r *recall) WhatIfFlags(_ context.Context, _ string, floor, limit int) ([]core.WhatIfFlag, error) {
	r.floor = floor
	return r.flags[:min(len(r.flags), limit)], r.fail
}

// recallHouse is a house with one judged manifest of one flagged unit.
func recallHouse(t *testing.T) (*house, *recall, string) {
	r := &recall{}
	h := newHouse(t, func(c *Config) { c.Recall = r })
	u := clash("shield/lessons/<i>.md", "hash", "shield/near.md")
	u.Unit.Title, u.Unit.Normative, u.Unit.Text = "About words", "the binding words", "text"
	h.putUnits(u)
	return h, r, u.Unit.ID
}

func TestMissedPageAsksForTheUnitsWordsOrTheReaders(t *testing.T) {
	t.Parallel()
	h, r, unit := recallHouse(t)
	b := h.signedIn(ownerToken)
	at := "/manifests/1/missed?unit=" + url.QueryEscape(unit)
	got := h.do(b, http.MethodGet, at, nil)
	if got.status != http.StatusOK || !strings.Contains(r.asked, "the binding words") || !strings.Contains(r.asked, "About words") {
		t.Errorf("%d, asked %q", got.status, r.asked)
	}
	if strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, "<i>.md") || len(got.body) > 20_000 {
		t.Errorf("untrusted text comes as it is, or whole (%d bytes)", len(got.body))
	}
	h.do(b, http.MethodGet, at+"&q=rare+words", nil)
	if r.asked != "rare words" {
		t.Errorf("asked %q", r.asked)
	}
	for path, want := range map[string]int{
		at + "&q=" + strings.Repeat("x", longestSearch+1): http.StatusBadRequest,
		"/manifests/1/missed?unit=none":                   http.StatusNotFound,
		"/manifests/1/missed":                             http.StatusNotFound,
		"/manifests/2/missed?unit=" + unit:                http.StatusNotFound,
	} {
		if got := h.do(b, http.MethodGet, path, nil); got.status != want {
			t.Errorf("%.60s: %d, want %d", path, got.status, want)
		}
	}
	r.fail = errors.New("secret detail")
	if got := h.do(b, http.MethodGet, at, nil); got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret detail") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestMissedFormIsRefusedFromElsewhereAndWhenLate(t *testing.T) {
	t.Parallel()
	h, r, unit := recallHouse(t)
	b := h.signedIn(ownerToken)
	form := url.Values{"unit": {unit}, "item": {"shield/known.md"}, "label": {"contra"}}
	got := h.do(b, http.MethodPost, "/manifests/1/missed", strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site")
	if got.status != http.StatusForbidden || len(r.kept) != 0 {
		t.Errorf("a form from elsewhere: %d, %v", got.status, r.kept)
	}
	r.stale = true
	if got := h.post(b, "/manifests/1/missed", form); got.status != http.StatusConflict || !strings.Contains(got.body, "judged again") {
		t.Errorf("too late: %d %s", got.status, got.body)
	}
	r.stale = false
	if got := h.post(b, "/manifests/1/missed", form); got.status != http.StatusSeeOther || len(r.kept) != 1 || r.kept[0].By != core.Owner || r.kept[0].RunID != 10 {
		t.Errorf("%d, %+v", got.status, r.kept)
	}
	form.Set("note", strings.Repeat("я", 1001))
	if got := h.post(b, "/manifests/1/missed", form); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "shorten it") {
		t.Errorf("a long note: %d", got.status)
	}
	// One that is queued has nothing to name anything of.
	r2, err := h.mem.Submit(t.Context(), core.Arrival{Raw: []byte("{}"), Source: core.SourceFile})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.post(b, fmt.Sprintf("/manifests/%d/missed", r2.ManifestID), form); got.status != http.StatusConflict {
		t.Errorf("before it is judged: %d", got.status)
	}
	page := h.do(h.signedIn(claudeToken), http.MethodGet, "/manifests/1", nil).body
	if strings.Count(page, "missed, named by owner") != 1 || !strings.Contains(page, "1 missed") {
		t.Error("the unit does not show it")
	}
}

// What was typed about a missed clash survives the end of the session, a wrong token and the sign-in, and is not stored by any of them.
func TestAMissedClashSurvivesAnExpiredSession(t *testing.T) {
	t.Parallel()
	h, r, unit := recallHouse(t)
	b := h.signedIn(ownerToken)
	v := url.Values{"unit": {unit}, "q": {"rare words"}, "pick": {""}, "item": {"shield/known.md"}, "label": {"dup"}, "note": {"\r\nwhy <it> was \"missed\""}}
	h.do(b, http.MethodPost, "/logout", nil, formHeaders...)
	page := h.post(b, "/manifests/1/missed", v)
	if page.status != http.StatusUnauthorized || !strings.Contains(page.body, "your text is kept") {
		t.Fatalf("signed out: status %d: %s", page.status, page.body)
	}
	for _, step := range []struct {
		token  string
		status int
	}{{"wrong", http.StatusUnauthorized}, {ownerToken, http.StatusOK}} {
		form := url.Values{"token": {step.token}}
		for name, value := range inputs(page.body) {
			form.Set(name, value)
		}
		_, kept, _ := strings.Cut(page.body, ` name="note" rows="2" readonly>`+"\n")
		kept, _, _ = strings.Cut(kept, "</textarea>")
		form.Set("note", html.UnescapeString(kept))
		if page = h.post(b, "/login", form); page.status != step.status {
			t.Fatalf("token %q: status %d: %s", step.token, page.status, page.body)
		}
	}
	for _, want := range []string{
		"Nothing was stored yet", `value="shield/known.md"`, `value="rare words"`, `name="label" value="dup" checked`, "why &lt;it&gt; was &#34;missed&#34;",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q: %s", want, page.body)
		}
	}
	if len(r.kept) != 0 {
		t.Errorf("stored without being sent: %+v", r.kept)
	}
	h.do(b, http.MethodPost, "/logout", nil, formHeaders...)
	if got := h.post(b, "/manifests/1/missed", url.Values{"note": {"of nothing"}}); got.status != http.StatusSeeOther {
		t.Errorf("a form of no unit: %d", got.status)
	}
}

// inputs are the hidden fields of a page, as a browser would send them.
func inputs(page string) map[string]string {
	out := map[string]string{}
	for _, input := range strings.Split(page, `<input type="hidden" name="`)[1:] {
		name, rest, _ := strings.Cut(input, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		out[name] = html.UnescapeString(value)
	}
	return out
}

func TestWhatIfShowsABoundedList(t *testing.T) {
	t.Parallel()
	h, r, _ := recallHouse(t)
	b := h.signedIn(claudeToken)
	if got := h.do(b, http.MethodGet, "/whatif", nil); !strings.Contains(got.body, "Nothing is counted yet") {
		t.Errorf("%d %s", got.status, got.body)
	}
	r.whatIf = core.WhatIfData{Model: "emb", Models: []string{"emb", "<old>"}, Pairs: []core.PairsAt{{Percent: 40, Pairs: 3}, {Percent: 90, Pairs: 1}},
		Flags: []core.FlagsAt{{Percent: 40, Label: core.Contra, Owner: core.Land, Claude: core.Fix, Flags: 200}, {Percent: 90, Label: core.Dup, Flags: 1}}}
	for i := range 200 {
		r.flags = append(r.flags, core.WhatIfFlag{ManifestID: 1, UnitID: fmt.Sprintf("shield/<%d>", i), Label: core.Contra, Percent: 40, Owner: core.Land, Claude: core.Fix, At: testNow})
	}
	got := h.do(b, http.MethodGet, "/whatif?floor=0.654", nil)
	if r.floor != 65 || strings.Count(got.body, `<li class="entry">`) != whatIfFlags || !strings.Contains(got.body, "Only the newest 100") {
		t.Errorf("floor %d: %s", r.floor, got.body)
	}
	for _, want := range []string{"200 of 201, 100 %", "3 of 4, 75 %", "&lt;old&gt;", "owner: land, claude: fix"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if got := h.do(b, http.MethodGet, "/whatif?model="+strings.Repeat("x", longestModel+1), nil); got.status != http.StatusBadRequest {
		t.Errorf("a long model: %d", got.status)
	}
	r.fail = errors.New("secret detail")
	for _, path := range []string{"/whatif", "/eval", "/api/evaluations", "/manifests/1"} {
		if got := h.do(b, http.MethodGet, path, nil); got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret detail") {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}
