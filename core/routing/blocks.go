package routing

import "strings"

// eachCodeLine calls f for every line inside a code block of a Markdown text: between fences (``` or ~~~, open to the end of the
// file if never closed) or indented by four spaces or a tab. no is 1-based; first marks the first line of a block.
func eachCodeLine(text string, f func(no int, line string, first bool)) {
	fence := ""       // the open fence's run of marks, empty outside
	inBlock := false  // the line before belonged to the same block
	indented := false // that block is an indented one
	no := 0
	for line := range strings.Lines(text) {
		no++
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		marks := fenceMarks(trimmed)
		switch {
		case fence != "":
			if marks != "" && strings.HasPrefix(marks, fence) && marks == trimmed {
				fence, inBlock = "", false
				continue
			}
			f(no, line, !inBlock)
			inBlock, indented = true, false
		case marks != "":
			fence, inBlock = marks, false
		case trimmed == "":
			// A blank line may stand inside an indented block; outside it is nothing.
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			f(no, line, !inBlock || !indented)
			inBlock, indented = true, true
		default:
			inBlock = false
		}
	}
}

// fenceMarks returns the run of at least three back-ticks or tildes that a trimmed line begins with, or "".
func fenceMarks(s string) string {
	if s == "" || (s[0] != '`' && s[0] != '~') {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}
