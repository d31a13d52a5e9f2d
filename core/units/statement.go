package units

import (
	"strings"

	"storozh/core"
)

// binding tells which lines of the new text bind a reader anew: the added ones, and all of a statement that holds a `Counter:`, or has
// lost one, and of which a line changed (case J2).
func (v *view) binding() []bool {
	binds := make([]bool, len(v.after.lines))
	of, n := v.after.statements()
	touched, excepted := make([]bool, n), make([]bool, n)
	for i, line := range v.after.lines {
		binds[i] = v.after.other[i] < 0
		if of[i] >= 0 && strings.TrimSpace(line) != "" {
			touched[of[i]] = touched[of[i]] || binds[i]
			excepted[of[i]] = excepted[of[i]] || holdsCounter(line)
		}
	}
	for _, i := range v.lostCounter() {
		if of[i] >= 0 {
			touched[of[i]], excepted[of[i]] = true, true
		}
	}
	for i := range binds {
		binds[i] = binds[i] || of[i] >= 0 && touched[of[i]] && excepted[of[i]]
	}
	return binds
}

// lostCounter lists the new lines whose statement had a `Counter:` in the old text that was removed: without it the same words say more.
func (v *view) lostCounter() (out []int32) {
	of, n := v.before.statements()
	lost := make([]bool, n)
	for i, line := range v.before.lines {
		if of[i] >= 0 && v.before.other[i] < 0 && holdsCounter(line) {
			lost[of[i]] = true
		}
	}
	for i, line := range v.before.lines {
		if of[i] >= 0 && lost[of[i]] && v.before.other[i] >= 0 && solid(line) {
			out = append(out, v.before.other[i])
		}
	}
	return out
}

// statements numbers, line by line, the statements of a text that is not split: paragraphs and list items with what is indented below them.
// A paragraph that begins with `Counter:` belongs to the one before it. Headings and lines between have -1.
func (s *side) statements() (of []int32, n int) {
	of = make([]int32, len(s.lines))
	open, indent := false, 0 // a statement goes on; its first line's indent
	for i, line := range s.lines {
		text := strings.TrimLeft(line, " \t")
		in := len(line) - len(text)
		of[i] = -1
		switch {
		case strings.TrimSpace(text) == "":
			open = false
			continue
		case isHeading(strings.TrimSpace(text)):
			open, indent = false, -1
			continue
		case n > 0 && indent >= 0 && beginsWithCounter(text): // goes on, whatever stands between
		case !open && (n == 0 || indent < 0 || in <= indent), open && in <= indent && isItem(text):
			indent = in
			n++
		}
		open = true
		of[i] = int32(n - 1)
	}
	return of, n
}

// isItem tells whether a line begins an item of a list.
func isItem(s string) bool {
	if s == "" {
		return false
	}
	mark := strings.TrimLeft(s, "0123456789")
	if digits := len(s) - len(mark); digits > 0 && digits < 10 {
		return strings.HasPrefix(mark, ". ") || strings.HasPrefix(mark, ") ")
	}
	return strings.IndexByte("-*+", s[0]) >= 0 && len(s) > 1 && (s[1] == ' ' || s[1] == '\t')
}

// beginsWithCounter tells whether a line, emphasis and list mark aside, begins with `Counter:`.
func beginsWithCounter(s string) bool {
	s = strings.TrimLeft(s, "-+*_> \t|")
	for at := range core.Counters(s) {
		return at == 0
	}
	return false
}
