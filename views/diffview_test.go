package views

import (
	"fmt"
	"strings"
	"testing"
)

// rows writes a diff's rows as `op old new text`.
func rows(d Diff) string {
	var out []string
	for _, r := range d.Rows {
		out = append(out, fmt.Sprintf("%c %d %d %s", r.Op, r.Old, r.New, r.Text))
	}
	return strings.Join(out, "\n")
}

func TestDiffRowsAreNumbered(t *testing.T) {
	t.Parallel()
	// D2: a removed line that reads like a header is content, because the counts say so.
	got := rows(newDiff(`diff --git a/x.md b/x.md
old mode 100644
new mode 100755
index 1..2
--- a/x.md
+++ b/x.md
@@ -1,4 +1,3 @@ # Tides
--- old note
 kept

-gone
+come
@@ -10 +9 @@
-a
\ No newline at end of file
+b`, "/w"))
	want := "h 0 0 old mode 100644\nh 0 0 new mode 100755\n@ 0 0 @@ -1,4 +1,3 @@ # Tides\n- 1 0 -- old note\n  2 1 kept\n  3 2 \n- 4 0 gone\n+ 0 3 come\n" +
		"@ 0 0 @@ -10 +9 @@\n- 10 0 a\n\\ 0 0 \\ No newline at end of file\n+ 0 9 b"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDiffOfOtherForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"diff --cc x\nindex 1,2..3\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n +b\n++c": "@ 0 0 @@@ -1,1 -1,1 +1,1 @@@\n- 0 0 - a\n  0 0  +b\n+ 0 0 ++c",
		"@@ -1,9 +1,9 @@\n a\n… cut":                                       "@ 0 0 @@ -1,9 +1,9 @@\n  1 1 a\nh 0 0 … cut",
		"@@ -1,99999999999999999999 +1 @@\n+a":                             "@ 0 0 @@ -1,99999999999999999999 +1 @@\n+ 0 0 +a",
		"diff --git a/l b/l\nBinary files a/l and b/l differ":              "h 0 0 Binary files a/l and b/l differ",
		"* Unmerged path lessons/план.md":                                  "h 0 0 * Unmerged path lessons/план.md",
		"@@ -0,0 +1 @@\n+new\n@@ -5,0 +7,0 @@\n":                           "@ 0 0 @@ -0,0 +1 @@\n+ 0 1 new\n@ 0 0 @@ -5,0 +7,0 @@",
		"":                                                                 "",
	} {
		if got := rows(newDiff(in, "")); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestDiffSideBySidePairsAChange(t *testing.T) {
	t.Parallel()
	d := newDiff("@@ -1,6 +1,4 @@\n one\n-two\n-three\n\\ No newline at end of file\n+zwei\n last\n-x\n+y\n-z", "")
	var got []string
	for _, p := range d.sides() {
		text := func(r *DiffRow) string {
			if r == nil {
				return "·"
			}
			return string(r.Op) + strings.TrimPrefix(r.Text, `\ `)
		}
		got = append(got, text(p[0])+"|"+text(p[1]))
	}
	want := "@@@ -1,6 +1,4 @@|· \x20one| one -two|+zwei -three|· \\No newline at end of file|· \x20last| last -x|+y -z|·"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, " "), want)
	}
}

func TestDiffTables(t *testing.T) {
	t.Parallel()
	d := newDiff("@@ -3,2 +3,2 @@ part\n a <b>\n-x\n+Кириллица\u2066\n\\ No newline at end of file", "")
	page := html(t, diffTable(d))
	has(t, page, []string{`<tr class="h"><td colspan="4">@@ -3,2 +3,2 @@ part`, "<tr><td>3<td>3<td><td>a &lt;b&gt;", `<tr><td>4<td><td class="d">−<td class="d">x`,
		`<tr><td><td>4<td class="a">+<td class="a"><span class="badge b-hidden"`, `Кириллица<span class="cp">U+2066</span>`, `\ No newline at end of file`}, []string{"\u2066"})
	d.Split = true
	has(t, html(t, diffTable(d)), []string{`<tr class="h"><td colspan="6">@@ -3,2`, `<tr><td>3<td><td>a &lt;b&gt;<td>3<td><td>a`, `<tr><td>4<td class="d">−<td class="d">x<td>4<td class="a">+<td class="a">`}, nil)
}

// V3: a line of 900 kB and a diff of 20,000 lines are cut, and say so.
func TestHugeDiffsAreCut(t *testing.T) {
	t.Parallel()
	long := newDiff("@@ -1 +1,2 @@\n+"+strings.Repeat("x", 900_000)+"\n+after it", "/w")
	if len(long.Rows) != 3 || long.Rows[2].Text != "after it" || long.Left != "not all of 900 kB: long lines are cut" {
		t.Errorf("%d rows, left out: %s", len(long.Rows), long.Left)
	}
	many := newDiff("@@ -0,0 +1,20000 @@\n"+strings.Repeat("+a line\n", 20_000), "/w")
	if len(many.Rows) != lineLimit || many.Left != "the beginning of 160 kB" {
		t.Errorf("%d rows, left out: %s", len(many.Rows), many.Left)
	}
	for _, d := range []Diff{long, many} {
		for _, d.Split = range []bool{false, true} {
			if n := len(html(t, diffTable(d))); n > d.cost() {
				t.Errorf("%d bytes, estimated %d (split %v)", n, d.cost(), d.Split)
			}
		}
	}
}

func FuzzDiffPrintsEveryLine(f *testing.F) {
	f.Add("@@ -1 +1 @@\n-a\n+b")
	f.Add("@@ -1,2 +1 @@\n\\\n\\\n+b\n-c")
	f.Fuzz(func(t *testing.T, s string) {
		d := newDiff(s, "")
		page := html(t, diffTable(d))
		d.Split = true
		split := html(t, diffTable(d))
		if Hidden(strings.ReplaceAll(page+split, "\n", " ")) {
			t.Fatalf("a hidden character is left of %q", s)
		}
		if max(len(page), len(split)) > d.cost() && len(d.Rows) > 0 {
			t.Fatalf("%d and %d bytes, estimated %d for %q", len(page), len(split), d.cost(), s)
		}
		n := 0
		for _, p := range d.sides() {
			if p[0] != nil {
				n++
			}
			if p[1] != nil && p[1] != p[0] {
				n++
			}
		}
		if n != len(d.Rows) {
			t.Fatalf("%d of %d rows are side by side in %q", n, len(d.Rows), s)
		}
	})
}
