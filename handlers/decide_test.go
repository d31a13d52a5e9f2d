package handlers

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/views"
)

// hidden reads the fields of the decision form of one flag from a page, as a browser would send them.
func decisionFields(t *testing.T, page string, k core.FlagKey) url.Values {
	t.Helper()
	_, panel, ok := strings.Cut(page, `id="`+views.FlagDOM(k)+`"`)
	if !ok {
		t.Fatalf("the page has no panel for %v", k)
	}
	_, form, ok := strings.Cut(panel, `<form class="choose"`)
	if !ok {
		t.Fatal("the panel has no form")
	}
	form, _, _ = strings.Cut(form, "</form>")
	v := url.Values{}
	for _, input := range strings.Split(form, `<input type="hidden" name="`)[1:] {
		name, rest, _ := strings.Cut(input, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		v.Set(name, html.UnescapeString(value))
	}
	return v
}

// decide fills the form of a flag in and presses a button.
func (h *house) decide(b *http.Client, id int64, k core.FlagKey, c core.Choice, why string, more ...string) answer {
	h.t.Helper()
	v := decisionFields(h.t, h.do(b, http.MethodGet, fmt.Sprintf("/manifests/%d", id), nil).body, k)
	v.Set("decision", string(c))
	v.Set("rationale", why)
	for i := 0; i+1 < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return h.post(b, fmt.Sprintf("/manifests/%d/decisions", id), v)
}

func (h *house) post(b *http.Client, path string, v url.Values) answer {
	return h.do(b, http.MethodPost, path, strings.NewReader(v.Encode()), formHeaders...)
}

func semantic(unit string) core.FlagKey { return core.FlagKey{UnitID: unit, Kind: core.FlagSemantic} }
func routing(unit string) core.FlagKey  { return core.FlagKey{UnitID: unit, Kind: core.FlagRouting} }

func (h *house) choices() []string {
	var out []string
	for _, d := range h.mem.decisions {
		out = append(out, fmt.Sprintf("%s %s %s: %s", d.By, d.UnitID, d.Basis.Flag, d.Choice))
	}
	return out
}

func TestDecidingLeadsToTheNextOpenFlag(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.putUnits(clash("neuro-matrix/lessons/a.md", "a", "shield/x"), clash("shield/lessons/b.md", "b", "shield/y"))
	b := h.signedIn(ownerToken)
	for _, step := range []struct {
		at   core.FlagKey
		next string
	}{
		{routing("neuro-matrix/lessons/a.md"), "?at=" + core.UnitMark("neuro-matrix/lessons/a.md") + "#" + views.FlagDOM(semantic("neuro-matrix/lessons/a.md"))},
		{semantic("neuro-matrix/lessons/a.md"), "?at=" + core.UnitMark("shield/lessons/b.md") + "#" + views.FlagDOM(semantic("shield/lessons/b.md"))},
		{semantic("shield/lessons/b.md"), ""},
	} {
		got := h.decide(b, id, step.at, core.Fix, "")
		if at := got.header.Get("Location"); got.status != http.StatusSeeOther || at != fmt.Sprintf("/manifests/%d%s", id, step.next) {
			t.Errorf("%v: status %d to %q: %s", step.at, got.status, at, got.body)
		}
	}
	page := h.do(b, http.MethodGet, "/manifests/1", nil).body
	for _, want := range []string{"Decided: fix.", "You have decided all; claude has decided 0 of 3.", "waiting for the other"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if again := h.do(b, http.MethodGet, "/manifests/1", nil).body; strings.Contains(again, "Decided: fix.") {
		t.Error("the line about the last press is shown twice")
	}
}

// A second press of "Judge again" leads to the run that the first one started, and says so; what is wrong with a question is said in plain
// words, without the name of its class.
func TestASecondPressAndAWrongQuestionArePlainlyAnswered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	for range 2 {
		if got := h.post(b, "/manifests/1/runs", url.Values{}); got.status != http.StatusSeeOther || got.header.Get("Location") != "/manifests/1" {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
	}
	if page := h.do(b, http.MethodGet, "/manifests/1", nil).body; len(h.mem.fresh) != 1 || !strings.Contains(page, "under way already") {
		t.Errorf("%d runs: %s", len(h.mem.fresh), page)
	}
	if got := h.do(b, http.MethodGet, "/?queue=mine", nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, "Queue must be yours, other, disagree, done or all.") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	got := h.do(h.browser(), http.MethodPost, "/api/manifests/1/runs", strings.NewReader("{}"), byOwner...)
	if got.status != http.StatusConflict || !strings.Contains(got.body, `"detail":"a run of this manifest has not ended"`) {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestAChangeOfMindIsAFurtherDecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	b, k := h.signedIn(ownerToken), semantic("shield/lessons/tide.md")
	h.decide(b, id, k, core.Land, "first thought")
	h.decide(b, id, k, core.Accept, "second thought")
	if len(h.mem.decisions) != 2 || h.mem.decisions[1].Choice != core.Accept {
		t.Fatalf("stored: %v", h.choices())
	}
	page := h.do(b, http.MethodGet, "/manifests/1", nil).body
	for _, want := range []string{"you: <strong>accept</strong>", "second thought", "Before: 1 own decision", "first thought"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestAStaleFormShowsBothVersionsAndKeepsTheText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	b, k := h.signedIn(ownerToken), semantic("shield/lessons/tide.md")
	old := decisionFields(t, h.do(b, http.MethodGet, "/manifests/1", nil).body, k)
	h.decide(b, id, k, core.Land, "stored meanwhile")
	old.Set("decision", "accept")
	old.Set("rationale", "\r\ntyped\r\n  <b>here</b> & there")
	got := h.post(b, "/manifests/1/decisions", old)
	if got.status != http.StatusConflict || len(h.mem.decisions) != 1 {
		t.Fatalf("status %d, %d decisions: %s", got.status, len(h.mem.decisions), got.body)
	}
	for _, want := range []string{"stored meanwhile", "What you typed", "&lt;b&gt;here&lt;/b&gt; &amp; there</textarea>"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// The form on that page is up to date: sent again, it is taken.
	again := url.Values{}
	for _, f := range []string{"unit", "flag", "run", "seen"} {
		_, rest, _ := strings.Cut(got.body, `name="`+f+`" value="`)
		v, _, _ := strings.Cut(rest, `"`)
		again.Set(f, v)
	}
	again.Set("decision", "accept")
	again.Set("rationale", "typed")
	if got := h.post(b, "/manifests/1/decisions", again); got.status != http.StatusSeeOther || len(h.mem.decisions) != 2 {
		t.Errorf("sent again: status %d: %s", got.status, got.body)
	}
}

func TestADoubleClickStoresOneDecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b, k := h.signedIn(ownerToken), semantic("shield/lessons/tide.md")
	v := decisionFields(t, h.do(b, http.MethodGet, "/manifests/1", nil).body, k)
	v.Set("decision", "land")
	for range 2 {
		if got := h.post(b, "/manifests/1/decisions", v); got.status != http.StatusSeeOther {
			t.Errorf("status %d: %s", got.status, got.body)
		}
	}
	if len(h.mem.decisions) != 1 {
		t.Errorf("stored: %v", h.choices())
	}
}

func TestDecisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		more []string
		want int
		says string
	}{
		"accept without a reason":     {[]string{"decision", "accept"}, 422, "needs a rationale"},
		"blank reason":                {[]string{"decision", "accept", "rationale", " \r\n "}, 422, "needs a rationale"},
		"no choice":                   {[]string{"rationale", "my text"}, 422, "must be land, fix"},
		"another manifest's unit":     {[]string{"decision", "land", "unit", "shield/other.md", "rationale", "my text"}, 422, "has no semantic flag"},
		"a flag that is not raised":   {[]string{"decision", "land", "flag", "routing"}, 422, "has no routing flag"},
		"no such kind":                {[]string{"decision", "land", "flag", "style"}, 422, "routing or semantic"},
		"another run":                 {[]string{"decision", "land", "run", "9", "rationale", "my text"}, 409, "judged again"},
		"a reason of 100 kB":          {[]string{"decision", "land", "rationale", strings.Repeat("длинно ", 8000) + "the end"}, 422, "longer than 10,000 bytes"},
		"what is no earlier decision": {[]string{"carried", "77"}, 409, "does not cover"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.put()
			b := h.signedIn(ownerToken)
			v := decisionFields(t, h.do(b, http.MethodGet, "/manifests/1", nil).body, semantic("shield/lessons/tide.md"))
			for i := 0; i+1 < len(tc.more); i += 2 {
				v.Set(tc.more[i], tc.more[i+1])
			}
			got := h.post(b, "/manifests/1/decisions", v)
			if got.status != tc.want || !strings.Contains(got.body, tc.says) || len(h.mem.decisions) != 0 {
				t.Errorf("status %d, %d stored: %s", got.status, len(h.mem.decisions), got.body)
			}
			if typed := strings.TrimSpace(v.Get("rationale")); !strings.Contains(got.body, typed) {
				t.Error("the text is lost")
			}
		})
	}
}

// The reason is too long for a form whose only proof is the hidden field, too: it still gets its page.
func TestALongReasonWithTheHiddenFieldAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	v := decisionFields(t, h.do(b, http.MethodGet, "/manifests/1", nil).body, semantic("shield/lessons/tide.md"))
	v.Set("decision", "fix")
	v.Set("rationale", strings.Repeat("r", 100_000))
	got := h.do(b, http.MethodPost, "/manifests/1/decisions", strings.NewReader(v.Encode()), formHeaders[:2]...)
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, v.Get("rationale")) {
		t.Errorf("status %d: %.300s", got.status, got.body)
	}
	v.Set("rationale", strings.Repeat("r", decisionBytes))
	if got := h.post(b, "/manifests/1/decisions", v); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("beyond the limit: status %d", got.status)
	}
}

func TestATextSurvivesAnExpiredSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	b := h.signedIn(ownerToken)
	v := decisionFields(t, h.do(b, http.MethodGet, "/manifests/1", nil).body, semantic("shield/lessons/tide.md"))
	v.Set("decision", "accept")
	v.Set("rationale", "\r\nfirst line\r\n\"second\" <line>")
	h.do(b, http.MethodPost, "/logout", nil, formHeaders...)
	page := h.post(b, "/manifests/1/decisions", v)
	if page.status != http.StatusUnauthorized || !strings.Contains(page.body, "your text is kept") {
		t.Fatalf("signed out: status %d: %s", page.status, page.body)
	}
	for i, token := range []string{"wrong", ownerToken} {
		sign := url.Values{"token": {token}}
		form, _, _ := strings.Cut(page.body[strings.Index(page.body, `action="/login"`):], "</form>")
		for _, input := range strings.Split(form, `<input type="hidden" name="`)[1:] {
			name, rest, _ := strings.Cut(input, `" value="`)
			value, _, _ := strings.Cut(rest, `"`)
			sign.Set(name, html.UnescapeString(value))
		}
		_, rest, _ := strings.Cut(form, "readonly>\n")
		text, _, _ := strings.Cut(rest, "</textarea>")
		sign.Set("rationale", html.UnescapeString(text))
		page = h.post(b, "/login", sign)
		if want := []int{401, 200}[i]; page.status != want {
			t.Fatalf("token %s: status %d: %s", token, page.status, page.body)
		}
	}
	for _, want := range []string{"first line", "&#34;second&#34; &lt;line&gt;</textarea>", "you: <strong>accept</strong>", "Nothing was stored yet"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(h.mem.decisions) != 0 {
		t.Errorf("stored by itself: %v", h.choices())
	}
	if got := h.do(b, http.MethodGet, "/", nil); got.status != 200 {
		t.Errorf("not signed in: %d", got.status)
	}
}

