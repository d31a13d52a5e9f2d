package manifest

import (
	"bytes"
	"strings"
)

const (
	defaultIndent = "  " // that of C1
	maxIndent     = 16   // a longer one would be repeated on each line of the block
)

// style is how a file lays out its top-level members.
type style struct {
	newline string // empty: all on one line
	indent  string
}

// styleOf looks at the white space before the first member. The answer is the same once a block has been spliced in.
func styleOf(raw []byte, doc object) style {
	empty := doc.count == 0
	gap := raw[doc.open+1 : doc.end-1]
	if !empty {
		gap = raw[doc.open+1 : doc.first.name.from]
	}
	line := bytes.LastIndexByte(gap, '\n')
	if line < 0 {
		return style{}
	}
	st := style{newline: "\n", indent: string(gap[line+1:])}
	if line > 0 && gap[line-1] == '\r' {
		st.newline = "\r\n"
	}
	if empty || len(st.indent) > maxIndent || strings.ContainsRune(st.indent, '\r') {
		st.indent = defaultIndent
	}
	return st
}

// lead is what stands before a new block's value: line end, indent, name and colon.
func (st style) lead() string {
	name := st.newline + st.indent + `"` + blockName + `":`
	if st.indent != "" {
		name += " "
	}
	return name
}
