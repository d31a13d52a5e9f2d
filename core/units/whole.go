package units

import (
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// wholeFile adds the one unit of a file that is not split: skills, agents, genome and code.
func (s *source) wholeFile() {
	u := s.unit(s.Action)
	switch {
	case s.Action == core.Removed:
		u.Text = s.shown(func(v *view) *side { return &v.before })
	case s.Action == core.Added:
		s.addedFile(&u)
	default:
		u.Text = s.shown(func(v *view) *side { return &v.after })
		s.editedFile(&u)
	}
	s.lines(&u)
	s.d.add(u)
}

// addedFile takes title and text from the splitter.
func (s *source) addedFile(u *core.Unit) {
	v := s.views[0]
	v.after.split(s.format, false)
	if len(v.after.passages) == 0 {
		return
	}
	p := v.after.passages[0]
	u.Title, u.Text, u.Normative = p.Title, capText(p.Text, maxText), cutNormative(p.Normative)
}

// editedFile fills a unit whose old text exists: only what changed binds anew (design §4, "Normative text").
func (s *source) editedFile(u *core.Unit) {
	old := s.old()
	if s.Action != core.Copied {
		u.Action = core.Edited
		u.Replaces = []string{s.oldID(old, "")}
	}
	if s.Action == core.Edited && !s.views[0].partial {
		s.span(core.Span{Repo: s.repo, Path: old})
	}
	if s.format != passage.Whole {
		return
	}
	u.Normative = cutNormative(s.changedLines())
	if v := s.views[0]; !v.partial {
		v.after.split(s.format, false)
		if len(v.after.passages) > 0 {
			u.Title = v.after.passages[0].Title
		}
	}
}

// changedLines are the added lines of the new text, each group under the heading it stands below. A statement and its `Counter:` are
// never parted: where one of the two changed, both are there.
func (s *source) changedLines() string {
	var b strings.Builder
	for _, v := range s.views {
		heading, said, fence := "", "", ""
		binds := v.binding()
		for i, line := range v.after.lines {
			trimmed := strings.TrimSpace(line)
			switch mark := fenceMark(trimmed); {
			case mark != "" && fence == "":
				fence = mark
			case mark != "" && strings.HasPrefix(mark, fence):
				fence = ""
			case fence == "" && isHeading(trimmed):
				heading = trimmed
				if binds[i] {
					said = heading // it is written out as a changed line itself
				}
			}
			if !binds[i] || trimmed == "" || b.Len() > maxNormative && !holdsCounter(trimmed) {
				continue // behind the cap only exceptions count
			}
			if heading != said {
				b.WriteString(heading + "\n")
				said = heading
			}
			b.WriteString(strings.TrimRight(line, " \t\r") + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

func fenceMark(s string) string {
	if strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") {
		return s[:3]
	}
	return ""
}

// isHeading tells an ATX heading.
func isHeading(s string) bool {
	text := strings.TrimLeft(s, "#")
	n := len(s) - len(text)
	return n >= 1 && n <= 6 && strings.HasPrefix(text, " ")
}

// shown is the text of one side as far as it is known; gaps between hunks are marked.
func (s *source) shown(pick func(*view) *side) string {
	var b strings.Builder
	for i, v := range s.views {
		if i > 0 {
			b.WriteString("\n…\n")
		}
		for j, line := range pick(v).lines {
			if j > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(line)
			if b.Len() > maxText {
				return capText(b.String(), maxText)
			}
		}
	}
	return b.String()
}

// lines sets the unit's range: of the new text, or the old one for a removal.
func (s *source) lines(u *core.Unit) {
	pick := func(v *view) *side { return &v.after }
	if s.Action == core.Removed {
		pick = func(v *view) *side { return &v.before }
	}
	first, last := pick(s.views[0]), pick(s.views[len(s.views)-1])
	if len(last.lines) == 0 {
		return
	}
	u.StartLine, u.EndLine = first.first, last.first-1+len(last.lines)
}
