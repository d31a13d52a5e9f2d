package trends

import (
	"math"
	"time"

	"storozh/core"
)

// MinRate is the number of units from which on a share is given as a rate. Below it one unit more or less moves the rate by over five
// points, so the numbers themselves are shown.
const MinRate = 20

// Rate is part ÷ whole; ok is false when the whole is too small for a rate.
func Rate(part, whole int) (rate float64, ok bool) {
	if whole < MinRate {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// Wilson is the 95 % interval of a share by Wilson's score, which holds for small numbers and shares near 0 and 1. Without any case it is
// the whole of 0 … 1.
func Wilson(hits, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	total, p := float64(n), float64(hits)/float64(n)
	mid := (p + z*z/(2*total)) / (1 + z*z/total)
	half := z / (1 + z*z/total) * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	return max(0, mid-half), min(1, mid+half)
}

// Kappa is Cohen's κ of the cosigners over the flags that both have decided: their agreement beyond what chance alone would give. ok is
// false without any such flag, and where chance would make them agree always (both only ever chose one and the same).
func Kappa(r core.ReviewCounts) (kappa float64, n int, ok bool) {
	for _, c := range r.By[0] {
		n += c
	}
	if n == 0 {
		return 0, 0, false
	}
	total := float64(n)
	chance := 0.0
	for i := range r.By[0] {
		chance += float64(r.By[0][i]) / total * float64(r.By[1][i]) / total
	}
	if chance >= 1 {
		return 0, n, false
	}
	return (float64(r.Agreed)/total - chance) / (1 - chance), n, true
}

// Within is the shortest of the wait classes by whose end at least half of the flags were decided by both; ok is false without any. A zero
// time: it took longer than the last class that has an end.
func Within(waited [7]int) (half time.Duration, n int, ok bool) {
	for _, c := range waited {
		n += c
	}
	if n == 0 {
		return 0, 0, false
	}
	seen := 0
	for i, c := range core.WaitClasses() {
		if seen += waited[i]; 2*seen >= n {
			return c, n, true
		}
	}
	return 0, n, true
}
