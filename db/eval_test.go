package db_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/db/dbtest"
)

func TestEvaluations(t *testing.T) {
	d := dbtest.Open(t)
	at := time.Date(2026, 5, 21, 14, 0, 0, 0, time.UTC)
	share := core.Rate{N: 1, Of: 3, Value: 1.0 / 3, Low: 0.1, High: 0.7}
	whole := core.Evaluation{At: at, Took: time.Minute, Judge: &core.JudgeScore{
		Model: "qwen\x00-7b", Prompt: "judge-1", Set: "dev", SetHash: "ab", Pairs: 3, Right: share, Reasons: map[string]int{"timeout": 2},
		Labels: []core.LabelScore{{Label: core.Contra, Answers: core.Tally{Contra: 1, Unjudged: 2}, F1: share}}, Swap: &core.SwapScore{Same: share},
		Calls: 6, Median: 1500 * time.Millisecond,
	}}
	half := core.Evaluation{At: at.Add(time.Hour), Demo: true, Left: []string{"the judge"}, Retrieval: &core.RecallScore{
		Model: "demo-embed", SetHash: "cd", At: []core.RecallAt{{K: 5, Rate: share}}, Missed: []string{"clash-01"}}}
	for _, e := range []core.Evaluation{half, whole} {
		if id, err := d.SaveEvaluation(t.Context(), e); err != nil || id < 1 {
			t.Fatalf("id %d, %v", id, err)
		}
	}
	got, err := d.Evaluations(t.Context(), 10)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d, %v", len(got), err)
	}
	if got[0].ID == got[1].ID || got[0].ID == 0 {
		t.Errorf("ids %d and %d", got[0].ID, got[1].ID)
	}
	got[0].ID, got[1].ID = 0, 0
	whole.Judge.Model = "qwen\uFFFD-7b"
	if diff := cmp.Diff([]core.Evaluation{half, whole}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := d.Evaluations(t.Context(), 1); err != nil || len(got) != 1 || !got[0].Demo {
		t.Errorf("%+v, %v", got, err)
	}
}
