package localllm

import (
	"encoding/json"
	"errors"
)

// manners are what /chat/completions was found to take of what not every server takes, for one model. They are kept for the life of
// the client and only ever go down, so that a call asks again at most five times, all calls together hardly more often than that, and
// an answered call not at all. Slots that ask at once may each meet a refusal once; what one has learned the others use.
type manners struct {
	format   format
	formatOK bool // a request with this format was answered: a vague refusal has another cause
	quiet    quiet
	quietOK  bool // likewise
	tried    bool // it was tried out whether the format empties answers
	trying   bool // in the manners of one request: this is that try
}

// format is how an answer's form is asked for. LM Studio takes the first and refuses the second, others the other way round.
type format int

const (
	formatSchema format = iota // {"type":"json_schema", …}
	formatObject               // {"type":"json_object"}
	formatNone                 // plain text, as the prompt asks for it
)

// quiet is how thinking is switched off, once it has eaten an answer.
type quiet int

const (
	quietUnasked  quiet = iota // no need so far
	quietBoth                  // as llama.cpp and vLLM know it, and as Ollama does
	quietTemplate              // as llama.cpp and vLLM know it
	quietGivenUp
)

// optional are the members of a request that a server may refuse.
type optional struct {
	ResponseFormat  *responseFormat `json:"response_format,omitempty"`
	TemplateKwargs  map[string]any  `json:"chat_template_kwargs,omitempty"`
	ReasoningEffort string          `json:"reasoning_effort,omitempty"`
}

type responseFormat struct {
	Type   string       `json:"type"`
	Schema *namedSchema `json:"json_schema,omitempty"`
}

type namedSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// What a server refused, as its words name it.
var (
	errFormatRefused = errors.New("the server does not take this response_format")
	errQuietRefused  = errors.New("the server cannot switch thinking off so")
)

// mannersOf are those to begin a call with.
func (c *Client) mannersOf(model string, opts Opts) manners {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.manners[model]
	if m == nil {
		m = &manners{}
		c.manners[model] = m
	}
	used := *m
	if len(opts.Schema) == 0 {
		used.format = formatNone
	}
	return used
}

// members writes manners into a request.
func (m manners) members(schema json.RawMessage) (o optional) {
	switch m.format {
	case formatSchema:
		o.ResponseFormat = &responseFormat{"json_schema", &namedSchema{"answer", true, schema}}
	case formatObject:
		o.ResponseFormat = &responseFormat{Type: "json_object"}
	}
	switch m.quiet {
	case quietBoth:
		o.ReasoningEffort = "none"
		fallthrough
	case quietTemplate:
		o.TemplateKwargs = map[string]any{"enable_thinking": false}
	}
	return o
}
