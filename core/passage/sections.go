package passage

import (
	"strings"
	"unicode/utf8"

	"storozh/core"
)

// splitSections splits a lesson or a memory note: one passage if its body is short, else one for each heading with text of its
// own; a section of bullets only falls into its bullets (design §4).
func splitSections(src string) ([]Passage, []core.Fault) {
	fields, bodyLine, body := frontMatter(src)
	x := indexLines(body)
	list, err := blocks(x)
	if err != nil {
		list = []block{{kind: content}} // unreadable as Markdown: it is still text
	}
	title := shorten(firstOf(fields, "title", "summary"), maxTitle)
	front := title
	for i := 0; title == "" && i < len(list); i++ {
		title = list[i].title
	}
	trimmed := strings.TrimSpace(body)
	if utf8.RuneCountInString(trimmed) <= ShortBody {
		p := Passage{Title: title, Text: src, Start: 1, End: countLines(src)}
		if saysSomething(x, list, len(x.starts)) {
			p.Normative = join(front, trimmed)
		}
		return []Passage{p}, nil
	}
	s := sectioner{x: x, lines: len(x.starts), offset: bodyLine}
	s.walk(list, title)
	return s.out, nil
}

// saysSomething tells whether the blocks up to the line stop (exclusive) hold text besides headings and rules.
func saysSomething(x lineIndex, list []block, stop int) bool {
	for i, b := range list {
		if b.kind != content && b.kind != bullet {
			continue
		}
		end := stop
		if i+1 < len(list) {
			end = max(list[i+1].start, b.start+1)
		}
		if hasWords(x.text(b.start, end)) {
			return true
		}
	}
	return false
}

// sectioner cuts a long body into sections and bullets.
type sectioner struct {
	x      lineIndex
	lines  int
	offset int // line number of the body's first line
	names  anchors
	out    []Passage
}

// walk cuts the list of blocks at its headings. parents holds the headings above the current one, outermost first.
func (s *sectioner) walk(list []block, title string) {
	var parents []block
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].kind != heading {
			end++
		}
		stop := s.lines
		if end < len(list) {
			stop = list[end].start
		}
		if list[i].kind != heading {
			s.section(list[i:end], block{start: list[i].start, after: list[i].start}, title, stop)
		} else {
			h := list[i]
			for len(parents) > 0 && parents[len(parents)-1].level >= h.level {
				parents = parents[:len(parents)-1]
			}
			name := h.title
			if len(parents) > 0 {
				name = under(parents[len(parents)-1].title, name)
			}
			parents = append(parents, h)
			s.section(list[i+1:end], h, name, stop)
		}
		i = end
	}
}

// under names a heading with the one above it; either may be empty (`#` and nothing else).
func under(parent, name string) string {
	if parent == "" || name == "" {
		return parent + name
	}
	return parent + " › " + name
}

// section adds the passages between a heading and the next one (stop, exclusive).
func (s *sectioner) section(own []block, h block, title string, stop int) {
	title = shorten(title, maxTitle)
	if !saysSomething(s.x, own, stop) || stop <= h.after {
		return // the heading's name stays free for a section that has text
	}
	if bulletsOnly(own) {
		for i, b := range own {
			end := stop
			if i+1 < len(own) {
				end = own[i+1].start
			}
			if b.kind == bullet && end > b.start {
				s.bullet(b, title, end)
			}
		}
		return
	}
	anchor := ""
	if h.kind == heading {
		anchor = slug(h.title)
	}
	if anchor == "" {
		anchor = lineAnchor(s.offset + h.start)
	}
	s.add(anchor, title, h.start, stop, s.x.text(h.after, stop))
}

// bullet adds one item of a list; its mark is no part of what it says.
func (s *sectioner) bullet(b block, title string, end int) {
	text := strings.TrimLeft(s.x.text(b.start, end), " \t")
	if len(text) > 0 && strings.IndexByte("-*+", text[0]) >= 0 {
		text = text[1:]
	}
	if hasWords(text) {
		s.add(lineAnchor(s.offset+b.start), title, b.start, end, text)
	}
}

func (s *sectioner) add(anchor, title string, start, end int, says string) {
	for end > start+1 && s.x.blank(end-1) {
		end--
	}
	anchor, _ = s.names.take(anchor)
	s.out = append(s.out, Passage{
		Anchor: anchor, Title: title, Text: s.x.text(start, end), Normative: join(title, strings.TrimSpace(says)),
		Start: s.offset + start, End: s.offset + end - 1,
	})
}

func bulletsOnly(own []block) bool {
	for _, b := range own {
		if b.kind == content {
			return false
		}
	}
	return true
}

func join(title, text string) string {
	if title == "" {
		return text
	}
	return title + "\n\n" + text
}
