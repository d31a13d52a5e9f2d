package localllm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// numbered embeds "text 7" as [7, 1], so that a wrong pairing shows.
func numbered(text string) []float32 {
	n := 0
	_, _ = fmt.Sscanf(text, "text %d", &n)
	return []float32{float32(n), 1}
}

func TestEmbedBatchPairsByIndex(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Shuffle, f.Embedder = true, numbered })
	var texts []string
	var want [][]float32
	for i := range 150 {
		texts = append(texts, fmt.Sprintf("text %d", i))
		want = append(want, []float32{float32(i), 1})
	}
	got, err := client(t, s).EmbedBatch(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := s.Counts(); n.Embeddings != 3 || n.Texts != 150 {
		t.Errorf("%+v, want 3 requests for 150 texts", n)
	}
	if one, err := client(t, s).Embeddings(t.Context(), "text 7"); err != nil || cmp.Diff([]float32{7, 1}, one) != "" {
		t.Errorf("one text: %v, %v", one, err)
	}
	if none, err := client(t, s).EmbedBatch(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("no text: %v, %v", none, err)
	}
}

func TestEmbedBatchCapsBytes(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t)
	big := strings.Repeat("слово ", 20_000) // more than 200 KiB
	if _, err := client(t, s).EmbedBatch(t.Context(), []string{big, big, "a", "b"}); err != nil {
		t.Fatal(err)
	}
	if n := s.Counts().Embeddings; n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestEmbedRefusesBadVectors(t *testing.T) {
	t.Parallel()
	tests := map[string]llmtest.Option{
		"null":               func(f *llmtest.Faults) { f.NullVectors = true },
		"zero":               func(f *llmtest.Faults) { f.ZeroVectors = true },
		"odd length":         func(f *llmtest.Faults) { f.OddLength = true },
		"index twice":        func(f *llmtest.Faults) { f.Indexes = []int{0, 0, 1} },
		"index out of range": func(f *llmtest.Faults) { f.Indexes = []int{0, 1, 3} },
		"index below zero":   func(f *llmtest.Faults) { f.Indexes = []int{-1, 0, 1} },
		"no vector":          func(f *llmtest.Faults) { f.Embedder = func(string) []float32 { return nil } },
		"missing ones":       func(f *llmtest.Faults) { f.Raw = `{"data":[{"index":0,"embedding":[1,2]}]}` },
		"no index":           func(f *llmtest.Faults) { f.Raw = `{"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]}` },
		"base64":             func(f *llmtest.Faults) { f.Raw = `{"data":[{"index":0,"embedding":"AACAPw=="}]}` },
		"too big a number": func(f *llmtest.Faults) {
			f.Raw = `{"data":[{"index":0,"embedding":[1e200]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`
		},
		// pgvector sums squares in single precision: the cosine of these with any other comes out as 1, or as 0.
		"too small a number": func(f *llmtest.Faults) { f.Embedder = func(string) []float32 { return []float32{1e-30, 1e-30} } },
		"too long a vector":  func(f *llmtest.Faults) { f.Embedder = func(string) []float32 { return []float32{1e25, 1e25} } },
		"NaN":                func(f *llmtest.Faults) { f.Raw = `{"data":[{"index":0,"embedding":[NaN]}]}` },
		"null vector":        func(f *llmtest.Faults) { f.Raw = `{"data":[{"index":0,"embedding":null},null,{}]}` },
		"HTML":               func(f *llmtest.Faults) { f.Raw = `<html>` },
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, fault)
			got, err := client(t, s).EmbedBatch(t.Context(), []string{"a", "b", "c"})
			wantKind(t, err, localllm.KindMalformed)
			if got != nil {
				t.Errorf("vectors beside an error: %v", got)
			}
			if n := s.Counts().Embeddings; n != 2 {
				t.Errorf("asked %d times, want 2", n)
			}
		})
	}
}

func TestEmbedNoticesASwappedModel(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t)
	c := client(t, s)
	if _, err := c.Embeddings(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	s.Set(func(f *llmtest.Faults) { f.Dimensions = 100 })
	_, err := c.Embeddings(t.Context(), "a")
	wantKind(t, err, localllm.KindMalformed)
	if v, err := c.Embeddings(t.Context(), "a"); err != nil || len(v) != 100 {
		t.Errorf("it was swapped for good: %d numbers, %v", len(v), err)
	}
	s.Set(func(f *llmtest.Faults) { f.Dimensions = 0 })
	_, err = c.Embeddings(t.Context(), "a")
	wantKind(t, err, localllm.KindMalformed)
	if _, err := c.Embeddings(t.Context(), "a"); err != nil {
		t.Errorf("after it was swapped back: %v", err)
	}
}

func TestEmbedWithoutAnEmbeddingModel(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]llmtest.Option{
		"404":       func(f *llmtest.Faults) { f.NoEmbeddings = true },
		"LM Studio": func(f *llmtest.Faults) { f.NoEmbeddings, f.Unexpected200 = true, true },
		"llama.cpp": func(f *llmtest.Faults) {
			f.Statuses, f.StatusBody = []int{501}, `{"error":{"code":501,"message":"This server does not support embeddings."}}`
		},
		"no pooling": func(f *llmtest.Faults) {
			f.Statuses, f.StatusBody = []int{400}, `{"error":{"message":"Pooling type 'none' is not OAI compatible."}}`
		},
		"Ollama": func(f *llmtest.Faults) {
			f.Statuses, f.StatusBody = []int{404}, `{"error":"model \"x\" not found, try pulling it first"}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, fault)
			_, err := client(t, s).Embeddings(t.Context(), "a")
			wantKind(t, err, localllm.KindNoModel)
			if n := s.Counts().Embeddings; n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
		})
	}
}

// One text that does not fit must not cost the others their vectors.
func TestEmbedShortensWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.MaxPrompt = 1000 })
	c := client(t, s)
	texts := []string{"a short one", strings.Repeat("долго ", 300), "another"}
	got, err := c.EmbedBatch(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := c.Embeddings(t.Context(), texts[2]); cmp.Diff(want, got[2]) != "" {
		t.Error("the text after the long one has another's vector")
	}
	s.Set(func(f *llmtest.Faults) { f.MaxPrompt = 10 })
	_, err = c.Embeddings(t.Context(), texts[1])
	wantKind(t, err, localllm.KindTooLong)
}
