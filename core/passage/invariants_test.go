package passage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

func TestInvariants(t *testing.T) {
	t.Parallel()
	src := strings.Join([]string{
		"# Invariants of the shop", // 1
		"",
		"#1 [critical] [O] Times are stored in UTC | Why: two zones broke a report | Counter: the export screen shows local time", // 3
		"#2 [style] [P] Имена по-русски допустимы | counter: не в публичном API | why: читатель один",                             // 4
		"- **#3** [important] [F] No secrets in logs", // 5
		"  | Counter: the audit log of",               // 6
		"    #1 and others",                           // 7
		"prose between",                               // 8
		"  indented prose",                            // 9
		"#TODO not one",                               // 10
		"#12a neither", "#1.5 nor this",               // 11, 12
		"#2 again", // 13
		"#7",       // 14
		"#8 [O] a or b | c | Why: d | e. COUNTER: f | See: g", // 15
		"Counter: and on Mondays",                             // 16
	}, "\n")
	got, bad := Split(Invariants, src)
	type row struct {
		Anchor, Normative string
		Start, End        int
	}
	var rows []row
	for _, p := range got {
		rows = append(rows, row{p.Anchor, p.Normative, p.Start, p.End})
	}
	want := []row{
		{"1", "[O] Times are stored in UTC\nCounter: the export screen shows local time", 3, 3},
		{"2", "[P] Имена по-русски допустимы\ncounter: не в публичном API", 4, 4},
		{"3", "[F] No secrets in logs\nCounter: the audit log of #1 and others", 5, 7},
		{"2~2", "again", 13, 13},
		{"7", "", 14, 14},
		{"8", "[O] a or b | c\nCOUNTER: f\nSee: g\nCounter: and on Mondays", 15, 16},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(bad) != 1 || bad[0].Line != 13 || !strings.Contains(bad[0].What, "#2") {
		t.Errorf("faults %v", bad)
	}
	if want := "#1 [critical] [O] Times are stored in UTC | Why: two zones broke a report | Counter: the export screen shows local time"; got[0].Text != want {
		t.Errorf("text %q", got[0].Text)
	}
	if want := "- **#3** [important] [F] No secrets in logs\n  | Counter: the audit log of\n    #1 and others"; got[2].Text != want {
		t.Errorf("text %q", got[2].Text)
	}
}

// TestACommentTakesRulesOutOfForce: a rule in `<!-- -->` binds nobody; a comment that is never closed must not swallow the file.
func TestACommentTakesRulesOutOfForce(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"#1 a\n<!-- #2 b -->\n#3 c\n":                 "1 3",
		"#1 a\n<!--\n#2 b\n\n  #4 [O] d\n-->\n#3 c\n": "1 3",
		"#1 a\n<!-- \n#2 b\n#3 c\n":                   "1 2 3",
		"#1 a\n  <!-- why not -->\n  | Counter: c\n":  "1",
		"#1 a --> b\n<!--\n#2 b\n":                    "1 2",
	} {
		got, _ := Split(Invariants, in)
		var names []string
		for _, p := range got {
			names = append(names, p.Anchor)
		}
		if s := strings.Join(names, " "); s != want || strings.Contains(in, "Counter") && !strings.Contains(got[0].Normative, "Counter: c") {
			t.Errorf("%q: got %s, want %s; %+v", in, s, want, got)
		}
	}
}

// TestAnInvariantWithoutItsNumberIsAFault: left out without a word, it would never be judged nor compared with.
func TestAnInvariantWithoutItsNumberIsAFault(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"[critical] [O] Never on a Friday | Why: x": 1, "- [F] No globals.": 1, "1. #10 [O] In a list.": 1, "- [x] #11 [O] Ticked.": 1,
		"| #8 | [style] Table": 1, "**[important]** Bold.": 1, "#N [critical] The form.": 0, "#TODO [O] later": 0, "# Rules [O]": 0,
		"[link](http://a)": 0, "- [ ] to do": 0, "Prose about [O] and [P].": 0, "#12a [O] odd": 0, "#": 0, "": 0, "1.": 0, "[O": 0,
	} {
		if _, bad := Split(Invariants, "#1 [O] first\n\n"+line+"\n"); len(bad) != want || want > 0 && bad[0].Line != 3 {
			t.Errorf("%q: faults %v, want %d", line, bad, want)
		}
	}
}

// TestCounterStays is case J2: nothing cuts `Counter:` off its rule.
func TestCounterStays(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"[critical] [O] r | Why: w | Counter: c":        "[O] r\nCounter: c",
		"[O] [critical] r | Counter: c | Why: w":        "[O] r\nCounter: c",
		"r |Why: w|Counter: c":                          "r\nCounter: c",
		"r | WHY : w | COUNTER : c":                     "r\nCOUNTER : c",
		"r | Why: w. Counter: c":                        "r\nCounter: c",
		"r | Why: w; counter: c | d":                    "r\ncounter: c | d",
		"r | **Why:** w | **Counter:** c":               "r\n**Counter:** c",
		"r | Why: the Encounter: it hurt":               "r",
		"r. Counter: c":                                 "r.\nCounter: c",
		"r | Why: see | https://x.y/z":                  "r",
		"r | Why: w | Исключение: по праздникам":        "r\nИсключение: по праздникам",
		"правило | Why: Почему бы и нет | Counter: нет": "правило\nCounter: нет",
		"r | Cou\u200bnter: c | Why: w":                 "r\nCounter: c",
		"r | Why: w":                                    "r",
		"| Why: w":                                      "",
		"[O]":                                           "",
		"[deprecated] r":                                "[deprecated] r",
		"Why: not marked off, so it stays":              "Why: not marked off, so it stays",
	} {
		if got := bindingText(in); got != want {
			t.Errorf("bindingText(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestAnchorsAreUnique(t *testing.T) {
	t.Parallel()
	var a anchors
	var got []string
	for _, n := range []string{"x", "x~2", "x", "x", "x~2"} {
		s, _ := a.take(n)
		got = append(got, s)
	}
	if d := cmp.Diff([]string{"x", "x~2", "x~3", "x~4", "x~2~2"}, got); d != "" {
		t.Error(d)
	}
}

// TestManyContinuations would take minutes if lines were joined one by one.
func TestManyContinuations(t *testing.T) {
	t.Parallel()
	got, bad := Split(Invariants, "#1 rule\n"+strings.Repeat("  more words\n", 200_000)+strings.Repeat("#2 twice\n", 1000))
	if len(got) != 1001 || got[0].End != 200_001 {
		t.Errorf("%d passages, the first ends at %d", len(got), got[0].End)
	}
	if len(bad) != maxFaults+1 {
		t.Errorf("%d faults", len(bad))
	}
	var _ []core.Fault = bad
}
