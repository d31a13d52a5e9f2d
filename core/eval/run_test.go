package eval

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm"
)

func demo(t *testing.T) (localllm.Model, Options) {
	t.Helper()
	m := localllm.NewFake()
	names, err := m.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, Options{Secret: []byte("s"), Concurrency: 4, Models: names}
}

// ticking is a clock that moves one second per look.
func ticking() func() time.Time {
	var mu sync.Mutex
	at := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func TestJudgeMeasuresTheDemoModel(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	last := 0
	opt.Swap, opt.Clock, opt.Concurrency = true, ticking(), 1
	opt.Progress = func(done, of int) {
		if done != last+1 || of != 90 {
			t.Errorf("progress %d of %d after %d", done, of, last)
		}
		last = done
	}
	s, answers, err := Judge(t.Context(), m, load(t, Dev), opt)
	if err != nil {
		t.Fatal(err)
	}
	// The demo model counts words: it does not depend on the order, always answers, and is neither perfect nor blind.
	if s.Swap.Same.N != 90 || s.Unjudged.N != 0 || s.Right.Value < 0.34 || s.Right.Value > 0.95 {
		t.Errorf("%+v, swap %+v", s, *s.Swap)
	}
	if s.Calls != 180 || s.Median != time.Second || s.PromptTokens < 180*200 || s.AnswerTokens < 180 || last != 90 || len(answers) != 90 {
		t.Errorf("%d calls, %v, %d and %d tokens", s.Calls, s.Median, s.PromptTokens, s.AnswerTokens)
	}
	if s.Model != localllm.FakeJudgeModel || !strings.HasPrefix(s.Prompt, "judge-") || answers[0].ID == "" || answers[0].Reason == "" {
		t.Errorf("%+v %+v", s, answers[0])
	}
}

// A model that says nothing readable leaves everything unjudged; each pair costs exactly one retry.
func TestJudgeOfNoiseIsUnjudged(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	set := load(t, Test)
	s, answers, err := Judge(t.Context(), says{m, "hm, hard to tell"}, set, opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Unjudged.N != len(set.Pairs) || s.Reasons["unreadable answer"] != len(set.Pairs) || s.Calls != 2*len(set.Pairs) || answers[3].Label != "" {
		t.Errorf("%+v", s)
	}
	for _, l := range s.Labels {
		if l.Precision.Of != 0 || l.Recall.N != 0 || l.F1.Value != 0 {
			t.Errorf("%+v", l)
		}
	}
}

// A judge that always says the same is right for a third, no more.
func TestJudgeThatAlwaysSaysContra(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	s, _, err := Judge(t.Context(), says{m, `{"reason":"r","label":"contra"}`}, load(t, All), opt)
	if err != nil || 3*s.Right.N != s.Right.Of || s.Labels[0].Recall.Value != 1 || 3*s.Labels[0].Precision.N != s.Labels[0].Precision.Of {
		t.Errorf("%v %+v", err, s)
	}
}

// says is a model with one answer to everything.
type says struct {
	localllm.Model
	answer string
}

func (s says) Complete(context.Context, string, localllm.Opts) (string, error) {
	return s.answer, nil
}

func TestJudgeStops(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	ctx, cancel := context.WithCancel(t.Context())
	opt.Progress = func(int, int) { cancel() }
	if _, _, err := Judge(ctx, m, load(t, All), opt); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestJudgeWithoutAServer(t *testing.T) {
	t.Parallel()
	c, err := localllm.New(localllm.Config{BaseURL: "http://127.0.0.1:1/v1", MaxRetries: -1, JudgeModel: "j", EmbedModel: "e"})
	if err != nil {
		t.Fatal(err)
	}
	_, opt := demo(t)
	if _, _, err := Judge(t.Context(), c, load(t, Dev), opt); err == nil || !strings.Contains(err.Error(), "nothing answers at http://127.0.0.1:1/v1") {
		t.Errorf("got %v", err)
	}
	if _, err := Recall(t.Context(), c, opt); localllm.KindOf(err) != localllm.KindUnreachable {
		t.Errorf("got %v", err)
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	opt.Clock = ticking()
	s, err := Recall(t.Context(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Statements != 60 || s.Items != 560 || s.Dimensions != 256 || len(s.At) != 4 || s.Took != time.Second || s.MeanRank <= 0 || s.MeanRank > 1 {
		t.Errorf("%+v", s)
	}
	for i, a := range s.At {
		if i > 0 && a.Rate.Value < s.At[i-1].Rate.Value || a.Rate.Of != 60 {
			t.Errorf("%+v after %+v", a, s.At)
		}
	}
	if len(s.Missed) != 60-s.At[3].Rate.N {
		t.Errorf("%d missed, %d within 10", len(s.Missed), s.At[3].Rate.N)
	}
	// Word counting brings some and misses those that cross the language: a harness that finds all or none measures nothing.
	if r := s.At[2].Rate.Value; r < 0.2 || r > 0.9 {
		t.Errorf("recall@5 of the demo model is %.2f", r)
	}
}

// Vectors that tell nothing apart bring nothing: equals rank before the wanted one.
func TestRankOfEqualsIsLast(t *testing.T) {
	t.Parallel()
	same := [][]float32{{1, 0}, {1, 0}, {1, 0}}
	if r := rank(order([]float32{1, 0}, same, 0), 0); r != 3 {
		t.Errorf("rank %d of three equals", r)
	}
	if r := rank(order([]float32{1, 0}, [][]float32{{0, 1}, {1, 0.1}, {-1, 0}}, 1), 1); r != 1 {
		t.Errorf("rank %d of the nearest", r)
	}
}

// What is measured of words is measured on the same set, and no k brings less than a smaller one.
func TestRecallByWords(t *testing.T) {
	t.Parallel()
	m, opt := demo(t)
	s, err := Recall(t.Context(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][]core.RecallAt{s.Words, s.Beside, s.Extra} {
		if len(of) != len(ks) {
			t.Fatalf("%+v", of)
		}
		for i, a := range of {
			if a.Rate.Of != 60 || a.K != ks[i] {
				t.Errorf("%+v", of)
			}
		}
	}
	// A third of the set crosses languages, which words cannot; of the rest they find most.
	if n := s.Words[2].Rate.N; n < 30 || n > 40 {
		t.Errorf("%d of 60 by words", n)
	}
	// One more takes none of the nearest away.
	for i, with := range s.Beside {
		if with.Rate.N < s.At[i].Rate.N || i > 0 && with.Rate.N < s.Beside[i-1].Rate.N || with.Rate.N > s.At[i].Rate.N+s.Extra[i].Rate.N {
			t.Errorf("with words %+v, by the embedding alone %+v", s.Beside, s.At)
		}
	}
	of, near, beside := 0, 0, 0
	for i, l := range s.Languages {
		if l.Name != Languages[i] || l.K != 5 || l.Near.Of != 20 {
			t.Errorf("%+v", l)
		}
		of, near, beside = of+l.Near.Of, near+l.Near.N, beside+l.Beside.N
	}
	if of != 60 || near != s.At[2].Rate.N || beside != s.Beside[2].Rate.N {
		t.Errorf("by language %+v", s.Languages)
	}
	t.Logf("recall@5: embedding %d, words %d, both %d of 60; one more for %d", s.At[2].Rate.N, s.Words[2].Rate.N, s.Beside[2].Rate.N, s.Extra[2].Rate.N)
}

// An embedding that tells nothing apart leaves what words find.
func TestWordsBesideAnEmbeddingOfNoUse(t *testing.T) {
	t.Parallel()
	items := []Side{{Statement: "rivers"}, {Statement: "mountains"}, {Statement: "backups are tested"}, {Statement: "gardens"}, {Statement: "the backup"}}
	same := make([][]float32, 5)
	for i := range same {
		same[i] = []float32{1, 0}
	}
	for want, finds := range map[int]bool{2: true, 1: false} {
		var s core.RecallScore
		clash := []Clash{{Unit: Side{Statement: "No backup is tested."}}}
		// The wanted item stands at `first`.
		byWords(&s, items[:want+1], clash, [][]int{order([]float32{1, 0}, same[:want+1], want)}, want)
		if got := s.Words[0].Rate.N == 1; got != finds {
			t.Errorf("item %d by words: %v", want, got)
		}
	}
}
