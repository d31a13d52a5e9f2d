package localllm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

var schema = json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":["x","y"]}}}`)

func chat(c *localllm.Config) { c.API, c.JudgeModel, c.EmbedModel = localllm.APIChat, "j", "e" }

func asked(c *localllm.Client, t *testing.T) (string, error) {
	return c.Complete(t.Context(), "p", localllm.Opts{Model: "j", MaxTokens: 10, Schema: schema})
}

// formats are the formats that were asked for, in order.
func formats(s *llmtest.Server) (out []string) {
	for _, a := range s.Asked() {
		out = append(out, llmtest.FormatOf(a.Body))
	}
	return out
}

// refuses is a server that does not take some formats, and says so in some words.
func refuses(status int, words string, types ...string) llmtest.Option {
	return func(f *llmtest.Faults) {
		f.RefuseStatus = status
		f.Refuse = func(body map[string]any) string {
			if slices.Contains(types, llmtest.FormatOf(body)) {
				return words
			}
			return ""
		}
	}
}

func TestSchemaIsSentOnChatOnly(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"))
	if got, err := asked(client(t, s, chat), t); err != nil || got != "fine" {
		t.Fatalf("%q, %v", got, err)
	}
	want := map[string]any{"model": "j", "max_tokens": 10.0, "temperature": 0.0, "stream": false,
		"messages": []any{map[string]any{"role": "user", "content": "p"}},
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": map[string]any{
			"type": "object", "properties": map[string]any{"b": map[string]any{"type": "string"}, "a": map[string]any{"enum": []any{"x", "y"}}}}}}}
	if d := cmp.Diff(want, s.Asked()[0].Body); d != "" {
		t.Error(d)
	}
	if _, err := client(t, s, chat).Complete(t.Context(), "p", localllm.Opts{}); err != nil || llmtest.FormatOf(s.Asked()[1].Body) != "" {
		t.Errorf("without a schema a format was sent: %v", err)
	}
	if _, err := asked(client(t, s), t); err != nil || s.Asked()[2].Path != "/v1/completions" || llmtest.FormatOf(s.Asked()[2].Body) != "" {
		t.Errorf("/completions got a format: %v", err)
	}
}

// Case L4: one kind refused, any kind refused; what works is remembered.
func TestRefusedFormats(t *testing.T) {
	t.Parallel()
	const schemaOne, object, none = "json_schema", "json_object", ""
	tests := map[string]struct {
		fault llmtest.Option
		want  []string // formats of three calls
	}{
		"json_object as LM Studio does": {refuses(400, "'response_format.type' must be 'json_schema' or 'text'", object), []string{schemaOne, schemaOne, schemaOne}},
		"json_schema by name":           {refuses(400, "response_format type must be one of text, json_object", schemaOne), []string{schemaOne, object, object, object}},
		"json_schema vaguely":           {refuses(400, "bad request", schemaOne), []string{schemaOne, object, object, object}},
		"json_schema with 422":          {refuses(422, "extra inputs are not permitted", schemaOne), []string{schemaOne, object, object, object}},
		"json_schema with 500, by name": {refuses(500, "failed to parse grammar", schemaOne), []string{schemaOne, object, object, object}},
		"json_schema with 501, by name": {refuses(501, "response_format is not implemented", schemaOne), []string{schemaOne, object, object, object}},
		"with 200 and an error":         {refuses(200, "invalid json_schema", schemaOne), []string{schemaOne, object, object, object}},
		"any, by name":                  {refuses(400, "unknown member response_format", schemaOne, object), []string{schemaOne, object, none, none, none}},
		"any, vaguely":                  {refuses(400, "bad request", schemaOne, object), []string{schemaOne, object, none, none, none}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, says("fine"), tt.fault)
			c := client(t, s, chat)
			for range 3 {
				if got, err := asked(c, t); err != nil || got != "fine" {
					t.Errorf("%q, %v", got, err)
				}
			}
			if d := cmp.Diff(tt.want, formats(s)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A server that refuses everything is not the format's fault: each call ends with its error, and only the first tries around.
func TestRefusalsOfAnotherKindTeachNothing(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, refuses(400, "bad request", "json_schema", "json_object", ""))
	c := client(t, s, chat)
	for range 3 {
		_, err := asked(c, t)
		wantKind(t, err, localllm.KindServer)
	}
	if d := cmp.Diff([]string{"json_schema", "json_object", "", "", ""}, formats(s)); d != "" {
		t.Error(d)
	}
	for name, tt := range map[string]struct {
		status int
		said   string
		kind   localllm.Kind
	}{
		"overflow":   {400, "prompt longer than context", localllm.KindTooLong},
		"no model":   {400, "No models loaded. Please load a model", localllm.KindNoModel},
		"locked out": {401, "who are you", localllm.KindRefused},
	} {
		s := llmtest.Start(t, refuses(tt.status, tt.said, "json_schema"))
		_, err := asked(client(t, s, chat), t)
		wantKind(t, err, tt.kind)
		if n := len(s.Asked()); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// Once a format has been answered, a vague refusal is about the request; one that names the format still counts.
func TestAnAnsweredFormatStays(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"))
	c := client(t, s, chat)
	if _, err := asked(c, t); err != nil {
		t.Fatal(err)
	}
	s.Set(refuses(400, "bad request", "json_schema"))
	_, err := asked(c, t)
	wantKind(t, err, localllm.KindServer)
	s.Set(refuses(400, "response_format: not with this model", "json_schema"))
	if got, err := asked(c, t); err != nil || got != "fine" {
		t.Errorf("%q, %v", got, err)
	}
	if d := cmp.Diff([]string{"json_schema", "json_schema", "json_schema", "json_object"}, formats(s)); d != "" {
		t.Error(d)
	}
}

// Another model may take what this one's engine refuses.
func TestMannersArePerModel(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), refuses(400, "no grammar for this engine", "json_schema", "json_object"))
	c := client(t, s, chat)
	if _, err := asked(c, t); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), "p", localllm.Opts{Model: "other", Schema: schema}); err != nil {
		t.Fatal(err)
	}
	if got := formats(s)[3]; got != "json_schema" {
		t.Errorf("the other model was first asked for %q", got)
	}
}

