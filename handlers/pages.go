package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

func (s *server) inbox(c echo.Context) error {
	ctx, after, who := c.Request().Context(), c.QueryParam("after"), s.signedIn(c)
	queue, err := queueParam(c.QueryParam("queue"))
	if err != nil {
		return err
	}
	records, next, err := s.Store.Records(ctx, core.RecordQuery{After: after, Limit: pageSize, Queue: queue, For: who})
	if err != nil {
		return err
	}
	in := views.InboxInput{Records: records, Next: next, After: after, Webhook: s.webhookURL(c), Sample: s.RunSample != nil, Queue: queue}
	if in.Counts, err = s.Store.QueueCounts(ctx, who); err != nil {
		return err
	}
	ids := make([]int64, 0, len(records))
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	if len(ids) > 0 {
		if in.Superseded, err = s.Store.Superseded(ctx, ids...); err != nil {
			return err
		}
	}
	if in.System, err = s.System(ctx); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.InboxPage(views.NewInbox(s.page(c), in)))
}

// webhookURL is where a sender on this machine finds us.
func (s *server) webhookURL(c echo.Context) string {
	if s.PublicURL != "" {
		return s.PublicURL + "/webhooks/mirabilis"
	}
	return "http://" + c.Request().Host + "/webhooks/mirabilis"
}

func (s *server) review(c echo.Context) error {
	r, err := s.record(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	in := views.ReviewInput{Record: r, Show: c.QueryParam("show"), Unit: c.QueryParam("unit"), Diff: c.QueryParam("diff"), Find: c.QueryParam("q")}
	if r.Judged != nil {
		if err := s.unitsOf(c, &in); err != nil {
			return err
		}
		if b := r.Judged.Block; b != nil && len(b.NotInDiff) > 0 {
			if in.AddCommands, err = s.Store.AddCommands(ctx, r.Judged.ID); err != nil {
				return err
			}
		}
	}
	if err := s.addDecisions(c, &in); err != nil {
		return err
	}
	if err := s.addMissed(ctx, &in); err != nil {
		return err
	}
	folded, err := s.Store.Superseded(ctx, r.ID)
	if err != nil {
		return err
	}
	in.Superseded = folded[r.ID]
	return s.render(c, http.StatusOK, views.ReviewPage(views.NewReview(s.page(c), in)))
}

// unitsOf reads the units that a review page shows: the one that is asked for, else those of the page.
func (s *server) unitsOf(c echo.Context, in *views.ReviewInput) error {
	ctx := c.Request().Context()
	q := views.UnitQuery(in.Record, s.signedIn(c), in.Show, in.Find, c.QueryParam("at"), int(number(c.QueryParam("from"))))
	if in.Unit != "" {
		q.Limit = 0
		u, err := s.Store.Unit(ctx, q.RunID, in.Unit)
		switch {
		case err == nil:
			in.Units = []core.UnitResult{u}
		case !errors.Is(err, core.ErrNotFound): // the page says so, and leads to all units
			return err
		}
	}
	p, err := s.Store.UnitPage(ctx, q)
	if err != nil {
		return err
	}
	if in.Unit == "" {
		in.Units = p.Units
	}
	in.Counts, in.From, in.Judged, in.Cached = p.Counts, p.From, p.Judged, p.Cached
	return nil
}

// record is the manifest that the path names.
func (s *server) record(c echo.Context) (core.Record, error) {
	id, err := idParam(c)
	if err != nil {
		return core.Record{}, err
	}
	return s.Store.Record(c.Request().Context(), id)
}

// text answers with a whole text that a page shows only the beginning of, as plain text with marks.
func (s *server) text(c echo.Context) error {
	r, err := s.record(c)
	if err != nil {
		return err
	}
	if r.Judged == nil {
		return fmt.Errorf("text %w", core.ErrNotFound)
	}
	u, err := s.Store.Unit(c.Request().Context(), r.Judged.ID, c.QueryParam("unit"))
	if err != nil {
		return err
	}
	whole, err := part(u, c.QueryParam("part"), c.QueryParam("item"))
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, views.Plain(whole))
}

func part(u core.UnitResult, name, item string) (string, error) {
	switch name {
	case "unit":
		return u.Unit.Text, nil
	case "diff":
		return u.Unit.Diff, nil
	case "item":
		for _, p := range u.Pairs {
			if p.Item == item {
				return p.ItemText, nil
			}
		}
	}
	return "", fmt.Errorf("text %w", core.ErrNotFound)
}

// rerun is the "Judge again" button.
func (s *server) rerun(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	if err := parseForm(c); err != nil {
		return err
	}
	return s.runAgain(c, id, c.Request().PostFormValue("fresh") != "", fmt.Sprintf("manifest %d", id))
}

// runAgain queues a run and leads to its manifest. A run that is under way already, as after a second press, is not an error: the page says
// so and follows it.
func (s *server) runAgain(c echo.Context, id int64, fresh bool, detail string) error {
	_, err := s.Store.Rerun(c.Request().Context(), id, fresh)
	switch {
	case errors.Is(err, core.ErrConflict):
		s.say(c, "A run of this manifest is under way already; no other was started.")
	case err != nil:
		return err
	default:
		s.audit(c, core.AuditRun, detail)
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/manifests/%d", id))
}

// sample is the "Run the sample" button.
func (s *server) sample(c echo.Context) error {
	if s.RunSample == nil {
		return fmt.Errorf("sample %w", core.ErrNotFound)
	}
	// A reader who goes away must not leave half a sample behind.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), sampleTime)
	defer cancel()
	id, err := s.RunSample(ctx)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/manifests/%d", id))
}

func (s *server) status(c echo.Context) error {
	sys, err := s.System(c.Request().Context())
	if err != nil {
		return err
	}
	trail, err := s.auditTrail(c.Request().Context())
	if err != nil {
		return err
	}
	m := views.NewStatus(s.page(c), sys)
	m.Audit = views.NewAudit(s.signedIn(c), trail)
	return s.render(c, http.StatusOK, views.StatusPage(m))
}
