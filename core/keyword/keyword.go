// Package keyword finds texts by the words they share: the plain way of retrieval, beside the nearness of embeddings. It is pure and
// keeps nothing but the words.
//
// The model: a word is a run of letters and digits in lower case, ё as е, cut to its first stem letters, so that most endings of Russian
// and English fall away. A text is as near to a question as BM25 says: rare words that both hold count most, and long texts are not
// favoured for their length. Texts in two languages share no word, and are never found so.
package keyword

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	stem     = 5     // letters that are kept of a word
	saturate = 1.2   // BM25's k1: how soon a repeated word counts no more
	length   = 0.75  // BM25's b: how much a long text pays for its length
	maxText  = 1e5   // bytes that are looked at of one text
	maxWords = 2_000 // different words of a question
)

// Index is a set of texts to look in. It is not changed once made, and safe for concurrent use.
type Index struct {
	lengths []float64
	mean    float64
	in      map[string][]posting // by word, in the order of the texts
}

type posting struct{ text, times int }

// Hit is one text that shares a word with a question.
type Hit struct {
	Text  int // place among the texts of New
	Score float64
}

// New indexes texts.
func New(texts []string) *Index { return index(texts, nil) }

// Search is New and Nearest for one question, in a fraction of the time: only the words of the question are indexed.
func Search(texts []string, question string, n int) []Hit {
	only := map[string]bool{}
	for w := range words(question) {
		only[w] = true
	}
	return index(texts, only).Nearest(question, n)
}

// index indexes texts; only, if not nil, holds the words that matter.
func index(texts []string, only map[string]bool) *Index {
	x := &Index{lengths: make([]float64, len(texts)), in: map[string][]posting{}}
	for i, t := range texts {
		times := map[string]int{}
		for w := range words(t) {
			x.lengths[i]++
			if only == nil || only[w] {
				times[w]++
			}
		}
		for w, n := range times {
			x.in[w] = append(x.in[w], posting{i, n})
		}
		x.mean += x.lengths[i] / float64(len(texts))
	}
	return x
}

// Nearest gives the texts that share words with a question, best first, at most n; of equals the first. None is given that shares no word.
func (x *Index) Nearest(question string, n int) []Hit {
	scores := map[int]float64{}
	asked := map[string]bool{}
	for w := range words(question) {
		if asked[w] || len(asked) == maxWords {
			continue
		}
		asked[w] = true
		have := x.in[w]
		rare := math.Log(1 + (float64(len(x.lengths)-len(have))+0.5)/(float64(len(have))+0.5))
		for _, p := range have {
			times := float64(p.times)
			scores[p.text] += rare * times * (saturate + 1) / (times + saturate*(1-length+length*x.lengths[p.text]/x.mean))
		}
	}
	out := make([]Hit, 0, len(scores))
	for t, s := range scores {
		out = append(out, Hit{t, s})
	}
	slices.SortFunc(out, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.Text-b.Text) })
	return out[:min(n, len(out))]
}

// words gives the words of a text, cut to their stems, in their order.
func words(text string) func(yield func(string) bool) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = strings.ReplaceAll(strings.ToLower(strings.ToValidUTF8(text, " ")), "ё", "е")
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }) {
			letters := 0
			for at := range w {
				if letters == stem {
					w = w[:at]
					break
				}
				letters++
			}
			if !yield(w) {
				return
			}
		}
	}
}
