package llmtest

import (
	"net/http"
	"strings"
	"time"
)

// Habits are the ways in which good servers and models differ. A token is a word, between blanks.
type Habits struct {
	Refuse       func(body map[string]any) string // not empty: the completion is refused, in these words
	RefuseStatus int                              // its status; 0: 400. 200: as an `error` member
	AnswerTo     func(body map[string]any) string // in place of Answer
	Silent       bool                             // completions are never answered
	Limit        bool                             // an answer ends at max_tokens, with finish_reason "length"
	Thoughts     int                              // tokens of thinking before each answer; they count
	InText       bool                             // the thoughts stand in the text, between <think> tags; always so on /completions
	Quiet        func(body map[string]any) bool   // the request switches thinking off
	Misplaced    func(body map[string]any) bool   // the answer itself is put into the reasoning field
	Loaded       map[string]string                // the states that LM Studio's list of models gives; nil: there is no such list
	LoadedRaw    string                           // that list's body, instead
	LoadedDelay  time.Duration                    // before that list
}

// FormatOf is the type of a request's response_format; empty if it has none.
func FormatOf(body map[string]any) string {
	f, _ := body["response_format"].(map[string]any)
	kind, _ := f["type"].(string)
	return kind
}

// refused answers a request that the server does not take.
func (h Habits) refused(w http.ResponseWriter, body map[string]any) bool {
	if h.Refuse == nil {
		return false
	}
	said := h.Refuse(body)
	if said == "" {
		return false
	}
	if h.RefuseStatus != 0 {
		w.WriteHeader(h.RefuseStatus)
	} else {
		w.WriteHeader(http.StatusBadRequest)
	}
	write(w, map[string]any{"error": said})
	return true
}

// choice is an answer as this server puts it.
func (f Faults) choice(body map[string]any, text string, chat bool) map[string]any {
	thoughts := strings.TrimSpace(strings.Repeat("hmm ", f.Thoughts))
	if f.Quiet != nil && f.Quiet(body) {
		thoughts = ""
	}
	inText := f.InText || !chat
	left, cut := unlimited, false
	if limit, ok := body["max_tokens"].(float64); ok && f.Limit {
		left = int(limit)
	}
	thinking := thoughts != ""
	thoughts, cut = spend(thoughts, &left)
	if cut {
		text = ""
	}
	if !cut {
		text, cut = spend(text, &left)
	}
	if thinking && inText {
		end := "</think>\n"
		if text == "" && cut {
			end = ""
		}
		text, thoughts = "<think>"+thoughts+end+text, ""
	}
	choice := map[string]any{"index": 0, "finish_reason": "stop"}
	if cut {
		choice["finish_reason"] = "length"
	}
	if !chat {
		choice["text"] = text
		return choice
	}
	message := map[string]any{"role": "assistant", "content": text}
	if thoughts != "" {
		message["reasoning_content"] = thoughts
	}
	if f.OnlyReasoning || f.Misplaced != nil && f.Misplaced(body) {
		message["content"], message["reasoning_content"] = nil, text
	}
	choice["message"] = message
	return choice
}

// unlimited is what is left of no limit.
const unlimited = 1 << 30

// spend takes the tokens of a text from what is left.
func spend(text string, left *int) (kept string, cut bool) {
	if *left == unlimited {
		return text, false
	}
	words := strings.Fields(text)
	if len(words) > *left {
		kept, *left = strings.Join(words[:*left], " "), 0
		return kept, true
	}
	*left -= len(words)
	return text, false
}

// loaded is LM Studio's own list of models.
func (s *Server) loaded(w http.ResponseWriter, r *http.Request) {
	s.arrived(r.URL.Path)
	f := s.now()
	select {
	case <-time.After(f.LoadedDelay):
	case <-r.Context().Done():
		return
	}
	switch {
	case f.LoadedRaw != "":
		_, _ = w.Write([]byte(f.LoadedRaw))
	case f.Loaded == nil:
		missing(w, r, f)
	default:
		data := []map[string]any{}
		for name, state := range f.Loaded {
			data = append(data, map[string]any{"id": name, "object": "model", "state": state})
		}
		write(w, map[string]any{"object": "list", "data": data})
	}
}
