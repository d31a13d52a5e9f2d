package units

import "strings"

// hunk takes the hunk at the cursor, which stands on its @@ line. It is false, with the cursor behind the last line that can
// belong to it, when fewer lines follow than the counts demand.
func (p *parser) hunk() (Hunk, bool) {
	line := p.peek()
	h, ok := parseRanges(strings.TrimSuffix(line, "\r"))
	p.next()
	if !ok {
		return Hunk{}, false
	}
	start := p.pos
	blankEnd := false
	before, after := h.OldLines, h.NewLines
	for before > 0 || after > 0 {
		if !p.more() {
			// diff.suppressBlankEmpty: an empty last context line is all that the missing final newline left of itself.
			if before == 1 && after == 1 && p.pos > start && p.text[p.pos-1] == '\n' {
				blankEnd = true
				break
			}
			return Hunk{}, false
		}
		op := p.text[p.pos]
		switch op {
		case '+':
			after--
		case '-':
			before--
		case ' ', '\n', '\r':
			before, after = before-1, after-1
		case '\\':
		default:
			return Hunk{}, false
		}
		if before < 0 || after < 0 {
			return Hunk{}, false
		}
		p.next()
	}
	for p.more() && p.text[p.pos] == '\\' {
		p.next()
	}
	h.Body = p.text[start:p.pos]
	if !blankEnd {
		h.Body = strings.TrimSuffix(h.Body, "\n")
	}
	return h, true
}

// parseRanges reads `@@ -a[,b] +c[,d] @@[ section]`.
func parseRanges(line string) (Hunk, bool) {
	var h Hunk
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return h, false
	}
	if h.OldStart, h.OldLines, rest, ok = parseRange(rest); !ok {
		return h, false
	}
	if rest, ok = strings.CutPrefix(rest, " +"); !ok {
		return h, false
	}
	if h.NewStart, h.NewLines, rest, ok = parseRange(rest); !ok {
		return h, false
	}
	if rest, ok = strings.CutPrefix(rest, " @@"); !ok {
		return h, false
	}
	h.Section = strings.TrimPrefix(rest, " ")
	return h, true
}

func parseRange(s string) (start, lines int, rest string, ok bool) {
	if start, rest, ok = parseInt(s); !ok {
		return 0, 0, s, false
	}
	lines = 1
	if after, comma := strings.CutPrefix(rest, ","); comma {
		if lines, rest, ok = parseInt(after); !ok {
			return 0, 0, s, false
		}
	}
	return start, lines, rest, true
}

// maxLine is the largest line number or count that is believed; no manifest holds more.
const maxLine = 1 << 30

func parseInt(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if n = n*10 + int(s[i]-'0'); n > maxLine {
			return 0, s, false
		}
		i++
	}
	return n, s[i:], i > 0
}
