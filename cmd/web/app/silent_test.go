package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"storozh/core/guard"
	"storozh/core/localllm"
	"storozh/db/dbtest"
)

// silentJudge embeds, and lets every question but some run into its time limit.
type silentJudge struct {
	localllm.Model
	asked   atomic.Int64
	answers func(n int64) bool
}

func (m *silentJudge) Complete(context.Context, string, localllm.Opts) (string, error) {
	if m.answers(m.asked.Add(1)) {
		return `{"reason":"another subject","label":"ok"}`, nil
	}
	return "", &localllm.Error{Kind: localllm.KindTimeout, Op: "complete"}
}

// A judge that never answers costs a few time limits, not one for every pair; one that answers now and then is asked about all.
func TestASilentJudgeIsGivenUp(t *testing.T) {
	const units, slots, limit = 30, 2, 8
	e := newEco(t)
	m := newLessons(t, e, units)
	for name, tt := range map[string]struct {
		answers func(n int64) bool
		all     bool
	}{
		"never":        {func(int64) bool { return false }, false},
		"now and then": {func(n int64) bool { return n%4 == 0 }, true},
	} {
		model := &silentJudge{Model: localllm.NewFake(), answers: tt.answers}
		res, err := guard.New(dbtest.Open(t), model, guardOptions(e, 2, slots)).Run(t.Context(), guard.Job{Manifest: m.Manifest, RanAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		asked, check := model.asked.Load(), res.Block.ContraCheck
		if tt.all != (asked > limit+slots) || tt.all == strings.Contains(check, "not asked after timeouts") || !strings.Contains(check, "timeout") {
			t.Errorf("%s: %d requests · %s", name, asked, check)
		}
		if s := res.Block.Summary; s.OK+s.Unjudged != units || !tt.all && s.Unjudged != units {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
