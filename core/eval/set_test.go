package eval

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"storozh/core"
)

func load(t *testing.T, name string) Set {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetIsBalanced(t *testing.T) {
	t.Parallel()
	all := load(t, All)
	if len(all.Pairs) < 156 {
		t.Errorf("only %d pairs", len(all.Pairs))
	}
	for _, name := range []string{Dev, Test} {
		part := load(t, name)
		byLabel, kinds, langs := map[core.Label]int{}, map[string]int{}, map[string]int{}
		labelsOfKind := map[string]map[core.Label]bool{}
		for _, p := range part.Pairs {
			byLabel[p.Label]++
			kinds[p.Kind]++
			langs[p.Lang]++
			if labelsOfKind[p.Kind] == nil {
				labelsOfKind[p.Kind] = map[core.Label]bool{}
			}
			labelsOfKind[p.Kind][p.Label] = true
		}
		for _, l := range labels {
			if 3*byLabel[l] != len(part.Pairs) {
				t.Errorf("%s: %d of %d pairs are %s, want a third", name, byLabel[l], len(part.Pairs), l)
			}
		}
		for _, k := range Kinds {
			if kinds[k] < 2 || len(labelsOfKind[k]) < 2 {
				t.Errorf("%s: kind %s has %d pairs with %d labels: it gives itself away", name, k, kinds[k], len(labelsOfKind[k]))
			}
		}
		for _, l := range Languages {
			if 5*langs[l] < len(part.Pairs) {
				t.Errorf("%s: language %s has only %d pairs", name, l, langs[l])
			}
		}
		if len(kinds) != len(Kinds) || len(langs) != len(Languages) {
			t.Errorf("%s: kinds %v, languages %v", name, kinds, langs)
		}
	}
}

// words are the letters-only words of a text in lower case.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		out[w] = true
	}
	return out
}

// alike is the share of words that two texts have in common.
func alike(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

func TestSetIsClean(t *testing.T) {
	t.Parallel()
	all := load(t, All)
	ids := map[string]bool{}
	bags := make([]map[string]bool, len(all.Pairs))
	for i, p := range all.Pairs {
		if ids[p.ID] || p.ID == "" {
			t.Errorf("id %q twice or empty", p.ID)
		}
		ids[p.ID] = true
		if !slices.Contains(labels, p.Label) || !slices.Contains([]string{Dev, Test}, p.Part) {
			t.Errorf("%s: label %q, part %q", p.ID, p.Label, p.Part)
		}
		text := p.Item.Statement + "\n" + p.Unit.Statement
		for _, s := range []string{p.Item.Statement, p.Unit.Statement} {
			if strings.TrimSpace(s) != s || s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) < 12 || strings.ContainsAny(s, "\n\u200b") {
				t.Errorf("%s: statement %q", p.ID, s)
			}
		}
		if p.Item.Statement == p.Unit.Statement {
			t.Errorf("%s: item and unit are the same text, which needs no judge", p.ID)
		}
		cyrillic, latin := 0, 0
		for _, r := range text {
			switch {
			case unicode.Is(unicode.Cyrillic, r):
				cyrillic++
			case unicode.Is(unicode.Latin, r):
				latin++
			}
		}
		if p.Lang == "en" && cyrillic > 0 || p.Lang == "ru" && cyrillic < 2*latin/3 || p.Lang == "mixed" && (cyrillic == 0 || latin == 0) {
			t.Errorf("%s: language %s with %d Cyrillic and %d Latin letters", p.ID, p.Lang, cyrillic, latin)
		}
		bags[i] = words(text)
	}
	for i := range bags {
		for j := range i {
			if a := alike(bags[i], bags[j]); a > 0.6 {
				t.Errorf("%s and %s share %.0f %% of their words", all.Pairs[i].ID, all.Pairs[j].ID, 100*a)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dev, test, all := load(t, Dev), load(t, Test), load(t, All)
	if len(dev.Pairs)+len(test.Pairs) != len(all.Pairs) || dev.Hash == test.Hash || dev.Hash == all.Hash || len(all.Hash) != 64 {
		t.Errorf("%d + %d of %d, hashes %s %s %s", len(dev.Pairs), len(test.Pairs), len(all.Pairs), dev.Hash, test.Hash, all.Hash)
	}
	if again := load(t, Dev); again.Hash != dev.Hash {
		t.Error("the hash changes by itself")
	}
	if _, err := Load("train"); err == nil {
		t.Error("a set that does not exist was loaded")
	}
}

func TestClashes(t *testing.T) {
	t.Parallel()
	all, err := Clashes()
	if err != nil || len(all) < 60 {
		t.Fatalf("%d clashes, %v", len(all), err)
	}
	if n := len(others()); n != 500 {
		t.Errorf("%d other items", n)
	}
	ids, texts := map[string]bool{}, map[string]bool{}
	for _, s := range others() {
		texts[s.Statement] = true
	}
	for _, c := range all {
		ids[c.ID] = true
		texts[c.Item.Statement], texts[c.Unit.Statement] = true, true
		if c.Item.Statement == "" || c.Unit.Statement == "" || !slices.Contains(Languages, c.Lang) || !utf8.ValidString(c.Item.Statement+c.Unit.Statement) {
			t.Errorf("%+v", c)
		}
	}
	if len(ids) != len(all) || len(texts) != 500+2*len(all) {
		t.Errorf("%d ids and %d different texts of %d clashes and 500 others", len(ids), len(texts), len(all))
	}
	for i, c := range all {
		for j := range i {
			if alike(words(c.Item.Statement), words(all[j].Item.Statement)) > 0.5 {
				t.Errorf("the items of %s and %s are near the same", c.ID, all[j].ID)
			}
		}
	}
}
