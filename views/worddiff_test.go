package views

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// show puts brackets around what only one side has.
func show(runs []Run) string {
	var b strings.Builder
	for _, r := range runs {
		if r.Only {
			b.WriteString("[" + r.Text + "]")
			continue
		}
		b.WriteString(r.Text)
	}
	return b.String()
}

func TestWordDiffMarksWhatOnlyOneSideSays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ a, b, left, right string }{
		{"Clocks run on local time.", "Clocks run on UTC!", "Clocks run on [local time].", "Clocks run on [UTC]!"},
		{"Never retry a write.", "never, retry: A Write", "Never retry a write.", "never, retry: A Write"},
		{"Ёмкость бака не больше 40 л", "ёмкость БАКА больше 40 л", "Ёмкость бака [не] больше 40 л", "ёмкость БАКА больше 40 л"},
		{"keep x ≥ 3 here", "keep x ≤ 3 here", "keep x [≥] 3 here", "keep x [≤] 3 here"},
		{"a | b | c d", "a b c d", "a | b | c d", "a b c d"},
		{"pay 1.500 euro", "pay 1,500 euro", "pay [1.500] euro", "pay [1,500] euro"},
		{"the role is ad\u200bmin now", "the role is admin now", "the role is [ad\u200bmin] now", "the role is [admin] now"},
		{"wait for the lock first then write", "wait for the lock then write", "wait for the lock [first] then write", "wait for the lock then write"},
		{"---\nsummary: why\n---\nKeep one backup.", "Keep two backups.", "---\nsummary: why\n---\nKeep [one backup].", "Keep [two backups]."},
		{"", "", "", ""},
		{"same", "same", "same", "same"},
	} {
		left, right, note := wordDiff(tc.a, tc.b)
		if note != "" || show(left) != tc.left || show(right) != tc.right {
			t.Errorf("%q against %q: %q %q %s", tc.a, tc.b, show(left), show(right), note)
		}
	}
}

func TestWordDiffGivesUpInWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ a, b, note string }{
		"nothing shared": {"alpha beta gamma", "one two three", "hardly a word in common, none is marked"},
		"one is empty":   {"alpha beta", "", "hardly a word in common, none is marked"},
		"too long":       {strings.Repeat("word ", wordLimit+1), "word", "too long to mark the words that differ"},
		"scattered":      {strings.Repeat("a b ", 200), strings.Repeat("a c ", 100) + strings.Repeat("a b ", 100), "differs in too many places to mark"},
		"a huge line":    {strings.Repeat("x", 900_000), "y", "hardly a word in common, none is marked"},
	} {
		if l, r, note := wordDiff(tc.a, tc.b); note != tc.note || l != nil || r != nil {
			t.Errorf("%s: %q", name, note)
		}
	}
}

// The rest after dropping what only one side has must be the same words on both sides, and as long as a table of all pairs finds.
func TestLCSIsLongest(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := randomWords(rnd), randomWords(rnd)
		onlyA, onlyB, ok := lcs(a, b)
		if !ok {
			t.Fatal("gave up on a short text")
		}
		ka, kb := keptWords(a, onlyA), keptWords(b, onlyB)
		if ka != kb || len(ka) != longestCommon(a, b) {
			t.Fatalf("%v and %v keep %q and %q, longest is %d", a, b, ka, kb, longestCommon(a, b))
		}
	}
}

func randomWords(rnd *rand.Rand) (out []word) {
	for range rnd.IntN(14) {
		out = append(out, word{key: string(rune('a' + rnd.IntN(4)))})
	}
	return out
}

func keptWords(ws []word, only []bool) (out string) {
	for i, w := range ws {
		if !only[i] {
			out += w.key
		}
	}
	return out
}

func longestCommon(a, b []word) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x.key == y.key {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func FuzzWordDiffKeepsTheTexts(f *testing.F) {
	f.Add("Clocks run on \u202elocal time", "clocks run on UTC")
	f.Add("\xff1.2.3", "1,2")
	f.Fuzz(func(t *testing.T, a, b string) {
		left, right, note := wordDiff(a, b)
		if note != "" {
			return
		}
		for text, runs := range map[string][]Run{a: left, b: right} {
			got := ""
			for _, r := range runs {
				got += r.Text
			}
			if a != b && got != text {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}

func BenchmarkWordDiffWorst(b *testing.B) {
	x, y := strings.Repeat("a b c d ", 150), strings.Repeat("e f g h ", 150)
	for b.Loop() {
		wordDiff(x, y)
	}
}
