package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

var errNothingToShow = late("the other cosigner has not decided this flag yet; there is nothing to show")

// reveal opens the other's decision on a flag to a reader who asks for it before having decided. That it was asked for is kept.
func (s *server) reveal(c echo.Context, id int64, k core.FlagKey) (standing, error) {
	ctx := c.Request().Context()
	r, err := s.Store.Record(ctx, id)
	if err != nil {
		return standing{}, err
	}
	st, err := s.standing(ctx, r, s.signedIn(c))
	if err != nil {
		return st, err
	}
	f, ok := st.flag(k)
	switch {
	case r.Judged == nil:
		return st, errNotJudged
	case !ok:
		return st, refused(fmt.Sprintf("the unit %q has no such flag in this manifest", clip(k.UnitID)))
	case st.state.Visible(k, st.who, st.asked[k]):
		return st, nil
	case !st.hidden(f):
		return st, errNothingToShow
	}
	if err := s.Store.Reveal(ctx, id, st.who, k); err != nil {
		return st, err
	}
	s.Log.InfoContext(ctx, "the other's decision was shown on request", "manifest", id, "to", st.who, "unit", k.UnitID, "flag", k.Kind)
	s.audit(c, core.AuditReveal, fmt.Sprintf("manifest %d: %s flag of %s", id, k.Kind, clip(k.UnitID)))
	return s.standing(ctx, r, st.who)
}

// revealForm is the "Show it now" button.
func (s *server) revealForm(c echo.Context) error {
	if err := parseForm(c); err != nil {
		return err
	}
	id, err := idParam(c)
	if err != nil {
		return err
	}
	t := typedForm(c, id)
	k := core.FlagKey{UnitID: t.Unit, Kind: core.FlagKind(t.Flag)}
	if _, err := s.reveal(c, id, k); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.FlagURL(id, k, t.One, t.Show))
}

// apiReveal answers POST /api/manifests/{id}/reveal with the decisions on the flag that the reader may now see.
func (s *server) apiReveal(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	var in flagJSON
	if err := readJSON(c, &in); err != nil {
		return err
	}
	st, err := s.reveal(c, id, core.FlagKey{UnitID: in.Unit, Kind: in.Flag})
	if err != nil {
		return err
	}
	var of []core.Decision
	for _, d := range st.seen(in.Unit) {
		if d.Basis.Flag == in.Flag {
			of = append(of, d)
		}
	}
	return c.JSON(http.StatusOK, struct {
		Decisions []decisionJSON `json:"decisions"`
	}{newDecisions(of)})
}
