package handlers

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"storozh/core"
)

// past is a History and a Corpus for these tests alone; the real ones are tested against Postgres elsewhere.
type past struct {
	repos []string
	days  []core.TrendRow
	asked []core.TrendQuery
	found []core.FoundQuery
	ask   error
}

func (p *past) TrendRepos(context.Context) ([]string, error) { return p.repos, nil }

func (p *past) Trends(_ context.Context, q core.TrendQuery) (core.TrendData, error) {
	p.asked = append(p.asked, q)
	return core.TrendData{Days: p.days}, nil
}

func (p *past) Find(_ context.Context, q core.FoundQuery) ([]core.Found, string, error) {
	p.found = append(p.found, q)
	if q.Label == "bad" {
		return nil, "", fmt.Errorf("%w: label must be one of ours", core.ErrInvalid)
	}
	return []core.Found{{ManifestID: 1, UnitID: "shield/lessons/a.md"}}, "1.2.3", nil
}

func (p *past) CorpusView(context.Context) (core.CorpusView, error) { return core.CorpusView{}, nil }

func (p *past) ListItems(context.Context, core.ItemQuery) ([]core.ItemTally, string, error) {
	return nil, "", nil
}

func (p *past) Ask(_ context.Context, _, text string, judged bool) ([]core.Pair, error) {
	if p.ask != nil {
		return nil, p.ask
	}
	return []core.Pair{{Item: "shield/near.md", ItemText: "near " + text, Label: map[bool]core.Label{true: core.Dup}[judged]}}, nil
}

func pastHouse(t *testing.T) (*house, *past) {
	t.Helper()
	p := &past{repos: []string{"darwin", "=cmd|x"}}
	for i := range 3 {
		at := time.Date(2026, 5, 18+i, 0, 0, 0, 0, time.UTC)
		p.days = append(p.days, core.TrendRow{Repo: "darwin", At: at, TrendCounts: core.TrendCounts{Units: 10, Misroute: 1, OK: 9}})
	}
	p.days = append(p.days, core.TrendRow{Repo: "=cmd|x", At: p.days[0].At, TrendCounts: core.TrendCounts{Units: 1, OK: 1}})
	return newHouse(t, func(c *Config) { c.History, c.Corpus = p, p }), p
}

func TestTrendsAsPageTableAndJSON(t *testing.T) {
	t.Parallel()
	h, _ := pastHouse(t)
	b := h.signedIn(ownerToken)
	const q = "?from=2026-05-01&to=2026-05-31&by=week"
	if page := h.do(b, http.MethodGet, "/trends"+q, nil); page.status != http.StatusOK || !strings.Contains(page.body, "3 misroute of 31 units") || !strings.Contains(page.body, `aria-current="page">Trends`) {
		t.Errorf("the page: %d", page.status)
	}
	table := h.do(b, http.MethodGet, "/trends.csv"+q, nil)
	rows, err := csv.NewReader(strings.NewReader(table.body)).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[2], " ") != "2026-05-18 darwin 30 3 0 0 27 0 0 0" || rows[1][1] != "'=cmd|x" {
		t.Errorf("the table: %v %q", err, rows)
	}
	var got trendsJSON
	answer := h.do(h.browser(), http.MethodGet, "/api/trends"+q, nil, "Authorization", "Bearer "+claudeToken)
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil || len(got.Series) != 2 || got.Series[1] != (trendRowJSON{Repo: "darwin", Bucket: "2026-05-18", Units: 30, Misroute: 3, OK: 27}) {
		t.Errorf("the API: %v %s", err, answer.body)
	}
	if !strings.Contains(answer.body, `"events":[]`) {
		t.Errorf("no events must be an empty list: %s", answer.body)
	}
}

func TestTrendsRefuseWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	h, p := pastHouse(t)
	b := h.signedIn(ownerToken)
	for query, want := range map[string]string{
		"repo=nowhere":                  "there are darwin",
		"by=fortnight":                  "by must be day, week or month",
		"from=2026-06-01&to=2026-05-01": "exchange them",
		"from=yesterday":                "from must be a date",
		"to=2026-13-40":                 "to must be a date",
		"from=0000-00-00":               "from must be a date",
		"repo=%3Cscript%3E":             "no unit was ever counted",
		"from=2026-05-01%00":            "from must be a date",
	} {
		page := h.do(b, http.MethodGet, "/trends?"+query, nil)
		if page.status != http.StatusBadRequest || !strings.Contains(page.body, want) || !strings.Contains(page.body, `name="from"`) || strings.Contains(page.body, "<script>") {
			t.Errorf("%s: %d, lacks %q", query, page.status, want)
		}
		if got := h.do(b, http.MethodGet, "/api/trends?"+query, nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, want[:10]) {
			t.Errorf("API %s: %d %s", query, got.status, got.body)
		}
	}
	if len(p.asked) != 0 {
		t.Errorf("asked all the same: %+v", p.asked)
	}
	// A hundred years are shown by month, and only their end.
	page := h.do(b, http.MethodGet, "/trends?from=1990-01-01&to=2090-01-01&by=day", nil)
	if page.status != http.StatusOK || !strings.Contains(page.body, "so it is shown by month") || !strings.Contains(page.body, "only its end is shown, from 2070-02-01") {
		t.Errorf("a hundred years: %d", page.status)
	}
	if q := p.asked[0]; q.From.Year() != 2070 || q.Zone != time.UTC {
		t.Errorf("asked %+v", q)
	}
	p.repos = nil
	if page := h.do(b, http.MethodGet, "/trends?repo=shield", nil); page.status != http.StatusOK || !strings.Contains(page.body, "Nothing is counted yet") {
		t.Errorf("no data at all: %d", page.status)
	}
}

