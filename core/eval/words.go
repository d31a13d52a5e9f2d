package eval

import (
	"cmp"
	"slices"

	"storozh/core"
	"storozh/core/keyword"
)

// byWords measures on the same set what a search by words brings, alone and beside the embedding (near, by statement): the k-1 nearest and, as the k-th, the
// best by words that is not among them. That costs the judge as many questions as the k nearest do. A run retrieves by the embedding
// alone; the figures say whether words would help with this model.
func byWords(s *core.RecallScore, items, statements []Side, near [][]int, first int) {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = textOf(it)
	}
	index := keyword.New(texts)
	alone, fused := make([]int, len(ks)), make([]int, len(ks))
	for i, u := range statements {
		want := first + i
		words := places(index.Nearest(textOf(u), len(items)), want)
		for at, k := range ks {
			if p := slices.Index(words, want); p >= 0 && p < k {
				alone[at]++
			}
			nearest := near[i][:min(k-1, len(near[i]))]
			if slices.Contains(nearest, want) || next(words, nearest) == want {
				fused[at]++
			}
		}
	}
	for at, k := range ks {
		s.Words = append(s.Words, core.RecallAt{K: k, Rate: Wilson(alone[at], len(statements))})
		if k > 1 { // with one place there is nothing to fuse
			s.Fused = append(s.Fused, core.RecallAt{K: k, Rate: Wilson(fused[at], len(statements))})
		}
	}
}

func textOf(s Side) string { return s.Title + "\n" + s.Statement }

// places lists what was found in its order, the wanted one last among its equals, as in order.
func places(hits []keyword.Hit, want int) []int {
	slices.SortStableFunc(hits, func(a, b keyword.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), last(a.Text, b.Text, want))
	})
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = h.Text
	}
	return out
}

// last puts the wanted one behind another.
func last(a, b, want int) int {
	switch want {
	case a:
		return 1
	case b:
		return -1
	}
	return 0
}

// next is the best by words that is not among those already there; -1: none.
func next(words, there []int) int {
	for _, w := range words {
		if !slices.Contains(there, w) {
			return w
		}
	}
	return -1
}
