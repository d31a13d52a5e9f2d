package units

import (
	"sort"
	"strconv"
	"strings"

	"storozh/core"
)

const (
	smallSection = 4 << 10 // bytes up to which a unit shows its file's whole section
	aroundLines  = 3       // context lines around a passage
)

// evidence cuts out of a section what touches one unit. The index over its lines is built once, when first needed, so that a file
// with a thousand passages costs no more than its length.
type evidence struct {
	file  *File
	all   string // the section, capped; shared by all units that show it
	hunks []hunkIndex
	built bool
}

// hunkIndex holds, for each content line of a hunk and one past the last, its offset in the body and the numbers that the next
// line of each side has there.
type hunkIndex struct {
	*Hunk
	at       []int
	old, new []int
}

func newEvidence(f *File) *evidence { return &evidence{file: f, all: capText(f.Raw, maxEvidence)} }

// new is the evidence for a range of new lines.
func (e *evidence) new(from, to int) string {
	return e.cut(from, to, func(h *hunkIndex) []int { return h.new })
}

// old is the evidence for a range of old lines.
func (e *evidence) old(from, to int) string {
	return e.cut(from, to, func(h *hunkIndex) []int { return h.old })
}

func (e *evidence) cut(from, to int, numbers func(*hunkIndex) []int) string {
	if len(e.file.Raw) <= smallSection {
		return e.file.Raw
	}
	e.build()
	if e.file.Action != core.Added { // around a passage of a new file there is nothing old to compare it with
		from, to = from-aroundLines, to+aroundLines
	}
	var b strings.Builder
	i := sort.Search(len(e.hunks), func(i int) bool { n := numbers(&e.hunks[i]); return n[len(n)-1] >= from })
	for ; i < len(e.hunks) && b.Len() <= maxEvidence; i++ {
		h := &e.hunks[i]
		n := numbers(h)
		if n[0] > to {
			break
		}
		lo, hi := sort.SearchInts(n, from), min(sort.SearchInts(n, to+1), len(n)-1)
		if lo < hi {
			h.write(&b, lo, hi)
		}
	}
	return capText(b.String(), maxEvidence)
}

// write appends the lines lo to hi (excluded) as a hunk of their own.
func (h *hunkIndex) write(b *strings.Builder, lo, hi int) {
	part := cutUTF8(strings.TrimSuffix(h.Body[h.at[lo]:h.at[hi]], "\n"), maxEvidence)
	b.Grow(len(part) + len(h.Section) + 48)
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	number := func(mark string, n int) {
		b.WriteString(mark)
		b.WriteString(strconv.Itoa(n))
	}
	number("@@ -", h.old[lo])
	number(",", h.old[hi]-h.old[lo])
	number(" +", h.new[lo])
	number(",", h.new[hi]-h.new[lo])
	b.WriteString(" @@")
	if h.Section != "" {
		b.WriteString(" " + h.Section)
	}
	b.WriteByte('\n')
	b.WriteString(part)
}

func (e *evidence) build() {
	if e.built {
		return
	}
	e.built = true
	for i := range e.file.Hunks {
		e.hunks = append(e.hunks, indexHunk(&e.file.Hunks[i]))
	}
}

func indexHunk(h *Hunk) hunkIndex {
	n := h.OldLines + h.NewLines + 2
	x := hunkIndex{Hunk: h, at: make([]int, 0, n), old: make([]int, 0, n), new: make([]int, 0, n)}
	before, after := h.OldStart, h.NewStart
	offset := 0
	mark := func() {
		x.at, x.old, x.new = append(x.at, offset), append(x.old, before), append(x.new, after)
	}
	for offset < len(h.Body) {
		end := strings.IndexByte(h.Body[offset:], '\n')
		if end < 0 {
			end = len(h.Body) - offset - 1
		}
		mark()
		switch h.Body[offset] {
		case '\\':
		case '+':
			after++
		case '-':
			before++
		default:
			before, after = before+1, after+1
		}
		offset += end + 1
	}
	offset = len(h.Body)
	mark()
	return x
}
