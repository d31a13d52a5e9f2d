package views

import (
	"strconv"
	"strings"
)

// Limits of one diff on the page.
const (
	diffLimit   = 8_000 // bytes of lines shown
	lineLimit   = 160   // lines
	longLine    = 600   // bytes of one line
	diffLineTag = 56    // bytes of markup that a line costs besides its text
	hiddenTag   = 96    // of the badge on a line with hidden characters
	diffMarkup  = 420   // of the table around them
)

// Diff is the evidence of a unit: the lines of its hunks as a table, unified or side by side.
type Diff struct {
	Split bool // old and new beside each other
	Rows  []DiffRow
	Left  string // what was left out, in words; empty: nothing
	Whole string // path of the whole
	Other string // path of this page with the other mode
	Open  bool   // shown unfolded
}

// DiffRow is one line of a diff. Op is '+', '-' or ' '; '@' a hunk's header, '\\' the note about a missing line end, 'h' a line of the
// section's header that says more than the unit does.
type DiffRow struct {
	Op     byte
	Old    int // line number in the old text; 0: it has none
	New    int
	Text   string
	Left   int  // bytes of the line left out
	Hidden bool // holds invisible or reordering characters
}

// newDiff reads a unit's evidence, whole hunks or not: the counts of a hunk's header decide what is content, so a removed line that
// looks like a header stays one (core/units reads whole hunks only, and drops one that a cap has cut).
func newDiff(diff, whole string) Diff {
	d := Diff{Whole: whole}
	r := diffReader{}
	bytes := 0
	for rest := diff; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		row, keep := r.row(strings.TrimSuffix(line, "\r"))
		if keep {
			if len(d.Rows) == lineLimit || bytes > diffLimit {
				d.Left = "the beginning of " + bytesWord(len(diff))
				return d
			}
			bytes += row.fit()
			if row.Left > 0 {
				d.Left = "not all of " + bytesWord(len(diff)) + ": long lines are cut"
			}
			d.Rows = append(d.Rows, row)
		}
		rest = after
	}
	return d
}

// fit cuts a long line and returns the bytes it takes.
func (r *DiffRow) fit() int {
	r.Text, r.Left = cut(r.Text, longLine)
	r.Hidden = Hidden(r.Text)
	return Excerpt{Text: r.Text}.cost()
}

// diffReader numbers the lines of hunks.
type diffReader struct {
	old, new         int // the next line of each side
	oldLeft, newLeft int // lines that the hunk still has to give
	inHunk           bool
}

// row reads one line. It is false for header lines that only repeat what the unit says of itself.
func (r *diffReader) row(line string) (DiffRow, bool) {
	if r.oldLeft > 0 || r.newLeft > 0 || strings.HasPrefix(line, `\`) && r.inHunk {
		return r.content(line), true
	}
	if strings.HasPrefix(line, "@@") {
		r.header(line)
		return DiffRow{Op: '@', Text: line}, true
	}
	if r.inHunk && line != "" && !strings.HasPrefix(line, "diff --") { // a combined diff, or the note that a cap has cut it off
		return DiffRow{Op: plainOp(line), Text: line}, true
	}
	for _, known := range []string{"diff --", "index ", "--- ", "+++ "} {
		if line == "" || strings.HasPrefix(line, known) {
			return DiffRow{}, false
		}
	}
	return DiffRow{Op: 'h', Text: line}, true
}

func (r *diffReader) content(line string) DiffRow {
	op, text := byte(' '), line
	if line != "" {
		op, text = line[0], line[1:]
	}
	row := DiffRow{Op: op, Text: text}
	switch op {
	case '+':
		row.New, r.new, r.newLeft = r.new, r.new+1, r.newLeft-1
	case '-':
		row.Old, r.old, r.oldLeft = r.old, r.old+1, r.oldLeft-1
	case '\\':
		row.Text = line
	case ' ':
		row.Old, row.New = r.old, r.new
		r.old, r.new, r.oldLeft, r.newLeft = r.old+1, r.new+1, r.oldLeft-1, r.newLeft-1
	default: // not of a hunk's form: the diff was cut here
		row.Op, row.Text = 'h', line
		r.oldLeft, r.newLeft = 0, 0
	}
	return row
}

// header reads `@@ -a,b +c,d @@`; one of another form leaves the lines behind it without numbers.
func (r *diffReader) header(line string) {
	*r = diffReader{inHunk: true}
	f := strings.Fields(short(line, 200))
	if len(f) < 4 || f[0] != "@@" || !strings.HasPrefix(f[1], "-") || !strings.HasPrefix(f[2], "+") {
		return
	}
	oldStart, oldLines, ok1 := lineRange(f[1][1:])
	newStart, newLines, ok2 := lineRange(f[2][1:])
	if ok1 && ok2 {
		r.old, r.oldLeft, r.new, r.newLeft = oldStart, oldLines, newStart, newLines
	}
}

func lineRange(s string) (start, lines int, ok bool) {
	first, second, comma := strings.Cut(s, ",")
	lines = 1
	start, err := strconv.Atoi(first)
	if err == nil && comma {
		lines, err = strconv.Atoi(second)
	}
	return start, lines, err == nil && start >= 0 && lines >= 0 && start < 1<<30 && lines < 1<<30
}

func plainOp(line string) byte {
	switch line[0] {
	case '+', '-':
		return line[0]
	}
	return ' '
}

// cost estimates the bytes of HTML that the diff takes, in the mode that takes more: side by side, context stands there twice.
func (d Diff) cost() int {
	if len(d.Rows) == 0 {
		return 0
	}
	n := diffMarkup + 2*len(d.Whole)
	for _, r := range d.Rows {
		text := Excerpt{Text: r.Text}.cost()
		if r.Hidden {
			text += hiddenTag
		}
		if r.Op == ' ' {
			text *= 2
		}
		n += diffLineTag + text
	}
	return n
}

// sides pairs the rows for two columns: the removed lines of a change stand beside the added ones. A pair with a nil has nothing there;
// a header stands on the left alone.
func (d Diff) sides() (out [][2]*DiffRow) {
	for i := 0; i < len(d.Rows); {
		switch op := d.Rows[i].Op; op {
		case '-', '+':
			var del, add []*DiffRow
			for ; i < len(d.Rows) && inChange(d.Rows[i].Op, len(add)); i++ {
				if op = d.Rows[i].Op; op == '-' || op == '\\' && len(add) == 0 {
					del = append(del, &d.Rows[i])
				} else {
					add = append(add, &d.Rows[i])
				}
			}
			for k := range max(len(del), len(add)) {
				var p [2]*DiffRow
				if k < len(del) {
					p[0] = del[k]
				}
				if k < len(add) {
					p[1] = add[k]
				}
				out = append(out, p)
			}
		case ' ':
			out = append(out, [2]*DiffRow{&d.Rows[i], &d.Rows[i]})
			i++
		default:
			out = append(out, [2]*DiffRow{&d.Rows[i], nil})
			i++
		}
	}
	return out
}

// inChange tells whether a line still belongs to a change that has added lines already; a removed line then begins another one.
func inChange(op byte, added int) bool {
	return op == '+' || op == '\\' || op == '-' && added == 0
}
