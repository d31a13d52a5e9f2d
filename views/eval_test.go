package views

import (
	"strings"
	"testing"
	"time"

	"storozh/core"
)

func measured(model, hash string, demo bool) core.Evaluation {
	r := core.Rate{N: 25, Of: 30, Value: 0.8333, Low: 0.664, High: 0.927}
	return core.Evaluation{ID: 3, At: testPage.Now.Add(-time.Hour), Demo: demo, Judge: &core.JudgeScore{
		Model: model, Prompt: "judge-1", Set: "dev", SetHash: hash, Pairs: 90, Right: r, Unjudged: core.Rate{N: 9, Of: 90, Value: 0.1, Low: 0.05, High: 0.18},
		Labels: []core.LabelScore{{Label: core.Contra, F1: r, Precision: r, Recall: r, Answers: core.Tally{Contra: 25, OK: 5}}},
		Kinds:  []core.GroupScore{{Name: "negation", Right: r, Unjudged: 1}}, Reasons: map[string]int{"timeout": 9}, Swap: &core.SwapScore{Same: r},
		Calls: 99, Median: 1500 * time.Millisecond, P95: 2 * time.Second,
	}}
}

func TestEvalShowsRunsSideBySide(t *testing.T) {
	t.Parallel()
	all := []core.Evaluation{measured("qwen-7b", "aaaa", false), measured("gemma\u202e-4b", "aaaa", true), measured("old-model", "bbbb", false),
		{ID: 9, At: testPage.Now, Retrieval: &core.RecallScore{Model: "nomic", SetHash: "cccc", Statements: 60, Items: 560, Dimensions: 768,
			At: []core.RecallAt{{K: 5, Rate: core.Rate{N: 54, Of: 60, Value: 0.9, Low: 0.8, High: 0.95}}}}}}
	m := NewEval(testPage, all, 30)
	if len(m.Sets) != 2 || len(m.Sets[0].Runs) != 2 || len(m.Recalls) != 1 || m.Limited != 0 {
		t.Fatalf("%+v", m)
	}
	page := html(t, EvalPage(m))
	has(t, page, []string{"qwen-7b", "judge-1", "0.83 (0.66–0.93)", "10 % (5–18)", "83 % (66–93)", "1.5 s", "9 × timeout", "Set dev, 90 pairs, aaaa", "Set dev, 90 pairs, bbbb",
		"demo model: these figures say nothing about a real model", "90 % (80–95)", "768", "60 statements among 560 items, cccc", "U+202E"}, []string{"\u202e", "style=", "NaN"})
	if n := strings.Count(page, demoNote); n != 1 {
		t.Errorf("the demo model is named %d times, one run of four is its", n)
	}
}

func TestEvalWithoutMeasurements(t *testing.T) {
	t.Parallel()
	has(t, html(t, EvalPage(NewEval(testPage, nil, 30))), []string{"Nothing measured yet", "web eval --set dev --swap"}, []string{`class="panel eval"`})
	m := NewEval(testPage, []core.Evaluation{{Judge: &core.JudgeScore{Model: "m"}}}, 1)
	has(t, html(t, EvalPage(m)), []string{"The latest 1 measurements", "–"}, []string{"NaN"})
}
