package judge

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"storozh/core"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		label        core.Label
		reason       string
	}{
		{"asked for", `{"reason":"reverses it","label":"contra"}`, core.Contra, "reverses it"},
		{"blanks around", "\n  {\"reason\":\"r\",\"label\":\"dup\"}\n\n", core.Dup, "r"},
		{"other names", `{"note":"n","verdict":"OK"}`, core.OK, "n"},
		{"label first", `{"label":"dup","reason":"same"}`, core.Dup, "same"},
		{"fence", "```json\n{\"reason\":\"r\",\"label\":\"ok\"}\n```", core.OK, "r"},
		{"fence and prose", "Here is my verdict:\n```\n{\"reason\":\"r\",\"label\":\"ok\"}\n```\nHope it helps.", core.OK, "r"},
		{"other keys", `{"contra":false,"dup":false,"status":"ok","confidence":0.9,"note":"contra","label":"contra","title":"contra"}`, core.Contra, "contra"},
		{"pretty", "{\n  \"reason\": \"r\",\n  \"label\": \"contra\"\n}", core.Contra, "r"},
		{"array", `[{"reason":"r","label":"contra"}]`, core.Contra, "r"},
		{"the cue again", `ANSWER {"reason":"r","label":"contra"}`, core.Contra, "r"},
		{"twice the same", "{\"reason\":\"a\",\"label\":\"dup\"}\n{\"reason\":\"b\",\"label\":\"dup\"}", core.Dup, "a"},
		{"plain synonyms", `{"reason":"r","label":"Contradiction"}`, core.Contra, "r"},
		{"duplicate", `{"reason":"r","label":"duplicate."}`, core.Dup, "r"},
		{"a brace in prose", "Using {x} as a name: \n{\"reason\":\"r\",\"label\":\"ok\"}", core.OK, "r"},
		{"label line", "label: contra", core.Contra, ""},
		{"label and note", "label: contra\nnote: it reverses the rule", core.Contra, "it reverses the rule"},
		{"note first", "Reason: same words\nLabel: dup", core.Dup, "same words"},
		{"bold line", "**Label:** contra", core.Contra, ""},
		{"a note that speaks of labels", "label: ok\nnote: the item's label: style", core.OK, "the item's label: style"},
		{"bare", "contra", core.Contra, ""},
		{"bare and stop", "Dup. It says the same.", core.Dup, "It says the same."},
		{"bare and dash", "contra — it reverses", core.Contra, "it reverses"},
		{"bare and hyphen", "contra - it reverses", core.Contra, "it reverses"},
		{"bare and colon", "ok: another subject", core.OK, "another subject"},
		{"bare and line break", "ok\nanother subject", core.OK, "another subject"},
		{"bare, and what it is not", "ok: neither contra nor dup; it isn't a contradiction", core.OK, "neither contra nor dup; it isn't a contradiction"},
		{"object, and what it is not", "{\"reason\":\"r\",\"label\":\"contra\"}\nSo it is contra, no dup.", core.Contra, "r"},
		{"bold bare", "**contra**", core.Contra, ""},
		{"thinking, then fence (L2)", "<think>maybe {\"label\":\"contra\"}</think>\n```json\n{\"label\":\"ok\"}\n```", core.OK, ""},
		{"thinking without a beginning", "it is contra. label: contra\n</think>{\"reason\":\"r\",\"label\":\"dup\"}", core.Dup, "r"},
		{"two thoughts", "<thinking>a</thinking><THINK>label: ok</THINK>contra", core.Contra, ""},
		{"thought about thinking", "<think>say <think> then </think> label: ok </think>{\"label\":\"dup\"}", core.Dup, ""},
		{"mistral", "[THINK]contra[/THINK]{\"label\":\"ok\"}", core.OK, ""},
		{"harmony", "<|channel|>analysis<|message|>contra<|end|><|start|>assistant<|channel|>final<|message|>{\"label\":\"ok\"}<|return|>", core.OK, ""},
		{"a reason that quotes tags and verdicts", `{"reason":"it quotes <think> and {\"label\":\"contra\"} and </think>","label":"ok"}`, core.OK, `it quotes <think> and {"label":"contra"} and </think>`},
		{"reason of many lines", `{"reason":"a\n\tb` + "\u202e" + `c","label":"ok"}`, core.OK, "a bc"},
		{"Russian", `{"reason":"противоречит","label":"contra"}`, core.Contra, "противоречит"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(tt.answer)
			if err != nil || got.Label != tt.label || got.Reason != tt.reason {
				t.Errorf("Read(%q) = %+v, %v; want %s %q", tt.answer, got, err, tt.label, tt.reason)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		want         error
	}{
		{"nothing", "", ErrUnreadable},
		{"negated (J1)", "Looks like a contradiction at first. Verdict: not a contradiction", ErrUnreadable},
		{"look-alike (J1)", "Unsupported by the rule.", ErrUnreadable},
		{"negated value", `{"reason":"r","label":"not contra"}`, ErrUnreadable},
		{"the form itself", `{"reason":"short","label":"contra|dup|ok"}`, ErrUnreadable},
		{"another word", `{"reason":"r","label":"neutral"}`, ErrUnreadable},
		{"a list", `{"label":["contra"]}`, ErrUnreadable},
		{"null", `{"label":null}`, ErrUnreadable},
		{"no label", `{"reason":"it is contra"}`, ErrUnreadable},
		{"okay", "okay?", ErrUnreadable},
		{"ok?", "ok?", ErrUnreadable},
		{"hyphen", "contra-indicated by the item", ErrUnreadable},
		{"name of a file", "ok.txt is the file", ErrUnreadable},
		{"in the midst", "I would say contra.", ErrUnreadable},
		{"bare synonym", "Contradiction.", ErrUnreadable},
		{"only thoughts", "<think>label: contra", ErrUnreadable},
		{"only thoughts, closed", "<think>label: contra</think>", ErrUnreadable},
		{"only analysis", "<|channel|>analysis<|message|>{\"label\":\"contra\"}", ErrUnreadable},
		{"cut off in the reason", `{"reason":"the unit says \"label\": \"dup`, ErrUnreadable},
		{"cut off in the label", `{"reason":"r","label":"con`, ErrUnreadable},
		{"cut off before the end", `{"reason":"r","label":"contra"`, ErrUnreadable},
		{"quote not escaped", `{"reason":"it says {"label":"ok"} there","label":"contra"}`, ErrUnreadable},
		{"too long", "label: ok\n" + strings.Repeat("x", maxVerdicts), ErrUnreadable},
		{"note only", `note: it says "label: contra"`, ErrUnreadable},
		{"same key twice", `{"label":"contra","label":"ok"}`, ErrDisagree},
		{"two keys", `{"label":"contra","verdict":"ok"}`, ErrDisagree},
		{"a second thought under another key", `{"label":"ok","final_label":"contra"}`, ErrDisagree},
		{"an answer under another key", `{"answer":"Contra.","reason":"r","label":"ok"}`, ErrDisagree},
		{"a list of labels", `{"label":"ok","labels":["dup"]}`, ErrDisagree},
		{"a blank in the key", `{"label ":"contra","label":"ok"}`, ErrDisagree},
		{"only under another key", `{"answer":"contra"}`, ErrUnreadable},
		{"nested", `{"label":"ok","inner":{"label":"contra"}}`, ErrDisagree},
		{"two objects", "{\"label\":\"ok\"}\n{\"label\":\"contra\"}", ErrDisagree},
		{"object and line", "{\"label\":\"ok\"}\nlabel: contra", ErrDisagree},
		{"object and unreadable line", "{\"label\":\"ok\"}\nVerdict: not ok", ErrDisagree},
		{"bare and object", "contra\n{\"label\":\"ok\"}", ErrDisagree},
		{"second thoughts", "ok. Wait, contra.", ErrDisagree},
		{"second thoughts below", "ok\nActually: contra", ErrDisagree},
		{"bare, then the verdict", "OK. The label is contra.", ErrDisagree},
		{"bare, then a verdict of no label", "OK. My verdict: a contradiction", ErrDisagree},
		{"bare, then a choice", "OK. Let me compare the two. I choose contra", ErrDisagree},
		{"bare, then a choice below", "OK\nI choose \"contra\".", ErrDisagree},
		{"bare in a list", "OK\n- contra", ErrDisagree},
		{"bare, then an arrow", "ok. Final label → dup", ErrDisagree},
		{"bare, then what it means", "OK. The unit contradicts the item.", ErrDisagree},
		{"object and a mark", "{\"label\":\"ok\"}\n<answer>contra</answer>", ErrDisagree},
		{"object and a comment", "{\"label\":\"ok\"} // contra", ErrDisagree},
		{"object and a correction", "{\"label\":\"dup\"}\nI correct myself, it should be contra", ErrDisagree},
		{"good and broken object", "{\"label\":\"ok\"} {\"label\":\"contra", ErrDisagree},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(tt.answer)
			if !errors.Is(err, tt.want) || got != (core.Verdict{}) {
				t.Errorf("Read(%q) = %+v, %v; want %v", tt.answer, got, err, tt.want)
			}
		})
	}
}

