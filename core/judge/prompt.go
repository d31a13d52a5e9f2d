package judge

import (
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // the templates
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"
	"text/template"
)

// PromptVersion names the wording of the prompts. Verdicts are cached under it, so it changes whenever the wording does.
const PromptVersion = "judge-2"

const (
	answerTokens = 320  // a reason of one sentence, in Cyrillic
	strictTokens = 1536 // room for a model that cannot help thinking aloud first
	roomyTokens  = 2048 // after an answer that was cut off: with the prompt of a usual pair that still fits into 4,096
	textRunes    = 8000 // of one statement
	shortRunes   = 1200 // of one statement in the shortened retry
	titleRunes   = 300
)

// cue is where the model's answer begins; no blank at its end, which would part a token in two.
const cue = "ANSWER"

// strictly is what the one strict retry adds.
const strictly = "The answer must be exactly one line of JSON, such as {\"reason\":\"one short sentence\",\"label\":\"X\"}, where X is one of the words contra, dup, ok. " +
	"No other text, no code fence, no thinking.\n"

// stops ends an answer where a model goes on with a pair of its own. JSON on one line holds no line break, so it cannot cut
// a good answer.
var stops = []string{"\n### Pair"}

//go:embed system.tmpl
var systemText string

//go:embed user.tmpl
var userText string

var (
	systemTmpl = template.Must(template.New("system").Parse(systemText))
	userTmpl   = template.Must(template.New("user").Parse(userText))
)

// Text is one side of a pair.
type Text struct {
	Title     string // may be empty
	Statement string // normative text, with its `Counter:` if it has one
}

// Prompt is what a model is asked. A model without system messages gets System, a blank line and User.
//
// The pair stands in User on two lines of this shape (the demo model reads it, too):
//
//	ITEM <code> {"title":"…","statement":"…"}
//	UNIT <code> {"title":"…","statement":"…"}
type Prompt struct {
	System    string // the same for every pair
	User      string
	Stop      []string
	MaxTokens int
	Cut       bool `json:"-"` // it does not hold the whole of both statements
}

// Build is the prompt for a pair. secret keys the code that marks the pair's lines; the same secret and pair yield the same bytes.
func Build(secret []byte, item, unit Text) Prompt {
	return build(secret, item, unit, system(examples), textRunes)
}

// Shorter is the prompt for the one retry after an overflow: without examples, and of each text only its head and its `Counter:`.
func Shorter(secret []byte, item, unit Text) Prompt {
	return build(secret, item, unit, system(nil), shortRunes)
}

// Strict is the prompt for the one retry after an unreadable answer.
func Strict(p Prompt) Prompt {
	p.User = strings.TrimSuffix(p.User, cue) + strictly + cue
	p.MaxTokens = strictTokens
	return p
}

// Roomy is the prompt for the one retry after an answer that was cut off: the strict one, with more room.
func Roomy(p Prompt) Prompt {
	p = Strict(p)
	p.MaxTokens = roomyTokens
	return p
}

func build(secret []byte, item, unit Text, system string, limit int) Prompt {
	user := render(userTmpl, pair{
		Code: code(secret, item, unit),
		Item: quote(item, limit),
		Unit: quote(unit, limit),
	})
	return Prompt{System: system, User: user + cue, Stop: append([]string(nil), stops...), MaxTokens: answerTokens,
		Cut: longer(item, limit) || longer(unit, limit)}
}

// pair is what the templates show of a pair; Answer only in examples.
type pair struct{ Code, Item, Unit, Answer string }

func system(shown []example) string {
	var data struct{ Examples []pair }
	for _, e := range shown {
		data.Examples = append(data.Examples, pair{Code: "example", Item: quote(Text{Statement: e.item}, textRunes),
			Unit: quote(Text{Statement: e.unit}, textRunes), Answer: answerLine(e)})
	}
	return strings.TrimRight(render(systemTmpl, data), "\n")
}

func render(t *template.Template, data any) string {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		panic("judge: embedded template: " + err.Error()) // cannot happen: fixed templates, string fields
	}
	return b.String()
}

// code marks a pair's lines: 64 bits that no text can know.
func code(secret []byte, item, unit Text) string {
	m := hmac.New(sha256.New, secret)
	for _, s := range []string{item.Title, item.Statement, unit.Title, unit.Statement} {
		writeField(m, []byte(s))
	}
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// TextHash is the SHA-256 of a text as it is judged: what a verdict is pinned to.
func TextHash(t Text) []byte {
	h := sha256.New()
	writeField(h, []byte(t.Title))
	writeField(h, []byte(t.Statement))
	return h.Sum(nil)
}

// Key is a verdict's name in the cache, a SHA-256: another model, wording or text is another verdict.
func Key(model, promptVersion string, unitHash, itemHash []byte) []byte {
	h := sha256.New()
	for _, field := range [][]byte{[]byte(model), []byte(promptVersion), unitHash, itemHash} {
		writeField(h, field)
	}
	return h.Sum(nil)
}

// writeField writes a field behind its length, so that no two lists of fields hash alike.
func writeField(h hash.Hash, field []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(field)))
	h.Write(n[:])
	h.Write(field)
}
