package app

import (
	"slices"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// without is an embedder that gives no usable vector for texts that hold a word.
func without(t *testing.T, word string) func(text string) []float32 {
	return func(text string) []float32 {
		if strings.Contains(text, word) {
			return make([]float32, 256)
		}
		v, err := localllm.NewFake().Embeddings(t.Context(), text)
		if err != nil {
			t.Error(err)
		}
		return v
	}
}

// An item for which the model gives no vector is set aside and named; all others are compared, in this run and in the next.
func TestAnItemWithoutAVectorKeepsNobodyElseFromBeingCompared(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Embedder, f.Answer = without(t, "латиницей"), rules(workdayRules) })
	a := newApp(t, e, model, nil)
	for _, session := range []string{"s", "s2"} {
		rec, units := runEco(t, a, e, session)
		if rec.Run.Block.ContraCheck != core.ContraRan || !strings.HasPrefix(rec.BLUF, "5 units: 1 misroute, 2 contra, 1 dup") {
			t.Errorf("%s · %s", rec.Run.Block.ContraCheck, rec.BLUF)
		}
		warned := func(w string) bool {
			return strings.Contains(w, "1 item of the shield corpus was compared with nothing") && strings.Contains(w, "shield/memory/names.ru.md")
		}
		if !slices.ContainsFunc(rec.Run.Block.Warnings, warned) {
			t.Errorf("%q", rec.Run.Block.Warnings)
		}
		for _, u := range units {
			if slices.ContainsFunc(u.Pairs, func(p core.Pair) bool { return p.Item == "shield/memory/names.ru.md" }) {
				t.Errorf("%s is compared with it", u.Unit.ID)
			}
		}
	}
	// Once it gives one, nothing is left of it.
	model.Set(func(f *llmtest.Faults) { f.Embedder = nil })
	if rec, _ := runEco(t, a, e, "s3"); len(rec.Run.Block.Warnings) != 0 {
		t.Errorf("%q", rec.Run.Block.Warnings)
	}
}

// A unit without a vector can be compared with nothing: the run is skipped. So it is when no text gets one, after few questions.
func TestAUnitWithoutAVectorIsNotPassedOver(t *testing.T) {
	for word, most := range map[string]int{"unloved": 8, "": 8} {
		t.Run("word "+word, func(t *testing.T) {
			e := newEco(t)
			e.change("shield/lessons/new.md", "# New\n\nA lesson that is unloved by the model.\n")
			model := llmtest.Start(t, func(f *llmtest.Faults) { f.Embedder, f.Answer = without(t, word), rules(nil) })
			rec, units := runEco(t, newApp(t, e, model, nil), e, "s")
			if rec.Run.Block.ContraCheck != core.SkippedNoEmbedding || !units[0].Unjudged {
				t.Errorf("%s · %s", rec.Run.Block.ContraCheck, rec.BLUF)
			}
			if n := model.Counts().Embeddings; word == "" && n > most {
				t.Errorf("%d requests of a model that gives no vectors", n)
			}
		})
	}
}
