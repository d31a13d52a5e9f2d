package keyword

import (
	"fmt"
	"testing"
)

// BenchmarkBest indexes texts for the words of 20 questions and finds the best text for each, as a run does.
func BenchmarkBest(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		texts, questions := make([]string, n), make([]string, 20)
		for i := range texts {
			texts[i] = fmt.Sprintf("Service %d of team %d keeps its records for %d days and says so. Counter: what the customer deletes", i, i/50, i%400)
		}
		for i := range questions {
			questions[i] = fmt.Sprintf("Service %d of team %d forgets its records after %d days, whatever the audit of year %d says.", i*37, i, i+3, 2000+i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := For(questions...)
				for _, t := range texts {
					x.Add(t)
				}
				index := x.Index()
				for _, q := range questions {
					index.Best(q, func(int) bool { return false })
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/text")
		})
	}
}