// A server that puts answers bound to a form into the reasoning field: its reasoning is not read, the form is given up.
func TestAFormatThatEmptiesAnswers(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) {
		f.Misplaced = func(body map[string]any) bool { return llmtest.FormatOf(body) != "" }
	})
	c := client(t, s, chat)
	for range 2 {
		if got, err := asked(c, t); err != nil || got != "fine" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if d := cmp.Diff([]string{"json_schema", "", ""}, formats(s)); d != "" {
		t.Error(d)
	}
	// A model that says nothing in any form is asked around once, and keeps the form.
	s = llmtest.Start(t, func(f *llmtest.Faults) { f.EmptyText = true })
	c = client(t, s, chat)
	for range 2 {
		_, err := asked(c, t)
		wantKind(t, err, localllm.KindEmpty)
	}
	if d := cmp.Diff([]string{"json_schema", "", "json_schema"}, formats(s)); d != "" {
		t.Error(d)
	}
}

func sends(member string) func(map[string]any) bool {
	return func(body map[string]any) bool { _, ok := body[member]; return ok }
}

// Thinking is switched off only after it has eaten an answer, as far as the server takes it.
func TestThinkingIsSwitchedOff(t *testing.T) {
	t.Parallel()
	const template, effort = "chat_template_kwargs", "reasoning_effort"
	tests := map[string]struct {
		works    string   // what switches it off
		refuses  []string // members
		vaguely  bool
		requests int // of two calls
		second   localllm.Kind
	}{
		"llama.cpp":               {template, nil, false, 2, ""},
		"Ollama":                  {effort, nil, false, 2, ""},
		"an older vLLM":           {template, []string{effort}, false, 3, ""},
		"an older vLLM, vaguely":  {template, []string{effort}, true, 3, ""},
		"a strict server":         {"", []string{effort, template}, true, 4, localllm.KindCutOff},
		"a server that ignores":   {"", nil, false, 2, localllm.KindCutOff},
		"a strict one, with name": {"", []string{effort, template}, false, 4, localllm.KindCutOff},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) {
				f.Thoughts, f.Limit, f.Quiet = 20, true, sends(tt.works)
				f.Refuse = func(body map[string]any) string {
					for _, m := range tt.refuses {
						if sends(m)(body) && tt.vaguely {
							return "bad request"
						} else if sends(m)(body) {
							return "unknown member " + m
						}
					}
					return ""
				}
			})
			c := client(t, s, chat)
			got, err := asked(c, t)
			wantKind(t, err, localllm.KindCutOff)
			if got != "" || sends(template)(s.Asked()[0].Body) || sends(effort)(s.Asked()[0].Body) {
				t.Errorf("%q: first asked by %v", got, s.Asked()[0].Body)
			}
			if got, err = asked(c, t); localllm.KindOf(err) != tt.second || tt.second == "" && got != "fine" {
				t.Errorf("%q, %v", got, err)
			}
			if n := len(s.Asked()); n != tt.requests {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A model that thinks and answers in time is let be.
func TestThinkingThatLeavesAnAnswerIsLetBe(t *testing.T) {
	t.Parallel()
	for _, inText := range []bool{true, false} {
		s := llmtest.Start(t, says("fine"), func(f *llmtest.Faults) { f.Thoughts, f.Limit, f.InText = 5, true, inText })
		c := client(t, s, chat)
		for range 2 {
			if got, err := asked(c, t); err != nil || !strings.HasSuffix(got, "fine") {
				t.Errorf("%q, %v", got, err)
			}
		}
		if b := s.Asked()[1].Body; sends("chat_template_kwargs")(b) || sends("reasoning_effort")(b) {
			t.Errorf("%v", b)
		}
	}
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30)
	for _, change := range []func(*localllm.Config){chat, func(c *localllm.Config) { c.API = localllm.APICompletions }} {
		s := llmtest.Start(t, says(long), func(f *llmtest.Faults) { f.Limit = true })
		got, err := asked(client(t, s, change), t)
		wantKind(t, err, localllm.KindCutOff)
		if want := strings.TrimSpace(long[:50]); got != want {
			t.Errorf("%q came beside the error", got)
		}
		if n := len(s.Asked()); n != 1 {
			t.Errorf("%d requests", n)
		}
		s.Set(func(f *llmtest.Faults) { f.Thoughts, f.InText = 100, true })
		if got, err = asked(client(t, s, change), t); !strings.HasPrefix(got, "<think>") || !strings.Contains(fmt.Sprint(err), "all reasoning") {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// Four slots at once, before anything is known: each meets a refusal at most once per step.
func TestFourSlotsDoNotLoop(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, says("fine"), refuses(400, "bad request", "json_schema", "json_object"))
	c := client(t, s, chat)
	slots(4, func() {
		if got, err := asked(c, t); err != nil || got != "fine" {
			t.Errorf("%q, %v", got, err)
		}
	})
	first := len(s.Asked())
	if first < 6 || first > 4*3 {
		t.Errorf("%d requests for four first calls", first)
	}
	slots(4, func() { _, _ = asked(c, t) })
	if n := len(s.Asked()) - first; n != 4 {
		t.Errorf("%d requests for four later calls", n)
	}
}

func slots(n int, call func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(call)
	}
	wg.Wait()
}

// Whatever a server refuses, in whatever words, and whatever its model thinks: requests stay bounded, calls without an answer are the
// model's fault, and in the end a call is one request.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.Reset()
		refused := map[string]bool{}
		for _, m := range []string{"json_schema", "json_object", "chat_template_kwargs", "reasoning_effort"} {
			refused[m] = rapid.Bool().Draw(rt, m)
		}
		named := rapid.Bool().Draw(rt, "named")
		empties := rapid.Bool().Draw(rt, "a format empties answers")
		thinks := rapid.Bool().Draw(rt, "thinks")
		off := rapid.SampledFrom([]string{"chat_template_kwargs", "reasoning_effort", ""}).Draw(rt, "off by")
		s.Set(says("fine"), func(f *llmtest.Faults) {
			f.RefuseStatus = rapid.SampledFrom([]int{200, 400, 422}).Draw(rt, "status")
			f.Refuse = func(body map[string]any) string {
				for m, no := range refused {
					if no && (llmtest.FormatOf(body) == m || sends(m)(body)) {
						if named {
							return "unsupported: " + m
						}
						return "bad request"
					}
				}
				return ""
			}
			if empties {
				f.Misplaced = func(body map[string]any) bool { return llmtest.FormatOf(body) != "" }
			}
			if thinks {
				f.Thoughts, f.Limit, f.Quiet = 20, true, sends(off)
			}
		})
		c := client(t, s, chat)
		n := rapid.IntRange(1, 4).Draw(rt, "slots")
		const rounds = 8
		before := 0
		for range rounds {
			before = len(s.Asked())
			slots(n, func() {
				if got, err := asked(c, t); err != nil && !thinks || err == nil && got != "fine" {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		if all := len(s.Asked()); all > n*(rounds+5) || all-before != n {
			rt.Fatalf("%d requests for %d calls, %d of them for the last %d", all, n*rounds, all-before, n)
		}
	})
}
