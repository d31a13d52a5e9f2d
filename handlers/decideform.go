package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/views"
)

// decideForm takes the decision form of the review page and sends the reader on to the next open flag. What can't be stored comes back
// as a page that keeps what was typed.
func (s *server) decideForm(c echo.Context) error {
	if err := parseForm(c); err != nil {
		return err
	}
	id, err := idParam(c)
	if err != nil {
		return err
	}
	typed := typedForm(c, id)
	st, out, err := s.decideOn(c, id, askOf(typed))
	var he *echo.HTTPError
	if errors.As(err, &he) && (he.Code == http.StatusConflict || he.Code == http.StatusUnprocessableEntity) {
		why, _ := he.Message.(string)
		return s.decisionPage(c, he.Code, st.record, typed, why)
	}
	if err != nil {
		return err
	}
	s.flash(c, out)
	return s.onward(c, id, typed)
}

// decideOn reads the review and stores a decision. Where another request was quicker between the two it looks once more: it may have been
// the same press.
func (s *server) decideOn(c echo.Context, id int64, q ask) (st standing, out outcome, err error) {
	ctx := c.Request().Context()
	for range 2 {
		var r core.Record
		if r, err = s.Store.Record(ctx, id); err != nil {
			return st, out, err
		}
		if st, err = s.standing(ctx, r, s.signedIn(c)); err != nil {
			return st, out, err
		}
		if out, err = s.decide(ctx, st, q); !errors.Is(err, errMoved) {
			break
		}
	}
	if err == nil && !out.already {
		s.audit(c, core.AuditDecision, fmt.Sprintf("manifest %d: %s on %d of %d flags", id, out.choice, len(out.decided), len(st.flags)))
	}
	return st, out, err
}

// onward sends a reader to the next flag that is open to them, under the filter they were working in; where there is none, to the top.
func (s *server) onward(c echo.Context, id int64, t views.Typed) error {
	ctx := c.Request().Context()
	r, err := s.Store.Record(ctx, id)
	if err != nil {
		return err
	}
	st, err := s.standing(ctx, r, s.signedIn(c))
	if err != nil {
		return err
	}
	next, ok := st.next(t)
	if !ok {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/manifests/%d", id))
	}
	show := ""
	if t.Show == core.ShowOpen || t.Show == core.ShowFlagged || t.Show == next.Basis.Label {
		show = t.Show
	}
	return c.Redirect(http.StatusSeeOther, views.FlagURL(id, next.Key(), t.One, show))
}

// next is the first open flag behind the one just decided, in the page's order, or else the first at all; under a filter by label, those
// of that label first.
func (st standing) next(t views.Typed) (core.FlagBasis, bool) {
	if st.record.Judged == nil || st.record.Judged.Block == nil {
		return core.FlagBasis{}, false
	}
	order := views.UrgentFirst(st.flags, *st.record.Judged.Block)
	here := 0
	for i, f := range order {
		if f.UnitID == t.Unit && string(f.Basis.Flag) == t.Flag {
			here = i
		}
	}
	order = append(append([]core.FlagBasis{}, order[here:]...), order[:here]...)
	var first core.FlagBasis
	found := false
	for _, f := range order {
		if _, decided := st.mine(f.Key()); decided {
			continue
		}
		if f.Basis.Label == t.Show {
			return f, true
		}
		if !found {
			first, found = f, true
		}
	}
	return first, found
}

// decisionPage prints a decision that was not stored: why, what is stored, and what was typed, in a form to hand in again.
func (s *server) decisionPage(c echo.Context, status int, r core.Record, t views.Typed, why string) error {
	in, err := s.decisionInput(c.Request().Context(), r, s.signedIn(c), t)
	if err != nil {
		return err
	}
	in.Why = why
	return s.render(c, status, views.DecisionPage(views.NewDecisionForm(s.page(c), in)))
}

// decisionInput reads the flag that a form was about, as it is now.
func (s *server) decisionInput(ctx context.Context, r core.Record, who core.Cosigner, t views.Typed) (views.DecisionInput, error) {
	in := views.DecisionInput{Manifest: r.ID, Typed: t}
	st, err := s.standing(ctx, r, who)
	if err != nil {
		return in, err
	}
	for _, f := range st.input() {
		if f.Flag.UnitID == t.Unit && string(f.Flag.Basis.Flag) == t.Flag {
			in.Flag = &f
		}
	}
	return in, nil
}

// typedForm reads the decision form. Nothing in it is trusted; the text comes back to its author as it is.
func typedForm(c echo.Context, manifest int64) views.Typed {
	v := c.Request().PostFormValue
	return views.Typed{
		Manifest: manifest, Unit: v("unit"), Flag: v("flag"), Decision: v("decision"), Rationale: v("rationale"), Show: v("show"),
		One: v("one") != "", Same: v("same") != "", Run: number(v("run")), Seen: number(v("seen")), Carried: number(v("carried")),
	}
}

func askOf(t views.Typed) ask {
	seen := t.Seen
	return ask{
		key: core.FlagKey{UnitID: t.Unit, Kind: core.FlagKind(t.Flag)}, choice: core.Choice(t.Decision), rationale: tidy(t.Rationale),
		run: t.Run, seen: &seen, same: t.Same, carried: t.Carried,
	}
}

// number reads an id; what is none is 0.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