func TestSearchReadsItsForm(t *testing.T) {
	t.Parallel()
	h, p := pastHouse(t)
	b := h.signedIn(claudeToken)
	page := h.do(b, http.MethodGet, "/search?q=a+b&repo=shield&label=contra&type=lesson&decision=fix&state=open&from=2026-05-01&to=2026-05-31&went=raised&after=9.9.9", nil)
	if page.status != http.StatusOK || !strings.Contains(page.body, "/manifests/1?unit=shield%2Flessons%2Fa.md") || !strings.Contains(page.body, "after=1.2.3") {
		t.Errorf("the page: %d", page.status)
	}
	want := core.FoundQuery{
		Text: "a b", Repo: "shield", Label: "contra", Type: core.Lesson, Decision: core.Fix, State: core.FoundOpen, Reader: core.Claude, Went: core.FoundRaised,
		From: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), After: "9.9.9", Limit: pageSize,
	}
	if p.found[0] != want {
		t.Errorf("asked %+v", p.found[0])
	}
	for query, say := range map[string]string{
		"label=bad": "label must be", "from=x": "from must be", "to=x": "to must be", "from=2026-06-02&to=2026-06-01": "exchange them",
		"q=" + strings.Repeat("x", 500): "may have 400 bytes",
	} {
		if page := h.do(b, http.MethodGet, "/search?"+query, nil); page.status != http.StatusBadRequest || !strings.Contains(page.body, say) {
			t.Errorf("%.40s: %d", query, page.status)
		}
	}
}

// A pasted statement survives the end of the session; it is not asked about before it is sent again.
func TestAStatementSurvivesAnExpiredSession(t *testing.T) {
	t.Parallel()
	h, p := pastHouse(t)
	p.ask = fmt.Errorf("nobody may be asked")
	b := h.browser()
	page := h.do(b, http.MethodPost, "/corpus", form("title", "a <title>", "text", "\r\na \"rule\"", "judge", "1"), formHeaders...)
	if page.status != http.StatusUnauthorized || !strings.Contains(page.body, "your text is kept") {
		t.Fatalf("signed out: status %d: %s", page.status, page.body)
	}
	fields := []string{"token", ownerToken, "text", "\r\na \"rule\""}
	for name, value := range inputs(page.body) {
		fields = append(fields, name, value)
	}
	page = h.do(b, http.MethodPost, "/login", form(fields...), formHeaders...)
	for _, want := range []string{"nothing was asked yet", `name="title" value="a &lt;title&gt;"`, "a &#34;rule&#34;</textarea>", `name="judge" value="1" checked`} {
		if page.status != http.StatusOK || !strings.Contains(page.body, want) {
			t.Errorf("status %d, the page lacks %q: %s", page.status, want, page.body)
		}
	}
	if got := h.do(h.browser(), http.MethodPost, "/corpus", nil, formHeaders...); got.status != http.StatusSeeOther {
		t.Errorf("an empty form: %d", got.status)
	}
}

func TestCorpusAnswersAboutAStatement(t *testing.T) {
	t.Parallel()
	h, p := pastHouse(t)
	b := h.signedIn(ownerToken)
	page := h.do(b, http.MethodGet, "/corpus", nil)
	ask := func(fields ...string) answer {
		return h.do(b, http.MethodPost, "/corpus", form(append([]string{"_csrf", hiddenField(t, page.body)}, fields...)...), "Content-Type", "application/x-www-form-urlencoded")
	}
	if got := ask("text", "a <b> rule", "judge", "1"); got.status != http.StatusOK || !strings.Contains(got.body, "near a &lt;b&gt; rule") || !strings.Contains(got.body, `class="badge b-dup"`) {
		t.Errorf("judged: %d", got.status)
	}
	if got := ask("text", "a rule"); got.status != http.StatusOK || strings.Contains(got.body, `class="badge`) {
		t.Errorf("not judged: %d", got.status)
	}
	for err, status := range map[error]int{
		fmt.Errorf("%w: there is no statement", core.ErrInvalid):  http.StatusUnprocessableEntity,
		fmt.Errorf("%w: http://secret:1234", core.ErrUnavailable): http.StatusServiceUnavailable,
		fmt.Errorf("the disk is full"):                            http.StatusInternalServerError,
		fmt.Errorf("cut off: %w", context.DeadlineExceeded):       http.StatusServiceUnavailable,
	} {
		p.ask = err
		if got := ask("text", "kept words"); got.status != status || strings.Contains(got.body, "secret") || status != http.StatusInternalServerError && !strings.Contains(got.body, "kept words") {
			t.Errorf("%v: %d", err, got.status)
		}
	}
	if got := h.do(b, http.MethodPost, "/corpus", form("text", "x"), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("from another site: %d", got.status)
	}
	for _, path := range []string{"/trends", "/trends.csv", "/search", "/corpus"} {
		if got := h.do(h.browser(), http.MethodGet, path, nil); got.status != http.StatusSeeOther {
			t.Errorf("%s is open to strangers: %d", path, got.status)
		}
		bare := newHouse(t)
		if got := bare.do(bare.signedIn(ownerToken), http.MethodGet, path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s without a history: %d", path, got.status)
		}
	}
}
