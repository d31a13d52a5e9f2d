package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"storozh/core"
)

const bom = "\ufeff"

// clean makes a text safe to cut up: valid UTF-8, no NUL, `\n` line ends, no byte order mark. It keeps the number of lines.
func clean(s string) string {
	s = strings.TrimPrefix(s, bom)
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // one U+FFFD for each bad byte, as encoding/json wrote the diff
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\ufffd")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		// A lone carriage return is no line end to git, so it must not become one here.
		s = strings.ReplaceAll(s, "\r", " ")
	}
	return s
}

// Normalise brings a text into the form in which two texts are compared: NFC, without invisible zero-width characters, each run
// of white space one space, none at the ends.
func Normalise(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, "\ufffd"))
	var b strings.Builder
	b.Grow(len(s))
	gap, from := false, 0 // from: start of the stretch that is copied as it stands
	for i := 0; i < len(s); {
		r, w := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRuneInString(s[i:])
		}
		space := unicode.IsSpace(r)
		switch {
		case space || r > utf8.RuneSelf && zeroWidth(r):
			b.WriteString(s[from:i])
			from = i + w
			gap = gap || space
		case gap:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
		}
		i += w
	}
	b.WriteString(s[from:])
	return b.String()
}

func zeroWidth(r rune) bool {
	switch r {
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return true
	}
	return false
}

// hasWords tells whether there is anything to read: a letter or a digit of any script.
func hasWords(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) >= 0
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// shorten cuts a string to n characters.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

func firstOf(fields map[string]string, keys ...string) string {
	for _, k := range keys {
		if v := strings.TrimSpace(fields[k]); v != "" {
			return v
		}
	}
	return ""
}

// faults collects what is wrong with one file, up to a limit: a hostile file must not fill the status page.
type faults struct {
	list []core.Fault
	more bool
}

func (f *faults) add(line int, what string) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, core.Fault{Line: line, What: what})
		return
	}
	if !f.more {
		f.more = true
		f.list = append(f.list, core.Fault{Line: line, What: "more faults from here on; they are not listed"})
	}
}
