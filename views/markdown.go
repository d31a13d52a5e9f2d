package views

import (
	entities "html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits of rendered Markdown: a longer text is printed as written, and so is one whose markup would outgrow its text.
const (
	markdownLimit = 16_000
	markdownMarks = 30    // list and quote marks that begin a line; the parser's time grows with their square
	markdownLinks = 300   // opening brackets, for the same reason
	markdownStars = 2_000 // emphasis marks, likewise
	markdownDepth = 10    // nested blocks and emphasis; what lies deeper is printed without its marks
)

var markdownParser = goldmark.DefaultParser()

// markdownHTML prints a Markdown text with tags of a fixed list and nothing that a browser would load or run: raw HTML and images stay
// text, links go to http and https only and show where they go, and every text passes through the code-point marks. Nothing written is
// left out: what Markdown would hide (comments, definitions, the language of a code block) is shown. It is false when the text is
// better printed as written: too long, or with more markup than text. All headings get the level that the page's outline has room for.
func markdownHTML(s string, level int) (out string, ok bool) {
	if len(s) > markdownLimit || slow(s) {
		return "", false
	}
	defer func() {
		if recover() != nil { // the parser reads untrusted text; a fault in it must not cost the page
			out, ok = "", false
		}
	}()
	m := &mdWriter{level: strconv.Itoa(level), limit: markdownCost(Excerpt{Text: s}.cost())}
	head, body := splitFront(s)
	if head != "" {
		m.b.WriteString(`<pre class="fm">`)
		writeMarked(&m.b, head)
		m.b.WriteString("</pre>")
	}
	m.src = []byte(body)
	m.children(markdownParser.Parse(text.NewReader(m.src)), 0)
	return m.b.String(), m.b.Len() <= m.limit
}

// slow tells a text on which the parser would take time out of proportion: no person writes one.
func slow(s string) bool {
	return strings.Count(s, "[") > markdownLinks || strings.Count(s, "*")+strings.Count(s, "_") > markdownStars || deep(s)
}

// deep tells a text that nests blocks further than any person would.
func deep(s string) bool {
	marks, begins := 0, true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			marks, begins = 0, true
		case !begins || c == ' ' || c == '\t':
		case strings.IndexByte(">*+-0123456789.)", c) < 0:
			begins = false
		case i > 0 && s[i-1] == c && c != '>': // a rule or an underline, which nests nothing
		default:
			if marks++; marks > markdownMarks {
				return true
			}
		}
	}
	return false
}

// markdownCost bounds the bytes of a rendered text that takes n bytes as written.
func markdownCost(n int) int { return 3*n/2 + 600 }

// splitFront parts YAML front matter from the body, for Markdown would read it as a rule and a heading.
func splitFront(s string) (head, body string) {
	if !strings.HasPrefix(s, "---\n") {
		return "", s
	}
	i := strings.Index(s[4:], "\n---\n")
	if i < 0 {
		return "", s
	}
	return s[:4+i+4], s[4+i+5:]
}

// mdWriter prints the tree of a Markdown text.
type mdWriter struct {
	b     strings.Builder
	src   []byte
	level string // of headings
	limit int
}

func (m *mdWriter) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil && m.b.Len() <= m.limit; c = c.NextSibling() {
		m.node(c, depth+1)
	}
}

func (m *mdWriter) node(n ast.Node, depth int) {
	if open, end := m.tags(n); open != "" && depth <= markdownDepth {
		m.b.WriteString(open)
		m.children(n, depth)
		m.b.WriteString(end)
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		m.text(n)
	case *ast.String:
		writeMarked(&m.b, string(n.Value))
	case *ast.Link:
		m.link(n, depth)
	case *ast.Image:
		m.b.WriteString(`<span class="muted">image: </span>`)
		m.written(inner(n, m.src), n.Destination, n.Title)
	case *ast.AutoLink:
		m.anchor(string(n.URL(m.src)), string(n.Label(m.src)))
	case *ast.RawHTML:
		m.segments(n.Segments)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock, *ast.LinkReferenceDefinition:
		m.block(n)
	default:
		m.children(n, depth)
		if n.Type() == ast.TypeBlock {
			m.b.WriteByte('\n')
		}
	}
}

// tags are those of a node that is nothing but its children between two tags.
func (m *mdWriter) tags(n ast.Node) (open, end string) {
	switch n := n.(type) {
	case *ast.Heading:
		if n.Level <= 2 {
			return "<h" + m.level + ">", "</h" + m.level + ">"
		}
		return "<h" + m.level + ` class="sub">`, "</h" + m.level + ">"
	case *ast.Paragraph:
		return "<p>", "</p>"
	case *ast.Blockquote:
		return "<blockquote>", "</blockquote>"
	case *ast.List:
		if n.IsOrdered() {
			return `<ol start="` + strconv.Itoa(n.Start) + `">`, "</ol>"
		}
		return "<ul>", "</ul>"
	case *ast.ListItem:
		return "<li>", "</li>"
	case *ast.CodeSpan:
		return "<code>", "</code>"
	case *ast.ThematicBreak:
		return "<hr>", ""
	case *ast.Emphasis:
		if n.Level >= 2 {
			return "<strong>", "</strong>"
		}
		return "<em>", "</em>"
	}
	return "", ""
}

func (m *mdWriter) text(n *ast.Text) {
	value := string(n.Value(m.src))
	if !n.IsRaw() && n.Parent().Kind() != ast.KindCodeSpan {
		value = plainText(value)
	}
	writeMarked(&m.b, value)
	if n.HardLineBreak() {
		m.b.WriteString("<br>")
	} else if n.SoftLineBreak() {
		m.b.WriteByte('\n')
	}
}

// plainText resolves backslash escapes and character references, so that what hides in a reference is marked like anything else. An
// escaped ampersand begins no reference.
func plainText(s string) string {
	parts := strings.Split(s, `\&`)
	for i, p := range parts {
		parts[i] = entities.UnescapeString(string(util.UnescapePunctuations([]byte(p))))
	}
	return strings.Join(parts, "&")
}

// block prints what stands between its lines as it is.
func (m *mdWriter) block(n ast.Node) {
	m.b.WriteString("<pre><code>")
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		m.b.WriteString(`<span class="muted">`)
		writeMarked(&m.b, string(f.Info.Value(m.src)))
		m.b.WriteString("</span>\n")
	}
	m.segments(n.Lines())
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		writeMarked(&m.b, string(h.ClosureLine.Value(m.src)))
	}
	m.b.WriteString("</code></pre>")
}

func (m *mdWriter) segments(all *text.Segments) {
	for i := range all.Len() {
		seg := all.At(i)
		writeMarked(&m.b, string(seg.Value(m.src)))
	}
}
