package handlers

import (
	"context"
	"slices"
	"strings"

	"storozh/core"
	"storozh/core/review"
)

// UnitPage is the double's; the real rules are tested against Postgres (db.UnitPage).
func (m *memory) UnitPage(_ context.Context, q core.UnitQuery) (core.UnitPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	open := map[string]bool{}
	state := review.Of(m.flags[q.RunID], m.of(q.ManifestID))
	for _, f := range state.Flags {
		if _, decided := state.Holding[f.Key()][q.Reader]; !decided {
			open[f.UnitID] = true
		}
	}
	p := core.UnitPage{From: q.From, Counts: map[string]int{}}
	var kept []core.UnitResult
	for _, u := range m.units[q.RunID] {
		if !strings.Contains(u.Unit.ID+u.Unit.Text, q.Find) {
			continue
		}
		for _, name := range core.UnitFilters() {
			if !under(name, u, open[u.Unit.ID]) {
				continue
			}
			p.Counts[name]++
			if name == q.Show || name == core.ShowAll && !slices.Contains(core.UnitFilters(), q.Show) {
				kept = append(kept, u)
			}
		}
	}
	for i, u := range kept {
		if core.UnitMark(u.Unit.ID) == q.At && q.Limit > 0 {
			p.From = i / q.Limit * q.Limit
		}
	}
	p.Units = kept[min(p.From, len(kept)):min(p.From+q.Limit, len(kept))]
	return p, nil
}

func under(name string, u core.UnitResult, open bool) bool {
	switch name {
	case core.ShowAll:
		return true
	case core.ShowOpen:
		return open
	case core.ShowFlagged:
		return u.Flag.Flagged()
	case core.ShowMisroute:
		return u.Flag.Routing == core.Misroute
	case core.ShowUnjudged:
		return u.Unjudged
	case core.ShowOK:
		return !u.Flag.Flagged() && !u.Unjudged
	}
	return string(u.Flag.Semantic) == name
}