func TestOneDecisionForIdenticalFlags(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.putUnits(clash("shield/lessons/a.md", "a", "shield/x"), clash("shield/lessons/b.md", "b", "shield/x"),
		clash("shield/lessons/c.md", "c", "shield/x"), clash("shield/lessons/d.md", "d", "shield/x"), clash("shield/lessons/e.md", "e", "shield/y"))
	b := h.signedIn(claudeToken)
	h.decide(b, id, semantic("shield/lessons/b.md"), core.Land, "")
	if page := h.do(b, http.MethodGet, "/manifests/1", nil).body; strings.Count(page, "the same for the 2 identical flags") != 3 {
		t.Error("the page does not offer the same for the identical flags")
	}
	got := h.decide(b, id, semantic("shield/lessons/a.md"), core.Fix, "once", "same", "1")
	if got.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	want := []string{"claude shield/lessons/b.md semantic: land", "claude shield/lessons/a.md semantic: fix", "claude shield/lessons/c.md semantic: fix", "claude shield/lessons/d.md semantic: fix"}
	if diff := cmp.Diff(want, h.choices()); diff != "" {
		t.Error(diff)
	}
	page := h.do(b, http.MethodGet, "/manifests/1", nil).body
	if !strings.Contains(page, "3 flags decided: fix. Left out 1: shield/lessons/b.md (you had decided land).") {
		t.Error("the page does not report what was decided and what was left out")
	}
}

func TestAPIDecide(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	unit := `"unit":"shield/lessons/tide.md","flag":"semantic"`
	byClaude := []string{"Authorization", "Bearer " + claudeToken}
	for _, tc := range []struct {
		body string
		want int
		says string
	}{
		{`{` + unit + `,"decision":"accept"}`, 422, `"detail":"accepting a flag needs a rationale`},
		{`{` + unit + `,"decision":"approve"}`, 422, "must be land"},
		{`{"unit":"shield/none.md","flag":"semantic","decision":"land"}`, 422, "has no semantic flag"},
		{`{` + unit + `,"decision":"land","run":3}`, 409, "judged again"},
		{`{` + unit + `,"decision":"land","seen":12}`, 409, "you have decided this flag since"},
		{`{`, 400, "not the JSON"},
		{`{` + unit + `,"decision":"accept","rationale":"as agreed"}`, 201,
			`{"unit":"shield/lessons/tide.md","id":1,"by":"claude","flag":"semantic","decision":"accept","rationale":"as agreed","at":"2026-05-21T14:03:00Z"}`},
		{`{` + unit + `,"decision":"fix","seen":1}`, 201, `"decision":"fix"`},
	} {
		got := h.do(h.browser(), http.MethodPost, "/api/manifests/1/decisions", strings.NewReader(tc.body), byClaude...)
		if got.status != tc.want || !strings.Contains(got.body, tc.says) {
			t.Errorf("%s: status %d: %s", tc.body, got.status, got.body)
		}
		if kind := got.header.Get("Content-Type"); tc.want >= 400 && kind != "application/problem+json" {
			t.Errorf("%s: content type %q", tc.body, kind)
		}
	}
	h.mem.records[0].Judged = nil
	if got := h.do(h.browser(), http.MethodPost, "/api/manifests/1/decisions", strings.NewReader(`{`+unit+`,"decision":"fix"}`), byClaude...); got.status != 409 || !strings.Contains(got.body, "not been judged") {
		t.Errorf("before it is judged: status %d: %s", got.status, got.body)
	}
}

