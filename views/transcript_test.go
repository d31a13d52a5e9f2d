package views

import (
	"strings"
	"testing"
	"unicode/utf8"

	"storozh/core"
)

// The pages of a transcript, one behind the other, are the transcript.
func TestTranscriptPagesAreTheWhole(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"empty": "", "short": "user: hi", "lines": strings.Repeat("assistant: строка за строкой\n", 9000), "one line": strings.Repeat("ж", 150_000),
		"bad bytes": strings.Repeat("\xbf", 200_000), "just two": strings.Repeat("a", 2*transcriptPage),
	} {
		got := ""
		of := NewTranscript(testPage, core.Record{ID: 3}, said, nil, 1).Of
		for at := 1; at <= max(of, 1); at++ {
			m := NewTranscript(testPage, core.Record{ID: 3}, said, nil, at)
			if len(m.Text) > transcriptPage+transcriptPage/8 || m.Of != of || utf8.ValidString(said) && !utf8.ValidString(m.Text) {
				t.Errorf("%s: page %d of %d has %d bytes", name, m.At, m.Of, len(m.Text))
			}
			got += m.Text
		}
		if got != said {
			t.Errorf("%s: %d of %d bytes on the pages", name, len(got), len(said))
		}
	}
}

func TestPassagesNameTheFile(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("filler text. ", 200)
	u := core.Unit{Path: "lessons/tide.md", OldPath: "old/wave.md"}
	said := "Edited lessons/tide.md, then tide.md again." + far + "Not schema-tide.md nor tide.mdx nor untide.md." + far + "Before it was wave.md"
	got, named := passages(said, namesOf(u))
	if named != 3 || len(got) != 2 || !strings.HasPrefix(got[0], "Edited lessons/tide.md") || !strings.HasSuffix(got[1], "wave.md") {
		t.Errorf("%d named, passages %q", named, got)
	}
	if got, named := passages(strings.Repeat("tide.md "+far, 100), namesOf(u)); named != 100 || len(got) != passageLimit {
		t.Errorf("%d named, %d passages", named, len(got))
	}
	if got := show(nameRuns("see lessons/tide.md or tide.md.", namesOf(u))); got != "see [lessons/tide.md] or [tide.md]." {
		t.Errorf("marked %q", got)
	}
	if names := namesOf(core.Unit{Path: "a.c"}); len(names) != 0 {
		t.Errorf("a name too short to look for: %q", names)
	}
}

func TestItemURL(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"shield/invariants#12":   "/items/shield/invariants%2312",
		"shield/lessons/план.md": "/items/shield/lessons/%D0%BF%D0%BB%D0%B0%D0%BD.md",
		"shield/a?b%2F c":        "/items/shield/a%3Fb%252F%20c",
		"shield/../x":            "/items/?id=shield%2F..%2Fx",
		"shield//x":              "/items/?id=shield%2F%2Fx",
		"":                       "/items/?id=",
	} {
		if got := ItemURL(id); got != want {
			t.Errorf("ItemURL(%q) = %q, want %q", id, got, want)
		}
	}
}
