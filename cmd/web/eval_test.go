package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core/judge"
	"storozh/core/localllm/llmtest"
)

// Over a real server, with the demo model's answers behind it, every figure is there, and the JSON holds every single answer.
func TestEvalMeasuresAServer(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t)
	m := newMachine(t, "STOROZH_LLM_URL="+server.URL)
	out := filepath.Join(m.home, "report.json")
	if stdout, stderr, err := m.web("eval", "--set", "test", "--swap", "--json", "--store=false", "--out", out); err != nil || stdout != "" {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var e evaluation
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if e.Demo || e.Server != server.URL || e.At.IsZero() || e.Took <= 0 || len(e.Left) != 0 || e.ID != 0 {
		t.Errorf("%+v", e.Evaluation)
	}
	if j := e.Judge; j.Pairs != 90 || len(e.Answers) != 90 || j.Calls != 180 || j.Median <= 0 || j.Swap.Same.Of != 90 || len(j.Kinds) != 15 || len(j.Languages) != 3 {
		t.Errorf("%+v", *j)
	}
	if r := e.Retrieval; r.Statements != 60 || r.Items != 560 || len(r.At) != 4 {
		t.Errorf("%+v", *r)
	}
	// One request per 64 texts, and one per question.
	if n := server.Counts(); n.Embeddings != 10 || n.Completions+n.Chat != 180 {
		t.Errorf("%+v", n)
	}
}

func TestEvalSaysWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, func(f *llmtest.Faults) { f.NoEmbeddings = true; f.Answer = func(string) string { return "who knows" } })
	stdout, stderr, err := newMachine(t, "STOROZH_LLM_URL="+server.URL).web("eval", "--store=false")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, want := range []string{"90 × unreadable answer", "100 % (96–100), 90 of 90", "retrieval: ", "label ↓  answer →", "precision"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the report lacks %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "demo model: these figures") {
		t.Error("a real server is called the demo model")
	}
}

func TestEvalRefuses(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "STOROZH_LLM_URL=http://127.0.0.1:1/v1")
	for want, args := range map[string][]string{
		"there is no set":          {"eval", "--set", "train"},
		"use judge or retrieval":   {"eval", "--only", "both"},
		"is not a flag":            {"eval", "dev"},
		"set STOROZH_LLM_URL":      {"eval"},
		"provided but not defined": {"eval", "--sett", "dev"},
	} {
		if stdout, stderr, err := m.web(args...); err == nil || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%v: %v, %q, %q; want %q", args, err, stdout, stderr, want)
		}
	}
}

func TestEvalHelps(t *testing.T) {
	t.Parallel()
	stdout, stderr, err := newMachine(t, "STOROZH_LLM_URL=demo").web("eval", "-h")
	if err != nil || !strings.Contains(stdout, "labelled pairs to judge") || stderr != "" {
		t.Errorf("%v, %q, %q", err, stdout, stderr)
	}
}

// Figures are kept with no dashboard running and with one, and the page shows them.
func TestEvalIsKeptAndShown(t *testing.T) {
	m := newMachine(t, databaseFor(t)...)
	m.env = append(m.env, "STOROZH_LLM_URL=demo")
	stdout, stderr, err := m.web("eval", "--only", "judge")
	if err != nil || !strings.Contains(stdout, "stored as 1;") || !strings.HasPrefix(stdout, "Demo model: these figures say nothing about a real model") {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	r := m.start()
	defer r.interrupt()
	if stdout, stderr, err := m.web("eval", "--only", "retrieval"); err != nil || !strings.Contains(stdout, "stored as 2;") {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	b := r.browser()
	if code, body, _ := b.do("POST", r.link("owner")); code != http.StatusOK {
		t.Fatalf("sign-in: %d %s", code, body)
	}
	code, page, _ := b.do("GET", "/eval")
	for _, want := range []string{"demo-judge", "demo-embed", judge.PromptVersion, "say nothing about a real model", "recall@5"} {
		if code != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("status %d, the page lacks %q", code, want)
		}
	}
}

// The page, filled, in every theme and width, folded and unfolded.
func TestEvalPage(t *testing.T) {
	needChrome(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=demo")...)
	for _, set := range []string{"dev", "dev", "test"} {
		if _, stderr, err := m.web("eval", "--set", set, "--swap"); err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
	}
	r := m.begin()
	w := r.window(t)
	w.signIn(r.link("owner"))
	w.press("Evaluation")
	w.untilSays("demo-judge")
	w.check("evaluation")
	w.calm()
}
