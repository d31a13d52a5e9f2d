package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/review"
	"storozh/views"
)

// candidates is how many items the page offers.
const candidates = 12

// withdrawn is the label by which forms and API take a word back.
const withdrawn = "withdrawn"

// missedPage is GET /manifests/:id/missed?unit=&q=: name an item that clashes with a unit and was not flagged.
func (s *server) missedPage(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	typed := views.MissedTyped{Manifest: id, Unit: c.QueryParam("unit"), Q: c.QueryParam("q"), Item: c.QueryParam("item")}
	return s.missedForm(c, http.StatusOK, typed, "")
}

// missedForm prints the page: with why, and what was typed, after a refusal.
func (s *server) missedForm(c echo.Context, status int, typed views.MissedTyped, why string) error {
	r, u, err := s.judgedUnit(c, typed)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	in := views.MissedInput{Record: r, Unit: u, Typed: typed, Why: why}
	if in.Named, err = s.Recall.MissedOf(ctx, []string{review.UnitHash(u.Unit)}); err != nil {
		return err
	}
	words := typed.Q
	if strings.TrimSpace(words) == "" {
		words = u.Unit.Title + "\n" + u.Unit.Normative
	} else if len(words) > longestSearch {
		return fmt.Errorf("%w: what to look for may have %d bytes", core.ErrInvalid, longestSearch)
	}
	if in.Items, err = s.Recall.ByWords(ctx, r.Source, words, candidates); err != nil {
		return err
	}
	return s.render(c, status, views.MissedPage(views.NewMissed(s.page(c), in)))
}

// judgedUnit is the manifest that a form is about with its unit in the latest judged run.
func (s *server) judgedUnit(c echo.Context, t views.MissedTyped) (core.Record, core.UnitResult, error) {
	ctx := c.Request().Context()
	r, err := s.Store.Record(ctx, t.Manifest)
	if err != nil {
		return r, core.UnitResult{}, err
	}
	if s.Recall == nil || r.Judged == nil || len(t.Unit) > longestItemID {
		return r, core.UnitResult{}, fmt.Errorf("unit %w", core.ErrNotFound)
	}
	u, err := s.Store.Unit(ctx, r.Judged.ID, t.Unit)
	return r, u, err
}

// nameMissed is POST /manifests/:id/missed. What can't be kept comes back as the page with the reason and what was typed.
func (s *server) nameMissed(c echo.Context) error {
	if err := parseForm(c); err != nil {
		return err
	}
	id, err := idParam(c)
	if err != nil {
		return err
	}
	typed := typedMissed(c, id)
	kept, added, err := s.name(c, typed)
	var he *echo.HTTPError
	if errors.As(err, &he) && he.Code == http.StatusUnprocessableEntity {
		why, _ := he.Message.(string)
		return s.missedForm(c, he.Code, typed, why)
	}
	if err != nil {
		return err
	}
	line := "Kept: " + clip(kept.Item) + " was missed (" + string(kept.Label) + ")."
	switch {
	case kept.Label == "":
		line = "Taken back: " + clip(typed.Item) + "."
	case !added:
		line = "That was kept already; nothing was added."
	}
	s.say(c, line)
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/manifests/%d?unit=%s", id, url.QueryEscape(typed.Unit)))
}

// typedMissed reads the form. Nothing in it is trusted.
func typedMissed(c echo.Context, manifest int64) views.MissedTyped {
	v := c.Request().PostFormValue
	t := views.MissedTyped{Manifest: manifest, Unit: v("unit"), Q: v("q"), Item: v("item"), Label: v("label"), Note: v("note")}
	if v("pick") != "" { // an item of the list goes before one that was pasted
		t.Item = v("pick")
	}
	return t
}

// name keeps what a cosigner says, by form or API. 422: with the reason.
func (s *server) name(c echo.Context, t views.MissedTyped) (kept core.Missed, added bool, err error) {
	ctx := c.Request().Context()
	r, u, err := s.judgedUnit(c, t)
	switch {
	case err == nil:
	case errors.Is(err, core.ErrNotFound) && s.Recall != nil && r.ID != 0 && r.Judged == nil:
		return kept, false, errNotJudged
	case errors.Is(err, core.ErrNotFound) && s.Recall != nil && r.ID != 0:
		return kept, false, refused(fmt.Sprintf("this manifest has no unit %q", clip(t.Unit)))
	default:
		return kept, false, err
	}
	m := core.Missed{
		ManifestID: r.ID, RunID: r.Judged.ID, Item: strings.TrimSpace(t.Item), Label: core.Label(t.Label), By: s.signedIn(c), Note: tidy(t.Note),
	}
	if t.Label == "" {
		m.Label = "none" // no label is no word of its own: it must not take one back
	} else if t.Label == withdrawn {
		m.Label = ""
	}
	m = review.Miss(u, m)
	if why := review.CheckMissed(u, m); why != "" {
		return kept, false, refused(why)
	}
	if m.Label == "" {
		if m, err = s.ownWord(ctx, m); err != nil {
			return kept, false, err
		}
	}
	kept, added, err = s.Recall.AddMissed(ctx, m)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return kept, false, refused(fmt.Sprintf("the corpus holds no item %q", clip(m.Item)))
	case errors.Is(err, core.ErrConflict):
		return kept, false, errRunMoved
	case err == nil && added:
		s.audit(c, core.AuditMissed, fmt.Sprintf("manifest %d: %s", r.ID, missedWord(m)))
	}
	return kept, added, err
}

// ownWord finds what a cosigner takes back: the item may have changed since, or be gone.
func (s *server) ownWord(ctx context.Context, m core.Missed) (core.Missed, error) {
	all, err := s.Recall.MissedOf(ctx, []string{m.Unit})
	if err != nil {
		return m, err
	}
	for _, have := range all {
		if have.By == m.By && have.Item == m.Item {
			m.ItemHash, m.Rank, m.Said = have.ItemHash, have.Rank, have.Said
			return m, nil
		}
	}
	return m, refused("you have not named that item of this unit, so there is nothing to take back")
}

func missedWord(m core.Missed) string {
	if m.Label == "" {
		return "one taken back"
	}
	return "one named, " + string(m.Label)
}
