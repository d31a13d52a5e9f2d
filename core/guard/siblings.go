package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"storozh/core"
)

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
		vecs[i] = unitLength(v.of(u.Unit))
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
