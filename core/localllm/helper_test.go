package localllm_test

import (
	"testing"
	"time"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// client is a quick client of a server.
func client(t *testing.T, s *llmtest.Server, change ...func(*localllm.Config)) *localllm.Client {
	t.Helper()
	cfg := localllm.Config{BaseURL: s.URL, Timeout: time.Minute}
	for _, f := range change {
		f(&cfg)
	}
	c, err := localllm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Hurry(2*time.Millisecond, 100*time.Millisecond)
	return c
}

// wantKind fails unless err is of that kind.
func wantKind(t *testing.T, err error, want localllm.Kind) {
	t.Helper()
	if got := localllm.KindOf(err); err == nil || got != want {
		t.Errorf("got %v (kind %q), want %q", err, got, want)
	}
}
