package localllm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// request is the body of both completion APIs; unused members are left out.
type request struct {
	Model       string    `json:"model"`
	Prompt      string    `json:"prompt,omitempty"`
	Messages    []message `json:"messages,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Temperature float64   `json:"temperature"` // 0: the same pair shall get the same answer
	Stop        []string  `json:"stop,omitempty"`
	Stream      bool      `json:"stream"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Complete is the model's answer to a prompt, never empty; it may be cut off at MaxTokens. In auto mode a server without
// /completions is asked by /chat/completions from then on.
func (c *Client) Complete(ctx context.Context, prompt string, opts Opts) (string, error) {
	model := opts.Model
	if model == "" {
		names, err := c.names(ctx)
		if err != nil {
			return "", err
		}
		model = names.Judge
	}
	if c.useChat.Load() {
		return c.complete(ctx, true, model, prompt, opts)
	}
	text, err := c.complete(ctx, false, model, prompt, opts)
	if c.cfg.API != APIAuto || !errors.Is(err, errNoEndpoint) {
		return text, err
	}
	text, err = c.complete(ctx, true, model, prompt, opts)
	if !errors.Is(err, errNoEndpoint) { // without either, a later call looks again
		c.useChat.Store(true)
	}
	return text, err
}

// complete asks one of the two APIs; an answer that makes no sense is asked for once more.
func (c *Client) complete(ctx context.Context, chat bool, model, prompt string, opts Opts) (string, error) {
	in := request{Model: model, MaxTokens: opts.MaxTokens, Stop: opts.Stop}
	path := "/completions"
	if chat {
		path = "/chat/completions"
		if opts.System != "" {
			in.Messages = append(in.Messages, message{"system", opts.System})
		}
		in.Messages = append(in.Messages, message{"user", prompt})
	} else {
		in.Prompt = prompt
		if opts.System != "" {
			in.Prompt = opts.System + "\n\n" + prompt
		}
	}
	for try := 0; ; try++ {
		body, err := c.post(ctx, opComplete, path, in)
		if err != nil {
			return "", err
		}
		text, fail := readText(body)
		if fail == nil {
			return text, nil
		}
		if fail.Kind != KindMalformed || try > 0 {
			return "", fail
		}
	}
}

// readText takes the text of the first choice. A reasoning field is never an answer (case L2).
func readText(body []byte) (string, *Error) {
	var answer struct {
		Choices []struct {
			Text    *string `json:"text"`
			Message *struct {
				Content          json.RawMessage `json:"content"`
				ReasoningContent string          `json:"reasoning_content"`
				Reasoning        any             `json:"reasoning"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", &Error{Kind: KindMalformed, Op: opComplete, Detail: oneLine("the answer is not a completion: " + err.Error()), Err: err}
	}
	if len(answer.Choices) == 0 {
		return "", &Error{Kind: KindMalformed, Op: opComplete, Detail: "the answer has no choices"}
	}
	first := answer.Choices[0]
	text, detail := "", "the answer has no text"
	if first.Text != nil {
		text = *first.Text
	} else if m := first.Message; m != nil {
		text = content(m.Content)
		if m.ReasoningContent != "" || m.Reasoning != nil && m.Reasoning != "" {
			detail = "the answer has reasoning but no text; the model may need more tokens, or reasoning switched off"
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", &Error{Kind: KindEmpty, Op: opComplete, Detail: detail}
	}
	return text, nil
}

// content reads a message's content: a string, or a list of parts of which the text ones count.
func content(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		if p.Type == "text" {
			s += p.Text
		}
	}
	return s
}
