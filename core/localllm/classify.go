package localllm

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Servers of this kind have no common error codes, so for their bodies (and only there) the text decides. Each pattern was seen
// from LM Studio, llama.cpp, Ollama or vLLM; all are matched against lower case.
var (
	saysTooLong = regexp.MustCompile(`exceed_context_size|context_length_exceeded|context (length|size|window)|maximum context|longer than (the )?context|` +
		`context the overflows|context overflow|greater than the context|too many tokens|(prompt|input|text|request)\b.{0,40}\b(is |are )?too (long|large)|physical batch size`)
	saysNoModel = regexp.MustCompile(`no models? (is |are )?(currently )?loaded|model_not_found|model\b.{0,200}\b(not found|does not exist|not exist)|` +
		`unknown model|invalid model identifier|failed to load model|please (load|download) a model|no such model`)
	saysNoEmbedding = regexp.MustCompile(`not support embedding|pooling type|not an? embedding|not embedding|embeddings? (is|are) not supported|does not support generating embedding`)
	saysNoEndpoint  = regexp.MustCompile(`unexpected endpoint or method|unknown endpoint|unknown url|invalid url`)
	saysTransient   = regexp.MustCompile(`model (is |was |has been )?unloaded|loading model|model is loading|model has crashed|server (is )?busy|overloaded|try again later`)
)

// What names a member of a request that not every server takes.
var (
	saysFormat = regexp.MustCompile(`response_?format|json_schema|json_object|json schema|structured[ _]outputs?|guided_|\bgrammar\b`)
	saysQuiet  = regexp.MustCompile(`chat_template_kwargs|enable_thinking|reasoning[_ ]effort|\bthink value\b|does not support (thinking|reasoning)`)
)

// namedMember is the error of the member that a server's words name; nil if they name none.
func namedMember(said string) error {
	low := strings.ToLower(said)
	switch {
	case saysQuiet.MatchString(low):
		return errQuietRefused
	case saysFormat.MatchString(low):
		return errFormatRefused
	}
	return nil
}

// missingEndpoint tells whether a server says that it has no such route. LM Studio does so with status 200.
func missingEndpoint(status int, said string) bool {
	if saysNoModel.MatchString(strings.ToLower(said)) {
		return false // Ollama, vLLM and LM Studio answer 404 for a model, too
	}
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return saysNoEndpoint.MatchString(strings.ToLower(said))
}

// classify names the kind of a server's error and whether the same request may succeed when sent again.
func classify(op string, status int, said string) (kind Kind, again bool) {
	low := strings.ToLower(said)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return KindRefused, false
	case status == http.StatusTooManyRequests:
		return KindRateLimited, true
	case status == http.StatusRequestEntityTooLarge || saysTooLong.MatchString(low):
		return KindTooLong, false
	case op == opComplete && namedMember(said) != nil:
		return KindServer, false // the same request is refused again
	case saysTransient.MatchString(low):
		return KindServer, true
	case saysNoModel.MatchString(low):
		return KindNoModel, false
	case op == opEmbed && (saysNoEmbedding.MatchString(low) || missingEndpoint(status, said)):
		return KindNoModel, false
	case status == http.StatusNotImplemented:
		return KindServer, false
	default:
		return KindServer, status >= 500
	}
}

// serverError reads what a body says went wrong: `error` as a string or an object, else `message` or `detail`; said is empty if it
// says nothing. code is the number the server put beside it, 0 if none. member tells that it was `error`, which means a failure
// whatever the status.
func serverError(body []byte) (said string, code int, member bool) {
	var b struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &b) != nil {
		return "", 0, false
	}
	for i, raw := range []json.RawMessage{b.Error, b.Message, b.Detail} {
		switch strings.TrimSpace(string(raw)) {
		case "", "null", "false", `""`, "{}":
			continue
		}
		said, code = unpack(raw)
		return said, code, i == 0
	}
	return "", 0, false
}

// unpack takes an error value apart: its text, with its type when that adds something, and a numeric code.
func unpack(raw json.RawMessage) (said string, code int) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, 0
	}
	var o struct {
		Message any `json:"message"`
		Type    any `json:"type"`
		Code    any `json:"code"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return string(raw), 0
	}
	for _, v := range []any{o.Message, o.Type, o.Code} {
		if t, isText := v.(string); isText && t != "" {
			said = strings.TrimSpace(said + " " + t)
		}
	}
	switch c := o.Code.(type) {
	case float64:
		code = int(c)
	case string:
		code, _ = strconv.Atoi(c) // "context_length_exceeded" is no number: then 0
	}
	if said == "" {
		said = string(raw)
	}
	return said, code
}
