package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"storozh/core"
	"storozh/core/localllm"
)

// ks are the k for which recall is measured; 5 is the default of a run.
var ks = []int{1, 3, 5, 10}

// chunk is how many texts are embedded before the caller hears of it.
const chunk = 64

// Recall embeds the items (those of the clashes and 500 others) and the statements, and tells how often the item that a statement
// clashes with is among the k nearest by cosine, exactly searched. All texts are treated as a run treats them. Clock and Progress of
// opt count; the error is the model's (see localllm.KindOf) or the context's.
func Recall(ctx context.Context, m localllm.Model, opt Options) (core.RecallScore, error) {
	clashes, err := Clashes()
	if err != nil {
		return core.RecallScore{}, err
	}
	items := others()
	for _, c := range clashes {
		items = append(items, c.Item)
	}
	sides := slices.Clone(items)
	for _, c := range clashes {
		sides = append(sides, c.Unit)
	}
	start := now(opt)
	vectors, err := vectorsOf(ctx, m, sides, opt)
	if err != nil {
		return core.RecallScore{}, fmt.Errorf("eval: embedding: %w", err)
	}
	s := core.RecallScore{Model: opt.Models.Embed, SetHash: hash([]any{clashes, others()}), Statements: len(clashes), Items: len(items),
		Dimensions: len(vectors[0]), Took: now(opt).Sub(start), Missed: []string{}}
	first := len(items) - len(clashes)
	near, ranks := make([][]int, len(clashes)), make([]int, len(clashes))
	for i := range clashes {
		near[i] = order(vectors[len(items)+i], vectors[:len(items)], first+i)
		ranks[i] = rank(near[i], first+i)
	}
	score(&s, clashes, ranks)
	byWords(&s, items, clashes, near, first)
	return s, nil
}

func now(opt Options) time.Time { return (&asker{opt: opt}).now() }

// vectorsOf gives one vector per side.
func vectorsOf(ctx context.Context, m localllm.Model, sides []Side, opt Options) ([][]float32, error) {
	var out [][]float32
	for len(out) < len(sides) {
		part := sides[len(out):min(len(out)+chunk, len(sides))]
		texts := make([]string, len(part))
		for i, s := range part {
			texts[i] = localllm.EmbedText(opt.Models.Embed, s.Title, s.Statement)
		}
		vectors, err := m.EmbedBatch(ctx, texts)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
		if opt.Progress != nil {
			opt.Progress(len(out), len(sides))
		}
	}
	return out, nil
}

// order lists the items by nearness to v. Of equals the wanted one comes last: a model whose vectors tell nothing apart must not look good.
func order(v []float32, items [][]float32, want int) []int {
	near := make([]float64, len(items))
	out := make([]int, len(items))
	for i, it := range items {
		near[i], out[i] = cosine(v, it), i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(near[b], near[a]), last(a, b, want)) })
	return out
}

// rank is the place of the wanted item in that order, 1 for the nearest.
func rank(near []int, want int) int { return slices.Index(near, want) + 1 }

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}

func score(s *core.RecallScore, clashes []Clash, ranks []int) {
	for _, k := range ks {
		hits := 0
		for _, r := range ranks {
			if r <= k {
				hits++
			}
		}
		s.At = append(s.At, core.RecallAt{K: k, Rate: Wilson(hits, len(ranks))})
	}
	for i, r := range ranks {
		s.MeanRank += 1 / float64(r) / float64(len(ranks))
		if r > ks[len(ks)-1] {
			s.Missed = append(s.Missed, clashes[i].ID)
		}
	}
}
