package localllm

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
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
	optional
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Complete is the model's answer to a prompt, never empty; one that was cut off at MaxTokens comes beside an [Error] of [KindCutOff].
// In auto mode a server without /completions is asked by /chat/completions from then on.
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
		return c.chat(ctx, model, prompt, opts)
	}
	text, err := c.plain(ctx, model, prompt, opts)
	if c.cfg.API != APIAuto || !errors.Is(err, errNoEndpoint) {
		return text, err
	}
	text, err = c.chat(ctx, model, prompt, opts)
	if !errors.Is(err, errNoEndpoint) { // without either, a later call looks again
		c.useChat.Store(true)
	}
	return text, err
}

// plain asks /completions, which gets nothing but what every server knows: a schema has no common form there.
func (c *Client) plain(ctx context.Context, model, prompt string, opts Opts) (string, error) {
	in := request{Model: model, Prompt: prompt, MaxTokens: opts.MaxTokens, Stop: opts.Stop}
	if opts.System != "" {
		in.Prompt = opts.System + "\n\n" + prompt
	}
	return c.answer(ctx, "/completions", in)
}

// chat asks /chat/completions. A request that was refused, or answered with nothing, for what not every server takes is asked again
// without it; [manners] bounds how often.
func (c *Client) chat(ctx context.Context, model, prompt string, opts Opts) (string, error) {
	in := request{Model: model, MaxTokens: opts.MaxTokens, Stop: opts.Stop}
	if opts.System != "" {
		in.Messages = append(in.Messages, message{"system", opts.System})
	}
	in.Messages = append(in.Messages, message{"user", prompt})
	for used := c.mannersOf(model, opts); ; {
		in.optional = used.members(opts.Schema)
		text, err := c.answer(ctx, "/chat/completions", in)
		next, again := c.learn(model, used, err)
		if !again || ctx.Err() != nil {
			return text, err
		}
		used = next
	}
}

// answer asks one of the two APIs; an answer that makes no sense is asked for once more.
func (c *Client) answer(ctx context.Context, path string, in request) (string, error) {
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
			return text, fail
		}
	}
}

// errThought marks an error that means: the tokens went into thinking.
var errThought = errors.New("the model thought and did not answer")

// stillThinking finds an answer that is one thought without an end, where the server does not part thoughts from answers.
var stillThinking = regexp.MustCompile(`(?i)^\s*<\s*(think|thinking|thought|reasoning)\b`)

// readText takes the text of the first choice; a text that was cut off comes beside its error. A reasoning field is never an answer (case L2).
func readText(body []byte) (string, *Error) {
	var answer struct {
		Choices []struct {
			Text    *string `json:"text"`
			Finish  any     `json:"finish_reason"`
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
	text, thought := "", false
	if first.Text != nil {
		text = *first.Text
	} else if m := first.Message; m != nil {
		text = content(m.Content)
		thought = m.ReasoningContent != "" || m.Reasoning != nil && m.Reasoning != ""
	}
	cut := first.Finish == "length" || first.Finish == "max_tokens"
	fail := spoiled(text, cut, thought)
	if fail != nil && fail.Kind == KindEmpty {
		text = ""
	}
	return text, fail
}

// spoiled is what is wrong with an answer's text: cut off, or empty.
func spoiled(text string, cut, thought bool) *Error {
	empty := strings.TrimSpace(text) == ""
	e := &Error{Op: opComplete}
	switch {
	case cut:
		e.Kind, e.Detail = KindCutOff, "the answer ended at its token limit"
		thought = empty && thought || stillThinking.MatchString(text) && !strings.Contains(text, "</")
	case empty:
		e.Kind, e.Detail = KindEmpty, "the answer has no text"
	default:
		return nil
	}
	if thought {
		e.Err, e.Detail = errThought, e.Detail+": it is all reasoning; the model may need more tokens, or reasoning switched off"
	}
	return e
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