// readManifest is GET /api/manifests/1 as one cosigner sees it.
func (h *house) seenBy(token string) manifestJSON {
	h.t.Helper()
	var got manifestJSON
	res := h.do(h.browser(), http.MethodGet, "/api/manifests/1", nil, "Authorization", "Bearer "+token)
	if err := json.Unmarshal([]byte(res.body), &got); err != nil {
		h.t.Fatalf("%v: %s", err, res.body)
	}
	return got
}

func TestEachDecidesAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	owner, claude, k := h.signedIn(ownerToken), h.signedIn(claudeToken), semantic("shield/lessons/tide.md")
	h.decide(claude, id, k, core.Accept, "claude's own words")
	raw := func() string { return h.do(owner, http.MethodGet, "/api/manifests/1/manifest", nil).body }
	everywhere := func() string {
		return h.do(owner, http.MethodGet, "/manifests/1", nil).body + h.do(owner, http.MethodGet, "/api/manifests/1", nil).body + raw()
	}
	if strings.Contains(everywhere(), "own words") || strings.Contains(everywhere(), "reviews\"") {
		t.Error("the owner learns claude's decision before having decided")
	}
	if page := h.do(owner, http.MethodGet, "/manifests/1", nil).body; !strings.Contains(page, "claude has decided. It opens when you have.") {
		t.Error("the page does not say that claude has decided")
	}
	if got := h.seenBy(claudeToken).Units[0].Decisions; len(got) != 1 || got[0].Rationale != "claude's own words" {
		t.Errorf("claude sees %v", got)
	}
	h.decide(owner, id, k, core.Fix, "owner's own words")
	page := h.do(owner, http.MethodGet, "/manifests/1", nil).body
	for _, want := range []string{"disagree", "claude&#39;s own words", "owner&#39;s own words", "differ on 1 flag"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := h.seenBy(ownerToken); len(got.Units[0].Decisions) != 2 || len(got.Storozh.Reviews) != 2 || got.Queue != core.QueueDisagree {
		t.Errorf("after both: %+v, %+v, %s", got.Units[0].Decisions, got.Storozh.Reviews, got.Queue)
	}
	if !strings.Contains(raw(), `"reviews"`) {
		t.Error("the spliced manifest lacks the reviews")
	}
}

func TestTheOthersDecisionOnRequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	owner, claude, k := h.signedIn(ownerToken), h.signedIn(claudeToken), semantic("shield/lessons/tide.md")
	ask := func() answer {
		return h.do(owner, http.MethodPost, "/api/manifests/1/reveal", strings.NewReader(`{"unit":"shield/lessons/tide.md","flag":"semantic"}`), "Sec-Fetch-Site", "same-origin")
	}
	if got := ask(); got.status != 409 || len(h.mem.reveals) != 0 {
		t.Errorf("before there is one: status %d: %s", got.status, got.body)
	}
	h.decide(claude, id, k, core.Accept, "claude's own words")
	got := h.post(owner, "/manifests/1/reveal", url.Values{"unit": {k.UnitID}, "flag": {"semantic"}})
	if got.status != http.StatusSeeOther || !strings.HasSuffix(got.header.Get("Location"), "#"+views.FlagDOM(k)) {
		t.Errorf("status %d to %q", got.status, got.header.Get("Location"))
	}
	if page := h.do(owner, http.MethodGet, "/manifests/1", nil).body; !strings.Contains(page, "claude&#39;s own words") {
		t.Error("the page does not show it")
	}
	if got := ask(); got.status != 200 || !strings.Contains(got.body, `"by":"claude"`) {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if !strings.Contains(h.log.String(), "shown on request") || strings.Contains(h.log.String(), "own words") {
		t.Error("the log lacks the request, or holds the text")
	}
	if h.seenBy(ownerToken).Queue != core.QueueYours {
		t.Error("seeing is not deciding")
	}
}
