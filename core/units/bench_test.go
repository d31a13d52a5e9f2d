package units

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"storozh/core"
)

// bigRepo is a diff of the given size with 2,000 files of the kinds a changeset has: half code, the rest skills, lessons, long and
// short, and invariants.
func bigRepo(size int) core.Repo {
	const files = 2000
	each := size / files
	var b strings.Builder
	r := core.Repo{Name: "shield", Dir: "/tmp/shield"}
	for i := range files {
		path, line := fmt.Sprintf("hooks/f%d.go", i), "\tfmt.Println(\"a line of code\", %d)"
		switch i % 8 {
		case 1:
			path, line = fmt.Sprintf("skills/f%d.md", i), "A line %d of a skill that says how a thing is done."
		case 3, 5:
			path, line = fmt.Sprintf("lessons/f%d.md", i), "- Bullet %d: запиши, что узнал, and close what you open; a sentence of the usual length for a lesson."
		case 7:
			path, line = fmt.Sprintf("invariants/f%d.txt", i), "#%d [critical] [O] A rule that holds. | Why: it was learnt | Counter: a test may break it."
		}
		n := max(1, each/(len(line)+1))
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", path, n)
		for j := range n {
			fmt.Fprintf(&b, "+"+line+"\n", j)
		}
		r.Files = append(r.Files, path)
	}
	r.Diff = strings.TrimSuffix(b.String(), "\n")
	return r
}

// BenchmarkDerive derives the units of a 64 MiB manifest with 2,000 files and reports the time over that of encoding/json decoding
// the same bytes, and the memory held and allocated over the manifest's size.
func BenchmarkDerive(b *testing.B) {
	r := bigRepo(64 << 20)
	raw, err := json.MarshalIndent(map[string]any{"repos": []any{map[string]any{"name": r.Name, "dir": r.Dir, "diff": r.Diff, "files": r.Files}}}, "", "  ")
	if err != nil {
		b.Fatal(err)
	}
	size := float64(len(raw))
	var m struct{ Repos []core.Repo }
	if err := json.Unmarshal(raw, &m); err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.SetBytes(int64(size))
	b.ResetTimer()
	var d core.Derivation
	for range b.N {
		d = Derive(core.Manifest{Repos: m.Repos}, Options{Classify: byFolder})
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.N)
	var decode time.Duration // in the same run, so that a busy machine slows both
	for range b.N {
		var again struct{ Repos []core.Repo }
		start := time.Now()
		if err := json.Unmarshal(raw, &again); err != nil {
			b.Fatal(err)
		}
		decode += time.Since(start)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(b.Elapsed().Seconds()/decode.Seconds(), "×json")
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/size, "held/size")
	b.ReportMetric(allocated/size, "allocated/size")
	b.ReportMetric(float64(len(d.Units)), "units")
	runtime.KeepAlive(m)
	runtime.KeepAlive(raw)
}
