package passage

import (
	"fmt"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// block is a top-level block of a Markdown text, or an item of a top-level bullet list. Lines count from 0.
type block struct {
	kind  blockKind
	start int    // first line
	after int    // headings: first line behind the heading
	level int    // headings: 1 … 6
	title string // headings: plain text
}

type blockKind byte

const (
	content blockKind = iota
	heading
	bullet
	ornament // rules and comments: they neither say anything nor break up a list
)

// maxIndent is the column beyond which nested lists and quotes are no longer looked into: each level costs time on each line.
const maxIndent = 32

// blockParser reads blocks only. Inline parsing can take quadratic time on hostile lines and is needed for headings alone.
var blockParser = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewSetextHeadingParser(), 100),
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(parser.NewListParser(), 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(parser.NewBlockquoteParser(), 800),
	util.Prioritized(parser.NewHTMLBlockParser(), 900),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// inlineParser reads a heading's own markup.
var inlineParser = goldmark.DefaultParser()

// lineIndex finds the line of an offset.
type lineIndex struct {
	starts []int // offset of each line
	src    string
}

func indexLines(s string) lineIndex {
	x := lineIndex{src: s, starts: []int{0}}
	for i := 0; i < len(s)-1; i++ {
		if s[i] == '\n' {
			x.starts = append(x.starts, i+1)
		}
	}
	return x
}

func (x lineIndex) at(offset int) int {
	return sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > offset }) - 1
}

// text returns the lines from (inclusive) to (exclusive) without the last line end.
func (x lineIndex) text(from, to int) string {
	if from >= to || from >= len(x.starts) {
		return ""
	}
	end := len(x.src)
	if to < len(x.starts) {
		end = x.starts[to]
	}
	return strings.TrimSuffix(x.src[x.starts[from]:end], "\n")
}

func (x lineIndex) blank(line int) bool { return strings.TrimSpace(x.text(line, line+1)) == "" }

// blocks lists the top-level blocks of a Markdown text in order. The tree builder is shielded because it reads untrusted text.
func blocks(x lineIndex) (out []block, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("read Markdown: %v", r)
		}
	}()
	src := []byte(maskDeep(x.src))
	doc := blockParser.Parse(text.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Pos() < 0 {
			continue // an empty block without a place: its line belongs to the block before it
		}
		b := block{start: x.at(n.Pos())}
		switch n := n.(type) {
		case *ast.Heading:
			b.kind, b.level = heading, n.Level
			b.title, b.after = headingText(x, n, b.start)
		case *ast.List:
			if !n.IsOrdered() {
				out = append(out, bullets(x, n)...)
				continue
			}
		case *ast.ThematicBreak:
			b.kind = ornament
		case *ast.HTMLBlock:
			if n.HTMLBlockType == ast.HTMLBlockType2 {
				b.kind = ornament
			}
		}
		out = append(out, b)
	}
	return out, nil
}

func bullets(x lineIndex, list *ast.List) (out []block) {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if item.Pos() >= 0 {
			out = append(out, block{kind: bullet, start: x.at(item.Pos())})
		}
	}
	return out
}

// headingText reads a heading's plain text and finds where it ends: an underlined one has a line more than its text.
func headingText(x lineIndex, n *ast.Heading, start int) (string, int) {
	var raw strings.Builder
	after := start + 1
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		raw.WriteString(x.src[seg.Start:min(seg.Stop, len(x.src))] + " ")
		after = x.at(seg.Start) + 1
	}
	own := strings.TrimLeft(x.text(start, start+1), " ")
	hashes := len(own) - len(strings.TrimLeft(own, "#"))
	atx := hashes > 0 && hashes <= 6 && (len(own) == hashes || own[hashes] == ' ' || own[hashes] == '\t')
	if !atx && n.Level <= 2 {
		after++
	}
	return plainHeading(raw.String()), after
}

// plainHeading strips a heading's markup: emphasis, links, code marks, closing hashes.
func plainHeading(raw string) (plain string) {
	raw = shorten(strings.TrimSpace(strings.ReplaceAll(raw, "\n", " ")), 4*maxTitle) // an underlined heading may have several lines
	if !strings.ContainsAny(raw, "*_[<&\\`#") {
		return shorten(Normalise(raw), maxTitle)
	}
	defer func() {
		if recover() != nil {
			plain = shorten(Normalise(raw), maxTitle)
		}
	}()
	src := []byte("# " + raw)
	var b strings.Builder
	_ = ast.Walk(inlineParser.Parse(text.NewReader(src)), func(n ast.Node, in bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if in {
				b.Write(n.Value(src))
			}
		case *ast.String:
			if in {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if in {
				b.Write(n.Label(src))
			}
		}
		return ast.WalkContinue, nil
	})
	return shorten(Normalise(b.String()), maxTitle)
}

// maskDeep overwrites the list and quote marks that stand further in than maxIndent, so that no text can nest deeper. The length of
// every line stays. A line that is one mark repeated is a rule or an underline, and nests nothing.
func maskDeep(s string) string {
	var out []byte
	for at := 0; at < len(s); {
		end := at + strings.IndexByte(s[at:], '\n')
		if end < at {
			end = len(s)
		}
		run := at
		for run < end && strings.IndexByte(" \t>*+-0123456789.)", s[run]) >= 0 {
			run++
		}
		if run-at > maxIndent && !ruler(s[at:end]) {
			if out == nil {
				out = []byte(s)
			}
			for i := at + maxIndent; i < run; i++ {
				if s[i] != ' ' && s[i] != '\t' {
					out[i] = 'x'
				}
			}
		}
		at = end + 1
	}
	if out == nil {
		return s
	}
	return string(out)
}

func ruler(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && (line[0] == '-' || line[0] == '*') && strings.Trim(line, line[:1]+" \t") == ""
}
