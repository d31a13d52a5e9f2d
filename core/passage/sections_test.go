package passage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// filler makes a body long enough to be cut into sections.
var filler = strings.Repeat("Слова ", 260)

func TestShortNote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, title, normative string }{
		{"front matter", "---\nsummary: Итог\n---\n\n# Head\n\nText.\n", "Итог", "Итог\n\n# Head\n\nText."},
		{"heading", "# Head *one*\n\nText.\n", "Head one", "# Head *one*\n\nText."},
		{"heading of two lines", "One *two*\nthree\n===\n\nText.\n", "One two three", "One *two*\nthree\n===\n\nText."},
		{"front matter that is no YAML", "---\ncategory: x\nsummary: Приём: проекция\n---\nText.\n", "Приём: проекция", "Приём: проекция\n\nText."},
		{"bullets stay together", "- a\n- b\n", "", "- a\n- b"},
		{"only a heading", "---\ntitle: t\n---\n# Head\n\n---\n<!-- later -->\n", "t", ""},
	} {
		got, bad := Split(Sections, c.in)
		if len(got) != 1 || bad != nil || got[0].Anchor != "" || got[0].Title != c.title || got[0].Normative != c.normative ||
			got[0].Text != c.in || got[0].Start != 1 || got[0].End != strings.Count(c.in, "\n") {
			t.Errorf("%s: %+v %v", c.name, got, bad)
		}
	}
	limit := strings.Repeat("ы", ShortBody)
	if got, _ := Split(Sections, "# H\n\n"+limit[:2*(ShortBody-5)]); len(got) != 1 || got[0].Anchor != "" {
		t.Errorf("a body of %d characters was cut", ShortBody)
	}
	if got, _ := Split(Sections, "# H\n\n"+limit[:2*(ShortBody-4)]); len(got) != 1 || got[0].Anchor != "h" {
		t.Errorf("a body of %d characters was not cut", ShortBody+1)
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	src := strings.Join([]string{
		"---", "title: File", "---", // 1-3
		"Before all.", "", // 4, 5
		"# Урок 1: «Границы»", "", filler, "", // 6-9
		"## Same", "", "first", "", // 10-13
		"```", "# no heading", "- no bullet", "```", "", // 14-18
		"## Empty", "", // 19, 20
		"## Same", "second", "", // 21-23
		"Under *lined*", "===", "- one", "  more", "  - inner", "", "* two", "", // 24-31
		"## ???", "> # quoted", "> text", "", // 32-35
		"### Deep `code` [link](http://x)", "- a bullet", "", "and text", // 36-39
	}, "\n")
	got, bad := Split(Sections, src)
	type row struct {
		Anchor, Title string
		Start, End    int
	}
	var rows []row
	for _, p := range got {
		rows = append(rows, row{p.Anchor, p.Title, p.Start, p.End})
	}
	want := []row{
		{"L4", "File", 4, 4},
		{"урок-1-границы", "Урок 1: «Границы»", 6, 8},
		{"same", "Урок 1: «Границы» › Same", 10, 17},
		{"same~2", "Урок 1: «Границы» › Same", 21, 22},
		{"L26", "Under lined", 26, 28},
		{"L30", "Under lined", 30, 30},
		{"L32", "Under lined › ???", 32, 34},
		{"deep-code-link", "??? › Deep code link", 36, 39},
	}
	if d := cmp.Diff(want, rows); d != "" || bad != nil {
		t.Fatalf("faults %v, (-want +got):\n%s", bad, d)
	}
	if want := "Урок 1: «Границы» › Same\n\nfirst\n\n```\n# no heading\n- no bullet\n```"; got[2].Normative != want {
		t.Errorf("normative %q", got[2].Normative)
	}
	if got[4].Text != "- one\n  more\n  - inner" || got[4].Normative != "Under lined\n\none\n  more\n  - inner" {
		t.Errorf("bullet %+v", got[4])
	}
	checkRanges(t, src, got, bad)
}

func TestBulletsWithoutHeading(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("одно слово ", 90_000)
	got, _ := Split(Sections, "---\nsummary: Notes\n---\n- "+long+"\n- \n- second\n\n***\n\n- third\n1. numbered is no bullet\n")
	if len(got) != 1 || got[0].Anchor != "L4" || got[0].End != 11 {
		t.Fatalf("a numbered list makes the section one passage: %d passages", len(got))
	}
	got, _ = Split(Sections, "---\nsummary: Notes\n---\n- "+long+"\n- \n- second\n\n***\n\n- third\n")
	var names []string
	for _, p := range got {
		names = append(names, p.Anchor)
	}
	if d := cmp.Diff([]string{"L4", "L6", "L10"}, names); d != "" {
		t.Fatal(d)
	}
	if got[1].Normative != "Notes\n\nsecond" || got[1].End != 6 || len(got[0].Text) < len(long) {
		t.Errorf("%+v", got[1])
	}
}

// TestHostileMarkdown holds texts on which a Markdown reader can take quadratic time: it would run into the time limit of the test run.
func TestHostileMarkdown(t *testing.T) {
	const n = 20_000
	stairs := func(levels int) string {
		var b strings.Builder
		for i := range levels {
			b.WriteString(strings.Repeat("  ", i) + "- x\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"list marks":    strings.Repeat("- ", n) + "\n" + strings.Repeat("\n", n) + "x",
		"plus marks":    strings.Repeat("+ ", n) + "x\n" + strings.Repeat("\n", n),
		"quotes":        strings.Repeat(">", n) + "x\n" + strings.Repeat(">\n", n),
		"stairs":        stairs(500) + strings.Repeat("\n", n) + "x",
		"links":         "# " + strings.Repeat("[", n) + "\n\n" + strings.Repeat("[a](", n),
		"emphasis":      "# " + strings.Repeat("*a_", n) + "\n" + filler,
		"headings":      strings.Repeat("# a\nb\n", n),
		"same headings": strings.Repeat("# a\n", n),
		"deep headings": strings.Repeat("# a\n## b\n### c\n#### d\n##### e\n###### f\nx\n", n/10),
		"fences":        strings.Repeat("```\n", n),
		"comments":      strings.Repeat("<!-- \n", n),
		"one line":      strings.Repeat("слово ", n),
		"rulers":        strings.Repeat(strings.Repeat("-", 200)+"\n", n/100),
		"definitions":   strings.Repeat("[a]: b\n", n),
		"tabs":          strings.Repeat("\t", n) + "- x\n" + strings.Repeat("-\t", n),
	} {
		start := time.Now()
		ps, bad := Split(Sections, text)
		checkRanges(t, text, ps, bad)
		t.Logf("%s: %v, %d bytes, %d passages", name, time.Since(start), len(text), len(ps))
	}
}

func TestLongUnderlineIsAHeading(t *testing.T) {
	t.Parallel()
	got, _ := Split(Sections, "Head\n"+strings.Repeat("-", 300)+"\n"+filler)
	if len(got) != 1 || got[0].Anchor != "head" {
		t.Errorf("%+v", got)
	}
}
