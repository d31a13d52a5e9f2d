package passage

import (
	"fmt"
	"strings"

	"storozh/core"
)

// splitInvariants makes a passage of each `#N …` line, bare or as a Markdown bullet. An indented line, or one that goes on with
// `|` or `Counter:`, belongs to the invariant above. All other lines are prose around the invariants, as is what a comment
// (`<!-- … -->`, beginning a line) takes out of force.
func splitInvariants(text string) ([]Passage, []core.Fault) {
	var (
		out         []Passage
		f           faults
		names       anchors
		start, rest int // offsets of the open invariant and of what follows its number
		open, blank bool
		comment     bool
		n, at       int // line number and offset
		lastClose   = strings.LastIndex(text, "-->")
	)
	for line := range strings.Lines(text) {
		n++
		from := at
		at += len(line)
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		if comment || strings.HasPrefix(line, "<!--") {
			comment, open = !strings.Contains(line, "-->") && at <= lastClose, false // one that is never closed takes out its line only
			continue
		}
		num, behind, ok := invariantHead(line, open)
		switch {
		case ok:
			anchor, first := names.take(num)
			if !first {
				f.add(n, fmt.Sprintf("invariant #%s stands in this file already; this one is listed as %s. Ids are never reused: give it a new number", num, anchor))
			}
			start, rest, open = from, from+behind, true
			out = append(out, Passage{Anchor: anchor, Text: line, Normative: text[rest:at], Start: n, End: n})
		case open && continues(line, blank):
			last := &out[len(out)-1]
			last.Text, last.Normative, last.End = text[start:from+len(line)], text[rest:at], n
		default:
			open = false
			if unnumbered(line) {
				f.add(n, "this line reads like an invariant but does not begin with `#` and its number; it is left out")
			}
		}
		blank = false
	}
	for i := range out {
		out[i].Normative = bindingText(out[i].Normative)
	}
	return out, f.list
}

// continues tells whether a line that starts no invariant belongs to the one above.
func continues(line string, afterBlank bool) bool {
	if line[0] == ' ' || line[0] == '\t' {
		return true
	}
	if afterBlank {
		return false
	}
	_, _, label := core.LabelAt(line, 0)
	return line[0] == '|' || label
}

// invariantHead reads `#N` at the beginning of a line; rest is the offset of what follows it. Inside an invariant (open) an
// indented `#N` without a bullet or a tag is running text that mentions another invariant.
func invariantHead(line string, open bool) (num string, rest int, ok bool) {
	s := strings.TrimLeft(line, " \t")
	indented := len(s) < len(line)
	bullet := false
	if len(s) > 2 && strings.IndexByte("-*+", s[0]) >= 0 && (s[1] == ' ' || s[1] == '\t') {
		s, bullet = strings.TrimLeft(s[2:], " \t"), true
	}
	s = strings.TrimLeft(s, "*_`")
	if !strings.HasPrefix(s, "#") {
		return "", 0, false
	}
	digits := 1
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits == 1 || digits > 19 {
		return "", 0, false
	}
	num, s = s[1:digits], strings.TrimLeft(s[digits:], "*_`:.)")
	if s != "" && strings.IndexByte(" \t[|", s[0]) < 0 { // `#12a` and `#1.5` are no invariants
		return "", 0, false
	}
	s = strings.TrimLeft(s, " \t")
	if open && indented && !bullet && !strings.HasPrefix(s, "[") {
		return "", 0, false
	}
	return num, len(line) - len(s), true
}

// unnumbered tells whether a line is meant as an invariant but is none to this splitter: it has the tags without a number, or its number
// stands behind something else, such as that of a list.
func unnumbered(line string) bool {
	s := strings.TrimLeft(line, " \t")
	if mark := strings.TrimLeft(s, "0123456789"); len(mark) < len(s) && mark != "" && strings.IndexByte(".)", mark[0]) >= 0 {
		s = mark[1:]
	}
	s = strings.TrimLeft(s, " \t-+*_`|")
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		s = strings.TrimLeft(strings.TrimPrefix(s, box), " \t*_`")
	}
	if digits := strings.TrimLeft(s[min(1, len(s)):], "0123456789"); strings.HasPrefix(s, "#") {
		s = strings.TrimLeft(digits, " \t*_`|")
	}
	tag, _, ok := strings.Cut(s, "]")
	if !ok || !strings.HasPrefix(tag, "[") {
		return false
	}
	switch tag[1:] {
	case "critical", "important", "style", "O", "P", "F":
		return true
	}
	return false
}
