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

	telling        = 100 // a word tells something if at most one text in so many holds it,
	tellingAtLeast = 3   // or so many texts of a small number,
	tellingAtMost  = 10  // but never more than one in so many
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
	Text  int // place among the texts
	Score float64
}

// New indexes texts.
func New(texts []string) *Index {
	b := &Builder{}
	for _, t := range texts {
		b.Add(t)
	}
	return b.Index()
}

// Builder indexes texts one after the other, without keeping them. Its zero value indexes every word; see For.
type Builder struct {
	x    Index
	only map[string]bool
	sum  float64
	seen map[string]int // of the text at hand; emptied for the next
}

// For indexes no words but those of questions, in a fraction of time and memory: only they can be asked then.
func For(questions ...string) *Builder {
	b := &Builder{only: map[string]bool{}}
	for _, q := range questions {
		for w := range words(q) {
			b.only[w] = true
		}
	}
	return b
}

// Add indexes the next text.
func (b *Builder) Add(text string) {
	if b.x.in == nil {
		b.x.in, b.seen = map[string][]posting{}, map[string]int{}
	}
	clear(b.seen)
	var long float64
	for w := range words(text) {
		long++
		if b.only == nil || b.only[w] {
			b.seen[w]++
		}
	}
	for w, n := range b.seen {
		b.x.in[w] = append(b.x.in[w], posting{len(b.x.lengths), n})
	}
	b.x.lengths = append(b.x.lengths, long)
	b.sum += long
}

// Index is what was indexed; nothing may be added afterwards.
func (b *Builder) Index() *Index {
	b.x.mean = b.sum / float64(max(1, len(b.x.lengths)))
	return &b.x
}

// Nearest gives the texts that share words with a question, best first, at most n; of equals the first. None is given that shares no word.
func (x *Index) Nearest(question string, n int) []Hit {
	hits := x.hits(question, len(x.lengths))
	return hits[:min(n, len(hits))]
}

// Best gives the text that is nearest to a question by the telling words that both hold, and is none of not; false: there is none. Words that
// many texts hold count nothing here: what shares only them is no find.
func (x *Index) Best(question string, not func(text int) bool) (text int, ok bool) {
	for _, h := range x.hits(question, x.tellingIn()) {
		if !not(h.Text) {
			return h.Text, true
		}
	}
	return 0, false
}

// tellingIn is how many texts may hold a word that tells something.
func (x *Index) tellingIn() int {
	n := len(x.lengths)
	return max(n/telling, min(tellingAtLeast, n/tellingAtMost))
}

// hits gives the texts that share a word with a question that at most so many texts hold, best first.
func (x *Index) hits(question string, most int) []Hit {
	scores := map[int]float64{}
	asked := map[string]bool{}
	for w := range words(question) {
		if asked[w] || len(asked) == maxWords {
			continue
		}
		asked[w] = true
		have := x.in[w]
		if len(have) > most {
			continue
		}
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
	return out
}

// words gives the words of a text, cut to their stems, in their order.
func words(text string) func(yield func(string) bool) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = strings.ReplaceAll(strings.ToLower(strings.ToValidUTF8(text, " ")), "ё", "е")
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
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
