package views

import (
	"fmt"
	"net/url"
	"time"

	"storozh/core"
	"storozh/core/trends"
)

// Trends is the page about how the flags develop.
type Trends struct {
	Page
	Form    TrendForm
	Problem string // what is wrong with the question; nothing else is shown then
	Notes   []string
	Empty   bool // nothing was ever counted
	Quiet   bool // nothing in this stretch
	Zone    string
	Repos   []RepoTrend
	Charts  []Chart
	Marks   []MarkView
	Reviews ReviewFigures
}

// TrendForm is the question as it stands in the form.
type TrendForm struct {
	Repo, From, To, By string
	Repos              []string // those to choose from
}

// RepoTrend is one line of the table of repos, with shares where there are enough units.
type RepoTrend struct {
	Name   string
	URL    string
	Counts core.TrendCounts
	Shares [5]string // misroute, contra, dup, unjudged, ok
}

// MarkView is one bucket in which something changed that runs were judged with.
type MarkView struct {
	Number int
	When   string
	Breaks bool
	Events []core.TrendEvent
	More   int
}

// TrendsInput is what [NewTrends] needs.
type TrendsInput struct {
	Form    TrendForm
	Span    trends.Span
	Data    core.TrendData
	Problem error // of the question
}

const (
	maxRepoCharts  = 6
	maxRepoBuckets = 500 // of all drawings of single repos: the page has a size to keep
	maxMarkEvents  = 12
)

// NewTrends builds the page. The times of p.Now name the zone.
func NewTrends(p Page, in TrendsInput) Trends {
	p.Title, p.Here = "Trends", "trends"
	m := Trends{Page: p, Form: in.Form, Notes: in.Span.Notes, Zone: p.Now.Location().String(), Empty: len(in.Form.Repos) == 0}
	if in.Problem != nil {
		m.Problem, m.Empty = core.Detail(in.Problem), false
		return m
	}
	if m.Empty {
		return m
	}
	m.Form.From, m.Form.To, m.Form.By = in.Span.From.Format(time.DateOnly), in.Span.To.Format(time.DateOnly), string(in.Span.By)
	m.Quiet = len(in.Data.Days) == 0
	m.Reviews = newReviewFigures(in.Data.Reviews)
	marks := trends.Marks(in.Data.Events, in.Span, p.Now.Location())
	m.Marks = markViews(marks, in.Span.By)
	if m.Quiet {
		return m
	}
	repos := trends.ByRepo(in.Data.Days)
	m.Repos = repoTrends(m.Form, repos)
	c := charter{form: m.Form, span: in.Span, days: in.Data.Days, marks: marks}
	name := "all repos"
	if in.Form.Repo != "" {
		name = in.Form.Repo
	}
	m.Charts = append(m.Charts, c.flags("flags", name, in.Form.Repo), c.rates(name), c.flow(name), c.unjudged(name))
	if in.Form.Repo == "" && len(repos) > 1 {
		drawn := min(len(repos), maxRepoCharts, max(1, maxRepoBuckets/len(in.Span.Buckets())))
		for i, r := range repos[:drawn] {
			m.Charts = append(m.Charts, c.flags(fmt.Sprintf("repo-%d", i+1), r.Repo, r.Repo))
		}
		if n := len(repos) - drawn; n > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("%s more, with fewer units, have no drawing of their own here; choose one above to see it.", plural(n, "repo")))
		}
		m.Repos = m.Repos[:min(len(m.Repos), listLimit)]
	}
	return m
}

// URL is the address of the page with this question, or of another form of it, such as "/trends.csv".
func (f TrendForm) URL(path string) string {
	v := url.Values{}
	for k, s := range map[string]string{"repo": f.Repo, "from": f.From, "to": f.To, "by": f.By} {
		if s != "" {
			v.Set(k, s)
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

func (f TrendForm) withRepo(repo string) TrendForm {
	f.Repo = repo
	return f
}

func repoTrends(f TrendForm, repos []core.TrendRow) []RepoTrend {
	var out []RepoTrend
	if len(repos) > 1 {
		out = append(out, repoTrend("all", f.URL("/trends"), trends.Total(repos)))
	}
	for _, r := range repos {
		out = append(out, repoTrend(r.Repo, f.withRepo(r.Repo).URL("/trends"), r.TrendCounts))
	}
	return out
}

func repoTrend(name, at string, c core.TrendCounts) RepoTrend {
	r := RepoTrend{Name: name, URL: at, Counts: c}
	for i, n := range []int{c.Misroute, c.Contra, c.Dup, c.Unjudged, c.OK} {
		r.Shares[i] = share(n, c.Units)
	}
	return r
}

// share is a rate, or nothing where there are too few units for one.
func share(part, whole int) string {
	if r, ok := trends.Rate(part, whole); ok {
		return fmt.Sprintf("%.1f %%", 100*r)
	}
	return ""
}

func markViews(marks []trends.Mark, by trends.By) []MarkView {
	out := make([]MarkView, len(marks))
	for i, m := range marks {
		out[i] = MarkView{Number: i + 1, When: bucketName(by, m.At), Breaks: m.Breaks, Events: m.Events}
		if n := len(m.Events); n > maxMarkEvents {
			out[i].Events, out[i].More = m.Events[:maxMarkEvents], n-maxMarkEvents
		}
	}
	return out
}

// ReviewFigures sums up what the cosigners decided, in words and numbers.
type ReviewFigures struct {
	Flags     int // both have decided
	Agreed    int
	Kappa     string
	Half      string
	Confirmed []ConfirmedShare
}

// ConfirmedShare is how often decisions said that a label was right.
type ConfirmedShare struct {
	Label    Badge
	Hits, N  int
	Share    string // empty where there are too few
	Interval string
}

func newReviewFigures(r core.ReviewCounts) ReviewFigures {
	k, n, ok := trends.Kappa(r)
	f := ReviewFigures{Flags: n, Agreed: r.Agreed}
	switch {
	case ok:
		f.Kappa = fmt.Sprintf("κ = %.2f (n = %d)", k, n)
	case n > 0:
		f.Kappa = fmt.Sprintf("not defined (n = %d): both only ever chose one and the same", n)
	}
	if d, _, ok := trends.Within(r.Waited); ok {
		f.Half = "more than 30 days"
		if d > 0 {
			f.Half = "within " + waitWord(d)
		}
	}
	badges := map[string]Badge{"misroute": {Kind: "misroute", Word: "misroute"}, "contra": labelBadge(core.Contra), "dup": labelBadge(core.Dup)}
	for _, l := range []string{"misroute", "contra", "dup"} {
		c := ConfirmedShare{Label: badges[l], Hits: r.Confirmed[l], N: r.Confirmed[l] + r.Refuted[l]}
		c.Share = share(c.Hits, c.N)
		if c.N > 0 {
			low, high := trends.Wilson(c.Hits, c.N)
			c.Interval = fmt.Sprintf("%.0f–%.0f %%", 100*low, 100*high)
		}
		f.Confirmed = append(f.Confirmed, c)
	}
	return f
}

func waitWord(d time.Duration) string {
	if d < 24*time.Hour {
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours()/24), "day")
}
