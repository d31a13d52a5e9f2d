package views

import (
	"testing"
	"time"
	"unicode/utf8"

	"storozh/core"
)

func TestPlainMarksWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain",
		"Кириллица, Ελληνικά, ∀x → y": "Кириллица, Ελληνικά, ∀x → y",
		"עברית":                           "עברית",
		"line\nline\ttab\r\n":             "line\nline\ttab\r\n",
		"warning ⚠️":                      "warning ⚠️",
		"a\u202eb":                        "a⟨U+202E⟩b",
		"\u2066a\u2069":                   "⟨U+2066⟩a⟨U+2069⟩",
		"zero\u200bwidth\u200d\ufeff":     "zero⟨U+200B⟩width⟨U+200D⟩⟨U+FEFF⟩",
		"soft\u00adhyphen":                "soft⟨U+00AD⟩hyphen",
		"tag\U000E0041 vs\U000E0101":      "tag⟨U+E0041⟩ vs⟨U+E0101⟩",
		"hangul\u3164filler":              "hangul⟨U+3164⟩filler",
		"nul\x00 esc\x1b del\x7f":         "nul⟨U+0000⟩ esc⟨U+001B⟩ del⟨U+007F⟩",
		"lone\rreturn nel\u0085 ls\u2028": "lone⟨U+000D⟩return nel⟨U+0085⟩ ls⟨U+2028⟩",
		"bad\xffbyte":                     "bad⟨0xFF⟩byte",
		"\ufffd stays":                    "\ufffd stays",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
		if Hidden(in) != (in != want) {
			t.Errorf("Hidden(%q) = %v", in, Hidden(in))
		}
	}
}

// The short way past common characters must not pass one that is marked.
func TestVisibleAgreesWithHidden(t *testing.T) {
	t.Parallel()
	for r := rune(0); r < 0x3000; r++ {
		if s := string(r); visible(s, 0) > 0 && hidden(r) {
			t.Errorf("U+%04X is hidden and yet passed by", r)
		}
	}
	for _, s := range []string{"\xd0", "\xd0a", "\xc3\xc3"} {
		if !Hidden(s) {
			t.Errorf("%q is not UTF-8 and yet not marked", s)
		}
	}
}

func FuzzCutKeepsWholeRunes(f *testing.F) {
	f.Add("жжж", 3)
	f.Add("a\xff\xff\xff\xff\xff", 4)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(limit, 0)
		head, left := cut(s, limit)
		if len(head)+left != len(s) || len(head) > max(limit, 0) || s[:len(head)] != head {
			t.Fatalf("cut(%q, %d) = %q, %d", s, limit, head, left)
		}
		if utf8.ValidString(s) && !utf8.ValidString(head) {
			t.Fatalf("cut(%q, %d) = %q splits a rune", s, limit, head)
		}
	})
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := testPage.Now
	for before, want := range map[time.Duration]string{
		0: "just now", 5 * time.Minute: "5 min ago", 3 * time.Hour: "3 h ago", 25 * time.Hour: "1 day ago",
		8 * 24 * time.Hour: "13 May 2026, 14:03", -time.Hour: "21 May 2026, 15:03",
	} {
		if got := ago(now, now.Add(-before)); got != want {
			t.Errorf("%s before: %q, want %q", before, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	b := core.Block{ContraCheck: core.ContraRan, Summary: core.Summary{Units: 2, OK: 2}}
	for want, r := range map[string]core.Record{
		"queued":                         {Run: core.Run{Status: core.Queued}},
		"running: reading the changeset": {Run: core.Run{Status: core.Running}},
		"running: 1 of 1 pair judged":    {Run: core.Run{Status: core.Running, Progress: core.Progress{Done: 1, Of: 1}}},
		"failed: why":                    {Run: core.Run{Status: core.Failed, Error: "why"}},
		"2 units: all ok":                {Run: core.Run{Status: core.Done, Block: &b}},
		"2 units: all ok (demo model)":   {Run: core.Run{Status: core.Done, Block: &b, Demo: true}},
		"demo model: 2 units: all ok":    {BLUF: "demo model: 2 units: all ok", Run: core.Run{Status: core.Done, Demo: true}},
	} {
		if got := Line(r); got != want {
			t.Errorf("Line = %q, want %q", got, want)
		}
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	b := &core.Block{ContraCheck: core.SkippedUnreachable}
	labelled := result("shield/a", core.Contra)
	labelled.Flag.JudgeNote = "they clash"
	late := result("shield/a", "", core.Pair{Label: core.OK}, core.Pair{Unjudged: "timeout"})
	late.Unjudged = true
	skipped := result("shield/a", "")
	skipped.Unjudged = true
	for want, u := range map[string]core.UnitResult{"they clash": labelled, "timeout": late, core.SkippedUnreachable: skipped, "": result("shield/a", "")} {
		if got := Reason(u, b); got != want {
			t.Errorf("Reason = %q, want %q", got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"short.md": "short.md", "lessons/план.md": "…s/план.md"} {
		if got := tail(in, 9); got != want {
			t.Errorf("tail(%q) = %q, want %q", in, got, want)
		}
	}
}
