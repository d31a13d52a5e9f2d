package views

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a comparison word by word. Its cost is bounded by words plus differing², so a page of flagged pairs stays quick.
const (
	wordLimit = 2_000 // words of one text
	diffWords = 300   // words that only one of the texts has, both texts together
	runLimit  = 64    // marks in one text; more are noise, and bytes
	markTag   = 13    // bytes of `<mark></mark>`
)

// Run is a stretch of a text. Only: its words stand in this text and not, at this place, in the one it is compared with.
type Run struct {
	Text string
	Only bool
}

// wordDiff compares two texts word by word: by letters and digits whatever their case, and by mathematical signs; punctuation and
// blanks are ignored. The runs of each side, joined, are its text. With a note there are no runs, and the note says why.
func wordDiff(a, b string) (left, right []Run, note string) {
	wa, wb := words(a), words(b)
	if len(wa) > wordLimit || len(wb) > wordLimit {
		return nil, nil, "too long to mark the words that differ"
	}
	onlyA, onlyB, ok := lcs(wa, wb)
	if !ok || 4*(count(onlyA)+count(onlyB)) > 3*(len(wa)+len(wb)) {
		return nil, nil, "hardly a word in common, none is marked"
	}
	left, right = runs(a, wa, onlyA), runs(b, wb, onlyB)
	if marks(left) > runLimit || marks(right) > runLimit {
		return nil, nil, "differs in too many places to mark"
	}
	return left, right, ""
}

func count(only []bool) (n int) {
	for _, o := range only {
		if o {
			n++
		}
	}
	return n
}

func marks(runs []Run) (n int) {
	for _, r := range runs {
		if r.Only {
			n++
		}
	}
	return n
}

// word is a word of a text: its bytes, and the form it is compared by.
type word struct {
	from, to int
	key      string
}

// words finds at most wordLimit+1 words. Front matter is passed by: it tells about a text and is no part of what it says. Invisible characters count as part of a word: a word that hides one is another word.
func words(s string) (out []word) {
	_, body := splitFront(s)
	for i := len(s) - len(body); i < len(s) && len(out) <= wordLimit; {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case sign(r):
			out = append(out, word{i, i + n, s[i : i+n]})
		case letter(r):
			end := i + n
			for end < len(s) {
				r, n := utf8.DecodeRuneInString(s[end:])
				if !letter(r) && !joint(s, end, r, n) {
					break
				}
				end += n
			}
			out = append(out, word{i, end, strings.ToLower(s[i:end])})
			i = end
			continue
		}
		i += n
	}
	return out
}

func letter(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M) || r > 0x7F && hidden(r)
}

// sign tells a mathematical sign, which carries meaning; the two that Markdown and invariants use as separators don't.
func sign(r rune) bool { return unicode.Is(unicode.Sm, r) && r != '|' && r != '~' }

// joint tells a mark inside a number, such as `1.500` or `14:30`: other digits behind it make another number.
func joint(s string, at int, r rune, n int) bool {
	if r != '.' && r != ',' && r != ':' || at+n >= len(s) {
		return false
	}
	before, after := s[at-1], s[at+n]
	return before >= '0' && before <= '9' && after >= '0' && after <= '9'
}

// runs cuts a text into runs. Neighbouring words of one kind form one run with what stands between them.
func runs(s string, ws []word, only []bool) (out []Run) {
	from := 0
	put := func(to int, mark bool) {
		if to > from {
			out = append(out, Run{Text: s[from:to], Only: mark})
			from = to
		}
	}
	for i := 0; i < len(ws); {
		if !only[i] {
			i++
			continue
		}
		put(ws[i].from, false)
		for i+1 < len(ws) && only[i+1] {
			i++
		}
		put(ws[i].to, true)
		i++
	}
	put(len(s), false)
	return out
}

// lcs finds the words of each side outside a longest common subsequence (E. Myers, An O(ND) difference algorithm, 1986). It is false
// when more than diffWords differ.
func lcs(a, b []word) (onlyA, onlyB []bool, ok bool) {
	onlyA, onlyB = make([]bool, len(a)), make([]bool, len(b))
	start, n, m := 0, len(a), len(b)
	for start < n && start < m && a[start].key == b[start].key {
		start++
	}
	for n > start && m > start && a[n-1].key == b[m-1].key {
		n, m = n-1, m-1
	}
	a, b = a[start:n], b[start:m]
	trace, ok := shortest(a, b)
	if !ok {
		return nil, nil, false
	}
	x, y := len(a), len(b)
	for d := len(trace) - 1; d > 0; d-- {
		entry, down := step(trace[d-1], d, x-y, len(a), len(b))
		if down { // from here to (x, y) runs a diagonal of common words
			y = entry - (x - y) - 1
			x = entry
			onlyB[start+y] = true
			continue
		}
		y = entry - (x - y)
		x = entry - 1
		onlyA[start+x] = true
	}
	return onlyA, onlyB, true
}

// shortest runs the search forward and keeps, for each number of steps, how far each diagonal got: v[(k+d)/2] is the x on diagonal k
// after d steps, or unreached.
func shortest(a, b []word) (trace [][]int32, ok bool) {
	for d := 0; d <= diffWords; d++ {
		v := make([]int32, d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(trace[d-1], d, k, len(a), len(b))
			}
			for x >= 0 && x < len(a) && x-k < len(b) && a[x].key == b[x-k].key {
				x++
			}
			v[(k+d)/2] = int32(x)
			if x == len(a) && x-k == len(b) {
				return append(trace, v), true
			}
		}
		trace = append(trace, v)
	}
	return nil, false
}

const unreached = -1 << 30

// step gives where step d enters diagonal k, coming from the diagonal above (down: a word of b) or below (a word of a), and never out
// of the n × m grid.
func step(before []int32, d, k, n, m int) (x int, down bool) {
	above, below := unreached, unreached
	if i := (k + d) / 2; i < len(before) { // diagonal k+1 after d-1 steps
		if above = int(before[i]); above-k > m {
			above = unreached
		}
	}
	if i := (k+d)/2 - 1; i >= 0 && before[i] >= 0 && int(before[i]) < n {
		below = int(before[i]) + 1
	}
	if above > below {
		return above, true
	}
	return below, false
}
