package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

const longestSearch = 400 // bytes of what is looked for

// search is the page that finds units. A question that cannot be read gets the page with the form and what is wrong.
func (s *server) search(c echo.Context) error {
	h, err := s.historyOf()
	if err != nil {
		return err
	}
	form := views.SearchForm{
		Q: c.QueryParam("q"), Repo: c.QueryParam("repo"), Label: c.QueryParam("label"), Type: c.QueryParam("type"),
		Decision: c.QueryParam("decision"), State: c.QueryParam("state"), From: c.QueryParam("from"), To: c.QueryParam("to"),
		Went: c.QueryParam("went"),
	}
	in := views.SearchInput{Form: form, First: c.QueryParam("after") == ""}
	status := http.StatusOK
	q, err := s.foundQuery(c, form)
	if err == nil {
		in.Found, in.Next, err = h.Find(c.Request().Context(), q)
	}
	if errors.Is(err, core.ErrInvalid) {
		in.Problem, status, err = err, http.StatusBadRequest, nil
	}
	if err != nil {
		return err
	}
	return s.render(c, status, views.SearchPage(views.NewSearch(s.page(c), in)))
}

// foundQuery reads the form. Dates are calendar days in the zone of the pages, both included.
func (s *server) foundQuery(c echo.Context, f views.SearchForm) (core.FoundQuery, error) {
	q := core.FoundQuery{
		Text: f.Q, Repo: f.Repo, Label: f.Label, Type: core.UnitType(f.Type), Decision: core.Choice(f.Decision), State: core.FoundState(f.State),
		Went: core.FoundWent(f.Went), Reader: s.signedIn(c), After: c.QueryParam("after"), Limit: pageSize,
	}
	if len(q.Text) > longestSearch || len(q.Repo) > longestSearch || len(q.Type) > longestSearch {
		return q, fmt.Errorf("%w: what to look for may have %d bytes", core.ErrInvalid, longestSearch)
	}
	zone := s.Now().Location()
	from, err := dayParam("from", f.From)
	if err != nil {
		return q, err
	}
	to, err := dayParam("to", f.To)
	if err != nil {
		return q, err
	}
	if !from.IsZero() && !to.IsZero() && from.After(to) {
		return q, fmt.Errorf("%w: from (%s) lies after to (%s): exchange them", core.ErrInvalid, f.From, f.To)
	}
	if !from.IsZero() {
		q.From = core.DayStart(from, zone)
	}
	if !to.IsZero() {
		q.To = core.DayStart(to.AddDate(0, 0, 1), zone)
	}
	return q, nil
}

// dayParam is a calendar day; zero if it is empty.
func dayParam(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := time.Parse(time.DateOnly, text)
	if err != nil || d.Year() < 1000 {
		return d, fmt.Errorf("%w: %s must be a date such as 2026-05-21, not %.40q", core.ErrInvalid, name, text)
	}
	return d, nil
}
