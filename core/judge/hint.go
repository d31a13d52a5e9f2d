package judge

import (
	"regexp"
	"slices"
	"strings"
)

var (
	numbers = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)
	words   = regexp.MustCompile(`[\p{L}'’]+`)
)

// negations are words that turn a statement round, in the two languages of the corpus.
var negations = map[string]bool{
	"not": true, "no": true, "never": true, "without": true, "cannot": true, "forbidden": true, "nor": true, "none": true,
	"не": true, "ни": true, "нет": true, "нельзя": true, "никогда": true, "без": true, "запрещено": true, "запрещается": true,
}

// Hint points a reviewer at what models overlook: numbers that differ, a negation on one side only, and the rest of a text that is longer
// than a prompt holds. It is a hint and never a label; empty where there is nothing to point at.
func Hint(item, unit Text) string {
	var out []string
	a, b := numbersOf(item.Statement), numbersOf(unit.Statement)
	if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
		out = append(out, "numbers differ: "+short(a)+" in the item, "+short(b)+" in the unit")
	}
	if negated(item.Statement) != negated(unit.Statement) {
		out = append(out, "only one of the two negates")
	}
	for _, side := range []struct {
		name string
		text Text
	}{{"item", item}, {"unit", unit}} {
		if Cut(side.text) {
			out = append(out, "the judge read "+Head+" of the "+side.name)
		}
	}
	return strings.Join(out, "; ")
}

// maxHinted bounds the numbers that a hint names.
const maxHinted = 5

func short(n []string) string {
	if len(n) > maxHinted {
		return strings.Join(n[:maxHinted], ", ") + ", …"
	}
	return strings.Join(n, ", ")
}

// numbersOf lists the numbers of a statement, each once, in order; an invariant's own `#N` is no part of what it says.
func numbersOf(s string) []string {
	if strings.HasPrefix(s, "#") {
		_, s, _ = strings.Cut(s, " ")
	}
	n := numbers.FindAllString(s, -1)
	slices.Sort(n)
	return slices.Compact(n)
}

// negated tells whether an odd number of negations stands in a statement.
func negated(s string) bool {
	odd := false
	for _, w := range words.FindAllString(strings.ToLower(s), -1) {
		if negations[w] || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") {
			odd = !odd
		}
	}
	return odd
}
