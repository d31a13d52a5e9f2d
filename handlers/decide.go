package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/review"
)

// ask is one decision as it was handed in, by a form or through the API.
type ask struct {
	key       core.FlagKey
	choice    core.Choice
	rationale string
	run       int64  // the run that was on the page; 0: the current one
	seen      *int64 // the own decision that was on the page, 0 for none; nil: the current one
	same      bool   // the same for the identical flags that are open
	carried   int64  // the earlier decision that this one confirms; 0: a new one
}

// outcome is what became of an ask that was taken.
type outcome struct {
	choice  core.Choice
	decided []core.FlagBasis
	leftOut []leftOut // identical flags that one decision did not serve
	already bool      // the very same was stored before, as by a double click: nothing was added
}

type leftOut struct {
	flag core.FlagBasis
	why  string
}

// The reasons for which a decision is refused, as the reader is told. 422: it can't be; 409: it came too late.
func refused(why string) error { return echo.NewHTTPError(http.StatusUnprocessableEntity, why) }
func late(why string) error    { return echo.NewHTTPError(http.StatusConflict, why) }

var (
	errNotJudged = late("this manifest has not been judged yet, so there is nothing to decide; wait until its run is done")
	errRunMoved  = late("the manifest was judged again after your page was loaded; look at the flag as it is now and decide once more")
	errMoved     = late("you have decided this flag since your page was loaded, perhaps in another window; nothing was stored now")
	errLapsed    = late("what was decided before does not cover this flag as it is now; decide it anew")
)

// decide stores what a cosigner handed in, for one flag or for it and its open siblings: all or nothing.
func (s *server) decide(ctx context.Context, st standing, q ask) (outcome, error) {
	out := outcome{choice: q.choice}
	if st.record.Judged == nil {
		return out, errNotJudged
	}
	if !q.key.Kind.Valid() {
		return out, refused("the flag must be routing or semantic")
	}
	f, ok := st.flag(q.key)
	if !ok {
		return out, refused(fmt.Sprintf("the unit %q has no %s flag in this manifest", clip(q.key.UnitID), q.key.Kind))
	}
	if q.carried != 0 {
		if err := st.confirm(f, &q); err != nil {
			return out, err
		}
		out.choice = q.choice
	}
	if why := review.Check(q.choice, q.key.Kind, q.rationale); why != "" {
		return out, refused(why)
	}
	if err := st.stale(q); err != nil {
		out.already = st.stored(q)
		if out.already {
			return out, nil
		}
		return out, err
	}
	out.decided = []core.FlagBasis{f}
	if q.same {
		st.gather(f, q, &out)
	}
	return out, s.store(ctx, st, q, out.decided)
}

// clip keeps a unit id that a client made up from filling a message.
func clip(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// confirm takes choice and rationale from an earlier decision, if it still covers the flag and the reader may see it.
func (st standing) confirm(f core.FlagBasis, q *ask) error {
	for _, d := range before(f, st.earlier[f.Basis.Unit], st.who) {
		if d.ID == q.carried {
			q.choice, q.rationale = d.Choice, d.Rationale
			return nil
		}
	}
	return errLapsed
}

// stale tells whether the page that an ask came from is out of date.
func (st standing) stale(q ask) error {
	switch {
	case q.run != 0 && q.run != st.record.Judged.ID:
		return errRunMoved
	case q.seen != nil && *q.seen != st.last(q.key):
		return errMoved
	}
	return nil
}

// stored tells whether what holds is exactly what was handed in: the second press of a double click.
func (st standing) stored(q ask) bool {
	d, ok := st.mine(q.key)
	return ok && d.Choice == q.choice && d.Rationale == q.rationale && (q.run == 0 || q.run == d.RunID)
}

// gather adds the open flags that are identical to f, and says which were left out.
func (st standing) gather(f core.FlagBasis, q ask, out *outcome) {
	for _, g := range st.siblings(f) {
		switch d, decided := st.mine(g.Key()); {
		case !decided:
			out.decided = append(out.decided, g)
		case d.Choice == q.choice:
			out.leftOut = append(out.leftOut, leftOut{g, "you had decided the same"})
		default:
			out.leftOut = append(out.leftOut, leftOut{g, "you had decided " + string(d.Choice)})
		}
	}
}

// store adds the decisions and tells a late one from a fault.
func (s *server) store(ctx context.Context, st standing, q ask, flags []core.FlagBasis) error {
	seen := map[core.FlagKey]int64{}
	all := make([]core.Decision, 0, len(flags))
	for _, f := range flags {
		seen[f.Key()] = st.last(f.Key())
		all = append(all, core.Decision{
			ManifestID: st.record.ID, RunID: st.record.Judged.ID, By: st.who, UnitID: f.UnitID, Basis: f.Basis,
			Choice: q.choice, Rationale: q.rationale,
		})
	}
	all[0].CarriedID = q.carried
	err := s.Store.Decide(ctx, all, seen)
	if errors.Is(err, core.ErrConflict) {
		return errMoved
	}
	return err
}

// tidy is a rationale as it is kept: with plain line breaks, without the blanks around it.
func tidy(rationale string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(rationale, "\uFFFD"), "\r\n", "\n"))
}
