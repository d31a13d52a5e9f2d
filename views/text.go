package views

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment is a stretch of text for printing: either plain, or the mark of one character that would be invisible or would
// reorder its neighbours.
type Segment struct {
	Text string
	Mark bool
}

// Segments splits a text into plain stretches and marks such as `U+202E`; a byte that is not UTF-8 becomes `0xE9`. Line
// breaks and tabs stay. Most texts have no mark and come back as one segment.
func Segments(s string) []Segment {
	var out []Segment
	from := 0
	for i := 0; i < len(s); {
		if n := visible(s, i); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		mark := markOf(s, i, r, n)
		if mark != "" {
			if i > from {
				out = append(out, Segment{Text: s[from:i]})
			}
			out = append(out, Segment{Text: mark, Mark: true})
			from = i + n
		}
		i += n
	}
	if from < len(s) {
		out = append(out, Segment{Text: s[from:]})
	}
	return out
}

// markOf returns the mark for the rune at s[i:], or nothing if it may stand as it is.
func markOf(s string, i int, r rune, n int) string {
	switch {
	case r == utf8.RuneError && n == 1:
		return fmt.Sprintf("0x%02X", s[i])
	case r == '\r' && strings.HasPrefix(s[i+n:], "\n"):
		return ""
	case hidden(r):
		return fmt.Sprintf("U+%04X", r)
	}
	return ""
}

// hidden tells whether a character can't be seen or moves what stands beside it: controls, format characters (among them all
// bidi controls), line and paragraph separators, fillers that look like nothing, and variation selectors other than the two
// that choose between text and emoji, which are common and harmless.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == 0xFE0E, r == 0xFE0F:
		return false
	case r < 0x20, r >= 0x7F && r < 0xA0:
		return true
	case r < 0xAD:
		return false
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2800, r == 0x3164, r == 0xFFA0:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	return false
}

// Hidden tells whether a text holds a character that [Segments] would mark.
func Hidden(s string) bool {
	for i := 0; i < len(s); {
		if n := visible(s, i); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if markOf(s, i, r, n) != "" {
			return true
		}
		i += n
	}
	return false
}

// visible is the length of the character at s[i] if it is one of those that nearly all texts are made of and that are never marked:
// printable ASCII, line breaks, tabs, and letters up to Hebrew. Else 0: look closer. It spares a page of texts most of its time.
func visible(s string, i int) int {
	c := s[i]
	switch {
	case c >= ' ' && c < 0x7F, c == '\n', c == '\t':
		return 1
	case c >= 0xC3 && c <= 0xD7 && i+1 < len(s) && s[i+1]&0xC0 == 0x80 && (c != 0xCD || s[i+1] != 0x8F):
		return 2
	}
	return 0
}

// Plain is the text with its marks in brackets, for places that hold no markup: titles, attributes, text/plain answers.
func Plain(s string) string {
	if !Hidden(s) {
		return s
	}
	var b strings.Builder
	for _, seg := range Segments(s) {
		if seg.Mark {
			b.WriteString("⟨" + seg.Text + "⟩")
			continue
		}
		b.WriteString(seg.Text)
	}
	return b.String()
}

// short cuts a name to at most limit bytes at a rune's border and says so with an ellipsis.
func short(s string, limit int) string {
	head, left := cut(s, limit)
	if left > 0 {
		return head + "…"
	}
	return head
}

// tail cuts a path to its last limit characters: the end is what tells neighbours in a list apart.
func tail(s string, limit int) string {
	s = short(s, 4*nameLimit)
	if runes := []rune(s); len(runes) > limit {
		return "…" + string(runes[len(runes)-limit:])
	}
	return s
}

// cut returns at most limit bytes of s, ending at a rune's border, and how many bytes it left out.
func cut(s string, limit int) (head string, left int) {
	if len(s) <= limit {
		return s, 0
	}
	end := limit
	for end > 0 && end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], len(s) - end
}

// bytesWord says a size to people: `812 bytes`, `14 kB`, `3.2 MB`.
func bytesWord(n int) string {
	switch {
	case n < 2_000:
		return plural(n, "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
