package units

import (
	"slices"
	"sort"
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// split adds one unit for each changed passage. A changed file of which no passage changed (a comment, front matter, an empty
// note) is still one changed artifact: it becomes a unit without normative text, so that its routing is checked.
func (s *source) split(old string) {
	for _, v := range s.views {
		v.split(s.format)
		s.faults(v)
		changes := compare(v)
		s.d.units = slices.Grow(s.d.units, len(changes))
		for _, ch := range changes {
			s.passage(v, ch, old)
		}
	}
	if len(s.d.units) > 0 {
		return
	}
	if s.Action == core.Edited && !s.realChange() {
		return
	}
	s.d.add(s.unit(s.Action))
}

// passage adds the unit of one changed passage, and the spans it replaces.
func (s *source) passage(v *view, ch change, old string) {
	if ch.after == nil && ch.lives {
		s.replaced(v, ch, old)
		return
	}
	if ch.after == nil {
		u := s.unit(core.Removed)
		s.place(&u, &v.before, ch.before[0])
		u.Diff = s.evidence.old(u.StartLine, u.EndLine)
		switch s.Action {
		case core.Copied: // the source of a copy stands
			return
		case core.Renamed: // what a move leaves out is a passage of the old path
			u.Path, u.OldPath = old, ""
		}
		s.d.add(u)
		s.replaced(v, ch, old)
		return
	}
	u := s.unit(core.Added)
	s.place(&u, &v.after, ch.after)
	u.Normative = cutNormative(ch.after.Normative)
	u.Diff = s.evidence.new(u.StartLine, u.EndLine)
	if len(ch.before) > 0 && s.Action != core.Copied {
		u.Action = core.Edited
		for _, p := range ch.before {
			u.Replaces = append(u.Replaces, s.oldID(old, p.Anchor))
		}
		s.replaced(v, ch, old)
	}
	s.d.add(u)
}

func (s *source) place(u *core.Unit, in *side, p *passage.Passage) {
	u.Anchor, u.Title, u.Text = p.Anchor, p.Title, capText(p.Text, maxText)
	u.StartLine, u.EndLine = in.first-1+p.Start, in.first-1+p.End
}

// replaced records the old passages of a change, unless a span already covers the old path or the hunk.
func (s *source) replaced(v *view, ch change, old string) {
	if s.Action != core.Edited {
		return
	}
	for _, p := range ch.before {
		sp := core.Span{Repo: s.repo, Path: old, Anchor: p.Anchor}
		if p.Anchor != "" {
			sp.Start, sp.End = v.before.first-1+p.Start, v.before.first-1+p.End
		}
		s.span(sp)
	}
}

// faults warns of what the splitter could not read in the new text and could in the old: older faults are no news.
func (s *source) faults(v *view) {
	known := map[string]int{}
	for _, f := range v.before.faults {
		known[f.What]++
	}
	for _, f := range v.after.faults {
		if known[f.What]--; known[f.What] < 0 {
			s.d.warn("%s/%s:%d: %s", s.repo, s.Path, f.Line, f.What)
		}
	}
}

// realChange tells whether the hunks do more than move lines or change white space.
func (s *source) realChange() bool {
	var added, removed []string
	for _, h := range s.Hunks {
		for l := range h.Lines() {
			if l.Op == ' ' || strings.TrimSpace(l.Text) == "" {
				continue
			}
			if l.Op == '+' {
				added = append(added, passage.Normalise(l.Text))
			} else {
				removed = append(removed, passage.Normalise(l.Text))
			}
		}
	}
	sort.Strings(added)
	sort.Strings(removed)
	return strings.Join(added, "\n") != strings.Join(removed, "\n")
}
