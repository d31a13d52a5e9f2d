package units

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

// brief is what the tests below compare of a file.
type brief struct {
	Path, Old string
	Action    core.Action
	Hunks     int
}

func briefs(files []File) []brief {
	var out []brief
	for _, f := range files {
		out = append(out, brief{f.Path, f.OldPath, f.Action, len(f.Hunks)})
	}
	return out
}

const oneLine = "index 1111111..2222222 100644\n--- %a\n+++ %b\n@@ -1 +1 @@\n-x\n+y"

// edited is a section with the given header names.
func edited(a, b string) string {
	return "diff --git " + a + " " + b + "\n" + strings.NewReplacer("%a", a, "%b", b).Replace(oneLine)
}

func TestParseDiffNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		diff string
		want []brief
	}{
		"D1 octal": {
			edited(`"a/\320\277\320\273\320\260\320\275.md"`, `"b/\320\277\320\273\320\260\320\275.md"`),
			[]brief{{"план.md", "", core.Edited, 1}},
		},
		"D1 one side quoted": {
			"diff --git a/plan.md \"b/\\320\\277.md\"\nsimilarity index 100%\nrename from plan.md\nrename to \"\\320\\277.md\"",
			[]brief{{"п.md", "plan.md", core.Renamed, 0}},
		},
		"D3 tab": {
			"diff --git a/notes -> old.md b/notes -> old.md\nindex 1111111..2222222 100644\n--- a/notes -> old.md\t\n+++ b/notes -> old.md\t\n@@ -1 +1 @@\n-x\n+y",
			[]brief{{"notes -> old.md", "", core.Edited, 1}},
		},
		"D4 mnemonic":              {edited("c/q.sql", "w/q.sql"), []brief{{"q.sql", "", core.Edited, 1}}},
		"D4 noprefix with b/":      {edited("src/a b/k.go", "src/a b/k.go"), []brief{{"src/a b/k.go", "", core.Edited, 1}}},
		"noprefix, a folder a":     {edited("a/k.go", "a/k.go"), []brief{{"a/k.go", "", core.Edited, 1}}},
		"folder a, default":        {edited("a/a/k.go", "b/a/k.go"), []brief{{"a/k.go", "", core.Edited, 1}}},
		"custom prefixes":          {edited("old/docs/k.go", "new/docs/k.go"), []brief{{"docs/k.go", "", core.Edited, 1}}},
		"index to work tree":       {edited("i/k", "w/k"), []brief{{"k", "", core.Edited, 1}}},
		"mode only, noprefix b/":   {"diff --git src/a b/k.go src/a b/k.go\nold mode 100644\nnew mode 100755", []brief{{"src/a b/k.go", "", core.ModeOnly, 0}}},
		"mode only, default":       {"diff --git a/src/a b/k.go b/src/a b/k.go\nold mode 100644\nnew mode 100755", []brief{{"src/a b/k.go", "", core.ModeOnly, 0}}},
		"added, noprefix":          {"diff --git b/k b/k\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+y", []brief{{"b/k", "", core.Added, 1}}},
		"added, custom prefix":     {"diff --git from/k to/k\nnew file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ to/k\n@@ -0,0 +1 @@\n+y", []brief{{"k", "", core.Added, 1}}},
		"empty file":               {"diff --git a/k b/k\nnew file mode 100644\nindex 0000000..e69de29", []brief{{"k", "", core.Added, 0}}},
		"deleted":                  {"diff --git a/k b/k\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/k\n+++ /dev/null\n@@ -1 +0,0 @@\n-y", []brief{{"k", "", core.Removed, 1}}},
		"binary":                   {"diff --git a/k.png b/k.png\nindex 1111111..2222222 100644\nBinary files a/k.png and b/k.png differ", []brief{{"k.png", "", core.Binary, 0}}},
		"binary patch":             {"diff --git a/k b/k\nindex 1111111..2222222 100644\nGIT binary patch\nliteral 3\nKcmb\n\nliteral 0\nHcmV?d00001\n\n" + edited("a/z", "b/z"), []brief{{"k", "", core.Binary, 0}, {"z", "", core.Edited, 1}}},
		"deleted binary":           {"diff --git a/k b/k\ndeleted file mode 100644\nindex 1111111..0000000\nBinary files a/k and /dev/null differ", []brief{{"k", "", core.Removed, 0}}},
		"copy":                     {"diff --git a/k b/l\nsimilarity index 100%\ncopy from k\ncopy to l", []brief{{"l", "k", core.Copied, 0}}},
		"symlink":                  {"diff --git a/k b/k\nnew file mode 120000\nindex 0000000..2222222\n--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file", []brief{{"k", "", core.Symlink, 1}}},
		"submodule":                {"diff --git a/s b/s\nindex 1111111..2222222 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2", []brief{{"s", "", core.Submodule, 1}}},
		"submodule log":            {"Submodule my sub 103b273..23925bb (rewind):\n  < gone\n  > come\n" + edited("a/k", "b/k"), []brief{{"my sub", "", core.Submodule, 0}, {"k", "", core.Edited, 1}}},
		"submodule twice":          {"Submodule s contains modified content\nSubmodule s 103b273..23925bb:\n" + edited("a/s/q", "b/s/q"), []brief{{"s", "", core.Submodule, 0}}},
		"submodule gone":           {"Submodule s 103b273...0000000 (submodule deleted)", []brief{{"s", "", core.Removed, 0}}},
		"unmerged note":            {"* Unmerged path a b.md\n" + edited("a/a b.md", "b/a b.md"), []brief{{"a b.md", "", core.Unmerged, 0}}},
		"combined":                 {"diff --cc k.md\nindex 1,2..0\n--- a/k.md\n+++ b/k.md\n@@@ -1,1 -1,1 +1,2 @@@\n++x\n -diff --git\n" + edited("a/z", "b/z"), []brief{{"k.md", "", core.Unmerged, 0}, {"z", "", core.Edited, 1}}},
		"touched, nothing changed": {"diff --git a/k b/k\n" + edited("a/z", "b/z"), []brief{{"z", "", core.Edited, 1}}},
		"colour": {
			"\x1b[1mdiff --git a/k b/k\x1b[m\n\x1b[1mindex 1111111..2222222 100644\x1b[m\n\x1b[1m--- a/k\x1b[m\n\x1b[1m+++ b/k\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m \x1b[mf()\x1b[m\n\x1b[31m-x\x1b[m\n\x1b[32m+\x1b[m\x1b[32my\x1b[m",
			[]brief{{"k", "", core.Edited, 1}},
		},
	} {
		files, warnings := ParseDiff(c.diff)
		if d := cmp.Diff(c.want, briefs(files)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if len(warnings) > 0 {
			t.Errorf("%s: warnings %q", name, warnings)
		}
	}
}

