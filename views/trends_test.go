package views

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/trends"
)

func civil(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func row(repo, at string, c core.TrendCounts) core.TrendRow {
	return core.TrendRow{Repo: repo, At: civil(at), TrendCounts: c}
}

// season is five weeks of two repos, with a new judge in the middle.
func season() TrendsInput {
	var days []core.TrendRow
	for w := range 5 {
		at := civil("2026-04-06").AddDate(0, 0, 7*w)
		days = append(days, core.TrendRow{Repo: "darwin", At: at, TrendCounts: core.TrendCounts{Units: 4, OK: 3, Misroute: 1, Raised: 1}},
			core.TrendRow{Repo: "shield", At: at.AddDate(0, 0, 2), TrendCounts: core.TrendCounts{Units: 30, Misroute: 3, Contra: 6 - w, Dup: 2, OK: 15, Unjudged: 4, Raised: 9, Resolved: 5}})
	}
	return TrendsInput{
		Form: TrendForm{Repos: []string{"darwin", "shield"}},
		Span: trends.Span{From: civil("2026-04-06"), To: civil("2026-05-10"), By: trends.Week},
		Data: core.TrendData{Days: days, Events: []core.TrendEvent{
			{At: civil("2026-04-21").Add(9 * time.Hour), Kind: "judge-model", Before: "small", After: "large<b>"},
			{At: civil("2026-04-29").Add(9 * time.Hour), Kind: "corpus", Before: "c1", After: "c2"},
		}, Reviews: core.ReviewCounts{Agreed: 35, By: [2][4]int{{25, 25}, {30, 20}}, Confirmed: map[string]int{"contra": 15}, Refuted: map[string]int{"contra": 5, "dup": 2}, Waited: [7]int{30, 20}}},
	}
}

func TestTrendsPage(t *testing.T) {
	t.Parallel()
	m := NewTrends(testPage, season())
	page := html(t, TrendsPage(m))
	has(t, page, []string{
		`href="/search?from=2026-04-13&amp;label=contra&amp;to=2026-04-19"`, "week 16, from 13 Apr 2026: 5 contra of 34 units", "judge model: ", "large&lt;b&gt;",
		"κ = 0.40 (n = 50)", "within 1 hour", "15 of 20", "75.0 %", "53–89 %", "0 of 2", "Flags, darwin", "Flags, shield", "/trends.csv?", "11.8 %",
		`href="/search?from=2026-04-06&amp;to=2026-04-12&amp;went=resolved"`,
	}, []string{"style=", "<b>", "NaN", "Inf"})
	wellFormed(t, page)

	// The line of rates is cut before the week of the new judge: two weeks, and three.
	rates := m.Charts[1]
	if len(rates.Lines) != 6 || strings.Count(rates.Lines[0].Points, ",") != 2 || strings.Count(rates.Lines[1].Points, ",") != 3 {
		t.Errorf("lines %+v", rates.Lines)
	}
	if len(rates.Marks) != 2 || !rates.Marks[0].Breaks || rates.Marks[1].Breaks {
		t.Errorf("marks %+v", rates.Marks)
	}
	for _, c := range m.Charts {
		if len(c.Table.Rows) != 5 || c.CSV == "" {
			t.Errorf("%s: the table has %d rows", c.Title, len(c.Table.Rows))
		}
		for _, b := range c.Bars {
			if b.X < plotLeft || b.X+b.W > plotRight+.1 || b.Y < plotTop-.1 || b.Y+b.H > plotBottom+1 || b.URL == "" {
				t.Errorf("%s: a bar out of the drawing: %+v", c.Title, b)
			}
		}
	}
}

func TestFewUnitsMakeNoRate(t *testing.T) {
	t.Parallel()
	in := season()
	in.Data.Days = []core.TrendRow{row("darwin", "2026-04-06", core.TrendCounts{Units: trends.MinRate - 1, Misroute: 7})}
	m := NewTrends(testPage, in)
	if len(m.Charts[1].Dots)+len(m.Charts[1].Lines) != 0 {
		t.Error("a rate is drawn")
	}
	if page := html(t, TrendsPage(m)); strings.Contains(page, "36.8 %") || !strings.Contains(page, "<td>7</td>") {
		t.Error("the numbers are not shown as numbers")
	}
}

func TestTrendsThatHaveNothingToShow(t *testing.T) {
	t.Parallel()
	empty := season()
	empty.Form.Repos, empty.Data = nil, core.TrendData{}
	quiet := season()
	quiet.Data.Days = nil
	bad := season()
	bad.Problem = errors.New("from lies <after> to")
	for _, tt := range map[string]struct {
		in   TrendsInput
		want string
	}{"empty": {empty, "Nothing is counted yet"}, "quiet": {quiet, "Nothing in this stretch"}, "bad": {bad, "from lies &lt;after&gt; to"}} {
		page := html(t, TrendsPage(NewTrends(testPage, tt.in)))
		has(t, page, []string{tt.want, `name="from"`}, []string{"<polyline", "NaN"})
		wellFormed(t, page)
	}
}

// The largest page that can be asked for stays below a megabyte.
func TestTheLargestTrendsPageIsBounded(t *testing.T) {
	t.Parallel()
	in := season()
	in.Span = trends.Span{From: civil("2025-12-13"), To: civil("2026-05-21"), By: trends.Day}
	in.Data.Days, in.Form.Repos = nil, nil
	for r := range 50 {
		name := fmt.Sprintf("repo-%s-%d", strings.Repeat("long", 40), r)
		in.Form.Repos = append(in.Form.Repos, name)
		for d := range 160 {
			in.Data.Days = append(in.Data.Days, core.TrendRow{Repo: name, At: in.Span.From.AddDate(0, 0, d), TrendCounts: core.TrendCounts{Units: 99, Misroute: 9, Contra: 9, Dup: 9, OK: 9, Unjudged: 9, Raised: 9, Resolved: 9}})
		}
	}
	page := html(t, TrendsPage(NewTrends(testPage, in)))
	if len(page) > 1_400_000 {
		t.Errorf("%d bytes", len(page))
	}
	t.Logf("%d bytes", len(page))
}

// wellFormed reads every drawing of a page as XML.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	for _, part := range strings.Split(page, `<div class="plot"`)[1:] {
		from, to := strings.Index(part, "<svg"), strings.Index(part, "</svg>")
		d := xml.NewDecoder(strings.NewReader(part[from : to+len("</svg>")]))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("a drawing is not well formed: %v", err)
			}
		}
	}
}

