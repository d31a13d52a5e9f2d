package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"storozh/core"
	"storozh/core/review"
)

// reviews is the part of the double that keeps decisions; the rules of staleness are those of db.Decide.
type reviews struct {
	flags     map[int64][]core.FlagBasis // by run
	decisions []core.Decision
	reveals   map[int64]map[core.Cosigner]map[core.FlagKey]bool
	cancelled []int64
}

func (m *memory) Reviewing(_ context.Context, manifest, run int64, c core.Cosigner) (core.Reviewing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := core.Reviewing{Flags: m.flags[run], Decisions: m.of(manifest), Asked: m.reveals[manifest][c]}
	for _, d := range slices.Backward(m.decisions) {
		for _, f := range m.flags[run] {
			if d.ManifestID != manifest && d.Basis.Unit == f.Basis.Unit {
				out.Earlier = append(out.Earlier, d)
				break
			}
		}
	}
	return out, nil
}

func (m *memory) of(manifest int64) []core.Decision {
	var out []core.Decision
	for _, d := range m.decisions {
		if d.ManifestID == manifest {
			out = append(out, d)
		}
	}
	return out
}

func (m *memory) Decide(_ context.Context, all []core.Decision, seen map[core.FlagKey]int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range all {
		var last int64
		for _, e := range m.of(d.ManifestID) {
			if e.By == d.By && e.UnitID == d.UnitID && e.Basis.Flag == d.Basis.Flag {
				last = e.ID
			}
		}
		if last != seen[core.FlagKey{UnitID: d.UnitID, Kind: d.Basis.Flag}] || d.RunID != m.records[d.ManifestID-1].Judged.ID {
			return fmt.Errorf("%w: out of date", core.ErrConflict)
		}
	}
	for _, d := range all {
		d.ID, d.At = int64(len(m.decisions)+1), testNow
		m.decisions = append(m.decisions, d)
	}
	m.recount(all[0].ManifestID)
	return nil
}

func (m *memory) recount(manifest int64) {
	r := &m.records[manifest-1]
	s := review.Of(m.flags[r.Judged.ID], m.of(manifest))
	r.Open = map[core.Cosigner]int{core.Owner: s.Open(core.Owner), core.Claude: s.Open(core.Claude)}
	r.Differ = len(s.Differ())
}

func (m *memory) Reveal(_ context.Context, manifest int64, c core.Cosigner, k core.FlagKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reveals == nil {
		m.reveals = map[int64]map[core.Cosigner]map[core.FlagKey]bool{}
	}
	if m.reveals[manifest] == nil {
		m.reveals[manifest] = map[core.Cosigner]map[core.FlagKey]bool{core.Owner: {}, core.Claude: {}}
	}
	m.reveals[manifest][c][k] = true
	return nil
}

func (m *memory) QueueCounts(_ context.Context, c core.Cosigner) (map[core.Queue]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[core.Queue]int{}
	for _, r := range m.records {
		if q := r.Queue(c); q != "" && r.SupersededBy == 0 {
			out[q]++
		}
	}
	return out, nil
}

func (m *memory) Cancel(_ context.Context, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id > int64(len(m.records)) {
		return core.ErrNotFound
	}
	if m.records[id-1].Run.Status.Finished() {
		return fmt.Errorf("%w: no run is under way", core.ErrConflict)
	}
	m.cancelled = append(m.cancelled, id)
	m.records[id-1].Run.Status = core.Cancelled
	return nil
}

// judge ends the run of a manifest with these units.
func (m *memory) judge(id int64, units []core.UnitResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	block := core.Block{RanAt: "2026-05-21T14:03:00Z", K: 5, ContraCheck: core.ContraRan}
	for _, u := range units {
		block.Flags = append(block.Flags, u.Flag)
		block.Summary.Units++
		if u.Flag.Routing == core.Misroute {
			block.Summary.Misroute++
		}
		switch u.Flag.Semantic {
		case core.Contra:
			block.Summary.Contra++
		case core.Dup:
			block.Summary.Dup++
		}
	}
	m.settle(id, block, units)
}

// settle is what db.Finish does; the lock is held.
func (m *memory) settle(id int64, block core.Block, units []core.UnitResult) {
	r := &m.records[id-1]
	r.Run.Status, r.Run.Block, r.BLUF = core.Done, &block, core.BLUF(block)
	run := r.Run
	r.Judged = &run
	m.units[run.ID] = units
	if m.flags == nil {
		m.flags = map[int64][]core.FlagBasis{}
	}
	m.flags[run.ID] = review.Flags(units)
	m.recount(id)
}

// clash is a unit that contradicts items of the corpus; misrouted too if it lies elsewhere than in the shield repo.
func clash(id, text string, items ...string) core.UnitResult {
	repo, path, _ := strings.Cut(id, "/")
	u := core.UnitResult{
		Unit: core.Unit{ID: id, Observed: repo, Repo: repo, Path: path, Type: core.Lesson, Action: core.Added, Text: text, Normative: text},
		Flag: core.Flag{Unit: id, Routing: core.RoutingOK, ObservedRepo: repo, ExpectedRepo: core.Shield, Semantic: core.Contra, Against: items},
	}
	if repo != core.Shield {
		u.Flag.Routing = core.Misroute
	}
	for i, item := range items {
		u.Pairs = append(u.Pairs, core.Pair{Unit: id, Item: item, ItemText: "text of " + item, Rank: i + 1, Similarity: 0.9, Label: core.Contra, ItemHash: []byte(item)})
	}
	return u
}

// putUnits stores a finished manifest with these units and returns its id.
func (h *house) putUnits(units ...core.UnitResult) int64 {
	r, err := h.mem.Submit(context.Background(), core.Arrival{Raw: []byte(`{"sessionId":"s1"}`), SessionID: "s1", Source: core.SourceFile})
	if err != nil {
		h.t.Fatal(err)
	}
	h.mem.judge(r.ManifestID, units)
	return r.ManifestID
}
