package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
)

// big is a manifest of 64 MiB with 2,000 files in four repos and a transcript of some megabytes.
var big = sync.OnceValue(func() []byte {
	type repo struct {
		Name  string   `json:"name"`
		Dir   string   `json:"dir"`
		Diff  string   `json:"diff"`
		Files []string `json:"files"`
	}
	line := "+\tif a < b && c > d { // смысл строки: ∀x\n+func plain(s string) string { return s + \"quoted\" }\n"
	var repos []repo
	for r := range 4 {
		var files []string
		var diff strings.Builder
		for f := range 500 {
			name := fmt.Sprintf("lessons/topic-%d/file-%d.md", r, f)
			files = append(files, name)
			fmt.Fprintf(&diff, "diff --git a/%s b/%s\n@@ -0,0 +1,300 @@\n%s", name, name, strings.Repeat(line, 236))
		}
		repos = append(repos, repo{fmt.Sprintf("r%d", r), "/e/r", diff.String(), files})
	}
	raw, err := json.MarshalIndent(map[string]any{
		"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "repos": repos,
		"session": map[string]string{"transcriptMinusTools": strings.Repeat("user: ещё раз\nassistant: done\n", 100_000)},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return raw
})

// equivalent is what encoding/json decodes for comparison.
type equivalent struct {
	SessionID string    `json:"sessionId"`
	Timestamp time.Time `json:"timestamp"`
	Repos     []struct {
		Name, Dir, Diff string
		Files           []string
	} `json:"repos"`
	Session struct {
		TranscriptMinusTools string `json:"transcriptMinusTools"`
	} `json:"session"`
}

// BenchmarkParse is to be read beside BenchmarkEncodingJSON in the same run.
func BenchmarkParse(b *testing.B) {
	raw := big()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		m, err := Parse(raw)
		if err != nil || len(m.Repos) != 4 {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	raw := big()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var m equivalent
		if err := json.Unmarshal(raw, &m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArrive(b *testing.B) {
	raw := big()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Arrive(raw, core.SourceFile, ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplice(b *testing.B) {
	raw := big()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Splice(raw, sampleBlock()); err != nil {
			b.Fatal(err)
		}
	}
}
