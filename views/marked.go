package views

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// marked prints an untrusted text: invisible and reordering characters as their code points. It is written by hand, not as
// a template, because every blank counts inside `<pre>`.
func marked(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if !Hidden(s) {
			_, err := io.WriteString(w, templ.EscapeString(s))
			return err
		}
		var b strings.Builder
		writeMarked(&b, s)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writeMarked(b *strings.Builder, s string) {
	for _, seg := range Segments(s) {
		if seg.Mark {
			b.WriteString(`<span class="cp">` + seg.Text + `</span>`) // a code point's name: nothing to escape
			continue
		}
		b.WriteString(templ.EscapeString(seg.Text))
	}
}
