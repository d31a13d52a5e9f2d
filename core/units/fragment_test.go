package units

import (
	"strings"
	"testing"

	"storozh/core"
)

// TestAFragmentShowsNoPadding: where HEAD is not known, text above the first heading of a hunk must not get the padding's name as its title,
// which would be embedded, judged and shown.
func TestAFragmentShowsNoPadding(t *testing.T) {
	t.Parallel()
	rules := make([]string, 15)
	for i := range rules {
		rules[i] = "- Правило " + strings.Repeat("о границах ", i+1) + "держится всегда."
	}
	old := longLesson(rules...)
	d := amend(t, map[string]string{"lessons/l.md": old}, map[string]string{"lessons/l.md": strings.Replace(old, rules[7], rules[7]+" И ночью.", 1)}).derive(false)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/l.md#L17", core.Edited, strings.TrimPrefix(rules[7], "- ") + " И ночью.", []string{"shield/lessons/l.md#L17"}, 17},
	})
	prose := "# T\n\n" + strings.Repeat("A long line of prose.\n", 100)
	d = amend(t, map[string]string{"lessons/p.md": prose}, map[string]string{"lessons/p.md": prose + "One more line.\n"}).derive(false)
	for _, u := range d.Units {
		if strings.Contains(u.Title+u.Normative+u.Text, padMark) {
			t.Errorf("padding in %+v", u)
		}
	}
	if len(d.Units) != 1 {
		t.Errorf("units %v", unitBriefs(d.Units))
	}
}

// TestAFragmentThatBeginsInFrontMatter: `summary: …` above the closing line is no heading.
func TestAFragmentThatBeginsInFrontMatter(t *testing.T) {
	t.Parallel()
	const old = "---\ncategory: ops\nowner: me\nsummary: Logs: for machines\ntype: lesson\n---\n\nOne object per line.\n"
	d := amend(t, map[string]string{"lessons/s.md": old}, map[string]string{"lessons/s.md": old + "Keep them short.\n"}).derive(false)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/s.md#L8", core.Edited, "One object per line.\nKeep them short.", []string{"shield/lessons/s.md#L8"}, 8},
	})
	const ruled = "# Top\n\nFirst words here.\n\nA: heading\n---\n\nOne object per line.\n"
	d = amend(t, map[string]string{"lessons/r.md": ruled}, map[string]string{"lessons/r.md": strings.Replace(ruled, "One object", "An object", 1)}).derive(true)
	wantUnits(t, d, []unitBrief{
		{"shield/lessons/r.md", core.Edited, "# Top\n\nFirst words here.\n\nA: heading\n---\n\nAn object per line.", []string{"shield/lessons/r.md"}, 1},
	})
}
