package eval

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"storozh/core"
	"storozh/core/judge"
)

//go:embed data/*.jsonl
var data embed.FS

// The parts of the labelled set. Work with dev; look at test when a choice is made.
const (
	Dev  = "dev"
	Test = "test"
	All  = "all"
)

// Kinds are the kinds of pairs, in the order of the report.
var Kinds = []string{"negation", "modal", "reversed-order", "antonym", "number", "counter", "narrowed", "other-subject", "older-state", "quoted",
	"paraphrase", "clause-reorder", "context", "removed-rule", "injection"}

// Languages are the languages of pairs: mixed means one side each, or both in one text.
var Languages = []string{"en", "ru", "mixed"}

// Side is one text of a pair.
type Side struct {
	Title     string `json:"title"`
	Statement string `json:"statement"`
}

// Text is the side as core/judge takes it.
func (s Side) Text() judge.Text { return judge.Text{Title: s.Title, Statement: s.Statement} }

// Pair is an item and a unit with the label that people gave them.
type Pair struct {
	ID    string     `json:"id"`
	Part  string     `json:"part"` // Dev or Test
	Kind  string     `json:"kind"` // one of Kinds
	Lang  string     `json:"lang"` // one of Languages
	Label core.Label `json:"label"`
	Item  Side       `json:"item"`
	Unit  Side       `json:"unit"`
}

// Set is what is measured on.
type Set struct {
	Name  string // Dev, Test or All
	Hash  string // SHA-256 of the pairs, in hex
	Pairs []Pair
}

// Load gives a part of the labelled set, or all of it.
func Load(name string) (Set, error) {
	if name != Dev && name != Test && name != All {
		return Set{}, fmt.Errorf("eval: %w: there is no set %q; use dev, test or all", core.ErrInvalid, name)
	}
	all, err := read[Pair]("data/pairs.jsonl")
	if err != nil {
		return Set{}, err
	}
	s := Set{Name: name}
	for _, p := range all {
		if name == All || p.Part == name {
			s.Pairs = append(s.Pairs, p)
		}
	}
	s.Hash = hash(s.Pairs)
	return s, nil
}

// Clash is a statement with the item it contradicts, for retrieval.
type Clash struct {
	ID   string `json:"id"`
	Lang string `json:"lang"`
	Item Side   `json:"item"`
	Unit Side   `json:"unit"`
}

// Clashes gives the retrieval set.
func Clashes() ([]Clash, error) { return read[Clash]("data/retrieval.jsonl") }

// read parses an embedded file: one JSON object per line, no unknown member.
func read[T any](name string) ([]T, error) {
	raw, err := data.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	var out []T
	for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		var v T
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("eval: %s, line %d: %w", name, i+1, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// hash names a content.
func hash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("eval: " + err.Error()) // cannot happen: structs of strings
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
