package judge

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"storozh/core"
)

func TestReadCutOff(t *testing.T) {
	t.Parallel()
	whole := `{"reason":"r","label":"contra"}`
	tests := map[string]struct {
		answer string
		want   core.Label
	}{
		"nothing":                         {"", ""},
		"half of it":                      {`{"reason":"r","lab`, ""},
		"all but the brace":               {strings.TrimSuffix(whole, "}"), ""},
		"whole, then rambling":            {whole + "\n\nThis is because the unit", core.Contra},
		"in a fence":                      {"```json\n" + whole + "\n```\nThis is", core.Contra},
		"after a closed thought":          {"<think>maybe ok</think>\n" + whole + "\nThis", core.Contra},
		"after the end of a thought":      {"maybe {\"label\":\"ok\"}? no.</think>" + whole + " and", ""}, // they disagree
		"in a thought without an end":     {"<think>maybe " + whole + " or", ""},
		"in a thought whose mark is gone": {"Let me see. First, " + whole + " comes to mind, but", ""},
		"a bare label":                    {"contra. Both speak of", ""},
		"a label line":                    {"label: contra\nnote: both speak", ""},
		"contradicted":                    {whole + "\n" + `Wait: {"reason":"x","label":"ok"}`, ""},
		"another object":                  {`{"a":1} ` + whole, ""},
	}
	for name, tt := range tests {
		v, err := ReadCutOff(tt.answer)
		if v.Label != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		if err != nil && !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrDisagree) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// However an answer is cut, a label comes out only of a whole verdict, and only if the rest agrees.
func TestACutAnswerNeedsAWholeVerdict(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{`{"reason":"r","label":"contra"}`, `{"reason":"r","label":"ok"}`, "<think>", "</think>", "maybe ", "\n", "```json\n", "```", "dup. ", "label: ok\n"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), "")
		cut := s[:rapid.IntRange(0, len(s)).Draw(t, "cut")]
		v, err := ReadCutOff(cut)
		if err != nil {
			return
		}
		if whole, err := Read(cut); err != nil || whole.Label != v.Label {
			t.Fatalf("%q: %v, as a whole %v %v", cut, v, whole, err)
		}
		if !strings.Contains(cut, `"label":"`+string(v.Label)+`"}`) {
			t.Fatalf("%q has no whole verdict", cut)
		}
	})
}

// The schema asks for the form that the prompts ask for, the reason first.
func TestSchemaIsTheFormOfTheExamples(t *testing.T) {
	t.Parallel()
	var s struct {
		Properties map[string]struct{ Enum []core.Label }
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil || s.Additional == nil || *s.Additional {
		t.Fatal(err, s)
	}
	if strings.Join(s.Required, " ") != "reason label" || len(s.Properties) != 2 || strings.Index(answerSchema, `"reason"`) > strings.Index(answerSchema, `"label"`) {
		t.Errorf("%+v", s)
	}
	for _, l := range s.Properties["label"].Enum {
		if labelValue(string(l)) != l {
			t.Errorf("%s is no label", l)
		}
	}
	if n := len(s.Properties["label"].Enum); n != 3 {
		t.Errorf("%d labels", n)
	}
	for _, e := range examples {
		if line := answerLine(e); strings.Index(line, `"reason"`) > strings.Index(line, `"label"`) {
			t.Errorf("an example has another order: %s", line)
		}
	}
}

func TestRoomy(t *testing.T) {
	t.Parallel()
	p := Build(secret, Text{"", "One."}, Text{"", "Two."})
	if r := Roomy(p); r.User != Strict(p).User || r.MaxTokens <= Strict(p).MaxTokens || r.MaxTokens < 4*p.MaxTokens {
		t.Errorf("%+v", r)
	}
}
