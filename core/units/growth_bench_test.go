package units

import (
	"math"
	"testing"
	"time"

	"storozh/core"
)

// BenchmarkDeriveGrowth derives the units of diffs of 4, 16 and 64 MiB in the same 2,000 files, and of diffs with 200, 2,000 and 20,000 new
// lessons, and reports the time as an exponent of size and number (1 is linear).
func BenchmarkDeriveGrowth(b *testing.B) {
	quickest := func(r core.Repo) time.Duration {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			Derive(core.Manifest{Repos: []core.Repo{r}}, Options{Classify: byFolder})
			best = min(best, time.Since(start))
		}
		return best
	}
	exponent := func(small, large time.Duration, by float64) float64 {
		return math.Log(float64(large)/float64(small)) / math.Log(by)
	}
	for b.Loop() {
		small, large := bigRepo(4<<20), bigRepo(64<<20)
		b.ReportMetric(exponent(quickest(small), quickest(large), float64(len(large.Diff))/float64(len(small.Diff))), "size-exponent")
		few, many := lessons(200), lessons(20_000)
		b.ReportMetric(exponent(quickest(few), quickest(many), 100), "units-exponent")
	}
	b.ReportMetric(0, "ns/op")
}

// lessons is a diff of n new lessons of the usual size.
func lessons(n int) core.Repo {
	r := bigRepo(1)
	r.Diff, r.Files = "", nil
	var diff []byte
	for i := range n {
		name := "lessons/l" + string(rune('a'+i%26)) + "-" + time.Duration(i).String() + ".md"
		diff = append(diff, "diff --git a/"+name+" b/"+name+"\nnew file mode 100644\n--- /dev/null\n+++ b/"+name+"\n@@ -0,0 +1,3 @@\n+# "+name+"\n+\n+What it taught: close what you open; запиши, что узнал.\n"...)
		r.Files = append(r.Files, name)
	}
	r.Diff = string(diff[:len(diff)-1])
	return r
}