func TestSearchPage(t *testing.T) {
	t.Parallel()
	in := SearchInput{
		Form: SearchForm{Q: `"quoted" <x>`, Repo: "shield", Label: "contra"}, Next: "1.2.3", First: true,
		Found: []core.Found{{ManifestID: 4, UnitID: "shield/lessons/a b.md#c", Title: "T\u202e", Repo: "shield", Type: core.Lesson, At: testPage.Now, Routing: core.RoutingOK,
			Semantic: core.Contra, Note: "why", Choices: []core.Choice{core.Fix}}},
	}
	has(t, html(t, SearchPage(NewSearch(testPage, in))), []string{
		`href="/manifests/4?unit=shield%2Flessons%2Fa+b.md%23c"`, "&#34;quoted&#34; &lt;x&gt;", "U+202E", "you: fix", `<option value="contra" selected`, "after=1.2.3", "why",
	}, []string{"<x>"})
	has(t, html(t, SearchPage(NewSearch(testPage, SearchInput{Form: in.Form, First: true}))), []string{"Nothing found"}, nil)
	has(t, html(t, SearchPage(NewSearch(testPage, SearchInput{First: true}))), []string{"No unit yet"}, nil)
	has(t, html(t, SearchPage(NewSearch(testPage, SearchInput{Problem: errors.New("no <such> label")}))), []string{"no &lt;such&gt; label"}, []string{"Nothing found"})
}

func TestCorpusPage(t *testing.T) {
	t.Parallel()
	in := CorpusInput{
		View: core.CorpusView{
			CorpusState: core.CorpusState{Commit: "c0ffee", Items: 3, Faults: []core.Fault{{Path: "claims/claims.ttl", Line: 7, What: "a dot is missing"}}},
			ReadAt:      testPage.Now, Kinds: map[core.Kind]int{core.KindLesson: 3}, Never: 2,
			Most: []core.ItemTally{{Item: core.Item{ID: "shield/gone.md"}, Met: 4, Contra: 3, Gone: true}},
		},
		Items: []core.ItemTally{{Item: core.Item{ID: "shield/lessons/a.md#x", Kind: core.KindLesson, Text: "<i>text</i>"}}}, First: true, Next: "shield/lessons/a.md#x",
		Asked: AskForm{Text: "</textarea>", Judge: true}, Heard: true,
		Pairs: []core.Pair{{Item: "shield/lessons/a.md#x", ItemText: "near text", Similarity: .5, Label: core.Dup, Note: "same"}, {Item: "shield/b", Unjudged: "timeout"}},
	}
	has(t, html(t, CorpusPage(NewCorpus(testPage, in))), []string{
		"c0ffee", "a dot is missing", "never compared", "near 4 units: 3 contra, 0 dup", "no longer in the corpus", "&lt;i&gt;text", "&lt;/textarea&gt;", "near text", "same", "timeout",
		"Nearest items (2)", `href="/items/shield/lessons/a.md%23x"`, "after=shield",
	}, []string{"<i>"})
	has(t, html(t, CorpusPage(NewCorpus(testPage, CorpusInput{First: true}))), []string{"was not read yet", "No item here"}, []string{"Nearest items"})
}
