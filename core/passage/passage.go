// Package passage splits the text of one file into passages: the pieces that can be a unit or a corpus item on their own. Both
// sides of a comparison use this one splitter, so that a lesson in a changeset and the same lesson in the corpus get the same
// anchor and the same normative text (design §4, "A unit is one changed protocol artifact, or one passage").
//
// The model: a file has a [Format], chosen by its path and the type that C3 gives it; a format has one splitting rule.
//
// Invariants that every format keeps:
//   - it never panics and takes time linear in the text, whatever the text is;
//   - anchors are unique within a file: a second `x` becomes `x~2`;
//   - line ranges are 1-based, inclusive, within the file and ordered by their start;
//   - output is valid UTF-8 with `\n` line ends: `\r\n`, a byte order mark, NUL and invalid bytes are tolerated on the way in
//     (the last two become U+FFFD), and never shift a line number;
//   - what can't be read is a fault with its line and costs only itself.
package passage

import (
	"path"
	"strings"

	"storozh/core"
)

// Format names a splitting rule.
type Format int

// The formats.
const (
	Whole      Format = iota // prose that is one passage: skills, agents, genome
	Invariants               // one passage for each `#N` line
	Turtle                   // one passage for each statement's subject
	Sections                 // lesson and memory notes: the whole if short, else headings and bullets
	Code                     // one passage without normative text
)

// Passage is one piece of a file.
type Passage struct {
	// Anchor is the part of an id behind the `#` (C4): `12` for invariant `#12`, a claim's subject as written, a heading's slug,
	// `L<line>` where nothing better is known, and empty for a whole file.
	Anchor string
	// Title is the heading (`Parent › Child`), the front matter's title or summary, or the claim's subject; it may be empty.
	Title string
	// Text is the passage as written.
	Text string
	// Normative is what a reader is bound by, title included; empty if there is nothing to compare.
	Normative string
	// Start and End are the passage's first and last line, 1-based and inclusive.
	Start, End int
}

// ShortBody is the length, in characters, up to which the body of a lesson or note stays one passage (design §4).
const ShortBody = 1500

const (
	maxTitle  = 300 // characters of a title; the rest is cut
	maxAnchor = 200 // characters of an anchor: it ends up in ids and addresses
	maxFaults = 100 // faults reported for one file
)

// FormatOf picks the format of a file by its path and type. Files that are prose by their name but have no rule of their own are
// [Whole]; anything else is [Code].
func FormatOf(file string, t core.UnitType) Format {
	ext := strings.ToLower(path.Ext(file))
	switch {
	case ext == ".ttl":
		return Turtle
	case t == core.Invariant:
		return Invariants
	case t == core.Lesson && (ext == ".md" || ext == ".markdown" || ext == ".txt"):
		return Sections
	case t == core.Lesson && ext == "", Prose(file):
		return Whole
	}
	return Code
}

// Prose tells by its name whether a file holds text for people (Markdown and its kin) rather than code or data.
func Prose(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown", ".mdx", ".mdc", ".txt", ".rst", ".adoc", ".org":
		return true
	}
	return false
}

// Split splits a text by the rule of its format. The faults have no path: the caller knows it. A text of white space only has no
// passages.
func Split(f Format, text string) ([]Passage, []core.Fault) {
	text = clean(text)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	switch f {
	case Invariants:
		return splitInvariants(text)
	case Turtle:
		return splitTurtle(text)
	case Sections:
		return splitSections(text)
	case Code:
		return []Passage{{Text: text, Start: 1, End: countLines(text)}}, nil
	}
	return splitWhole(text)
}

func splitWhole(text string) ([]Passage, []core.Fault) {
	fields, at, body := frontMatter(text)
	title := firstOf(fields, "title", "summary", "name")
	if title == "" {
		title = firstHeading(body)
	}
	p := Passage{Title: shorten(title, maxTitle), Text: text, Start: 1, End: countLines(text)}
	if at > 1 || hasWords(body) {
		p.Normative = strings.TrimSpace(text)
	}
	return []Passage{p}, nil
}

// firstHeading finds the first ATX heading without building a tree: a title is all that is wanted of a whole file.
func firstHeading(body string) string {
	fence := ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case strings.HasPrefix(line, "#"):
			if h := strings.TrimLeft(line, "#"); strings.HasPrefix(h, " ") && len(line)-len(h) <= 6 {
				return plainHeading(h)
			}
		}
	}
	return ""
}
