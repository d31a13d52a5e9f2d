package judge_test

import (
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
		{"version 1.2 is the floor", "version 1.3 is not the floor", "numbers differ: 1.2 in the item, 1.3 in the unit; only one of the two negates"},
	} {
		if got := judge.Hint(judge.Text{Statement: tt.item}, judge.Text{Statement: tt.unit}); got != tt.want {
			t.Errorf("%q / %q: %q, want %q", tt.item, tt.unit, got, tt.want)
		}
	}
}
