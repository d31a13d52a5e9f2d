package units

import (
	"strings"
	"testing"

	"storozh/core"
)

// TestASkillsCounterStaysWithItsRule: of an edited skill only what changed is judged, but never a rule without its exception, nor an
// exception without its rule (case J2).
func TestASkillsCounterStaysWithItsRule(t *testing.T) {
	t.Parallel()
	const skill = "# Clock\n\nA word before.\n\n## Rules\n\n- Times are stored in UTC.\n  Counter: the export screen shows local time.\n- Other rule.\n\n" +
		"Prices are net.\n\nCounter: invoices show gross.\n\nLast words.\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"rule": {"stored in UTC", "kept in UTC",
			"## Rules\n- Times are kept in UTC.\n  Counter: the export screen shows local time."},
		"exception": {"shows local time", "shows both times",
			"## Rules\n- Times are stored in UTC.\n  Counter: the export screen shows both times."},
		"exception gone": {"\n  Counter: the export screen shows local time.", "",
			"## Rules\n- Times are stored in UTC."},
		"rule and exception gone": {"- Times are stored in UTC.\n  Counter: the export screen shows local time.\n", "", ""},
		"the rule beside it":      {"Other rule", "Another rule", "## Rules\n- Another rule."},
		"paragraph":               {"Prices are net", "All prices are net", "## Rules\nAll prices are net.\nCounter: invoices show gross."},
		"paragraph's exception":   {"invoices show gross", "bills show gross", "## Rules\nPrices are net.\nCounter: bills show gross."},
		"elsewhere":               {"Last words", "Very last words", "## Rules\nVery last words."},
	} {
		r := amend(t, map[string]string{"skills/c.md": skill}, map[string]string{"skills/c.md": strings.Replace(skill, c.old, c.new, 1)})
		for _, withHead := range []bool{true, false} {
			d := r.derive(withHead)
			if len(d.Units) != 1 || d.Units[0].Action != core.Edited {
				t.Fatalf("%s: units %v", name, unitBriefs(d.Units))
			}
			want := c.want
			if got := d.Units[0].Normative; got != want && (withHead || got != strings.TrimPrefix(want, "## Rules\n")) {
				t.Errorf("%s, HEAD known %v: got\n%s\nwant\n%s", name, withHead, got, want)
			}
		}
	}
}
