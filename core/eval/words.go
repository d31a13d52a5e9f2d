package eval

import (
	"slices"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/keyword"
)

// byWords measures on the same set what a search by words brings: alone, and beside the k nearest by the embedding (near, by statement), as a run
// takes it: one more item, if it shares a telling word (keyword.Index.Best). The wanted items stand last, from first on, and of equals the first
// is taken: what words do not tell apart must not look good.
func byWords(s *core.RecallScore, items []Side, clashes []Clash, near [][]int, first int) {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = textOf(it)
	}
	index := keyword.New(texts)
	for _, k := range ks {
		alone, beside, extra := 0, 0, 0
		for i, c := range clashes {
			if slices.ContainsFunc(index.Nearest(textOf(c.Unit), k), func(h keyword.Hit) bool { return h.Text == first+i }) {
				alone++
			}
			found, more := withWords(index, c.Unit, near[i], k, first+i)
			beside, extra = beside+one(found), extra+one(more)
		}
		s.Words = append(s.Words, core.RecallAt{K: k, Rate: Wilson(alone, len(clashes))})
		s.Beside = append(s.Beside, core.RecallAt{K: k, Rate: Wilson(beside, len(clashes))})
		s.Extra = append(s.Extra, core.RecallAt{K: k, Rate: Wilson(extra, len(clashes))})
	}
	s.Languages = languages(clashes, func(i int) (bool, bool) {
		found, _ := withWords(index, clashes[i].Unit, near[i], runK, first+i)
		return slices.Contains(near[i][:min(runK, len(near[i]))], first+i), found
	})
}

// withWords tells whether the k nearest and the best by words beside them hold the wanted item, and whether there was one by words.
func withWords(index *keyword.Index, unit Side, near []int, k, want int) (found, more bool) {
	nearest := near[:min(k, len(near))]
	best, more := index.Best(textOf(unit), func(text int) bool { return slices.Contains(nearest, text) })
	return slices.Contains(nearest, want) || more && best == want, more
}

// runK is the k of the figures by language: the default of a run.
const runK = 5

// languages counts per language what by tells of each statement: found among the nearest, and found with the one by words beside them.
func languages(clashes []Clash, by func(i int) (near, beside bool)) []core.LanguageRecall {
	var out []core.LanguageRecall
	for _, lang := range Languages {
		of, near, beside := 0, 0, 0
		for i, c := range clashes {
			if c.Lang == lang {
				n, b := by(i)
				of, near, beside = of+1, near+one(n), beside+one(b)
			}
		}
		if of > 0 {
			out = append(out, core.LanguageRecall{Name: lang, K: runK, Near: Wilson(near, of), Beside: Wilson(beside, of)})
		}
	}
	return out
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func textOf(s Side) string { return guard.WordsOf(s.Title, s.Statement) }

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
