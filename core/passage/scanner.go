package passage

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a Turtle token.
type kind byte

const (
	kEOF    kind = iota
	kIRI         // <…>, text without the brackets
	kName        // prefix:local, as written
	kBlank       // _:label
	kString      // any of the four quotings, unescaped
	kNumber      // 5, 1.5, .5, 1e5
	kAt          // @word: a language tag or a directive
	kTyped       // ^^
	kWord        // a, true, false, PREFIX, BASE, and what is no Turtle
	kPunct       // one of . ; , [ ] ( )
)

// token is one token of a Turtle text.
type token struct {
	kind       kind
	text       string
	start, end int  // byte offsets
	line       int  // 1-based
	first      bool // it begins in the first column
	dt         string
}

func (t token) is(punct string) bool { return t.kind == kPunct && t.text == punct }

// scanner cuts Turtle into tokens. A full stop inside a name or a number is part of it only if another character of the name or
// number follows (case T1). On an error it has always moved on by a byte at least, so that a caller may simply go on.
type scanner struct {
	src    string
	pos    int
	line   int
	noLong [2]bool // no """ (''') closes from here to the end: found once, so that hostile text can't make us look again and again
}

// space skips white space and comments.
func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case '\n':
			s.line++
			s.pos++
		case ' ', '\t':
			s.pos++
		case '#':
			s.pos = s.lineEnd(s.pos)
		default:
			return
		}
	}
}

