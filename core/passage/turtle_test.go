package passage

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type claim struct {
	Anchor, Normative string
	Start, End        int
}

func claims(ps []Passage) (out []claim) {
	for _, p := range ps {
		out = append(out, claim{p.Anchor, p.Normative, p.Start, p.End})
	}
	return out
}

const prefixes = "@prefix ex: <http://e/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"

func TestTurtle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []claim
		faults   []int
	}{
		{"T1: full stops in names", prefixes + "ex:rule.v2 ex:text \"Prices are net\" .\nex:a ex:b ex:c.\n",
			[]claim{{"ex:rule.v2", "Prices are net", 3, 3}, {"ex:a", "", 4, 4}}, nil},
		{"several lines, languages, full stops inside", prefixes + "# ex:no ex:no \"x\" .\nex:a a ex:Claim ; # . \n  ex:t \"One. Two\"@en , 'Раз. Два'@ru ;\n  ex:u \"\"\"three.\n\"four\" . \"\"\" ; ; .\nex:b ex:t \"\\u0416\\n\\\"q\\\"\"^^xsd:string.",
			[]claim{{"ex:a", "One. Two\nРаз. Два\nthree.\n\"four\" .", 4, 7}, {"ex:b", "Ж\n\"q\"", 8, 8}}, nil},
		{"metadata is left out", prefixes + "ex:a ex:d \"2024-01-01\"^^xsd:date ; ex:n 5, 5.5, .5, -1e5, true ; ex:w \"1.0\" ; ex:i \"12\"^^<http://www.w3.org/2001/XMLSchema#integer> ; ex:t \"said\" .",
			[]claim{{"ex:a", "said", 3, 3}}, nil},
		{"subjects", "PREFIX ex: <http://e/>\nBASE <http://base/>\n<http://x/y#z> ex:t \"iri\" .\n<rel> ex:t \"rel\".\n_:b ex:t \"blank\" .\n[ ex:t \"list\" ; ] .\n[] ex:t \"anon\" .\n( ex:a \"coll\" ) ex:t \"s\" .\n",
			[]claim{{"http://x/y#z", "iri", 3, 3}, {"rel", "rel", 4, 4}, {"L5", "blank", 5, 5}, {"L6", "list", 6, 6}, {"L7", "anon", 7, 7}, {"L8", "coll\ns", 8, 8}}, nil},
		{"one subject again", prefixes + "ex:a ex:t \"1a\" .\nex:a ex:t \"2a\" .\nex:b ex:t \"3b\" .\n<http://e/b> ex:t \"4b\" . ex:a ex:t \"5a\" .",
			[]claim{{"ex:a", "1a\n2a", 3, 4}, {"ex:b", "3b\n4b", 5, 6}, {"ex:a~2", "5a", 6, 6}}, nil},
		{"nested", prefixes + "ex:a ex:p [ ex:q \"in\" ; ex:r ( \"l1\" ( \"l2\" ) [ ex:s \"l3\" ; ] () ) ] , \"out\" .",
			[]claim{{"ex:a", "in\nl1\nl2\nl3\nout", 3, 3}}, nil},
		{"words that look like keywords", "@prefix base: <b/> .\n@prefix prefixes: <p/> .\nbase:line prefixes:true \"kept\" .\nprefixes:x a base:false.true .",
			[]claim{{"base:line", "kept", 3, 3}, {"prefixes:x", "", 4, 4}}, nil},
		{"an open string costs its line", prefixes + "ex:a ex:t \"open .\nex:b ex:t \"fine\" .\n", []claim{{"ex:b", "fine", 4, 4}}, []int{3}},
		{"a missing full stop costs one", prefixes + "ex:a ex:t \"x\"\nex:b ex:t \"fine\" .\n", []claim{{"ex:b", "fine", 4, 4}}, []int{4}},
		{"a lost last line costs one", prefixes + "ex:a ex:t \"x\" ;\n\nex:b a ex:Claim ;\n  ex:t \"fine\" .\nex:c ex:t \"x\" ;\nex:d ex:t \"fine\" .\n",
			[]claim{{"ex:b", "fine", 5, 6}, {"ex:d", "fine", 8, 8}}, []int{5, 8}},
		{"predicates in the first column", prefixes + "ex:a\nex:p \"x\" ;\nex:q \"y\" ;\n.\nex:c\nex:p \"x\" ;\nex:q \"y\" \"z\" .\nex:b ex:t \"fine\" .",
			[]claim{{"ex:a", "x\ny", 3, 6}, {"ex:b", "fine", 10, 10}}, []int{9, 9}},
		{"a missing full stop behind a prefix costs none", "@prefix ex: <http://e/>\n@prefix f: <http://f/> .\nex:b f:t \"fine\" .\n", []claim{{"ex:b", "fine", 3, 3}}, []int{2}},
		{"inside brackets the line is right", prefixes + "ex:a ex:p [\n  ex:q ;\n] .\nex:b ex:t \"fine\" .", []claim{{"ex:b", "fine", 6, 6}}, []int{5}},
		{"an open bracket", prefixes + "ex:a ex:p [ ex:q \"x\" .\nex:b ex:t \"fine\" .", []claim{{"ex:b", "fine", 4, 4}}, []int{3}},
		{"a stray full stop", prefixes + ".\nex:b ex:t \"fine\" .", []claim{{"ex:b", "fine", 4, 4}}, []int{3}},
		{"bad escape", prefixes + "ex:a ex:t \"\\q\" ;\n  ex:u \"\"\"\nex:x ex:y .\n\"\"\" .\nex:b ex:t \"fine\" .", []claim{{"ex:b", "fine", 7, 7}}, []int{3}},
		{"never closed", prefixes + "ex:b ex:t \"fine\" .\nex:a ex:t \"\"\"open\nex:c ex:t \"also fine\" .", []claim{{"ex:b", "fine", 3, 3}, {"ex:c", "also fine", 5, 5}}, []int{4}},
		{"cut off", prefixes + "ex:b ex:t \"fine\" .\nex:a ex:t \"x\" ;", []claim{{"ex:b", "fine", 3, 3}}, []int{4}},
		{"undeclared prefix", "ex:a ex:t \"kept\" .\nex:b ex:t \"too\" .", []claim{{"ex:a", "kept", 1, 1}, {"ex:b", "too", 2, 2}}, []int{1}},
		{"no predicate", prefixes + "ex:a .\nex:b ex:t .\nex:c ex:t \"fine\".", []claim{{"ex:c", "fine", 5, 5}}, []int{3, 4}},
		{"not Turtle", "GRAPH ex:g { ex:a ex:b ex:c }\n", nil, []int{1}},
		{"a line that begins with no Turtle at all", prefixes + "= 5\nex:b ex:t \"fine\" .\n= ", []claim{{"ex:b", "fine", 4, 4}}, []int{3, 5}},
		{"a line that begins with a number", "@prefix ex: <e> .\nex:a ex:b\n.5 , \"x y\" .", []claim{{"ex:a", "x y", 2, 3}}, nil},
		{"Windows line ends", "@prefix ex: <e> .\r\n\r\nex:a ex:b \"\"\"x\r\ny\"\"\" .\r\n", []claim{{"ex:a", "x\ny", 3, 4}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ps, bad := Split(Turtle, c.in)
			if d := cmp.Diff(c.want, claims(ps)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			var lines []int
			for _, f := range bad {
				lines = append(lines, f.Line)
			}
			if d := cmp.Diff(c.faults, lines); d != "" {
				t.Errorf("fault lines (-want +got):\n%s\n%v", d, bad)
			}
			checkRanges(t, c.in, ps, bad)
		})
	}
}

