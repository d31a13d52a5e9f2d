package guard

import (
	"testing"

	"storozh/core/judge"
	"storozh/core/localllm"
)

// A model whose prefix was another when its vectors were made is asked with that one.
func TestAnOlderModelIsAskedWithItsOwnPrefix(t *testing.T) {
	t.Parallel()
	const name = "text-embedding-nomic-embed-text-v1.5"
	text := judge.Text{Title: "Logs", Statement: "one object per line"}
	now := embedder{name: name, prefix: localllm.Prefix(name)}
	if got, want := now.words(text), localllm.EmbedText(name, text.Title, text.Statement); got != want || now.prefix == "" {
		t.Errorf("%q, want %q", got, want)
	}
	for _, prefix := range []string{"", "search_document: "} {
		if got := (embedder{name: name, prefix: prefix}).words(text); got != prefix+"Logs\none object per line" {
			t.Errorf("%q", got)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 100000: "100,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
