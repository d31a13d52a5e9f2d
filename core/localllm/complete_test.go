package localllm_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

func says(text string) llmtest.Option {
	return func(f *llmtest.Faults) { f.Answer = func(string) string { return text } }
}

func TestCompleteByCompletions(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says(" fine"))
	got, err := client(t, s).Complete(t.Context(), "the prompt", localllm.Opts{System: "be good", MaxTokens: 7, Stop: []string{"\n\n"}, Model: "m"})
	if err != nil || got != " fine" {
		t.Fatalf("%q, %v", got, err)
	}
	want := map[string]any{"model": "m", "prompt": "be good\n\nthe prompt", "max_tokens": 7.0, "temperature": 0.0, "stop": []any{"\n\n"}, "stream": false}
	if d := cmp.Diff(want, s.Asked()[0].Body); d != "" {
		t.Error(d)
	}
}

func TestCompleteSwitchesToChat(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]llmtest.Option{
		"404":       func(f *llmtest.Faults) { f.NoCompletions = true },
		"LM Studio": func(f *llmtest.Faults) { f.NoCompletions, f.Unexpected200 = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, fault, says("fine"))
			c := client(t, s)
			for range 3 {
				if got, err := c.Complete(t.Context(), "the prompt", localllm.Opts{System: "be good"}); err != nil || got != "fine" {
					t.Fatalf("%q, %v", got, err)
				}
			}
			if n := s.Counts(); n.Completions != 1 || n.Chat != 3 {
				t.Errorf("%+v: the missing endpoint was not remembered", n)
			}
			want := []any{map[string]any{"role": "system", "content": "be good"}, map[string]any{"role": "user", "content": "the prompt"}}
			if d := cmp.Diff(want, s.Asked()[0].Body["messages"]); d != "" {
				t.Error(d)
			}
		})
	}
	for _, status := range []int{405, 501} {
		s := llmtest.Start(t, func(f *llmtest.Faults) { f.Statuses = []int{status} }, says("fine"))
		if got, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{}); err != nil || got != "fine" || s.Counts().Chat != 1 {
			t.Errorf("%d: %q, %v", status, got, err)
		}
	}
}

func TestCompleteSwitchesOnceWhenConcurrent(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.NoCompletions = true }, says("fine"))
	c := client(t, s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := c.Complete(t.Context(), "p", localllm.Opts{}); err != nil || got != "fine" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if n := s.Counts(); n.Chat != 8 {
		t.Errorf("%+v", n)
	}
}

func TestCompleteAsSet(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.NoCompletions = true })
	_, err := client(t, s, func(c *localllm.Config) { c.API = localllm.APICompletions }).Complete(t.Context(), "p", localllm.Opts{})
	wantKind(t, err, localllm.KindServer)
	if n := s.Counts(); n.Chat != 0 || n.Completions != 1 {
		t.Errorf("%+v", n)
	}
	s.Reset()
	s.Set(says("fine"))
	if _, err := client(t, s, func(c *localllm.Config) { c.API = localllm.APIChat }).Complete(t.Context(), "p", localllm.Opts{}); err != nil {
		t.Error(err)
	}
	if n := s.Counts(); n.Chat != 1 || n.Completions != 0 {
		t.Errorf("%+v", n)
	}
}

// A server with neither API is asked twice per call, without a loop, and not remembered: it may have been starting.
func TestCompleteWithoutAnyAPI(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.NoCompletions, f.NoChat = true, true })
	c := client(t, s)
	_, err := c.Complete(t.Context(), "p", localllm.Opts{})
	wantKind(t, err, localllm.KindServer)
	if n := s.Counts(); n.Chat != 1 || n.Completions != 1 {
		t.Errorf("%+v", n)
	}
	s.Set(func(f *llmtest.Faults) { f.NoCompletions = false })
	if _, err := c.Complete(t.Context(), "p", localllm.Opts{}); err != nil {
		t.Error(err)
	}
}

func TestCompleteRefusesBadAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault llmtest.Option
		want  localllm.Kind
		asked int
	}{
		"overflow as 200 (L1)": {func(f *llmtest.Faults) { f.ErrorAs200 = "prompt longer than context" }, localllm.KindTooLong, 1},
		"error object as 200":  {func(f *llmtest.Faults) { f.ErrorAs200 = map[string]any{"message": "No models loaded. Please load one"} }, localllm.KindNoModel, 1},
		"unknown error as 200": {func(f *llmtest.Faults) { f.ErrorAs200 = "something odd" }, localllm.KindServer, 1},
		"crash as 200":         {func(f *llmtest.Faults) { f.ErrorAs200 = "The model has crashed without additional information." }, localllm.KindServer, 4},
		"code in the object":   {func(f *llmtest.Faults) { f.ErrorAs200 = map[string]any{"message": "slow down", "code": 429} }, localllm.KindRateLimited, 4},
		"error before choices": {func(f *llmtest.Faults) { f.Raw = `{"choices":[{"text":"label: ok"}],"error":"odd"}` }, localllm.KindServer, 1},
		"empty (L1)":           {func(f *llmtest.Faults) { f.EmptyText = true }, localllm.KindEmpty, 1},
		"blank":                {says(" \n "), localllm.KindEmpty, 1},
		"no choice":            {func(f *llmtest.Faults) { f.Raw = `{"choices":[]}` }, localllm.KindMalformed, 2},
		"not JSON":             {func(f *llmtest.Faults) { f.Raw = `<html>` }, localllm.KindMalformed, 2},
		"null choice":          {func(f *llmtest.Faults) { f.Raw = `{"choices":[null]}` }, localllm.KindEmpty, 1},
		"overflow as 400":      {func(f *llmtest.Faults) { f.MaxPrompt = 3 }, localllm.KindTooLong, 1},
		"model missing as 404": {func(f *llmtest.Faults) {
			f.Statuses, f.StatusBody = []int{404}, `{"error":{"message":"The model 'm' does not exist."}}`
		}, localllm.KindNoModel, 1},
		"none loaded as 404": {func(f *llmtest.Faults) {
			f.Statuses, f.StatusBody = []int{404}, `{"error":"No models loaded. Please load a model"}`
		}, localllm.KindNoModel, 1},
		"plain 400":             {func(f *llmtest.Faults) { f.Statuses, f.StatusBody = []int{400}, "bad" }, localllm.KindServer, 1},
		"401":                   {func(f *llmtest.Faults) { f.Statuses = []int{401} }, localllm.KindRefused, 1},
		"403":                   {func(f *llmtest.Faults) { f.Statuses = []int{403} }, localllm.KindRefused, 1},
		"only reasoning (L2)":   {func(f *llmtest.Faults) { f.OnlyReasoning, f.NoCompletions = true, true }, localllm.KindEmpty, 1},
		"500 until it gives up": {func(f *llmtest.Faults) { f.Statuses = []int{500, 502, 503, 500, 0} }, localllm.KindServer, 4},
		"429 until it gives up": {func(f *llmtest.Faults) { f.Statuses = []int{429, 429, 429, 429, 0} }, localllm.KindRateLimited, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, tt.fault)
			got, err := client(t, s).Complete(t.Context(), "prompt", localllm.Opts{})
			wantKind(t, err, tt.want)
			if got != "" {
				t.Errorf("text beside an error: %q", got)
			}
			if n := len(s.Asked()); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
		})
	}
}

// Without a schema no format is asked for, and what a model wraps its answer in is for the reader to take off.
func TestCompleteAsksForNoFormat(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.Fences = true })
	got, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{})
	if err != nil || !strings.Contains(got, "```") {
		t.Errorf("%q, %v", got, err)
	}
	if _, sent := s.Asked()[0].Body["response_format"]; sent {
		t.Error("response_format was sent")
	}
}

func TestContentInParts(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Raw = `{"choices":[{"message":{"reasoning":"label: contra","content":[{"type":"thinking","text":"no"},{"type":"text","text":"yes"}]}}]}`
	})
	if got, err := client(t, s).Complete(t.Context(), "p", localllm.Opts{}); err != nil || got != "yes" {
		t.Errorf("%q, %v", got, err)
	}
}
