package localllm_test

import (
	"strings"
	"testing"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		listed       []string
		embed, judge string // configured
		wantE, wantJ string
		warnings     []string // words in them, one each
	}{
		"by kind":        {[]string{"qwen2.5-7b-instruct", "text-embedding-bge-m3"}, "", "", "text-embedding-bge-m3", "qwen2.5-7b-instruct", nil},
		"as configured":  {[]string{"a", "b", "nomic"}, "my-embed", "my-judge", "my-embed", "my-judge", nil},
		"several judges": {[]string{"zeta", "alpha", "e5-large"}, "", "", "e5-large", "alpha", []string{"alpha"}},
		"several of both": {[]string{"b", "a", "multilingual-e5-small", "gte-base"}, "", "", "gte-base", "a",
			[]string{"gte-base", "a is used"}},
		"a reranker is neither":   {[]string{"bge-reranker-v2-m3", "whisper-large", "all-MiniLM-L6-v2", "phase5-chat"}, "", "", "all-MiniLM-L6-v2", "phase5-chat", nil},
		"an encoder of sentences": {[]string{"a-judge", "universal-sentence-encoder-lite"}, "", "", "universal-sentence-encoder-lite", "a-judge", nil},
		"none listed":             {[]string{}, "", "", localllm.DefaultEmbedModel, localllm.DefaultJudgeModel, nil},
		"only a judge":            {[]string{"llama"}, "", "", localllm.DefaultEmbedModel, "llama", nil},
		"twice the same":          {[]string{"llama", "llama"}, "", "", localllm.DefaultEmbedModel, "llama", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, func(f *llmtest.Faults) { f.Models = tt.listed })
			m, err := client(t, s, func(c *localllm.Config) { c.EmbedModel, c.JudgeModel = tt.embed, tt.judge }).Resolve(t.Context())
			if err != nil || m.Embed != tt.wantE || m.Judge != tt.wantJ || len(m.Warnings) != len(tt.warnings) {
				t.Fatalf("%+v, %v", m, err)
			}
			for i, w := range tt.warnings {
				if !strings.Contains(m.Warnings[i], w) {
					t.Errorf("warning %q does not name %q", m.Warnings[i], w)
				}
			}
		})
	}
}

func TestResolveReachable(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]llmtest.Option{
		"404":        func(f *llmtest.Faults) { f.NoModels = true },
		"200, error": func(f *llmtest.Faults) { f.NoModels, f.Unexpected200 = true, true },
	} {
		s := llmtest.Start(t, fault)
		if m, err := client(t, s).Resolve(t.Context()); err != nil || m.Embed != localllm.DefaultEmbedModel {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	locked := llmtest.Start(t, func(f *llmtest.Faults) { f.RequireBearer = "k" })
	if m, err := client(t, locked).Resolve(t.Context()); err != nil || len(m.Warnings) != 1 {
		t.Errorf("401: %+v, %v", m, err)
	}
	down := llmtest.Start(t, func(f *llmtest.Faults) { f.Down = true })
	_, err := client(t, down).Resolve(t.Context())
	wantKind(t, err, localllm.KindUnreachable)
}

// A list that cannot be had for once changes no model: another name is other vectors and other verdicts.
func TestResolveKeepsItsModelsWhileTheListFails(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Models = []string{"bge-m3", "llama", "qwen"} })
	c := client(t, s)
	first, err := c.Resolve(t.Context())
	if err != nil || first.Embed != "bge-m3" || first.Judge != "llama" || len(first.Warnings) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, fault := range []llmtest.Option{func(f *llmtest.Faults) { f.NoModels = true }, func(f *llmtest.Faults) { f.Unexpected200 = true }} {
		s.Set(fault)
		if m, err := c.Resolve(t.Context()); err != nil || m.Embed != first.Embed || m.Judge != first.Judge || len(m.Warnings) != 1 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	s.Set(func(f *llmtest.Faults) { f.NoModels, f.Models = false, []string{"e5", "phi"} })
	if m, err := c.Resolve(t.Context()); err != nil || m.Embed != "e5" || m.Judge != "phi" || len(m.Warnings) != 0 {
		t.Errorf("after it was there again: %+v, %v", m, err)
	}
}

// Whoever never called Resolve gets the same models, and the list is fetched once.
func TestModelsAreResolvedOnDemand(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"))
	c := client(t, s)
	for range 2 {
		if _, err := c.Complete(t.Context(), "p", localllm.Opts{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Asked()[1].Body["model"]; got != localllm.FakeJudgeModel || s.Counts().Models != 1 {
		t.Errorf("model %v after %d lists", got, s.Counts().Models)
	}
}

func TestEmbedText(t *testing.T) {
	t.Parallel()
	tests := []struct{ model, title, statement, want string }{
		{"text-embedding-nomic-embed-text-v1.5", "T", "S", "clustering: T\nS"},
		{"intfloat/multilingual-e5-large", "", "S", "query: S"},
		{"multilingual-e5-large-instruct", "", "S", "Instruct: Retrieve semantically similar text\nQuery: S"},
		{"embeddinggemma-300m", "", "S", "task: sentence similarity | query: S"},
		{"bge-m3", "T", "S", "T\nS"},
		{"phase5-embed", "", "S", "S"},
		{"bge-m3", "T", "", "T"},
		{"bge-m3", "Prices", "# Prices\nare net", "# Prices\nare net"},
	}
	for _, tt := range tests {
		if got := localllm.EmbedText(tt.model, tt.title, tt.statement); got != tt.want {
			t.Errorf("EmbedText(%q, %q, %q) = %q, want %q", tt.model, tt.title, tt.statement, got, tt.want)
		}
	}
}
