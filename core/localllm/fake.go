package localllm

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"storozh/core"
)

// The demo model's names and the length of its vectors.
const (
	FakeEmbedModel = "demo-embed"
	FakeJudgeModel = "demo-judge"
	fakeDimensions = 256
)

// Fake is the demo model: word counting instead of understanding, deterministic, without a server. Near texts get near vectors,
// and its verdicts are right for plain sentences and no more; whoever shows them says "demo model".
//
// It finds the pair in a judge's prompt by this shape, the last one counting, both lines with the same code:
//
//	ITEM <code> {"title":"…","statement":"…"}
//	UNIT <code> {"title":"…","statement":"…"}
type Fake struct{}

var _ Model = (*Fake)(nil)

// NewFake is the demo model; it has no state.
func NewFake() *Fake { return &Fake{} }

// Demo is true: everything it says must be shown as a heuristic's.
func (f *Fake) Demo() bool { return true }

// URL is "demo", the setting that selects it.
func (f *Fake) URL() string { return "demo" }

// Resolve names the demo models.
func (f *Fake) Resolve(ctx context.Context) (Models, error) {
	if err := alive(ctx, opModels); err != nil {
		return Models{}, err
	}
	return Models{Embed: FakeEmbedModel, Judge: FakeJudgeModel}, nil
}

// Embeddings is the vector of one text: 256 numbers, of length one.
func (f *Fake) Embeddings(ctx context.Context, text string) ([]float32, error) {
	if err := alive(ctx, opEmbed); err != nil {
		return nil, err
	}
	return embedWords(text), nil
}

// EmbedBatch is one vector per text.
func (f *Fake) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for _, text := range texts {
		v, err := f.Embeddings(ctx, text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// fakeText is one side of the pair in a prompt.
type fakeText struct {
	Title     string `json:"title"`
	Statement string `json:"statement"`
}

var pairLine = regexp.MustCompile(`(?m)^(ITEM|UNIT) (\S+) (\{.*\})[ \t]*$`)

// Complete answers a judge's prompt with one line of JSON, and any other prompt with a sentence that holds no label.
func (f *Fake) Complete(ctx context.Context, prompt string, _ Opts) (string, error) {
	if err := alive(ctx, opComplete); err != nil {
		return "", err
	}
	item, unit, ok := findPair(prompt)
	if !ok {
		return "demo model: there is no pair in this prompt", nil
	}
	label, why := compare(item, unit)
	out, err := json.Marshal(struct {
		Reason string     `json:"reason"`
		Label  core.Label `json:"label"`
	}{"demo model: " + why, label})
	return string(out), err
}

// findPair takes the last item and the last unit, which must carry the same code.
func findPair(prompt string) (item, unit fakeText, ok bool) {
	codes := map[string]string{}
	for _, m := range pairLine.FindAllStringSubmatch(prompt, -1) {
		side := &item
		if m[1] == "UNIT" {
			side = &unit
		}
		*side = fakeText{}
		if json.Unmarshal([]byte(m[3]), side) != nil {
			return item, unit, false
		}
		codes[m[1]] = m[2]
	}
	return item, unit, codes["ITEM"] != "" && codes["ITEM"] == codes["UNIT"]
}

// alive is the error of a context that has ended, in the client's words.
func alive(ctx context.Context, op string) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindCancelled, Op: op, Err: errors.Join(core.ErrCanceled, err)}
	default:
		return &Error{Kind: KindTimeout, Op: op, Err: err}
	}
}

// counterMark begins the part of a rule that says when it does not apply.
var counterMark = regexp.MustCompile(`(?i)\|?\s*counter:\s*`)

// whyField is a rule's context, which binds nobody.
var whyField = regexp.MustCompile(`(?i)\|\s*why:[^|]*`)

// rule parts a text into what it demands and its Counter.
func (t fakeText) rule() (demand, counter string) {
	s := whyField.ReplaceAllString(t.Statement, "")
	if strings.TrimSpace(s) == "" {
		s = t.Title
	}
	if at := counterMark.FindStringIndex(s); at != nil {
		return s[:at[0]], s[at[1]:]
	}
	return s, ""
}
