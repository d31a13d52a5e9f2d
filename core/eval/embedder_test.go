package eval

import (
	"math"
	"os"
	"testing"
	"time"

	"storozh/core/localllm"
)

// realEmbedder is a client of a real embedding model (`.ci/embedder` starts one). In CI (STOROZH_CI=1) it must be there.
func realEmbedder(t *testing.T) (localllm.Model, Options) {
	t.Helper()
	url := os.Getenv("STOROZH_TEST_REAL_EMBED_URL")
	if url == "" {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatal("STOROZH_TEST_REAL_EMBED_URL is not set: start .ci/embedder and set it to the URL it prints")
		}
		t.Skip("STOROZH_TEST_REAL_EMBED_URL is not set: .ci/embedder starts a real model and prints its URL")
	}
	c, err := localllm.New(localllm.Config{BaseURL: url, Timeout: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	names, err := c.Resolve(t.Context())
	if err != nil || len(names.Warnings) > 0 {
		t.Fatalf("%+v, %v", names, err)
	}
	return c, Options{Models: names, Clock: time.Now}
}

// The weights are fixed, so this always comes to the same: 17 of the 20 English statements find what they contradict among the five nearest of
// 560 items. The bound is lower, for another build of the model's arithmetic may order near ties otherwise.
func TestRecallOfARealEmbedder(t *testing.T) {
	m, opt := realEmbedder(t)
	s, err := Recall(t.Context(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if s.Model != opt.Models.Embed || s.Dimensions != 512 || s.Statements != 60 || s.Items != 560 {
		t.Errorf("%+v", s)
	}
	// By language: the least that the nearest bring, the most (a model that knew Russian would be another one), and the least with one by words.
	bounds := map[string][3]int{"en": {15, 20, 17}, "ru": {0, 5, 15}, "mixed": {0, 5, 0}}
	for _, l := range s.Languages {
		t.Logf("%s: %d of %d, with one more by words %d", l.Name, l.Near.N, l.Near.Of, l.Beside.N)
		if b := bounds[l.Name]; l.Near.N < b[0] || l.Near.N > b[1] || l.Beside.N < b[2] {
			t.Errorf("%s: %+v", l.Name, l)
		}
	}
}

// Equal texts have equal vectors, but for the last digits, which hang on what else is embedded at once; one statement in other words is nearer
// than any other subject.
func TestARealEmbedderKnowsAParaphrase(t *testing.T) {
	m, _ := realEmbedder(t)
	texts := []string{"Children under six ride for free.", "Children under six ride for free.", "Kids below the age of six pay nothing.",
		"Thumbnails are generated when a picture is uploaded.", "A stale lock is broken after two minutes."}
	together, err := m.EmbedBatch(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := m.Embeddings(t.Context(), texts[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range alone {
		if together[0][i] != together[1][i] || math.Abs(float64(x-together[0][i])) > 1e-5 {
			t.Fatalf("number %d of one text: %v, %v, %v", i, together[0][i], together[1][i], x)
		}
	}
	if same := cosine(alone, together[2]); same < cosine(alone, together[3])+.2 || same < cosine(alone, together[4])+.2 {
		t.Errorf("a paraphrase is at %.2f, other subjects at %.2f and %.2f", same, cosine(alone, together[3]), cosine(alone, together[4]))
	}
}
