package localllm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

func TestNewChecksItsConfig(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://127.0.0.1:1234/v1":       "http://127.0.0.1:1234/v1",
		"http://127.0.0.1:1234/v1/":      "http://127.0.0.1:1234/v1",
		"host.docker.internal:1234/v1":   "http://host.docker.internal:1234/v1",
		"http://127.0.0.1:1234":          "http://127.0.0.1:1234/v1",
		"https://me:word@example.org/v1": "https://example.org/v1",
		" http://[::1]:1234/api/openai ": "http://[::1]:1234/api/openai",
	} {
		c, err := localllm.New(localllm.Config{BaseURL: in})
		if err != nil || c.URL() != want {
			t.Errorf("New(%q): %v, %v; want %s", in, c, err, want)
		}
	}
	for _, bad := range []string{"", "ftp://host/v1", "http://", "http://me:word@ho st/v1", "http://h/v1?key=word", "http://h/v1#word"} {
		if _, err := localllm.New(localllm.Config{BaseURL: bad}); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("New(%q): %v", bad, err)
		}
	}
	if _, err := localllm.New(localllm.Config{BaseURL: "http://h/v1", API: "soap"}); err == nil {
		t.Error("an unknown API passed")
	}
}

func TestRetriesUntilItWorks(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.Statuses = []int{503, 429, 500} })
	if got, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{}); err != nil || got != "fine" {
		t.Errorf("%q, %v", got, err)
	}
	s.Reset()
	s.Set(says("fine"), func(f *llmtest.Faults) { f.Statuses = []int{503} })
	_, err := client(t, s, func(c *localllm.Config) { c.MaxRetries = -1 }).Complete(t.Context(), "p", localllm.Opts{})
	wantKind(t, err, localllm.KindServer)
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.Statuses, f.RetryAfter = []int{429}, "1" })
	start := time.Now()
	if _, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 900*time.Millisecond {
		t.Errorf("came back after %v, was asked to wait 1 s", d)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = time.Minute })
	c := client(t, s, func(c *localllm.Config) { c.Timeout = 50 * time.Millisecond })
	_, err := c.Complete(t.Context(), "p", localllm.Opts{})
	wantKind(t, err, localllm.KindTimeout)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = client(t, s).Complete(ctx, "p", localllm.Opts{})
	wantKind(t, err, localllm.KindTimeout)
}

func TestCancelAbortsTheRequest(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = time.Minute })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.Asked()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := client(t, s).Complete(ctx, "p", localllm.Opts{})
	wantKind(t, err, localllm.KindCancelled)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, core.ErrCanceled) {
		t.Errorf("%v wraps neither", err)
	}
	for until := time.Now().Add(time.Minute); s.Counts().Aborted == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the server still works on the cancelled request")
		}
	}
}

func TestCancelDuringAWait(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Statuses, f.RetryAfter = []int{429}, "20" })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.Asked()) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		cancel()
	}()
	start := time.Now()
	_, err := client(t, s).Complete(ctx, "p", localllm.Opts{})
	wantKind(t, err, localllm.KindCancelled)
	if time.Since(start) > time.Minute {
		t.Error("the wait went on")
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.Down = true })
	c := client(t, s, func(c *localllm.Config) { c.EmbedModel, c.JudgeModel = "e", "j" })
	for range 10 {
		_, err := c.Complete(t.Context(), "p", localllm.Opts{})
		wantKind(t, err, localllm.KindUnreachable)
	}
	// Ten calls of four tries each would be 40; net/http itself may repeat a request on a reused connection.
	if n := s.Counts().Completions; n < 5 || n > 10 {
		t.Errorf("a server that is down got %d requests", n)
	}
	s.Set(func(f *llmtest.Faults) { f.Down = false })
	time.Sleep(150 * time.Millisecond)
	if got, err := c.Complete(t.Context(), "p", localllm.Opts{}); err != nil || got != "fine" {
		t.Errorf("after it came back: %q, %v", got, err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c, err := localllm.New(localllm.Config{BaseURL: strings.Replace(srv.URL, "://", "://me:hidden@", 1), Key: "hidden-key"})
	if err != nil {
		t.Fatal(err)
	}
	c.Hurry(time.Millisecond, time.Minute)
	_, err = c.Embeddings(t.Context(), "a")
	wantKind(t, err, localllm.KindUnreachable)
	if strings.Contains(fmt.Sprintf("%v %+v", err, err), "hidden") {
		t.Errorf("%v shows a secret", err)
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Statuses, f.StatusBody = []int{400}, `{"error":"bad key hidden-key for\n`+"\u202e"+`you"}`
	})
	_, err := client(t, s, func(c *localllm.Config) { c.Key = "hidden-key" }).Complete(t.Context(), "p", localllm.Opts{})
	if err == nil || strings.Contains(err.Error(), "hidden-key") || strings.ContainsAny(err.Error(), "\n\u202e") {
		t.Errorf("%q", err)
	}
	if got := s.Asked()[0].Auth; got != "Bearer hidden-key" {
		t.Errorf("the server saw %q", got)
	}
	s.Set(func(f *llmtest.Faults) { f.Statuses, f.StatusBody = []int{400}, strings.Repeat("я", 10_000) })
	if _, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{}); len([]rune(err.Error())) > 400 {
		t.Errorf("%d runes of detail", len([]rune(err.Error())))
	}
}

func TestAnswerIsCapped(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Raw = strings.Repeat(" ", 17<<20) })
	_, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{})
	wantKind(t, err, localllm.KindMalformed)
}

func TestRedirectsAreRefused(t *testing.T) {
	t.Parallel()
	elsewhere := llmtest.Start(t)
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.RedirectModels = elsewhere.URL + "/models" })
	if _, err := client(t, s).Resolve(t.Context()); err != nil {
		t.Errorf("it answers, so it is reachable: %v", err)
	}
	if n := elsewhere.Counts().Models; n != 0 {
		t.Error("the redirect was followed")
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op     string
		status int
		said   string
		want   localllm.Kind
		again  bool
	}{
		{"complete", 400, "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens", localllm.KindTooLong, false},
		{"complete", 400, "Trying to keep the first 111490 tokens when context the overflows.", localllm.KindTooLong, false},
		{"complete", 400, "The number of tokens to keep from the initial prompt is greater than the context length", localllm.KindTooLong, false},
		{"embed", 500, "input (3000 tokens) is too large to process. increase the physical batch size", localllm.KindTooLong, false},
		{"embed", 400, "the input length exceeds the context length", localllm.KindTooLong, false},
		{"complete", 413, "", localllm.KindTooLong, false},
		{"complete", 503, "Loading model", localllm.KindServer, true},
		{"complete", 400, "Model unloaded.", localllm.KindServer, true},
		{"complete", 400, "Failed to load model \"x\". Error: insufficient memory", localllm.KindNoModel, false},
		{"complete", 400, "Invalid model identifier \"x\". Please specify a valid downloaded model", localllm.KindNoModel, false},
		{"embed", 400, "Model is not embedding", localllm.KindNoModel, false},
		{"complete", 500, "panic", localllm.KindServer, true},
		{"complete", 501, "", localllm.KindServer, false},
		{"complete", 400, "unknown parameter", localllm.KindServer, false},
	}
	for _, tt := range tests {
		if got, again := localllm.Classify(tt.op, tt.status, tt.said); got != tt.want || again != tt.again {
			t.Errorf("%s %d %q: %s %v, want %s %v", tt.op, tt.status, tt.said, got, again, tt.want, tt.again)
		}
	}
}
