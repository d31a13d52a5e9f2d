package db

import (
	"strings"
	"unicode"

	"github.com/lib/pq"
	"golang.org/x/text/unicode/norm"
)

// The search folds words itself, the same way for what is stored and what is asked: Postgres' own folding of letters depends on the locale
// of the database, and knows only ASCII in the plainest one. A word is a run of letters, marks and digits in lower case, with ё as е.

const (
	maxWord      = 64      // bytes; longer ones are cut
	maxWordBytes = 400_000 // of one unit together: a tsvector holds at most 1 MiB
	maxAsked     = 12      // words of a question
)

// words lists the different words of texts, in the order they first stand in.
func words(texts ...string) pq.StringArray {
	seen := map[string]bool{}
	out := pq.StringArray{}
	size := 0
	for _, t := range texts {
		for w := range strings.FieldsFuncSeq(fold(t), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }) {
			if len(w) > maxWord {
				w = strings.ToValidUTF8(w[:maxWord], "")
			}
			if seen[w] {
				continue
			}
			if size += len(w); size > maxWordBytes {
				return out
			}
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// foldLimit is how much of a text is looked at, in bytes.
const foldLimit = 1 << 20

func fold(s string) string {
	if len(s) > foldLimit {
		s = s[:foldLimit]
	}
	return strings.ReplaceAll(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(s, " "))), "ё", "е")
}

// question makes a tsquery of what a person typed: every word must begin a word of the unit; one of fewer than three letters must be that
// word. Empty: there is no word in it.
func question(typed string) string {
	asked := words(typed)
	if len(asked) > maxAsked {
		asked = asked[:maxAsked]
	}
	for i, w := range asked {
		asked[i] = "'" + w + "'"
		if len([]rune(w)) >= 3 {
			asked[i] += ":*"
		}
	}
	return strings.Join(asked, " & ")
}
