package passage

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// anchors hands out the anchors of one file, each once.
type anchors struct {
	used map[string]int // anchor → how often it was asked for
}

// take returns the anchor itself the first time, `anchor~2` the second time (C4), and tells whether it was the first.
func (a *anchors) take(anchor string) (string, bool) {
	if a.used == nil {
		a.used = make(map[string]int)
	}
	a.used[anchor]++
	if a.used[anchor] == 1 {
		return anchor, true
	}
	for {
		next := anchor + "~" + strconv.Itoa(a.used[anchor])
		if a.used[next] == 0 { // a name written as `x~2` may already hold it
			a.used[next] = 1
			return next, false
		}
		a.used[anchor]++
	}
}

func lineAnchor(line int) string { return "L" + strconv.Itoa(line) }

// slug turns a heading into an anchor: lower case, letters, marks and digits of any script kept, each run of white space or
// hyphens one hyphen, everything else dropped. It may be empty.
func slug(heading string) string {
	var b strings.Builder
	gap, n := false, 0
	for _, r := range norm.NFC.String(heading) {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), r == '_':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
			if n++; n == maxAnchor {
				return b.String()
			}
		case unicode.IsSpace(r), r == '-', r == '–', r == '—':
			gap = true
		}
	}
	return b.String()
}