func (s *scanner) lineEnd(from int) int {
	if i := strings.IndexByte(s.src[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(s.src)
}

// next reads one token.
func (s *scanner) next() (token, error) {
	s.space()
	t := token{start: s.pos, line: s.line, first: s.pos == 0 || s.src[s.pos-1] == '\n'}
	if s.pos == len(s.src) {
		t.end = s.pos
		return t, nil
	}
	err := s.read(&t)
	t.end = s.pos
	return t, err
}

func (s *scanner) read(t *token) error {
	switch c := s.src[s.pos]; {
	case c == '<':
		return s.iri(t)
	case c == '"' || c == '\'':
		return s.quoted(t, c)
	case c == '.' && s.pos+1 < len(s.src) && digit(s.src[s.pos+1]), digit(c), c == '+', c == '-':
		return s.number(t)
	case strings.IndexByte(".;,[]()", c) >= 0:
		t.kind, t.text = kPunct, s.src[s.pos:s.pos+1]
		s.pos++
	case c == '@':
		end := s.pos + 1
		for end < len(s.src) && (digit(s.src[end]) || letter(s.src[end]) || s.src[end] == '-') {
			end++
		}
		t.kind, t.text = kAt, s.src[s.pos+1:end]
		s.pos = end
		if t.text == "" {
			return fmt.Errorf("`@` without a word")
		}
	case strings.HasPrefix(s.src[s.pos:], "^^"):
		t.kind = kTyped
		s.pos += 2
	default:
		return s.name(t)
	}
	return nil
}

func (s *scanner) iri(t *token) error {
	t.kind = kIRI
	i := s.pos + 1
	for i < len(s.src) && s.src[i] > ' ' && strings.IndexByte("<>\"{}|^`", s.src[i]) < 0 {
		i++
	}
	if i == len(s.src) || s.src[i] != '>' {
		s.pos = i
		return fmt.Errorf("`<` opens an IRI that is not closed by `>`, or holds a character that IRIs can't have")
	}
	text, err := unescape(s.src[s.pos+1:i], false)
	if err == nil && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' }) >= 0 {
		err = fmt.Errorf("an escape in this IRI stands for white space")
	}
	t.text = text
	s.pos = i + 1
	return err
}

// quoted reads a string. A short one ends at its line, so one missing quote costs no other line.
func (s *scanner) quoted(t *token, q byte) error {
	t.kind = kString
	long := strings.Repeat(string(q), 3)
	if !strings.HasPrefix(s.src[s.pos:], long) {
		for i := s.pos + 1; i < len(s.src) && s.src[i] != '\n'; i++ {
			switch s.src[i] {
			case '\\':
				i++
			case q:
				return s.closed(t, s.pos+1, i, 1)
			}
		}
		s.pos = s.lineEnd(s.pos)
		return fmt.Errorf("a string is not closed on its line; use %s for text of several lines", long)
	}
	which := 0
	if q == '\'' {
		which = 1
	}
	for i := s.pos + 3; i < len(s.src) && !s.noLong[which]; i++ {
		switch {
		case s.src[i] == '\\':
			i++
		case s.src[i] == q && strings.HasPrefix(s.src[i:], long):
			return s.closed(t, s.pos+3, i, 3)
		}
	}
	s.noLong[which] = true
	s.pos = s.lineEnd(s.pos)
	return fmt.Errorf("the string opened by %s is never closed", long)
}

func (s *scanner) closed(t *token, from, to, quotes int) error {
	raw := s.src[from:to]
	s.line += strings.Count(raw, "\n")
	s.pos = to + quotes
	var err error
	t.text, err = unescape(raw, true)
	return err
}

func (s *scanner) number(t *token) error {
	t.kind = kNumber
	i := s.pos
	if s.src[i] == '+' || s.src[i] == '-' {
		i++
	}
	from := i
	for i < len(s.src) {
		c := s.src[i]
		sign := (c == '+' || c == '-') && s.src[i-1]|0x20 == 'e'
		dot := c == '.' && i+1 < len(s.src) && (digit(s.src[i+1]) || exponent(s.src[i+1:]))
		if !digit(c) && !letter(c) && !sign && !dot {
			break
		}
		i++
	}
	t.text = s.src[s.pos:i]
	s.pos = max(i, s.pos+1)
	if i == from {
		return fmt.Errorf("`%s` is no number", s.src[t.start:s.pos])
	}
	if _, err := strconv.ParseFloat(t.text, 64); err != nil && !isRange(err) {
		return fmt.Errorf("`%s` is no number", shorten(t.text, 40))
	}
	return nil
}

// name reads a prefixed name, a blank node's label or a bare word.
func (s *scanner) name(t *token) error {
	i, colon := s.pos, false
	for i < len(s.src) {
		w, ok := nameChar(s.src[i:])
		if !ok {
			break
		}
		colon = colon || s.src[i] == ':'
		i += w
	}
	t.text = s.src[s.pos:i]
	switch {
	case i == s.pos:
		r, w := utf8.DecodeRuneInString(s.src[s.pos:])
		s.pos += w
		return fmt.Errorf("unexpected %q", r)
	case strings.HasPrefix(t.text, "_:"):
		t.kind = kBlank
	case colon:
		t.kind = kName
	default:
		t.kind = kWord
	}
	s.pos = i
	return nil
}

// nameChar measures the character of a name at the head of s. A full stop counts if the name goes on behind it.
func nameChar(s string) (int, bool) {
	c := s[0]
	switch {
	case letter(c), digit(c), c == '_', c == ':', c == '-':
		return 1, true
	case c == '.':
		dots := 1
		for dots < len(s) && dots < 16 && s[dots] == '.' {
			dots++
		}
		if dots == len(s) || s[dots] == '.' {
			return 0, false
		}
		_, more := nameChar(s[dots:])
		return dots, more
	case c == '%':
		return 3, len(s) > 2 && isHex(s[1:3])
	case c == '\\':
		return 2, len(s) > 1 && strings.IndexByte("_~.-!$&'()*+,;=/?#@%", s[1]) >= 0
	case c < utf8.RuneSelf:
		return 0, false
	}
	r, w := utf8.DecodeRuneInString(s)
	return w, unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '·' || r == '\u200c' || r == '\u200d' || r == '\u203f' || r == '\u2040'
}
