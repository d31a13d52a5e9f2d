package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shapes are manifests of a given size: many files of usual lines, lines of 1 MiB, and 20,000 files.
var shapes = map[string]func(size int) []byte{
	"usual":        func(size int) []byte { return sized(size, 2000, 80) },
	"long-lines":   func(size int) []byte { return sized(size, 4, 1<<20) },
	"20000-files":  func(size int) []byte { return sized(size, 20_000, 80) },
	"with-a-block": func(size int) []byte { return withBlock(sized(size, 2000, 80)) },
}

func sized(size, files, line int) []byte {
	text := strings.Repeat("+if a < b && c > d { // смысл: ∀x\\t", line/40+1)[:line] + "\n"
	text = strings.ToValidUTF8(text, "?")
	var diff strings.Builder
	names := make([]string, files)
	for i := range files {
		names[i] = fmt.Sprintf("lessons/topic/file-%d.md", i)
		fmt.Fprintf(&diff, "diff --git a/%[1]s b/%[1]s\n@@ -0,0 +1,300 @@\n", names[i])
		for n := 0; n < size/files || n == 0; n += len(text) {
			diff.WriteString(text)
		}
	}
	raw, err := json.MarshalIndent(map[string]any{"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
		"repos": []any{map[string]any{"name": "shield", "dir": "/e/shield", "diff": diff.String(), "files": names}}}, "", "  ")
	if err != nil {
		panic(err)
	}
	return raw
}

func withBlock(raw []byte) []byte {
	out, err := Splice(raw, sampleBlock())
	if err != nil {
		panic(err)
	}
	return out
}

// quickest is the shortest of some tries: what others do on the machine only ever adds.
func quickest(f func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkManifestGrowth parses and splices manifests of 4, 16 and 64 MiB and reports the time as an exponent of the size (1 is linear), and
// at the largest size over that of encoding/json.
func BenchmarkManifestGrowth(b *testing.B) {
	for name, shape := range shapes {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				parse, splice, size := map[int]time.Duration{}, map[int]time.Duration{}, map[int]int{}
				var decode time.Duration
				for _, mib := range []int{4, 16, 64} {
					raw := shape(mib << 20)
					size[mib] = len(raw)
					parse[mib] = quickest(func() {
						if _, err := Parse(raw); err != nil {
							b.Fatal(err)
						}
					})
					splice[mib] = quickest(func() { withBlock(raw) })
					if mib == 64 {
						decode = quickest(func() {
							var m equivalent
							if err := json.Unmarshal(raw, &m); err != nil {
								b.Fatal(err)
							}
						})
					}
				}
				grown := math.Log(float64(size[64]) / float64(size[4]))
				b.ReportMetric(math.Log(float64(parse[64])/float64(parse[4]))/grown, "parse-exponent")
				b.ReportMetric(math.Log(float64(splice[64])/float64(splice[4]))/grown, "splice-exponent")
				b.ReportMetric(float64(parse[64])/float64(decode), "parse-x-json")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkSpliceCopies reports the bytes that Splice allocates per byte of its output: 1 is one copy.
func BenchmarkSpliceCopies(b *testing.B) {
	raw, out := big(), 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		out += len(withBlock(raw))
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(out), "allocated/output")
	b.ReportMetric(0, "ns/op")
}
