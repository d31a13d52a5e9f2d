package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"storozh/cmd/web/app"
	"storozh/core"
)

// What `web check` prints of untrusted text does nothing to a terminal, and the printed block is still the block.
func TestPrintedTextIsOnlyShown(t *testing.T) {
	const hostile = "a\x1b]0;x\x07\u009b31m\u202eb\u2066c\x7f"
	block := core.Block{Flags: []core.Flag{{Unit: "shield/" + hostile, Routing: core.Misroute, ObservedRepo: hostile, ExpectedRepo: "shield", Semantic: core.Contra,
		Against: []string{hostile}, JudgeNote: hostile}}, NotInDiff: []string{hostile}, Unclassified: []string{hostile}, Warnings: []string{hostile}}
	o := app.Outcome{Status: core.Done, BLUF: "1 unit", Block: &block}
	o.WriteBack.Detail = hostile
	var out bytes.Buffer
	if err := printOutcome(&out, o); err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexFunc(strings.ReplaceAll(out.String(), "\n", ""), hidden); at >= 0 {
		t.Errorf("it prints %q", out.String())
	}
	_, printed, _ := strings.Cut(out.String(), "\n\n")
	printed, _, _ = strings.Cut(printed, "\n\n")
	var again struct {
		Storozh core.Block `json:"storozh"`
	}
	if err := json.Unmarshal([]byte(printed), &again); err != nil || again.Storozh.Flags[0].JudgeNote != hostile {
		t.Errorf("%v: %q", err, printed)
	}
}
