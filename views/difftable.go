package views

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// diffTable prints a diff as a table. It is written by hand, without the end tags that HTML lets one omit, because a page holds thousands
// of rows; and because every blank counts in a line of code.
func diffTable(d Diff) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		if d.Split {
			b.WriteString(`<table class="dt split"><thead><tr><th scope="col">old<th scope="col" colspan="2">before<th scope="col">new<th scope="col" colspan="2">after<tbody>`)
			for _, p := range d.sides() {
				writeSides(&b, p)
			}
		} else {
			b.WriteString(`<table class="dt"><thead><tr><th scope="col">old<th scope="col">new<th scope="col" colspan="2">line<tbody>`)
			for i := range d.Rows {
				writeUnified(&b, &d.Rows[i])
			}
		}
		b.WriteString("</table>")
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writeUnified(b *strings.Builder, r *DiffRow) {
	if !r.numbered() {
		writeHeader(b, r, "4")
		return
	}
	b.WriteString("<tr>")
	b.WriteString("<td>" + lineNumber(r.Old) + "<td>" + lineNumber(r.New))
	writeCell(b, r)
}

func writeSides(b *strings.Builder, p [2]*DiffRow) {
	if p[0] != nil && !p[0].numbered() && p[0].Op != '\\' {
		writeHeader(b, p[0], "6")
		return
	}
	b.WriteString("<tr>")
	for side, r := range p {
		switch {
		case r == nil:
			b.WriteString(`<td><td><td>`)
		case side == 0:
			b.WriteString("<td>" + lineNumber(r.Old))
			writeCell(b, r)
		default:
			b.WriteString("<td>" + lineNumber(r.New))
			writeCell(b, r)
		}
	}
}

// numbered tells a line of one of the texts from a header or a note.
func (r *DiffRow) numbered() bool { return r.Op == '+' || r.Op == '-' || r.Op == ' ' }

func writeHeader(b *strings.Builder, r *DiffRow, columns string) {
	b.WriteString(`<tr class="h"><td colspan="` + columns + `">`)
	writeLine(b, r)
}

// writeCell prints the sign and the text; the sign is a cell of its own, so that it is read and seen apart from colour.
func writeCell(b *strings.Builder, r *DiffRow) {
	sign := string(r.Op)
	if r.Op == '-' {
		sign = "−"
	}
	if !r.numbered() {
		sign = ""
	}
	b.WriteString("<td" + rowClass(r.Op) + ">" + strings.TrimSpace(sign) + "<td" + rowClass(r.Op) + ">")
	writeLine(b, r)
}

func writeLine(b *strings.Builder, r *DiffRow) {
	if r.Hidden {
		b.WriteString(`<span class="badge b-hidden" title="marked with their code points">hidden characters</span> `)
	}
	writeMarked(b, r.Text)
	if r.Left > 0 {
		b.WriteString(` <span class="more">… ` + bytesWord(r.Left) + ` more</span>`)
	}
}

// rowClass is the class of a row or cell: a and d colour it.
func rowClass(op byte) string {
	switch op {
	case '+':
		return ` class="a"`
	case '-':
		return ` class="d"`
	}
	return ""
}

func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
