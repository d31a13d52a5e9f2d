package units

import (
	"fmt"
	"iter"
	"strings"

	"storozh/core"
)

// File is one changed file of a diff.
type File struct {
	// Path is inside the repo, with slashes: the new path, or the old one for a deletion.
	Path string
	// OldPath is the path before a rename or copy, else empty.
	OldPath string
	// Action is what happened to the file as a whole. Renamed and Copied files may have hunks; Edited means content changed in
	// place; a deletion is Removed whatever the file was.
	Action core.Action
	// OldBlob and NewBlob are the ids of the `index` line, abbreviated as git printed them; they may be empty.
	OldBlob, NewBlob string
	// OldMode and NewMode are octal modes such as 100644; empty where git prints none.
	OldMode, NewMode string
	// Hunks are the whole hunks; an incomplete last one of a cut-off diff is not among them.
	Hunks []Hunk
	// Cut tells that the section is incomplete.
	Cut bool
	// Raw is the section as it stands, colour removed, without a final newline.
	Raw string
}

// Hunk is one hunk of a section. Its line counts agree with its body.
type Hunk struct {
	OldStart, OldLines, NewStart, NewLines int
	Section                                string // what git prints behind the second @@; may be empty
	Body                                   string // the content lines with their marks, without the @@ line; a substring of the diff
}

// Line is one content line of a hunk.
type Line struct {
	Op   byte   // ' ' context, '+' added, '-' removed
	Text string // without the mark
}

// Lines yields the hunk's content lines in order, without the notes about a missing newline.
func (h Hunk) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		rest, more := h.Body, true
		for before, after := h.OldLines, h.NewLines; more && (before > 0 || after > 0); {
			var text string
			text, rest, more = strings.Cut(rest, "\n")
			l := Line{Op: ' '}
			if text != "" {
				l.Op, l.Text = text[0], text[1:]
			}
			switch l.Op {
			case '\\':
				continue
			case '+':
				after--
			case '-':
				before--
			default:
				before, after = before-1, after-1
			}
			if !yield(l) {
				return
			}
		}
	}
}

// parser walks over a diff line by line.
type parser struct {
	text     string
	pos      int  // start of the next line
	last     bool // the line taken last was the final one, which a cut may have shortened
	files    []File
	warnings []string
	stray    int    // lines outside any section
	firstBad string // the first of them
}

// ParseDiff reads the text of `git diff HEAD` (C1). Warnings are for people and name the section, not the repo. Sections begin at
// lines that start with `diff --git ` or `diff --cc `; beside them stand git's one-line notes about unmerged paths and
// submodules. Hunk counts, not the look of a line, decide what is content (case D2).
func ParseDiff(diff string) ([]File, []string) {
	p := &parser{text: stripColour(diff)}
	for p.more() {
		switch line := p.peek(); {
		case strings.HasPrefix(line, "diff --git "):
			p.section()
		case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
			p.combined()
		case strings.HasPrefix(line, "* Unmerged path "):
			p.unmergedNote()
		case strings.HasPrefix(line, "Submodule "):
			p.submoduleNote()
		default:
			p.next()
			p.strayLine(line)
		}
	}
	if p.stray > 0 {
		p.warn("%d lines outside any file section were skipped, the first is %q", p.stray, shorten(p.firstBad, 80))
	}
	return foldNotes(p.files), p.warnings
}

func (p *parser) more() bool { return p.pos < len(p.text) }

// peek returns the next line without its newline; empty at the end.
func (p *parser) peek() string {
	rest := p.text[p.pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// next takes the next line.
func (p *parser) next() string {
	line := p.peek()
	p.pos += len(line)
	p.last = p.pos >= len(p.text)
	if !p.last {
		p.pos++
	}
	return line
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

func (p *parser) strayLine(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if p.stray == 0 {
		p.firstBad = line
	}
	p.stray++
}

// raw is the text from start to the cursor without the final newline.
func (p *parser) raw(start int) string { return strings.TrimSuffix(p.text[start:p.pos], "\n") }

// skipSection moves on to the next line that can begin something.
func (p *parser) skipSection() {
	for p.more() {
		line := p.peek()
		if strings.HasPrefix(line, "diff --") || strings.HasPrefix(line, "* Unmerged path ") || strings.HasPrefix(line, "Submodule ") {
			return
		}
		p.next()
	}
}

// shorten cuts s to at most n bytes at a rune's border and marks the cut.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return cutUTF8(s, n) + "…"
}
