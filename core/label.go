package core

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the length in bytes of the longest label that can open a part of an invariant.
const maxLabel = 64

// Counters gives where each `Counter:` of a text begins and ends, with what belongs to it: up to the end of its line.
func Counters(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(s); i++ {
			end, ok := CounterAt(s, i)
			if !ok {
				continue
			}
			if line := strings.IndexByte(s[end:], '\n'); line >= 0 {
				end += line
			} else {
				end = len(s)
			}
			if !yield(i, end) {
				return
			}
			i = end - 1
		}
	}
}

// CounterAt reads a `Counter:` whose word begins at s[at]; end is the offset behind the colon.
func CounterAt(s string, at int) (end int, ok bool) {
	if s[at]|0x20 != 'c' || !wordStart(s, at) {
		return 0, false
	}
	label, end, ok := LabelAt(s, at)
	return end, ok && label == "counter"
}

// LabelAt reads a label such as `Counter:` at s[at:], around which white space and emphasis may stand. end is the offset behind the
// colon; the label comes back in lower case.
func LabelAt(s string, at int) (label string, end int, ok bool) {
	limit := min(len(s), at+maxLabel)
	i := at
	for i < limit && strings.IndexByte(" \t*_", s[i]) >= 0 {
		i++
	}
	start := i
	for i < limit {
		r, w := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && r != ' ' && r != '-' {
			break
		}
		i += w
	}
	label = strings.ToLower(strings.TrimSpace(s[start:min(i, len(s))]))
	for i < limit && strings.IndexByte(" *_", s[i]) >= 0 {
		i++
	}
	if label == "" || i >= len(s) {
		return "", 0, false
	}
	switch r, w := utf8.DecodeRuneInString(s[i:]); {
	case r != ':' && r != '：':
		return "", 0, false
	case strings.HasPrefix(s[i+w:], "//"): // a web address is no label
		return "", 0, false
	default:
		return label, i + w, true
	}
}

// wordStart tells whether a word can begin at s[i]: `Encounter:` holds no counter.
func wordStart(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return !unicode.IsLetter(r) && !unicode.IsNumber(r)
}
