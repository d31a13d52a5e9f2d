package guard_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/judge"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

var (
	secret     = []byte("a secret of this test")
	item, unit = judge.Text{Statement: "Bread is baked at night."}, judge.Text{Statement: "Bread is baked by day."}
)

// verdict asks a server about one pair, as a run does.
func verdict(t *testing.T, url, api string) (core.Verdict, string) {
	t.Helper()
	c, err := localllm.New(localllm.Config{BaseURL: url, API: api, Timeout: time.Minute, MaxRetries: -1, EmbedModel: "e", JudgeModel: "j"})
	if err != nil {
		t.Fatal(err)
	}
	complete := func(ctx context.Context, p judge.Prompt) (string, error) {
		return c.Complete(ctx, p.User, guard.Opts(p, "j"))
	}
	v, why, err := guard.Verdict(t.Context(), complete, judge.Build(secret, item, unit), judge.Shorter(secret, item, unit))
	if err != nil {
		t.Fatal(err)
	}
	if (v.Label == "") != (why != "") {
		t.Errorf("label %q, unjudged because of %q", v.Label, why)
	}
	return v, why
}

const good = `{"reason":"day reverses night","label":"contra"}`

func TestVerdictOfSpoiledAnswers(t *testing.T) {
	t.Parallel()
	off := func(body map[string]any) bool { _, ok := body["chat_template_kwargs"]; return ok }
	room := func(body map[string]any) bool { n, _ := body["max_tokens"].(float64); return n > 2000 }
	tests := map[string]struct {
		api   string
		fault llmtest.Option
		label core.Label
		why   string
		asked int
	}{
		"whole, then rambling to the limit": {localllm.APICompletions, func(f *llmtest.Faults) {
			f.Limit, f.Answer = true, func(string) string { return good + strings.Repeat("\nand so on", 500) }
		}, core.Contra, "", 1},
		"rambling before it": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Answer = true, func(string) string { return strings.Repeat("well ", 400) + good }
		}, core.Contra, "", 2},
		"half JSON, at any length": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Answer = true, func(string) string { return `{"reason":"` + strings.Repeat("so ", 5000) + `","label":"ok"}` }
		}, "", "answer cut off", 2},
		"thinking that the room holds": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Thoughts, f.Answer = true, 1800, func(string) string { return good }
		}, core.Contra, "", 2},
		"thinking that no room holds": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Thoughts, f.Answer = true, 100_000, func(string) string { return good }
		}, "", "answer cut off", 2},
		"the same in the text": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Thoughts, f.InText, f.Answer = true, 100_000, true, func(string) string { return good }
		}, "", "answer cut off", 2},
		"the same on /completions": {localllm.APICompletions, func(f *llmtest.Faults) {
			f.Limit, f.Thoughts, f.Answer = true, 100_000, func(string) string { return good }
		}, "", "answer cut off", 2},
		"thinking that can be switched off": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Thoughts, f.Quiet, f.Answer = true, 100_000, off, func(string) string { return good }
		}, core.Contra, "", 2},
		"the room does not fit": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Limit, f.Answer = true, func(string) string { return strings.Repeat("well ", 400) }
			f.Refuse = func(body map[string]any) string {
				if room(body) {
					return "maximum context length is 2048 tokens"
				}
				return ""
			}
		}, "", "answer cut off", 2},
		// Case L2: the label stands in the reasoning field only, whatever is asked.
		"only reasoning": {localllm.APIChat, func(f *llmtest.Faults) {
			f.OnlyReasoning, f.Answer = true, func(string) string { return good }
		}, "", "empty answer", 3},
		"any format refused": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Answer = func(string) string { return good }
			f.Refuse = func(body map[string]any) string {
				if llmtest.FormatOf(body) != "" {
					return "response_format is unknown"
				}
				return ""
			}
		}, core.Contra, "", 3},
		// A schema was taken and then not kept to: the answer is read as any other.
		"something else than the schema": {localllm.APIChat, func(f *llmtest.Faults) {
			f.Answer = func(string) string { return `{"reason":"r","label":"maybe"}` }
		}, "", "unreadable answer", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, tt.fault)
			v, why := verdict(t, s.URL, tt.api)
			if v.Label != tt.label || why != tt.why || len(s.Asked()) != tt.asked {
				t.Errorf("%q, unjudged because of %q, after %d requests", v.Label, why, len(s.Asked()))
			}
		})
	}
}

// What a run asks carries the schema of the answer, in the order of the prompt.
func TestARunAsksForTheSchema(t *testing.T) {
	t.Parallel()
	if o := guard.Opts(judge.Build(secret, item, unit), "m"); string(o.Schema) != string(judge.Schema()) || o.Model != "m" || o.MaxTokens == 0 || o.System == "" || len(o.Stop) == 0 {
		t.Errorf("%+v", o)
	}
}

// llama.cpp binds even a random model to the schema: a readable verdict comes out, and it means nothing, which `web eval` shows.
func TestRealServerGivesAVerdict(t *testing.T) {
	url := os.Getenv("STOROZH_TEST_LLM_URL")
	if url == "" {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatal("STOROZH_TEST_LLM_URL is not set: start .ci/llama-server and set it to the URL it prints")
		}
		t.Skip("STOROZH_TEST_LLM_URL is not set: .ci/llama-server starts a real server and prints its URL")
	}
	c, err := localllm.New(localllm.Config{BaseURL: url, API: localllm.APIChat, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	readable := 0
	for _, text := range []string{"One.", "Two.", "Bread.", "Bread is baked by day.", "Trains run on time.", "Times are UTC."} {
		p := judge.Build(secret, item, judge.Text{Statement: text})
		p.System = "" // the small context of the test server holds no more than the pair
		answer, err := c.Complete(t.Context(), p.User, guard.Opts(p, ""))
		if localllm.KindOf(err) == localllm.KindCutOff {
			continue // noise may ramble inside the reason
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := judge.Read(answer)
		if err != nil {
			t.Errorf("%s: %v", answer, err)
		}
		t.Logf("%s: %s", v.Label, v.Reason)
		readable++
	}
	if readable == 0 {
		t.Error("no answer came to its end")
	}
}

// A verdict on less than the usual prompt holds says so; where only the examples were left out there is nothing to say.
func TestAShortenedVerdictSaysSo(t *testing.T) {
	t.Parallel()
	for words, want := range map[int]string{1: "day reverses night", 500: "judged by the heads of the texts: day reverses night"} {
		long := judge.Text{Statement: strings.Repeat("bread ", words)}
		whole, shorter := judge.Build(secret, item, long), judge.Shorter(secret, item, long)
		s := llmtest.Start(t, func(f *llmtest.Faults) {
			f.MaxPrompt, f.Answer = len(shorter.System)+len(shorter.User)+2, func(string) string { return good }
		})
		c, err := localllm.New(localllm.Config{BaseURL: s.URL, MaxRetries: -1, EmbedModel: "e", JudgeModel: "j"})
		if err != nil {
			t.Fatal(err)
		}
		complete := func(ctx context.Context, p judge.Prompt) (string, error) {
			return c.Complete(ctx, p.User, guard.Opts(p, "j"))
		}
		v, why, err := guard.Verdict(t.Context(), complete, whole, shorter)
		if err != nil || why != "" || v.Reason != want || len(s.Asked()) != 2 {
			t.Errorf("%d words: %+v, %q, %v after %d requests", words, v, why, err, len(s.Asked()))
		}
	}
}