func TestTurtleText(t *testing.T) {
	t.Parallel()
	ps, _ := Split(Turtle, prefixes+"ex:a ex:t \"1\" . ex:a # why\n  ex:t \"two\" . ex:b ex:t \"b\" .")
	if ps[0].Text != "ex:a ex:t \"1\" . ex:a # why\n  ex:t \"two\" ." || ps[0].Title != "ex:a" || ps[1].Text != "ex:b ex:t \"b\" ." {
		t.Errorf("%+v", ps)
	}
}

// TestHostileTurtle holds texts that a naive reader takes quadratic time for, or that end or hang the decoder's goroutine.
func TestHostileTurtle(t *testing.T) {
	before := runtime.NumGoroutine()
	const n = 40_000
	for name, text := range map[string]string{
		"no full stops":     strings.Repeat("ex:b ex:p \"y\"\n", n),
		"brackets":          strings.Repeat("[ ", n),
		"closing":           strings.Repeat("] ", n),
		"long strings":      strings.Repeat("a \\\"\"\"\n", n),
		"quotes":            strings.Repeat("\"\"\"\\\n'''\\\n", n),
		"full stops":        "ex:a" + strings.Repeat(".", n) + "b",
		"stops and spaces":  strings.Repeat(". ", n),
		"angles":            strings.Repeat("<", n) + strings.Repeat("<a", n),
		"one statement":     "ex:a ex:p " + strings.Repeat("\"words\" , ", n) + "\"end\" .",
		"same subject":      strings.Repeat("ex:a ex:p \"w\" .\n", n/10),
		"bad grammar":       strings.Repeat("ex:a ex:p [ ex:q ; ex:r ] .\n", n/10),
		"prefixes":          strings.Repeat("@prefix a: <b> . PREFIX", n),
		"marks":             strings.Repeat("@a^^", n),
		"number and line":   strings.Repeat("ex:a ex:p\n.5 .\n", n/10),
		"very long literal": "ex:a ex:p \"" + strings.Repeat("x", 2<<20) + "\" . ex:b ex:p \"y\" .",
	} {
		start := time.Now()
		ps, bad := Split(Turtle, text)
		checkRanges(t, text, ps, bad)
		t.Logf("%s: %v for %d bytes", name, time.Since(start), len(text))
	}
	for i := 0; runtime.NumGoroutine() > before+2 && i < 100; i++ {
		time.Sleep(20 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before+2 {
		t.Errorf("%d goroutines before, %d after: the decoder was not read to its end", before, now)
	}
}

func TestLongStatementCostsItself(t *testing.T) {
	t.Parallel()
	ps, bad := Split(Turtle, prefixes+"ex:a ex:p \""+strings.Repeat("x", maxStatement)+"\" .\nex:b ex:p \"y\" .")
	if len(ps) != 1 || ps[0].Anchor != "ex:b" || len(bad) != 1 || bad[0].Line != 3 {
		t.Errorf("%d passages, faults %v", len(ps), bad)
	}
}

func FuzzTurtle(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(prefixes + s)
	}
	good := "\n@prefix ex: <http://e/> .\nex:good ex:t \"still here\" .\n"
	f.Fuzz(func(t *testing.T, text string) {
		ps, bad := Split(Turtle, text)
		checkRanges(t, text, ps, bad)
		// What was read without a fault must not swallow the good statement behind it.
		if len(bad) > 0 || strings.ContainsAny(text, "\x00\r") {
			return
		}
		after, _ := Split(Turtle, text+good)
		for _, p := range after {
			if strings.Contains(p.Normative, "still here") {
				return
			}
		}
		t.Errorf("the statement behind %q was lost: %+v", text, after)
	})
}
