package units

import (
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// source is one changed file on its way to units.
type source struct {
	d *deriver
	File
	observed, repo string // repos[].name, and its canonical form
	kind           core.UnitType
	home           string
	format         passage.Format
	views          []*view // what is known of the old and the new text; empty without content
	evidence       *evidence
}

// derive adds the file's units and spans. With textOnly the path itself stands on, so that its removal is no unit.
func (s *source) derive(textOnly bool) {
	old := s.old()
	s.read(old)
	ok := false
	s.kind, s.home, ok = s.d.Classify(s.repo, s.Path, s.declared(old))
	s.spans(old)
	if !ok {
		s.d.out.Unclassified = append(s.d.out.Unclassified, s.repo+"/"+s.Path)
		return
	}
	if textOnly || s.Cut && len(s.Hunks) == 0 && s.Action != core.Unmerged {
		return // a warning already says that nothing of it could be read
	}
	s.format = passage.FormatOf(s.Path, s.kind)
	s.unread()
	s.evidence = newEvidence(&s.File)
	if len(s.views) == 0 {
		s.d.add(s.unit(s.Action))
		return
	}
	if s.format == passage.Whole || s.format == passage.Code {
		s.wholeFile()
		return
	}
	s.split(old)
}

// unread warns of text that should have been judged and that the diff does not hold, or holds in no settled form: silence would read as a
// clean bill.
func (s *source) unread() {
	switch {
	case s.Action == core.Unmerged:
		s.d.warn("%s/%s: a merge of it is not finished; its text was not checked", s.repo, s.Path)
	case s.Action == core.Binary && s.format != passage.Code:
		s.d.warn("%s/%s: git takes it for binary, as it does UTF-16 and what .gitattributes says so of; its text was not checked", s.repo, s.Path)
	case s.format != passage.Code && s.conflicts():
		s.d.warn("%s/%s: it holds the marks of a merge conflict; both sides were checked as they stand", s.repo, s.Path)
	}
}

// conflicts tells whether the changeset adds a conflict's marks, first to last.
func (s *source) conflicts() bool {
	for _, h := range s.Hunks {
		if !strings.Contains(h.Body, "+<<<<<<< ") {
			continue
		}
		open := false
		for l := range h.Lines() {
			open = open || l.Op == '+' && strings.HasPrefix(l.Text, "<<<<<<< ")
			if open && l.Op == '+' && strings.HasPrefix(l.Text, ">>>>>>> ") {
				return true
			}
		}
	}
	return false
}

// hasContent tells whether the hunks hold text that passages can be made of.
func (s *source) hasContent() bool {
	switch s.Action {
	case core.Added, core.Edited, core.Renamed, core.Copied:
		return len(s.Hunks) > 0
	case core.Removed:
		return len(s.Hunks) > 0 && !strings.HasPrefix(s.OldMode, "12") && !strings.HasPrefix(s.OldMode, "16")
	}
	return false
}

// read lays the texts beside each other: whole ones when they are known, else what each hunk shows.
func (s *source) read(old string) {
	if !s.hasContent() {
		return
	}
	head, known := "", s.showsAll()
	if !known && s.OldBlob != "" {
		head, known = s.d.Head(s.observed, old, s.OldBlob)
	}
	if known && s.Action == core.Removed {
		s.views = []*view{hunkView(s.Hunks[0])}
		s.views[0].partial = len(s.Hunks) > 1
		return
	}
	if known {
		if v, ok := wholeView(head, s.Hunks); ok {
			s.views = []*view{v}
			return
		}
	}
	for _, h := range s.Hunks {
		s.views = append(s.views, hunkView(h))
	}
}

// showsAll tells whether the hunks themselves hold the whole file.
func (s *source) showsAll() bool {
	return s.Action == core.Added || s.Action == core.Removed && !s.Cut
}

// moved tells whether the file has no content in the diff, but at HEAD.
func (s *source) moved() bool {
	return s.Action == core.Renamed || s.Action == core.Copied || s.Action == core.ModeOnly
}

// wantsHead tells whether [source.read] or [source.declared] will ask for the text at HEAD.
func (s *source) wantsHead() bool {
	if s.hasContent() {
		return !s.showsAll() && s.OldBlob != ""
	}
	return s.moved() && passage.Prose(s.Path)
}

// old is the path at HEAD.
func (s *source) old() string {
	if s.OldPath != "" {
		return s.OldPath
	}
	return s.Path
}

// declared is the type that the file's front matter declares: the new text's, or the old one's for a deletion.
func (s *source) declared(old string) string {
	if !passage.Prose(s.Path) {
		return ""
	}
	if len(s.views) == 0 {
		if s.moved() {
			if head, ok := s.d.Head(s.observed, old, s.OldBlob); ok {
				return frontMatterType(s.Path, head)
			}
		}
		return ""
	}
	text := &s.views[0].after
	if s.Action == core.Removed {
		text = &s.views[0].before
	}
	if text.first != 1 || len(text.lines) == 0 || !strings.HasPrefix(strings.TrimPrefix(text.lines[0], "\ufeff"), "---") {
		return ""
	}
	return frontMatterType(s.Path, text.text())
}

// spans records what of the old text is gone for certain, whatever the file's type: without it, a removed item would still be
// compared. Passages of a text known as a whole are recorded where they are matched.
func (s *source) spans(old string) {
	whole := core.Span{Repo: s.repo, Path: old}
	switch s.Action {
	case core.Removed, core.Renamed, core.Symlink, core.Binary, core.Submodule:
		s.span(whole)
	case core.Edited:
		if len(s.views) == 1 && !s.views[0].partial {
			return
		}
		for _, h := range s.Hunks {
			if h.OldStart == 0 && h.OldLines == 0 {
				continue
			}
			whole.Start, whole.End = max(1, h.OldStart), h.OldStart+max(1, h.OldLines-1)
			if h.OldLines > 0 {
				whole.End = h.OldStart + h.OldLines - 1
			}
			s.span(whole)
		}
	}
}

func (s *source) span(sp core.Span) { s.d.out.Replaced = append(s.d.out.Replaced, sp) }

// unit is the frame that all units of this file share.
func (s *source) unit(a core.Action) core.Unit {
	return core.Unit{
		Observed: s.observed, Repo: s.repo, Path: s.Path, OldPath: s.OldPath,
		Type: s.kind, Home: s.home, Action: a, Diff: s.evidence.all,
	}
}

// oldID is the id of a passage of the old text.
func (s *source) oldID(old, anchor string) string {
	id := s.repo + "/" + old
	if anchor != "" {
		id += "#" + anchor
	}
	return id
}
