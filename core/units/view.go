package units

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"storozh/core"
	"storozh/core/passage"
)

// side is one of the two texts of a comparison.
type side struct {
	first    int      // line number, in the file, of lines[0]
	lines    []string // without line ends
	other    []int32  // per line: its index on the other side, or -1 if it is there no more (or not yet)
	passages []passage.Passage
	faults   []core.Fault
}

func (s *side) push(line string, other int) {
	s.lines = append(s.lines, line)
	s.other = append(s.other, int32(other))
}

func (s *side) grow(n int) {
	s.lines, s.other = slices.Grow(s.lines, n), slices.Grow(s.other, n)
}

// text is the side as one string.
func (s *side) text() string { return strings.Join(s.lines, "\n") }

// view is an old and a new text beside each other, with the lines that they share. It holds a whole file, or, where HEAD is not
// known, what one hunk shows of it.
type view struct {
	before, after side
	partial       bool
}

// share appends a line that both sides have.
func (v *view) share(before, after string) {
	b, a := len(v.before.lines), len(v.after.lines)
	v.before.push(before, a)
	v.after.push(after, b)
}

// wholeView applies the hunks to the text at HEAD. It is false unless every context and removed line is where the hunk says.
func wholeView(head string, hunks []Hunk) (*view, bool) {
	if !utf8.ValidString(head) {
		head = string([]rune(head)) // as encoding/json wrote the diff: one U+FFFD for each bad byte
	}
	old := strings.Split(head, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	v := &view{before: side{first: 1}, after: side{first: 1}}
	v.before.grow(len(old))
	v.after.grow(len(old))
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start = h.OldStart // an insertion stands behind the line it names
		}
		if start < len(v.before.lines) || start > len(old) {
			return nil, false
		}
		for _, l := range old[len(v.before.lines):start] {
			v.share(l, l)
		}
		if !v.apply(h, old) {
			return nil, false
		}
	}
	for _, l := range old[len(v.before.lines):] {
		v.share(l, l)
	}
	return v, true
}

// apply appends one hunk; with old, its lines must agree with that text.
func (v *view) apply(h Hunk, old []string) bool {
	v.before.grow(h.OldLines)
	v.after.grow(h.NewLines)
	for l := range h.Lines() {
		text := l.Text
		if l.Op != '+' && old != nil {
			at := len(v.before.lines)
			if at >= len(old) || !sameLine(old[at], text) {
				return false
			}
			text = old[at]
		}
		switch l.Op {
		case '+':
			v.after.push(text, -1)
		case '-':
			v.before.push(text, -1)
		default:
			v.share(text, text)
		}
	}
	return true
}

// sameLine compares without a final carriage return: mirabilis drops it (C1).
func sameLine(a, b string) bool {
	return a == b || strings.TrimSuffix(a, "\r") == strings.TrimSuffix(b, "\r")
}

// hunkView is what one hunk alone shows of both texts.
func hunkView(h Hunk) *view {
	v := &view{before: side{first: max(1, h.OldStart)}, after: side{first: max(1, h.NewStart)}, partial: true}
	v.apply(h, nil)
	return v
}

// split cuts both sides into passages.
func (v *view) split(f passage.Format) {
	v.before.split(f, v.partial)
	v.after.split(f, v.partial)
}

// pad makes a fragment long enough for the splitter to look for sections in it. A short lesson is one passage, but how long the
// lesson is, a fragment doesn't tell.
var pad = "\n\n# " + padMark + "\n\n" + strings.Repeat(padMark, passage.ShortBody+1) + "\n"

const padMark = "\ue000"

func (s *side) split(f passage.Format, partial bool) {
	if len(s.lines) == 0 {
		return
	}
	if !partial {
		s.passages, s.faults = passage.Split(f, s.text())
		return
	}
	text, shift := s.text(), 0
	if f == passage.Sections {
		text = s.bodyOf(text) + pad
	}
	if s.first > 1 && strings.HasPrefix(text, "---") {
		text, shift = "\n"+text, 1 // a rule inside the file, not front matter
	}
	if f == passage.Turtle {
		text, shift = prefixLine(text)+text, 1
	}
	found, _ := passage.Split(f, text) // a fragment's faults are the cut's, not the file's
	for _, p := range found {
		p.Start, p.End = p.Start-shift, min(p.End-shift, len(s.lines))
		if p.Start < 1 || p.Start > p.End {
			continue
		}
		if p.Title == padMark { // text above the first heading takes its title from that; here it is the padding's
			p.Title, p.Normative = "", strings.TrimPrefix(p.Normative, padMark+"\n\n")
		}
		if strings.Contains(p.Text, padMark) {
			p.Text, p.Normative = unpad(p.Text), unpad(p.Normative)
		}
		if p.Anchor == "" || isLineAnchor(p.Anchor) {
			p.Anchor = "L" + strconv.Itoa(s.first-1+p.Start)
		}
		s.passages = append(s.passages, p)
	}
}

// maxFront is the line up to which a hunk may begin inside front matter.
const maxFront = 30

// bodyOf blanks the end of the front matter that a hunk near the top begins in: its last line would read as an underlined heading.
func (s *side) bodyOf(text string) string {
	if s.first == 1 || s.first > maxFront {
		return text
	}
	_, line, body := passage.FrontMatter("---\n" + text)
	if line == 1 {
		return text
	}
	return strings.Repeat("\n", line-2) + body
}

// unpad removes the padding from a passage that swallowed it, such as a fence that the fragment leaves open.
func unpad(s string) string {
	if i := strings.Index(s, "# "+padMark); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// prefixLine declares, on one line, every prefix that a Turtle fragment seems to use: its own declarations lie outside. Declaring
// too many does no harm, since only literals are read.
func prefixLine(text string) string {
	var b strings.Builder
	seen := map[string]bool{}
	start := -1
	for i, c := range text {
		name := c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 127
		switch {
		case name && start < 0:
			start = i
		case c == ':':
			word := ""
			if start >= 0 {
				word = text[start:i]
			}
			if !seen[word] && len(seen) < 64 && strings.Trim(word, "0123456789.-_") == word && len(word) < 64 {
				seen[word] = true
				b.WriteString("@prefix " + word + ": <urn:x:" + word + "#> . ")
			}
			start = -1
		case !name:
			start = -1
		}
	}
	return b.String() + "\n"
}

// isLineAnchor tells an anchor that is only a line's number, and so moves with every insertion above.
func isLineAnchor(a string) bool {
	a, _, _ = strings.Cut(a, "~")
	return len(a) > 1 && a[0] == 'L' && strings.Trim(a[1:], "0123456789") == ""
}
