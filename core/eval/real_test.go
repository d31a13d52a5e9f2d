package eval

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"storozh/core/judge"
	"storozh/core/localllm"
)

// realServer is the base URL of a llama-server (`.ci/llama-server` starts one). In CI (STOROZH_CI=1) it must be there.
func realServer(t *testing.T) string {
	t.Helper()
	url := os.Getenv("STOROZH_TEST_LLM_URL")
	if url == "" {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatal("STOROZH_TEST_LLM_URL is not set: start .ci/llama-server and set it to the URL it prints")
		}
		t.Skip("STOROZH_TEST_LLM_URL is not set: .ci/llama-server starts a real server and prints its URL")
	}
	return url
}

// A real server with a random model: every request is understood, noise is unjudged, and retrieval says that there is none.
func TestRealServerAnswersNoise(t *testing.T) {
	c, err := localllm.New(localllm.Config{BaseURL: realServer(t), Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	models, err := c.Resolve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := load(t, Dev)
	set.Pairs = set.Pairs[:4]
	opt := Options{Secret: []byte("s"), Concurrency: 2, Clock: time.Now, Models: models}
	s, _, err := Judge(t.Context(), c, set, opt)
	if err != nil || s.Unjudged.N != 4 || s.Calls != 8 || s.Median <= 0 {
		t.Errorf("%v %+v", err, s)
	}
	for reason := range s.Reasons {
		if reason != "unreadable answer" && reason != "too long" && reason != "empty answer" && reason != "answer cut off" && reason != "answers disagree" {
			t.Errorf("unjudged because of %q: the protocol failed", reason)
		}
	}
	if _, err := Recall(t.Context(), c, opt); localllm.KindOf(err) != localllm.KindNoModel {
		t.Errorf("got %v", err)
	}
}

// The part of the prompt that is the same for all pairs is read once: the server's own counter says so, also for the swapped order. (The
// small context of the test server holds only the form without examples.)
func TestRealServerReusesThePrefix(t *testing.T) {
	url := realServer(t)
	item, other := judge.Text{Statement: "Bread is baked at night."}, judge.Text{Statement: "Trains run on time."}
	secret := []byte("s")
	first, second := judge.Shorter(secret, item, other), judge.Shorter(secret, other, item)
	swapped := judge.Swapped(secret, item, other)
	swapped.System = first.System
	prompt(t, url, first)
	for name, p := range map[string]judge.Prompt{"another pair": second, "swapped": swapped} {
		all, cached := prompt(t, url, p)
		t.Logf("%s: %d of %d tokens came from the cache", name, cached, all)
		if 10*cached < 7*all {
			t.Errorf("%s: only %d of %d tokens came from the cache", name, cached, all)
		}
	}
}

// prompt asks for one token and gives the server's count of the prompt's tokens, and of those it had read before.
func prompt(t *testing.T, url string, p judge.Prompt) (all, cached int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"prompt": p.System + "\n\n" + p.User, "max_tokens": 1, "temperature": 0, "id_slot": 0})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Error any
		Usage struct {
			Prompt  int `json:"prompt_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Error != nil || answer.Usage.Prompt == 0 {
		t.Fatalf("%v %+v", err, answer)
	}
	return answer.Usage.Prompt, answer.Usage.Details.Cached
}
