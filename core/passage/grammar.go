package passage

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/knakk/rdf"
)

// decode runs a statement through the RDF decoder and returns its literals in order.
//
// The decoder reads in a goroutine of its own, where a panic ends the process and an error leaves the goroutine waiting for ever.
// So it never sees the text: names, literals and numbers are replaced by their position among the tokens, which leaves it the
// grammar (brackets, lists, separators) and nothing to stumble over, and after an error it is read to its end.
func decode(st statement) ([]token, *broken) {
	text, columns := skeleton(st)
	dec := rdf.NewTripleDecoder(strings.NewReader(text), rdf.Turtle)
	var (
		lits  []token
		first error
	)
	for range len(st.toks)*4 + 16 { // a token makes three triples at most (a list's item)
		t, err := decodeOne(dec)
		if errors.Is(err, io.EOF) {
			break
		}
		if first == nil {
			first = err
		}
		lit, ok := t.Obj.(rdf.Literal)
		if i, bad := strconv.Atoi(lit.String()); first == nil && ok && bad == nil && i < len(st.toks) {
			if st.toks[i].kind == kString {
				lits = append(lits, st.toks[i])
			}
		}
	}
	if first != nil {
		return nil, &broken{line: lineOf(first, st, columns), what: "the grammar of Turtle is broken here"}
	}
	return lits, nil
}

// decodeOne shields us from the decoder's own runtime panics.
func decodeOne(dec rdf.TripleDecoder) (t rdf.Triple, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoder: %v", r)
		}
	}()
	return dec.Decode()
}

// skeleton writes the statement with a placeholder for each term; columns maps each token to its offset. A semicolon that separates
// nothing is legal but unknown to the decoder, and is dropped.
func skeleton(st statement) (text string, columns []int) {
	var b strings.Builder
	b.Grow(len(st.toks) * 10)
	columns = make([]int, len(st.toks))
	for i, t := range st.toks {
		columns[i] = b.Len()
		n := strconv.Itoa(i)
		switch t.kind {
		case kString, kNumber:
			b.WriteString(`"` + n + `" `)
		case kBlank:
			b.WriteString("_:b" + n + " ")
		case kIRI, kName:
			b.WriteString("<u:" + n + "> ")
		case kWord:
			if t.text == "a" {
				b.WriteString("<u:" + n + "> ")
			} else {
				b.WriteString(`"` + n + `" `)
			}
		case kPunct:
			if !t.is(";") || i+1 < len(st.toks) && !st.toks[i+1].is(";") && !st.toks[i+1].is("]") {
				b.WriteString(t.text + " ")
			}
		}
	}
	b.WriteString(".\n")
	return b.String(), columns
}

// lineOf finds the line of a decoder's error, which begins with `1:<column>:`; without one it is the statement's.
func lineOf(err error, st statement, columns []int) int {
	var row, col int
	if n, _ := fmt.Sscanf(err.Error(), "%d:%d:", &row, &col); n != 2 {
		return st.line
	}
	line := st.line
	for i, at := range columns {
		if at <= col {
			line = st.toks[i].line
		}
	}
	return line
}
