package judge_test

import (
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// The demo model finds the pair in every form of the prompt, past the examples, and its answer can be read (case J2).
func TestDemoModelReadsThePrompt(t *testing.T) {
	t.Parallel()
	item := judge.Text{Title: "Times", Statement: "Times are stored in UTC. Counter: the export screen shows local time."}
	tests := []struct {
		unit string
		want core.Label
	}{
		{"The export screen shows times as local time.", core.OK},
		{"Times are stored in local time.", core.Contra},
		{"All times are stored in UTC.", core.Dup},
		{"Buttons have round corners.", core.OK},
	}
	for _, tt := range tests {
		unit := judge.Text{Statement: tt.unit}
		p := judge.Build([]byte("s"), item, unit)
		for name, p := range map[string]judge.Prompt{"build": p, "strict": judge.Strict(p), "shorter": judge.Shorter([]byte("s"), item, unit)} {
			answer, err := localllm.NewFake().Complete(t.Context(), p.System+"\n\n"+p.User, localllm.Opts{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := judge.Read(answer)
			if err != nil || v.Label != tt.want || !strings.HasPrefix(v.Reason, "demo model: ") {
				t.Errorf("%s, %q: %+v, %v (%s); want %s", name, tt.unit, v, err, answer, tt.want)
			}
		}
	}
}
