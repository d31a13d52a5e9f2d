package guard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"storozh/core"
	"storozh/core/judge"
)

// retrieveBatch is how many units are looked up in one round trip: few enough that a cancelled run ends soon.
const retrieveBatch = 200

// retrieve makes each unit's pairs: with its nearest items, with near items that go with this manifest, and with near units of the manifest.
func (w *work) retrieve(ctx context.Context, todo []*core.UnitResult, v *vectors) error {
	ex := newExclusion(w.items, w.derived.Replaced)
	byID := make(map[string]core.Item, len(w.items))
	for _, it := range w.items {
		byID[it.ID] = it
	}
	for batch := range slices.Chunk(todo, retrieveBatch) {
		hashes, own := make([][]byte, len(batch)), make([][]string, len(batch))
		most := 0
		for i, u := range batch {
			hashes[i] = judge.TextHash(textOfUnit(u.Unit))
			own[i] = ex.own(u.Unit)
			most = max(most, len(own[i]))
		}
		// As many more as may be excluded: never fewer than k while more exist.
		near, err := w.store.NearestAll(ctx, w.opt.ShieldDir, v.model, hashes, w.opt.K+most+len(ex.replaced))
		if err != nil {
			return err
		}
		for i, u := range batch {
			w.addNear(u, near[i], own[i], byID, ex)
		}
	}
	w.pairSiblings(todo, v)
	return nil
}

// addNear appends one pair per neighbour that counts, and one per neighbour that goes with this manifest and is as near as those.
func (w *work) addNear(u *core.UnitResult, near []core.Near, own []string, byID map[string]core.Item, ex exclusion) {
	var counted, resolved []core.Near
	for _, n := range near {
		switch {
		case len(counted) == w.opt.K || slices.Contains(own, n.Item):
		case ex.replaced[n.Item]:
			resolved = append(resolved, n)
		default:
			counted = append(counted, n)
		}
	}
	for _, n := range append(counted, resolved[:min(len(resolved), w.opt.K)]...) {
		it, ok := byID[n.Item]
		if !ok {
			continue // another run has synced a newer corpus meanwhile
		}
		w.addPair(u, core.Pair{Item: it.ID, ItemTitle: it.Title, ItemText: it.Text, Similarity: n.Similarity, Resolved: ex.replaced[n.Item]}, textOfItem(it))
	}
}

// addPair completes a pair and appends it. What the judge reads of the item is its normative text, which the pair's own text may exceed.
func (w *work) addPair(u *core.UnitResult, p core.Pair, item judge.Text) {
	unit := textOfUnit(u.Unit)
	p.Unit, p.Rank = u.Unit.ID, len(u.Pairs)+1
	p.UnitHash, p.ItemHash = judge.TextHash(unit), judge.TextHash(item)
	p.Judge, p.Prompt = w.models.Judge, judge.PromptVersion
	p.Hint = judge.Hint(item, unit)
	if w.read == nil {
		w.read = map[string]judge.Text{}
	}
	w.read[p.Item] = item
	u.Pairs = append(u.Pairs, p)
}

const (
	siblings    = 3    // units of the manifest that a unit is compared with
	maxSiblings = 1000 // units that are compared with each other: the work grows with the square
)

// pairSiblings pairs units of knowledge types with each other: parallel work in one session is where two new lessons clash. Both units of a
// pair carry it, and it is asked once: the texts stand in the same order on both sides.
func (w *work) pairSiblings(todo []*core.UnitResult, v *vectors) {
	var units []*core.UnitResult
	for _, u := range todo {
		if w.policy.Knowledge(u.Unit.Type) {
			units = append(units, u)
		}
	}
	if len(units) > maxSiblings {
		w.warnings = append(w.warnings, fmt.Sprintf("only the first %d of %d units were compared with each other", maxSiblings, len(units)))
		units = units[:maxSiblings]
	}
	vecs := make([][]float32, len(units))
	for i, u := range units {
		vecs[i] = unitLength(v.byHash[string(judge.TextHash(textOfUnit(u.Unit)))])
	}
	for _, p := range nearPairs(vecs) {
		w.addSibling(units[p.a], units[p.b], p.similarity)
		w.addSibling(units[p.b], units[p.a], p.similarity)
	}
}

func (w *work) addSibling(u, other *core.UnitResult, similarity float64) {
	o := other.Unit
	w.addPair(u, core.Pair{Item: core.SiblingPrefix + o.ID, ItemTitle: o.Title, ItemText: o.Text, Similarity: similarity}, textOfUnit(o))
}

// nearPair is two vectors, by index, a before b.
type nearPair struct {
	a, b       int
	similarity float64
}

// nearPairs gives the unordered pairs in which one is among the other's nearest, nearest first. Vectors have length 1.
func nearPairs(vecs [][]float32) []nearPair {
	seen := map[[2]int]bool{}
	var out []nearPair
	for i := range vecs {
		var mine []nearPair
		for j := range vecs {
			if i != j {
				mine = append(mine, nearPair{min(i, j), max(i, j), dot(vecs[i], vecs[j])})
			}
		}
		slices.SortStableFunc(mine, bySimilarity)
		for _, p := range mine[:min(siblings, len(mine))] {
			if k := [2]int{p.a, p.b}; !seen[k] {
				seen[k] = true
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, bySimilarity)
	return out
}

func bySimilarity(a, b nearPair) int { return cmp.Compare(b.similarity, a.similarity) }

func dot(a, b []float32) float64 {
	var s float64
	for i := range min(len(a), len(b)) {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func unitLength(v []float32) []float32 {
	n := math.Sqrt(dot(v, v))
	out := make([]float32, len(v))
	if n == 0 {
		return out
	}
	for i, x := range v {
		out[i] = float32(float64(x) / n)
	}
	return out
}
