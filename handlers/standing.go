package handlers

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"storozh/core"
	"storozh/core/review"
	"storozh/views"
)

// standing is where the review of one manifest stands, as one cosigner may see it. It is about the latest judged run; before there is one
// it is empty.
type standing struct {
	record    core.Record
	who       core.Cosigner
	flags     []core.FlagBasis            // in the block's order
	decisions []core.Decision             // every one on this manifest, oldest first
	of        map[string][]core.FlagBasis // flags by unit
	earlier   map[string][]core.Decision  // on other manifests and before a further run, as far as who may see them, by the hash of the unit's content
	state     review.State
	asked     map[core.FlagKey]bool // flags on which who asked to see the other's decision
}

// standing reads a review.
func (s *server) standing(ctx context.Context, r core.Record, who core.Cosigner) (standing, error) {
	st := standing{record: r, who: who}
	if r.Judged == nil {
		return st, nil
	}
	in, err := s.Store.Reviewing(ctx, r.ID, r.Judged.ID, who)
	if err != nil {
		return st, err
	}
	st.flags, st.decisions, st.asked = in.Flags, in.Decisions, in.Asked
	st.of, st.earlier = map[string][]core.FlagBasis{}, map[string][]core.Decision{}
	for _, f := range st.flags {
		st.of[f.UnitID] = append(st.of[f.UnitID], f)
	}
	for _, d := range visibleEarlier(append(in.Earlier, st.lapsed()...), who) {
		st.earlier[d.Basis.Unit] = append(st.earlier[d.Basis.Unit], d)
	}
	st.state = review.Of(st.flags, st.decisions)
	return st, nil
}

// lapsed are the decisions on this manifest that were made on what an earlier run showed. They may cover what the latest one does, as those
// on other manifests may.
func (st standing) lapsed() []core.Decision {
	var out []core.Decision
	for _, d := range st.decisions {
		if f, ok := st.flag(core.FlagKey{UnitID: d.UnitID, Kind: d.Basis.Flag}); !ok || !review.Same(f.Basis, d.Basis) {
			out = append(out, d)
		}
	}
	return out
}

// hidden tells whether the other has decided a flag that the reader has not.
func (st standing) hidden(f core.FlagBasis) bool {
	by := st.state.Holding[f.Key()]
	_, mine := by[st.who]
	_, theirs := by[st.who.Other()]
	return theirs && !mine
}

// flag finds a flag of the judged run by its name.
func (st standing) flag(k core.FlagKey) (core.FlagBasis, bool) {
	for _, f := range st.of[k.UnitID] {
		if f.Key() == k {
			return f, true
		}
	}
	return core.FlagBasis{}, false
}

// mine is the reader's decision that holds for a flag.
func (st standing) mine(k core.FlagKey) (core.Decision, bool) {
	d, ok := st.state.Holding[k][st.who]
	return d, ok
}

// last is the id of the reader's latest decision on a flag, whether it still holds or not; 0: none.
func (st standing) last(k core.FlagKey) int64 {
	for _, d := range slices.Backward(st.decisions) {
		if d.By == st.who && d.UnitID == k.UnitID && d.Basis.Flag == k.Kind {
			return d.ID
		}
	}
	return 0
}

// seen are the decisions on a unit that the reader may see: their own, the other's where it is open to them.
func (st standing) seen(unit string) []core.Decision {
	var out []core.Decision
	for _, f := range st.of[unit] {
		for _, c := range []core.Cosigner{core.Owner, core.Claude} {
			d, ok := st.state.Holding[f.Key()][c]
			if ok && (c == st.who || st.who.Valid() && st.state.Visible(f.Key(), st.who, st.asked[f.Key()])) {
				out = append(out, d)
			}
		}
	}
	return out
}

// siblings are the other flags that one decision may serve together with f.
func (st standing) siblings(f core.FlagBasis) []core.FlagBasis {
	var out []core.FlagBasis
	for _, g := range st.flags {
		if g.Key() != f.Key() && review.Identical(f, g) {
			out = append(out, g)
		}
	}
	return out
}

// reviews is the part of the block that both decisions make; nil until both cosigners are done.
func (st standing) reviews() []core.Review { return st.state.Reviews() }

// input is what the review page shows about every flag.
func (st standing) input() []views.FlagInput {
	out := make([]views.FlagInput, 0, len(st.flags))
	alike := map[string]int{} // open flags of one likeness
	for _, f := range st.flags {
		if _, ok := st.mine(f.Key()); !ok {
			alike[likeness(f)]++
		}
	}
	own := map[core.FlagKey][]core.Decision{}
	for _, d := range st.decisions {
		if d.By == st.who {
			k := core.FlagKey{UnitID: d.UnitID, Kind: d.Basis.Flag}
			own[k] = append(own[k], d)
		}
	}
	for _, f := range st.flags {
		k := f.Key()
		in := views.FlagInput{Flag: f, Run: st.record.Judged.ID, Own: own[k], Same: alike[likeness(f)]}
		if n := len(own[k]); n > 0 {
			in.Seen = own[k][n-1].ID
		}
		if d, ok := st.mine(k); ok {
			in.Mine = &d
		} else {
			in.Same-- // the flag itself
			in.Before = before(f, st.earlier[f.Basis.Unit], st.who)
		}
		if d, ok := st.state.Holding[k][st.who.Other()]; ok {
			in.OtherDecided = true
			if st.state.Visible(k, st.who, st.asked[k]) {
				in.Theirs = &d
			}
		}
		out = append(out, in)
	}
	return out
}

// addDecisions adds to the review page what the reader may see of the decisions, and what the next steps are.
func (s *server) addDecisions(c echo.Context, in *views.ReviewInput) error {
	st, err := s.standing(c.Request().Context(), in.Record, s.signedIn(c))
	if err != nil {
		return err
	}
	in.Flags, in.Flash = st.input(), s.said(c)
	if s.Markers != nil {
		in.Markers = s.Markers()
	}
	return nil
}

// likeness is equal for flags that are identical by review.Identical.
func likeness(f core.FlagBasis) string {
	s := string(f.Basis.Flag) + "\x00" + f.Basis.Label
	for _, c := range f.Basis.Covers {
		s += "\x00" + c
	}
	return s
}
