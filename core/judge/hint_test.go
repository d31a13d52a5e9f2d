package judge_test

import (
	"strings"
	"testing"

	"storozh/core/judge"
)

func TestHint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ item, unit, want string }{
		{"retry three times", "retry three times", ""},
		{"#7 retry 3 times", "retry 5 times", "numbers differ: 3 in the item, 5 in the unit"},
		{"keep it for 30 days", "keep it for a month", ""},
		{"tests run before a merge", "tests do not run before a merge", "only one of the two negates"},
		{"никогда не хранить пароль", "хранить пароль нельзя", "only one of the two negates"},
		{"don't merge on red", "merge on green", "only one of the two negates"},
		{"don’t merge on red", "merge on green", "only one of the two negates"},
		{"version 1.2 is the floor", "version 1.3 is not the floor", "numbers differ: 1.2 in the item, 1.3 in the unit; only one of the two negates"},
	} {
		if got := judge.Hint(judge.Text{Statement: tt.item}, judge.Text{Statement: tt.unit}); got != tt.want {
			t.Errorf("%q / %q: %q, want %q", tt.item, tt.unit, got, tt.want)
		}
	}
}

// What the prompt does not hold is pointed at, on either side, and what Cut says is what Build leaves out.
func TestHintOfWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	for n, cut := range map[int]bool{8_000: false, 8_001: true} {
		long, short := judge.Text{Statement: strings.Repeat("я", n)}, judge.Text{Statement: "я"}
		for _, side := range []string{"item", "unit"} {
			item, unit := long, short
			if side == "unit" {
				item, unit = short, long
			}
			want := ""
			if cut {
				want = "the judge read only the first 8,000 characters and each Counter: of the " + side
			}
			if got := judge.Hint(item, unit); got != want {
				t.Errorf("%d characters in the %s: %q", n, side, got)
			}
			if p := judge.Build(nil, item, unit); p.Cut != cut || judge.Cut(long) != cut || strings.Contains(p.User, "left out]") != cut {
				t.Errorf("%d characters in the %s: cut %v %v", n, side, p.Cut, judge.Cut(long))
			}
			if !judge.Shorter(nil, item, unit).Cut {
				t.Errorf("%d characters in the %s: the shorter prompt does not hold them all", n, side)
			}
		}
	}
}
