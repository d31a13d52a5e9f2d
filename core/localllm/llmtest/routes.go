package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"storozh/core/localllm"
)

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	s.arrived(r.URL.Path)
	f := s.now()
	if f.RedirectModels != "" {
		http.Redirect(w, r, f.RedirectModels, http.StatusFound)
		return
	}
	if f.NoModels {
		missing(w, r, f)
		return
	}
	names := f.Models
	if names == nil {
		names = []string{localllm.FakeEmbedModel, localllm.FakeJudgeModel}
	}
	data := []map[string]any{}
	for _, n := range names {
		data = append(data, map[string]any{"id": n, "object": "model"})
	}
	write(w, map[string]any{"object": "list", "data": data})
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	s.arrived(r.URL.Path)
	f := s.now()
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.count(func(c *Counts) { c.Texts += len(in.Input) })
	if f.NoEmbeddings {
		missing(w, r, f)
		return
	}
	if s.spoiled(w, r, f) {
		return
	}
	if slices.ContainsFunc(in.Input, func(t string) bool { return overflows(t, f) }) {
		writeOverflow(w)
		return
	}
	data := []map[string]any{}
	for i, text := range in.Input {
		index := i
		if i < len(f.Indexes) {
			index = f.Indexes[i]
		}
		v := s.vector(r, text, f)
		if f.OddLength && i == len(in.Input)-1 {
			v = v[:len(v)-1]
		}
		data = append(data, map[string]any{"object": "embedding", "index": index, "embedding": v})
	}
	if f.Shuffle {
		slices.Reverse(data)
	}
	write(w, map[string]any{"object": "list", "model": in.Model, "data": data})
}

// vector is the embedder's answer, spoiled as the faults say.
func (s *Server) vector(r *http.Request, text string, f Faults) []any {
	var v []float32
	if f.Embedder != nil {
		v = f.Embedder(text)
	} else {
		v, _ = s.fake.Embeddings(r.Context(), text)
	}
	if f.Dimensions > 0 {
		v = v[:min(len(v), f.Dimensions)]
	}
	out := make([]any, len(v))
	for i, x := range v {
		switch {
		case f.NullVectors:
		case f.ZeroVectors:
			out[i] = 0
		default:
			out[i] = x
		}
	}
	return out
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	s.arrived(r.URL.Path)
	chat := strings.HasSuffix(r.URL.Path, "/chat/completions")
	f := s.now()
	if chat && f.NoChat || !chat && f.NoCompletions {
		missing(w, r, f)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	prompt := promptOf(body)
	s.mu.Lock()
	s.asked = append(s.asked, Asked{Path: r.URL.Path, Body: body, Prompt: prompt, Auth: r.Header.Get("Authorization")})
	s.mu.Unlock()
	if s.spoiled(w, r, f) || f.refused(w, body) {
		return
	}
	if overflows(prompt, f) {
		writeOverflow(w)
		return
	}
	if f.Silent {
		<-r.Context().Done()
		return
	}
	write(w, map[string]any{"object": "completion", "choices": []any{f.choice(body, s.answer(r, body, prompt, f), chat)}})
}

func (s *Server) answer(r *http.Request, body map[string]any, prompt string, f Faults) string {
	text := ""
	switch {
	case f.EmptyText:
	case f.Answer != nil:
		text = f.Answer(prompt)
	default:
		text, _ = s.fake.Complete(r.Context(), prompt, localllm.Opts{})
	}
	if f.AnswerTo != nil && !f.EmptyText {
		text = f.AnswerTo(body)
	}
	if f.Fences {
		text = "```json\n" + text + "\n```"
	}
	return text
}

// promptOf joins what a request says to the model.
func promptOf(body map[string]any) string {
	if p, ok := body["prompt"].(string); ok {
		return p
	}
	var parts []string
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		if m, ok := m.(map[string]any); ok {
			text, _ := m["content"].(string)
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

func overflows(text string, f Faults) bool { return f.MaxPrompt > 0 && len(text) > f.MaxPrompt }

// writeOverflow answers as llama.cpp does.
func writeOverflow(w http.ResponseWriter) {
	w.WriteHeader(http.StatusBadRequest)
	write(w, map[string]any{"error": map[string]any{"code": 400, "type": "exceed_context_size_error",
		"message": "request (36001 tokens) exceeds the available context size (1024 tokens), try increasing it"}})
}
