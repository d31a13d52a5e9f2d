package views

import (
	entities "html"
	"net/url"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

func (m *mdWriter) link(n *ast.Link, depth int) {
	href, ok := safeURL(string(n.Destination))
	if !ok || depth > markdownDepth {
		m.written(inner(n, m.src), n.Destination, n.Title)
		return
	}
	m.open(href)
	m.children(n, depth)
	m.b.WriteString("</a>")
	m.target(inner(n, m.src), n.Destination, n.Title)
}

func (m *mdWriter) anchor(dest, label string) {
	href, ok := safeURL(dest)
	if ok {
		m.open(href)
	}
	writeMarked(&m.b, label)
	if ok {
		m.b.WriteString("</a>")
	}
}

func (m *mdWriter) open(href string) {
	m.b.WriteString(`<a href="` + entities.EscapeString(href) + `" rel="noreferrer nofollow noopener">`)
}

// written prints a link that is none: its text and where it would have gone.
func (m *mdWriter) written(label string, dest, title []byte) {
	writeMarked(&m.b, label)
	m.target(label, dest, title)
}

func (m *mdWriter) target(label string, dest, title []byte) {
	to := plainText(string(dest))
	if len(title) > 0 {
		to += " “" + plainText(string(title)) + "”"
	}
	if to == label {
		return
	}
	m.b.WriteString(` <span class="muted">(`)
	writeMarked(&m.b, to)
	m.b.WriteString(")</span>")
}

// inner is the text inside a node without its marks.
func inner(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(plainText(string(c.Value(src))))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(src))
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				seg := c.Segments.At(i)
				b.Write(seg.Value(src))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// safeURL tells whether a link may be followed: after decoding whatever a browser might decode, it is an absolute http or https address
// of an ASCII host, without user and without characters that cannot be seen.
func safeURL(dest string) (string, bool) {
	for range 3 {
		dest = plainText(dest)
	}
	if strings.IndexFunc(dest, func(r rune) bool { return hidden(r) || unicode.IsSpace(r) }) >= 0 || len(dest) > 2000 {
		return "", false
	}
	u, err := url.Parse(dest)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
		return "", false
	}
	if strings.IndexFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return "", false
	}
	return u.String(), true
}
