package passage

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the length in bytes of the longest label that can open a part of an invariant.
const maxLabel = 64

// bindingText is what an invariant binds its reader to: modality, statement and every part but `Why:` (contracts, "The shield
// corpus"). Nothing cuts `Counter:` off: it opens a part of its own wherever it stands, with or without a `|` before it, in any
// order and letter case.
func bindingText(s string) string {
	s = dropSeverity(Normalise(s))
	var parts []string
	why, from := false, 0
	flush := func(to int) {
		if p := strings.TrimSpace(s[from:to]); p != "" && !why && hasWords(p) {
			parts = append(parts, p)
		}
	}
	for i := 0; i < len(s); i++ {
		piped := s[i] == '|'
		if !piped && (s[i]|0x20 != 'c' || !wordStart(s, i)) {
			continue
		}
		at := i
		if piped {
			at = i + 1
		}
		label, end, ok := labelAt(s, at)
		if !ok || (!piped && label != "counter") {
			continue
		}
		flush(i)
		why, from = label == "why", at
		i = end - 1
	}
	flush(len(s))
	if len(parts) == 1 && onlyTags(parts[0]) {
		return ""
	}
	return strings.Join(parts, "\n")
}

// Counters gives where each `Counter:` of a text begins and ends, with what belongs to it: up to the end of its line.
func Counters(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(s); i++ {
			if s[i]|0x20 != 'c' || !wordStart(s, i) {
				continue
			}
			label, end, ok := labelAt(s, i)
			if !ok || label != "counter" {
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

// labelAt reads a label such as `Counter:` at s[at:], around which white space and emphasis may stand. end is the offset behind the
// colon; the label comes back in lower case.
func labelAt(s string, at int) (label string, end int, ok bool) {
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

// dropSeverity drops the leading tags that only say how bad a breach is. The modality tag and tags of unknown meaning stay.
func dropSeverity(s string) string {
	var kept []string
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			break
		}
		switch strings.ToLower(strings.TrimSpace(s[1:end])) {
		case "critical", "important", "style":
		default:
			kept = append(kept, s[:end+1])
		}
		s = strings.TrimLeft(s[end+1:], " ")
	}
	return strings.TrimSpace(strings.Join(kept, " ") + " " + s)
}

// onlyTags tells whether nothing but tags is left: a number without a rule binds nobody.
func onlyTags(s string) bool {
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return false
		}
		s = strings.TrimSpace(s[end+1:])
	}
	return !hasWords(s)
}
