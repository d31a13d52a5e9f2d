package views

import "unicode/utf8"

// Excerpt is a text for a page: its beginning, how much was left out, and where the whole is.
type Excerpt struct {
	Text  string
	Left  int    // bytes left out; 0: this is the whole
	Whole string // path of the whole; empty when nothing was left out

	Markdown int    // prose for people: rendered as Markdown with headings of this level, unless its words are marked; 0: as written
	Runs     []Run  // Text with the words marked that another text lacks; nil: not compared
	Note     string // why it was compared and yet has no marks
}

// excerpt cuts a text to limit bytes.
func excerpt(s string, limit int, whole string) Excerpt {
	head, left := cut(s, limit)
	if left == 0 {
		return Excerpt{Text: head}
	}
	return Excerpt{Text: head, Left: left, Whole: whole}
}

// cost estimates the bytes an excerpt takes in HTML, whichever way it is printed: the five characters that are escaped grow to five
// bytes each, a mark takes markCost.
func (e Excerpt) cost() int {
	n := len(e.Text)
	for i := 0; i < len(e.Text); {
		if k := visible(e.Text, i); k > 0 {
			switch e.Text[i] {
			case '<', '>', '&', '"', '\'':
				n += 4
			}
			i += k
			continue
		}
		r, k := utf8.DecodeRuneInString(e.Text[i:])
		if k == 1 || hidden(r) {
			n += markCost
		}
		i += k
	}
	if e.Markdown > 0 {
		n = markdownCost(n)
	}
	return n
}

// markCost is what `<span class="cp">U+E0041</span>` takes in bytes.
const markCost = 31