func TestParseDiffRefuses(t *testing.T) {
	t.Parallel()
	good := edited("a/good.md", "b/good.md")
	for name, c := range map[string]struct{ diff, warning string }{
		"absolute":       {edited("a//etc/passwd", "b//etc/passwd"), "leads out"},
		"parent":         {edited("a/x/../../y", "b/x/../../y"), "leads out"},
		"names disagree": {"diff --git a/x b/y\nold mode 100644\nnew mode 100755", "can't be read"},
		"junk before":    {"external differ says hello", "outside any file section"},
		"hunk too short": {"diff --git a/h b/h\nindex 1111111..2222222 100644\n--- a/h\n+++ b/h\n@@ -1 +1,5 @@\n-x\n+y", "cut off"},
		"absurd counts":  {"diff --git a/h b/h\nindex 1111111..2222222 100644\n--- a/h\n+++ b/h\n@@ -1,99999999999999999999 +1 @@\n-x", "cut off"},
	} {
		files, warnings := ParseDiff(c.diff + "\n" + good)
		if len(files) == 0 || files[len(files)-1].Path != "good.md" || len(files[len(files)-1].Hunks) != 1 {
			t.Errorf("%s: the next section was lost: %v", name, briefs(files))
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], c.warning) {
			t.Errorf("%s: warnings %q, want one with %q", name, warnings, c.warning)
		}
		for _, f := range files[:len(files)-1] {
			if len(f.Hunks) > 0 || f.Path != "h" || !f.Cut {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	nul, _ := ParseDiff(edited(`"a/x\000y"`, `"b/x\000y"`))
	if len(nul) != 1 || nul[0].Path != "xy" {
		t.Errorf("NUL in a name: %v", briefs(nul))
	}
}

func linesOf(h Hunk) string {
	var b strings.Builder
	for l := range h.Lines() {
		b.WriteString(string(l.Op) + l.Text + "|")
	}
	return b.String()
}

func TestHunkContent(t *testing.T) {
	t.Parallel()
	head := "diff --git a/k b/k\nindex 1111111..2222222 100644\n--- a/k\n+++ b/k\n"
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"D2 looks like a header": {
			"@@ -1,4 +1,3 @@\n--- old note\n a\n b\n c\n@@ -10,2 +9,3 @@ part\n d\n+++ new note\n e",
			[]string{"--- old note| a| b| c|", " d|+++ new note| e|"},
		},
		"no newline notes":      {"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file", []string{"-a|+b|"}},
		"suppressed blank":      {"@@ -1,3 +1,4 @@\n a\n\n+x\n b", []string{" a| |+x| b|"}},
		"suppressed blank last": {"@@ -1,2 +1,3 @@\n a\n+x\n", []string{" a|+x| |"}},
		"only a blank":          {"@@ -1,2 +1,3 @@\n\n+x\n", []string{" |+x| |"}},
		"final newline kept":    {"@@ -1 +1,2 @@\n a\n+x\n", []string{" a|+x|"}},
		"zero context":          {"@@ -3,0 +4,2 @@\n+p\n+q\n@@ -9 +11,0 @@\n-r", []string{"+p|+q|", "-r|"}},
		"second hunk cut":       {"@@ -1 +1 @@\n-a\n+b\n@@ -9,3 +9,3 @@\n c\n-d", []string{"-a|+b|"}},
	} {
		files, _ := ParseDiff(head + c.body)
		if len(files) != 1 {
			t.Fatalf("%s: %v", name, briefs(files))
		}
		var got []string
		for _, h := range files[0].Hunks {
			got = append(got, linesOf(h))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if files[0].Cut != (name == "second hunk cut") {
			t.Errorf("%s: Cut = %v", name, files[0].Cut)
		}
	}
}

// TestHostileDiffIsLinear: inputs that would take hours, and so run into the time limit of the test run, if any step were quadratic.
func TestHostileDiffIsLinear(t *testing.T) {
	t.Parallel()
	const n = 1 << 19
	bullets := strings.Repeat("-- a\n", n/8) + strings.Repeat("+- a\n+x\n", n/8)
	for name, diff := range map[string]string{
		"spaces":   "diff --git " + strings.Repeat(" ", 2*n) + "\nindex 1111..2222",
		"slashes":  "Submodule s 1111..2222:\n" + edited("a/"+strings.Repeat("x/", n), "b/"+strings.Repeat("x/", n)),
		"sections": strings.Repeat("diff --git a/x b/x\n", n/4),
		"hunks":    "diff --git a/lessons/x b/lessons/x\nindex 1111..2222\n" + strings.Repeat("@@ -1,1000000 +1,1000000 @@\n", n/8),
		"ranges":   "Submodule " + strings.Repeat("11..22 ", n/4),
		"bullets":  fmt.Sprintf("diff --git a/lessons/x.md b/lessons/x.md\nindex 1111..2222\n@@ -1,%d +1,%d @@\n%s", n/8, n/4, bullets),
	} {
		start := time.Now()
		Derive(core.Manifest{Repos: []core.Repo{{Name: "shield", Diff: diff}}}, Options{Classify: allLessons})
		t.Logf("%s: %v for %d bytes", name, time.Since(start), len(diff))
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add(edited("a/k", "b/k") + "\n" + edited(`"c/\320\277"`, `"w/\320\277"`))
	f.Add("\x1b[1mdiff --git a/k b/k\x1b[m\nnew file mode 120000\nindex 0..1\n@@ -0,0 +1 @@\n+x")
	f.Add("* Unmerged path k\nSubmodule s 1111..2222:\n  > x\ndiff --cc q\n@@@ -1 -1 +1 @@@\n")
	f.Fuzz(func(t *testing.T, diff string) {
		files, _ := ParseDiff(diff)
		for _, file := range files {
			if _, ok := cleanPath(file.Path); !ok {
				t.Fatalf("path %q", file.Path)
			}
			for _, h := range file.Hunks {
				before, after := 0, 0
				for l := range h.Lines() {
					if l.Op != '+' {
						before++
					}
					if l.Op != '-' {
						after++
					}
				}
				if before != h.OldLines || after != h.NewLines {
					t.Fatalf("hunk counts %d,%d, lines %d,%d: %q", h.OldLines, h.NewLines, before, after, h.Body)
				}
			}
		}
	})
}
