package passage

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"storozh/core"
)

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path string
		typ  core.UnitType
		want Format
	}{
		{"claims/claims.ttl", core.Invariant, Turtle},
		{"claims/claims.TTL", core.Lesson, Turtle},
		{"invariants/core.md", core.Invariant, Invariants},
		{"invariants", core.Invariant, Invariants},
		{"invariants.txt", core.Invariant, Invariants},
		{"lessons/reception-projection.ru.md", core.Lesson, Sections},
		{"memory/n.markdown", core.Lesson, Sections},
		{"lessons/plain.txt", core.Lesson, Sections},
		{"lessons/old.rst", core.Lesson, Whole},
		{"lessons/NOTES", core.Lesson, Whole},
		{"lessons/run.py", core.Lesson, Code},
		{"skills/deploy/SKILL.md", core.Skill, Whole},
		{"GENOME.md", core.Genome, Whole},
		{"hooks/pre.sh", core.Hook, Code},
		{"cmd/main.go", core.SandboxMechanism, Code},
	} {
		if got := FormatOf(c.path, c.typ); got != c.want {
			t.Errorf("FormatOf(%q, %s) = %d, want %d", c.path, c.typ, got, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	src := "\ufeff---\r\nname: deploy\r\n---\r\n# Deploy `it`\r\n\r\nRun it twice.\r\n"
	got, bad := Split(Whole, src)
	want := []Passage{{Title: "deploy", Text: strings.ReplaceAll(strings.TrimPrefix(src, bom), "\r", ""), Start: 1, End: 6,
		Normative: "---\nname: deploy\n---\n# Deploy `it`\n\nRun it twice."}}
	if d := cmp.Diff(want, got); d != "" || bad != nil {
		t.Errorf("faults %v, passages (-want +got):\n%s", bad, d)
	}
	got, _ = Split(Whole, "```\n# no heading\n```\n## Real [one](x)\ntext")
	if got[0].Title != "Real one" {
		t.Errorf("title %q", got[0].Title)
	}
	got, _ = Split(Code, "package x\n")
	if d := cmp.Diff([]Passage{{Text: "package x\n", Start: 1, End: 1}}, got); d != "" {
		t.Error(d)
	}
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" a\u00a0 b\n\tc ": "a b c", "e\u0301": "é", "й": "й", "x\u200by\ufeff": "xy", "": "", " \n ": "", "a\xff": "a\ufffd",
		"a \u200b b": "a b", "\u200b \u200ba": "a", "a\u200b ": "a", "ё\u00adж  x": "ёж x",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		fields   map[string]string
		line     int
		body     string
	}{
		{"scalars", "---\nTitle: 'Один: два'\nunit-type: lesson\ncount: 007\nok: true\ntags: [a, b]\nnested: {x: 1}\nnone: ~\nsummary: |\n  two\n  lines\n---\nbody\n",
			map[string]string{"title": "Один: два", "unit-type": "lesson", "count": "007", "ok": "true", "summary": "two\nlines"}, 13, "body\n"},
		{"one field", "---\ntype: skill\n---\nx", map[string]string{"type": "skill"}, 4, "x"},
		{"CRLF and BOM", "\ufeff---\r\ntype: skill\r\n---\r\nx\r\n", map[string]string{"type": "skill"}, 4, "x\n"},
		{"empty", "---\n---\nx", map[string]string{}, 3, "x"},
		{"dots", "---\na: b\n...\nx", map[string]string{"a": "b"}, 4, "x"},
		{"not closed", "---\na: b\n", nil, 1, "---\na: b\n"},
		{"no mapping", "---\njust words\n---\nx", nil, 1, "---\njust words\n---\nx"},
		{"no YAML", "---\nsummary: a: b: [\ntype: lesson # a remark\ntags:\n  - x: [\n- y\ntitle: \"q: \"z\" \"\n---\nx",
			map[string]string{"summary": "a: b: [", "type": "lesson", "tags": "", "title": "q: \"z\" "}, 9, "x"},
		{"prose between rules", "---\nNote: a: b.\nIt goes on.\n---\nx", nil, 1, "---\nNote: a: b.\nIt goes on.\n---\nx"},
		{"addresses between rules", "---\nhttp://a: b: c\n---\nx", nil, 1, "---\nhttp://a: b: c\n---\nx"},
		{"none", "# Title\n---\n", nil, 1, "# Title\n---\n"},
		{"twice", "---\na: 1\na: 2\n---\n", map[string]string{"a": "2"}, 5, ""},
	} {
		fields, line, body := FrontMatter(c.in)
		if d := cmp.Diff(c.fields, fields); d != "" || line != c.line || body != c.body {
			t.Errorf("%s: line %d, body %q\n%s", c.name, line, body, d)
		}
	}
}

// TestFrontMatterBomb would not end if aliases were expanded.
func TestFrontMatterBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x, x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	b.WriteString("title: survived\n---\nbody")
	if fields, _, _ := FrontMatter(b.String()); fields["title"] != "survived" {
		t.Errorf("fields %v", fields)
	}
}