var labels = []core.Label{core.Contra, core.Dup, core.OK}

// checkVerdict holds for whatever is read.
func checkVerdict(t interface{ Fatalf(string, ...any) }, v core.Verdict, err error) {
	switch {
	case err != nil && v != core.Verdict{}:
		t.Fatalf("a verdict beside an error: %+v, %v", v, err)
	case err != nil && !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrDisagree):
		t.Fatalf("another error: %v", err)
	case err == nil && v.Label != core.Contra && v.Label != core.Dup && v.Label != core.OK:
		t.Fatalf("label %q", v.Label)
	case utf8.RuneCountInString(v.Reason) > maxReason || strings.ContainsAny(v.Reason, "\n\r\u202e"):
		t.Fatalf("reason %q", v.Reason)
	}
}

// pieces are what answers are made of, good and bad.
var pieces = []string{"<think>", "</think>", "{", "}", `"`, `\`, "label", "verdict", "reason", ":", ",", "contra", "dup", "ok", "not ", "\n", " ", ". ",
	"```json\n", "```", `{"label":"ok"}`, `{"label":"contra"`, "label: dup\n", "<|channel|>final<|message|>", "[THINK]", "ё", "\xff"}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, name), "")
}

func TestReadNeverInvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, err := Read(drawText(t, "answer"))
		checkVerdict(t, v, err)
	})
}

func TestReasonCannotChangeTheLabel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.SampledFrom(labels).Draw(t, "label")
		reason := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string { return drawText(t, "r") })).Draw(t, "reason")
		line, _ := json.Marshal(map[string]string{"reason": reason, "label": string(label)})
		if v, err := Read(string(line)); err != nil || v.Label != label {
			t.Fatalf("Read(%s) = %+v, %v", line, v, err)
		}
		// With thoughts before it, which may end early, it is this label or none.
		answer := "<think>" + drawText(t, "thoughts") + "</think>\n" + string(line)
		v, err := Read(answer)
		checkVerdict(t, v, err)
		if err == nil && v.Label != label {
			t.Fatalf("Read(%q) = %s, want %s", answer, v.Label, label)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Add(`{"reason":"r","label":"contra"}`)
	f.Add("Looks like a contradiction at first. Verdict: not a contradiction")
	f.Add(strings.Repeat(`{"a":`, 2000))
	f.Fuzz(func(t *testing.T, answer string) {
		v, err := Read(answer)
		checkVerdict(t, v, err)
	})
}

// Whatever a model sends is read to its end: anything that grows faster than the answer would run into the time limit of the test run.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"{\"a\":", "{", "{\"", "[", "<think>", "</think>", "ok. ", "label: ok\n", "*_", "```", "{\"label\":\"ok\"}", "verdict ", "\\"} {
		for _, size := range []int{maxVerdicts - 8, maxAnswer - 8} {
			answer := strings.Repeat(piece, size/len(piece))
			v, err := Read(answer)
			checkVerdict(t, v, err)
		}
	}
}
