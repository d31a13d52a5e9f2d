package views

import "strings"

// Excerpt is a text for a page: its beginning, how much was left out, and where the whole is.
type Excerpt struct {
	Text  string
	Left  int    // bytes left out; 0: this is the whole
	Whole string // path of the whole; empty when nothing was left out
}

// excerpt cuts a text to limit bytes.
func excerpt(s string, limit int, whole string) Excerpt {
	head, left := cut(s, limit)
	if left == 0 {
		return Excerpt{Text: head}
	}
	return Excerpt{Text: head, Left: left, Whole: whole}
}

// cost estimates the bytes an excerpt takes in HTML: the five characters that are escaped grow to five bytes each.
func (e Excerpt) cost() int {
	n := len(e.Text)
	for i := 0; i < len(e.Text); i++ {
		switch e.Text[i] {
		case '<', '>', '&', '"', '\'':
			n += 4
		}
	}
	return n
}

// DiffLine is one line of a diff with what it does: "add", "del", "hunk" or "" for context.
type DiffLine struct {
	Kind string
	Text string
}

// diffLines splits a diff for colouring, at most limit lines; left counts the others.
func diffLines(diff string, limit int) (lines []DiffLine, left int) {
	all := strings.Split(diff, "\n")
	if len(all) > limit {
		all, left = all[:limit], len(all)-limit
	}
	for _, l := range all {
		lines = append(lines, DiffLine{Kind: diffKind(l), Text: l})
	}
	return lines, left
}

func diffKind(line string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}
