package units

import (
	"sort"
	"strings"
	"unicode"

	"storozh/core/passage"
)

const (
	minLikeness = 0.4     // share of common words from which a bullet counts as an edit of another
	maxLikened  = 40_000  // pairs looked at in one file; a rewrite that big is additions and removals
	maxWords    = 4 << 10 // bytes of a text whose words are counted
)

// matchLikeness pairs new passages without a lasting anchor (bullets) with removed ones of the same section by the words they
// share, best first. open holds indexes of new passages without an origin.
func (c *comparison) matchLikeness(open []int) map[*passage.Passage]int {
	var gone []int
	for i := range c.before.passages {
		if c.touchedB[i] && !c.doneB[i] && !c.keptB[i] && isLineAnchor(c.before.passages[i].Anchor) {
			gone = append(gone, i)
		}
	}
	if len(gone) == 0 || len(open)*len(gone) > maxLikened {
		return nil
	}
	words := make(map[int]map[string]bool, len(gone))
	for _, o := range gone {
		words[o] = wordSet(c.before.passages[o].Text)
	}
	type pair struct {
		old, new int
		likeness float64
	}
	var pairs []pair
	for _, n := range open {
		p := &c.after.passages[n]
		if !isLineAnchor(p.Anchor) {
			continue
		}
		mine := wordSet(p.Text)
		for _, o := range gone {
			if section(&c.before.passages[o]) != section(p) {
				continue
			}
			if s := likeness(mine, words[o]); s >= minLikeness {
				pairs = append(pairs, pair{o, n, s})
			}
		}
	}
	sort.SliceStable(pairs, func(i, j int) bool { return pairs[i].likeness > pairs[j].likeness })
	out, used := map[*passage.Passage]int{}, map[int]bool{}
	for _, p := range pairs {
		a := &c.after.passages[p.new]
		if _, taken := out[a]; taken || used[p.old] {
			continue
		}
		out[a], used[p.old] = p.old, true
	}
	return out
}

// likeness is Dice's coefficient over two sets of words.
func likeness(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	words := strings.FieldsFunc(cutUTF8(s, maxWords), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		out[strings.ToLower(w)] = true
	}
	return out
}
