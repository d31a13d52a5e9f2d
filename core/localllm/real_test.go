package localllm_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"storozh/core/localllm"
)

const realEmbedURL = "STOROZH_TEST_REAL_EMBED_URL"

// real is a client of a real server, whose base URL stands in an environment variable; `.ci/llama-server` starts one, `.ci/embedder` that of
// STOROZH_TEST_REAL_EMBED_URL. In CI (STOROZH_CI=1) it must be there.
func real(t *testing.T, variable, api string) *localllm.Client {
	t.Helper()
	url, script := os.Getenv(variable), ".ci/llama-server"
	if variable == realEmbedURL {
		script = ".ci/embedder"
	}
	if url == "" {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatalf("%s is not set: start %s and set it to the URL it prints", variable, script)
		}
		t.Skipf("%s is not set: %s starts a real server and prints its URL", variable, script)
	}
	c, err := localllm.New(localllm.Config{BaseURL: url, API: api, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRealCompletions(t *testing.T) {
	for _, api := range []string{localllm.APIAuto, localllm.APICompletions, localllm.APIChat} {
		t.Run(api, func(t *testing.T) {
			c := real(t, "STOROZH_TEST_LLM_URL", api)
			opts := localllm.Opts{System: "Answer.", MaxTokens: 16}
			text, err := c.Complete(t.Context(), "Is water wet?", opts)
			if err != nil || text == "" {
				t.Fatalf("%q, %v", text, err)
			}
			if again, err := c.Complete(t.Context(), "Is water wet?", opts); err != nil || again != text {
				t.Errorf("at temperature 0 it said %q, then %q, %v", text, again, err)
			}
			_, err = c.Complete(t.Context(), strings.Repeat("word ", 5000), opts)
			wantKind(t, err, localllm.KindTooLong)
		})
	}
}

// llama.cpp binds even a random model to the schema: the answer has its form, and nothing of its sense.
func TestRealSchema(t *testing.T) {
	c := real(t, "STOROZH_TEST_LLM_URL", localllm.APIChat)
	form := json.RawMessage(`{"type":"object","properties":{"why":{"enum":["sea","rain"]},"word":{"enum":["yes","no"]}},"required":["why","word"],"additionalProperties":false}`)
	text, err := c.Complete(t.Context(), "Is water wet?", localllm.Opts{MaxTokens: 400, Schema: form})
	if err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	var got struct{ Why, Word string }
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Word != "yes" && got.Word != "no" || strings.Index(text, `"why"`) > strings.Index(text, `"word"`) {
		t.Errorf("%s: %v", text, err)
	}
	// A schema that it cannot turn into a grammar is refused; the answer comes all the same, in plain text.
	if text, err := c.Complete(t.Context(), "Is water wet?", localllm.Opts{MaxTokens: 400, Schema: json.RawMessage(`{"type":"nonsense"}`)}); text == "" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRealCutOff(t *testing.T) {
	for _, api := range []string{localllm.APICompletions, localllm.APIChat} {
		c := real(t, "STOROZH_TEST_LLM_URL", api)
		text, err := c.Complete(t.Context(), "Is water wet?", localllm.Opts{MaxTokens: 2})
		if wantKind(t, err, localllm.KindCutOff); text == "" {
			t.Errorf("%s: nothing came beside %v", api, err)
		}
	}
}

func TestRealModels(t *testing.T) {
	m, err := real(t, "STOROZH_TEST_LLM_URL", "").Resolve(t.Context())
	if err != nil || m.Judge == localllm.DefaultJudgeModel || m.Judge == "" || len(m.Warnings) != 0 || m.OneAtATime {
		t.Errorf("%+v, %v", m, err)
	}
}

// A random model behind llama.cpp, and a real one: vectors are those of their texts, also where a text has to be shortened.
func TestRealEmbeddings(t *testing.T) {
	for _, variable := range []string{"STOROZH_TEST_EMBED_URL", realEmbedURL} {
		t.Run(variable, func(t *testing.T) {
			c := real(t, variable, "")
			texts := []string{"times are UTC", "пароли", "times are UTC", strings.Repeat("long ", 3000)}
			v, err := c.EmbedBatch(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range v {
				if len(v[i]) != len(v[0]) || len(v[i]) == 0 {
					t.Errorf("vector %d has %d numbers", i, len(v[i]))
				}
			}
			if near, far := distance(v[0], v[2]), distance(v[0], v[1]); near > 1e-4 || far < 1e-4 {
				t.Errorf("the same text is %v apart, another one %v", near, far)
			}
		})
	}
}

// A server that serves another model than the one asked for says so in its own way.
func TestRealEmbedderRefusesAnotherName(t *testing.T) {
	c := real(t, realEmbedURL, "")
	_, err := c.EmbedWith(t.Context(), "another-model", []string{"times are UTC"})
	wantKind(t, err, localllm.KindNoModel)
}

func distance(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d += float64(a[i]-b[i]) * float64(a[i]-b[i])
	}
	return d
}

// A server that only completes says so in its own way.
func TestRealServerWithoutEmbeddings(t *testing.T) {
	_, err := real(t, "STOROZH_TEST_LLM_URL", "").Embeddings(t.Context(), "a")
	wantKind(t, err, localllm.KindNoModel)
}
