package eval

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.0005 {
		t.Errorf("%s is %.4f, want %.4f", what, got, want)
	}
}

// The values are those of the closed formula as published, worked out by hand.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, of     int
		low, high float64
	}{{0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {1, 30, 0.0059, 0.1667}, {150, 180, 0.7722, 0.8807}, {0, 0, 0, 1}} {
		r := Wilson(tt.n, tt.of)
		near(t, "low", r.Low, tt.low)
		near(t, "high", r.High, tt.high)
		if r.Value < r.Low || r.Value > r.High || r.N != tt.n || r.Of != tt.of {
			t.Errorf("%d of %d: %+v", tt.n, tt.of, r)
		}
	}
}

// small is a set of four pairs with one answer of each sort.
func small() (Set, []Answer) {
	set := Set{Name: Dev, Hash: "h", Pairs: []Pair{
		{ID: "a", Kind: "modal", Lang: "en", Label: core.Contra}, {ID: "b", Kind: "modal", Lang: "ru", Label: core.Contra},
		{ID: "c", Kind: "number", Lang: "ru", Label: core.Dup}, {ID: "d", Kind: "number", Lang: "mixed", Label: core.OK},
	}}
	return set, []Answer{{Label: core.Contra, Swapped: core.Contra}, {Unjudged: "timeout", Swapped: core.OK}, {Label: core.Contra, Swapped: core.Dup}, {Label: core.OK}}
}

func TestScore(t *testing.T) {
	t.Parallel()
	set, answers := small()
	calls := []Call{{10, 2, 3 * time.Second}, {10, 2, time.Second}, {10, 2, 2 * time.Second}, {10, 2, 9 * time.Second}}
	s := Score(set, answers, calls, true)
	contra := s.Labels[0]
	if diff := cmp.Diff(core.Tally{Contra: 1, Unjudged: 1}, contra.Answers); diff != "" {
		t.Error(diff)
	}
	if contra.Precision.N != 1 || contra.Precision.Of != 2 || contra.Recall.N != 1 || contra.Recall.Of != 2 {
		t.Errorf("contra: %+v", contra)
	}
	near(t, "F1 of contra", contra.F1.Value, 0.5)
	near(t, "F1 of dup", s.Labels[1].F1.Value, 0)
	near(t, "F1 of ok", s.Labels[2].F1.Value, 1)
	if f := contra.F1; f.Low >= f.Value || f.High <= f.Value || f.High > 1 {
		t.Errorf("F1's interval: %+v", f)
	}
	if s.Right.N != 2 || s.Unjudged.N != 1 || s.Reasons["timeout"] != 1 || s.Pairs != 4 {
		t.Errorf("%+v", s)
	}
	if len(s.Kinds) != 2 || s.Kinds[0].Name != "modal" || s.Kinds[0].Right.N != 1 || s.Kinds[0].Unjudged != 1 || len(s.Languages) != 3 {
		t.Errorf("kinds %+v, languages %+v", s.Kinds, s.Languages)
	}
	if s.Swap.Same.N != 1 || s.Swap.Same.Of != 2 || s.Swap.Unjudged != 2 {
		t.Errorf("swap %+v", *s.Swap)
	}
	if s.Calls != 4 || s.PromptTokens != 40 || s.AnswerTokens != 8 || s.Median != 2*time.Second || s.P95 != 9*time.Second || s.Slowest != 9*time.Second {
		t.Errorf("cost: %+v", s)
	}
	if s := Score(set, answers, nil, false); s.Swap != nil || s.Median != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	if Tokens("") != 0 || Tokens("eight ch") != 2 || Tokens("слово") != 3 {
		t.Error(Tokens(""), Tokens("eight ch"), Tokens("слово"))
	}
}