// checkRanges holds what every result of Split must keep.
func checkRanges(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, ps []Passage, bad []core.Fault) {
	t.Helper()
	lines, last, seen := strings.Count(text, "\n")+1, 0, map[string]bool{}
	for _, p := range ps {
		if p.Start < 1 || p.End < p.Start || p.End > lines || p.Start < last {
			t.Errorf("passage %q has lines %d…%d after %d in a text of %d", p.Anchor, p.Start, p.End, last, lines)
		}
		if seen[p.Anchor] {
			t.Errorf("anchor %q twice", p.Anchor)
		}
		for _, s := range []string{p.Anchor, p.Title, p.Text, p.Normative} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("unclean output %q", s)
			}
		}
		if strings.TrimSpace(p.Normative) != p.Normative {
			t.Errorf("normative text with white space around it: %q", p.Normative)
		}
		last, seen[p.Anchor] = p.Start, true
	}
	for _, f := range bad {
		if f.Line < 0 || f.Line > lines || f.What == "" || !utf8.ValidString(f.What) {
			t.Errorf("fault %+v in a text of %d lines", f, lines)
		}
	}
}

var seeds = []string{
	"#1 [critical] [O] a | Why: b | Counter: c\n  more\n#1 x\n- **#2** y\r\n",
	"---\ntitle: t\n---\n# A\n\ntext\n\nB\n===\n- x\n- y\n\n```\n# no\n```\n> # quoted\n",
	"@prefix ex: <http://e/> .\nex:rule.v2 ex:text \"Prices are net\" .\nex:a ex:b ex:c.\n[ ex:p ( 1 2.5 \"x\"@en ) ] .\n_:b ex:t '''a\n.''' ; .\n",
	"BASE <http://b/>\nPREFIX : <x#>\n:a a :C ; :d \"2024-01-01\"^^<http://www.w3.org/2001/XMLSchema#date> .",
	"\x00\xff\r\n\r# \xd0\n- - - - x\n", "(((((", "\"\"\"\\\"\"\"\n", "ex:a ex:b .5\n.5 .", "ex:a ex:p \"x\"@en^^ex:t, 1.e5 .", "# \n## \n###\n=\n", "#\n##\n\nunder headings without a name, which say nothing of it\n",
}

func TestSplitProperties(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{"#1 ", "#2 ", "\n", "\n", "  ", "- ", "# ", "## ", "```", "---", "===", "title: x", " | Why: ", " | Counter: ",
		"ex:a ", "ex:b ", "\"s\" ", "\"\"\"", "'", ". ", "; ", ", ", "[ ", "] ", "( ", ") ", "<http://x/> ", "@prefix ", "ex: ", "^^", "@en", "_:b ", "5", ".", "> ", "привет ", "\r", "\x00", "\xff"}),
		rapid.String(), rapid.StringN(0, 600, 2000))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
		for f := Whole; f <= Code; f++ {
			ps, bad := Split(f, text)
			checkRanges(t, text, ps, bad)
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, strings.Repeat(s, 40))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, a + b} {
			for _, format := range []Format{Whole, Invariants, Sections, Code} {
				ps, bad := Split(format, text)
				checkRanges(t, text, ps, bad)
			}
		}
	})
}

// BenchmarkSplit measures each format on about 4 MB.
func BenchmarkSplit(b *testing.B) {
	body := strings.Repeat("Правило о границах: read the rule twice before the change. ", 12)
	for _, c := range []struct {
		name string
		f    Format
		unit string
	}{
		{"Whole", Whole, "## H\n\n" + body + "\n\n"},
		{"Invariants", Invariants, "#%d [critical] [O] " + body + " | Why: " + body + " | Counter: never on Sundays\n"},
		{"Turtle", Turtle, "ex:claim%d a ex:Claim ; rdfs:label \"" + body + "\"@ru ; ex:weight 0.5 .\n"},
		{"Sections", Sections, "## Heading %d\n\n" + body + "\n\n- a bullet\n\n"},
		{"Bullets", Sections, "- " + body + " %d\n"},
	} {
		var t strings.Builder
		t.WriteString("@prefix ex: <http://e/> .\n@prefix rdfs: <http://r/> .\n")
		for i := 0; t.Len() < 4<<20; i++ {
			t.WriteString(strings.Replace(c.unit, "%d", fmt.Sprint(i), 1))
		}
		text := t.String()
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Split(c.f, text)
			}
		})
	}
}
