package handlers

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/trends"
	"storozh/views"
)

// History is what the trends and the search need of the database.
type History interface {
	// Trends gives what was counted in a stretch of days.
	Trends(ctx context.Context, q core.TrendQuery) (core.TrendData, error)
	// TrendRepos lists the repos in which anything was ever counted.
	TrendRepos(ctx context.Context) ([]string, error)
	// Find lists units, newest first, and the mark of the next page (empty: none); core.ErrInvalid for a question that cannot be read.
	Find(ctx context.Context, q core.FoundQuery) (found []core.Found, next string, err error)
}

// historyOf is the history, or "not found" where the server was wired without one.
func (s *server) historyOf() (History, error) {
	if s.History == nil {
		return nil, fmt.Errorf("history %w", core.ErrNotFound)
	}
	return s.History, nil
}

// trendAnswer is a question about trends with what was found.
type trendAnswer struct {
	form views.TrendForm
	span trends.Span
	data core.TrendData
}

// askTrends reads the question from the query and answers it. core.ErrInvalid: the question cannot be read, or names an unknown repo; the
// form is filled in all the same.
func (s *server) askTrends(c echo.Context) (trendAnswer, error) {
	var a trendAnswer
	h, err := s.historyOf()
	if err != nil {
		return a, err
	}
	a.form = views.TrendForm{Repo: c.QueryParam("repo"), From: c.QueryParam("from"), To: c.QueryParam("to"), By: c.QueryParam("by")}
	ctx := c.Request().Context()
	if a.form.Repos, err = h.TrendRepos(ctx); err != nil {
		return a, err
	}
	now := s.Now()
	if a.span, err = trends.NewSpan(a.form.From, a.form.To, a.form.By, core.Day(now, now.Location())); err != nil {
		return a, err
	}
	if len(a.form.Repos) == 0 {
		return a, nil
	}
	if a.form.Repo != "" && !slices.Contains(a.form.Repos, a.form.Repo) {
		return a, fmt.Errorf("%w: no unit was ever counted in a repo %.200q; there are %s", core.ErrInvalid, a.form.Repo, firstOf(a.form.Repos, 12))
	}
	a.data, err = h.Trends(ctx, core.TrendQuery{Repo: a.form.Repo, From: a.span.From, To: a.span.To, Zone: now.Location(), By: string(a.span.By)})
	return a, err
}

func firstOf(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// trends is the page. A question that cannot be read gets the page with the form and what is wrong.
func (s *server) trends(c echo.Context) error {
	a, err := s.askTrends(c)
	in := views.TrendsInput{Form: a.form, Span: a.span, Data: a.data}
	status := http.StatusOK
	if errors.Is(err, core.ErrInvalid) {
		in.Problem, status, err = err, http.StatusBadRequest, nil
	}
	if err != nil {
		return err
	}
	return s.render(c, status, views.TrendsPage(views.NewTrends(s.page(c), in)))
}

// trendsCSV is the same as a table: a row per bucket and repo, buckets without anything left out.
func (s *server) trendsCSV(c echo.Context) error {
	a, err := s.askTrends(c)
	if err != nil {
		return err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{string(a.span.By), "repo", "units", "misroute", "contra", "dup", "ok", "unjudged", "raised", "resolved"})
	for _, r := range trends.Series(a.data.Days, a.span.By) {
		row := []string{r.At.Format(time.DateOnly), inert(r.Repo)}
		for _, n := range []int{r.Units, r.Misroute, r.Contra, r.Dup, r.OK, r.Unjudged, r.Raised, r.Resolved} {
			row = append(row, strconv.Itoa(n))
		}
		_ = w.Write(row)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="storozh-trends.csv"`)
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", []byte(b.String()))
}

// inert keeps a spreadsheet from taking an untrusted name for a formula.
func inert(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}

type trendsJSON struct {
	By     trends.By        `json:"by"`
	From   string           `json:"from"`
	To     string           `json:"to"`
	Zone   string           `json:"zone"`
	Notes  []string         `json:"notes,omitempty"` // what was answered in another way than asked
	Series []trendRowJSON   `json:"series"`          // buckets without anything are absent
	Events []trendEventJSON `json:"events"`
}

type trendRowJSON struct {
	Repo     string `json:"repo"`
	Bucket   string `json:"bucket"` // first day of the bucket
	Units    int    `json:"units"`
	Misroute int    `json:"misroute"`
	Contra   int    `json:"contra"`
	Dup      int    `json:"dup"`
	OK       int    `json:"ok"`
	Unjudged int    `json:"unjudged"`
	Raised   int    `json:"raised"`
	Resolved int    `json:"resolved"`
}

type trendEventJSON struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Before string    `json:"before"`
	After  string    `json:"after"`
}

// apiTrends answers GET /api/trends?repo=&from=&to=&by=.
func (s *server) apiTrends(c echo.Context) error {
	a, err := s.askTrends(c)
	if err != nil {
		return err
	}
	out := trendsJSON{
		By: a.span.By, From: a.span.From.Format(time.DateOnly), To: a.span.To.Format(time.DateOnly), Zone: s.Now().Location().String(),
		Notes: a.span.Notes, Series: []trendRowJSON{}, Events: []trendEventJSON{},
	}
	for _, r := range trends.Series(a.data.Days, a.span.By) {
		out.Series = append(out.Series, trendRowJSON{r.Repo, r.At.Format(time.DateOnly), r.Units, r.Misroute, r.Contra, r.Dup, r.OK, r.Unjudged, r.Raised, r.Resolved})
	}
	for _, e := range a.data.Events {
		out.Events = append(out.Events, trendEventJSON{e.At, e.Kind, e.Before, e.After})
	}
	return c.JSON(http.StatusOK, out)
}
