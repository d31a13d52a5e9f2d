package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"storozh/core"
)

func sampleBlock() core.Block {
	return core.Block{
		RanAt: "2026-03-01T10:21:00Z", K: 5, ContraCheck: core.ContraRan,
		Flags: []core.Flag{{
			Unit: "neuro-matrix/lessons/a.md", Routing: core.Misroute, ObservedRepo: "neuro-matrix", ExpectedRepo: core.Shield,
			Semantic: core.Contra, Against: []string{"shield/invariants.txt#2"}, JudgeNote: "a < b & \u2028",
			Severity: core.CrossLane,
		}},
		Summary: core.Summary{Units: 1, Misroute: 1, Contra: 1},
	}
}

// small is a block that reads well in expectations.
func small() core.Block { return core.Block{RanAt: "T", K: 1, ContraCheck: "ran"} }

const smallText = `{"ranAt":"T","k":1,"contra-check":"ran","flags":[],` +
	`"summary":{"units":0,"misroute":0,"contra":0,"dup":0,"ok":0}}`

func smallIndented(lead string) string {
	lines := []string{`{`, `  "ranAt": "T",`, `  "k": 1,`, `  "contra-check": "ran",`, `  "flags": [],`, `  "summary": {`,
		`    "units": 0,`, `    "misroute": 0,`, `    "contra": 0,`, `    "dup": 0,`, `    "ok": 0`, `  }`, `}`}
	return strings.Join(lines, "\n"+lead)
}

func TestSpliceKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	w1 := `"z":9007199254740993,"r":1e400,"s":1.0,"n":"a\u003cb","a":2,"a":3,"u":"\ud800"`
	for _, c := range []struct{ name, raw, want string }{
		{"compact", `{` + w1 + `}`, `{` + w1 + `,"storozh":` + smallText + `}`},
		{"indented", "{\n  \"a\": 1.0\n}", "{\n  \"a\": 1.0,\n  \"storozh\": " + smallIndented("  ") + "\n}"},
		{"CRLF and BOM", "\ufeff{\r\n  \"a\": 1\r\n}\r\n", "\ufeff{\r\n  \"a\": 1,\r\n  \"storozh\": " +
			strings.ReplaceAll(smallIndented("  "), "\n", "\r\n") + "\r\n}\r\n"},
		{"tabs", "{\n\t\"a\": 1 }", "{\n\t\"a\": 1,\n\t\"storozh\": " + strings.ReplaceAll(smallIndented("  "), "  ", "\t") + " }"},
		{"lines without indent", "{\n\"a\":1\n}", "{\n\"a\":1,\n\"storozh\":" + smallText + "\n}"},
		{"empty", `{}`, `{"storozh":` + smallText + `}`},
		{"empty over lines", "{\n}", "{\n  \"storozh\": " + smallIndented("  ") + "\n}"},
		{"replaced where it stands", `{"storozh" : [1,{"storozh":2}] , "a":1}`, `{"storozh" : ` + smallText + ` , "a":1}`},
		{"escaped name", `{"\u0073torozh":null}`, `{"\u0073torozh":` + smallText + `}`},
		{"twice: the last", `{"storozh":1,"b":2,"storoz\u0068":3,"c":4}`, `{"storozh":1,"b":2,"storoz\u0068":` + smallText + `,"c":4}`},
		{"other letter case", `{"Storozh":1,"STOROZH":2}`, `{"Storozh":1,"STOROZH":2,"storozh":` + smallText + `}`},
		{"nested is another name", `{"a":{"storozh":1}}`, `{"a":{"storozh":1},"storozh":` + smallText + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw := []byte(c.raw)
			got, err := Splice(raw, small())
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if string(raw) != c.raw {
				t.Error("the input was changed")
			}
			again, err := Splice(got, small())
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("twice is not once: %v\n%s", err, again)
			}
		})
	}
}

func TestStripAndExtract(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, bare, block string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"storozh":1}`, `{}`, "1"},
		{`{ "storozh": 1 , "a":1}`, `{ "a":1}`, "1"},
		{`{"a":1 , "storozh": {"x":[]} , "b":2}`, `{"a":1 , "b":2}`, `{"x":[]}`},
		{`{"storozh":1,"a":0,"storozh":2}`, `{"storozh":1,"a":0}`, "2"},
		{"\ufeff{\n  \"a\": 1,\n  \"storozh\": null\n}", "\ufeff{\n  \"a\": 1\n}", "null"},
	} {
		bare, err := Strip([]byte(c.raw))
		if err != nil || string(bare) != c.bare {
			t.Errorf("Strip(%s) = %s, %v; want %s", c.raw, bare, err, c.bare)
		}
		block, ok := Extract([]byte(c.raw))
		if string(block) != c.block || ok != (c.block != "") {
			t.Errorf("Extract(%s) = %s, %v; want %s", c.raw, block, ok, c.block)
		}
	}
	if _, err := Strip([]byte(`{"a"`)); err == nil {
		t.Error("Strip took half an object")
	}
	if _, ok := Extract([]byte(`{"storozh":1`)); ok {
		t.Error("Extract took half an object")
	}
	if _, err := Splice([]byte(`{"a":1}x`), small()); err == nil {
		t.Error("Splice took text behind the object")
	}
}

func TestEncodeBlockHasListsAndLeavesTheCallersAlone(t *testing.T) {
	t.Parallel()
	b := sampleBlock()
	b.Flags[0].Against = nil
	out, err := EncodeBlock(b, "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `"against":[]`) || b.Flags[0].Against != nil {
		t.Errorf("against: %s; caller's: %v", out, b.Flags[0].Against)
	}
	b.Flags = nil
	if out, _ = EncodeBlock(b, "  "); !strings.Contains(string(out), `"flags": []`) {
		t.Errorf("flags: %s", out)
	}
}

// drawJSON draws a value as text in any layout.
func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\r\n\t", "\n                    "})
	kinds := []string{"1", "-0.50e+9", "1e400", "true", "null", `"x\u003c\"}"`, `"\ud800"`, "\"\xff,\"", `""`}
	if depth == 0 {
		return rapid.SampledFrom(kinds).Draw(t, "scalar")
	}
	var b strings.Builder
	list := depth < 3 && rapid.Bool().Draw(t, "list")
	open, end := "{", "}"
	if list {
		open, end = "[", "]"
	}
	b.WriteString(open + space.Draw(t, "s"))
	for i := range rapid.IntRange(0, 4).Draw(t, "n") {
		if i > 0 {
			b.WriteString("," + space.Draw(t, "s"))
		}
		if !list {
			name := rapid.SampledFrom([]string{"a", "repos", "Storozh", `storo\u007Ah`, "storozh", `st\u006frozh `, "сторож", "name"})
			b.WriteString(`"` + name.Draw(t, "name") + `"` + space.Draw(t, "s") + ":" + space.Draw(t, "s"))
		}
		b.WriteString(drawJSON(t, rapid.IntRange(0, depth-1).Draw(t, "depth")) + space.Draw(t, "s"))
	}
	return b.String() + end
}

func TestSpliceLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SampledFrom([]string{"", "\ufeff", "\n"}).Draw(t, "before") + drawJSON(t, 3) +
			rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "after")
		checkLaws(t, []byte(raw))
	})
}

func FuzzSplice(f *testing.F) {
	for _, s := range []string{typical, `{}`, "{\n}", `{"storozh":1,"a":2}`, "\ufeff{\r\n \"a\":[1e400],\r\n \"storozh\":{}}", `{"\u0073torozh":0,"storozh":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := Strip(raw); err == nil {
			checkLaws(t, raw)
		}
	})
}

// checkLaws checks the package's invariants for a valid raw.
func checkLaws(t interface {
	Helper()
	Fatalf(string, ...any)
}, raw []byte) {
	t.Helper()
	a, b := sampleBlock(), small()
	one, err := Splice(raw, b)
	if err != nil {
		t.Fatalf("Splice: %v", err)
	}
	other, err := Splice(raw, a)
	if err != nil {
		t.Fatalf("Splice: %v", err)
	}
	if two, err := Splice(other, b); err != nil || !bytes.Equal(one, two) {
		t.Fatalf("Splice(Splice(x,a),b) = %v\n%q, want\n%q", err, two, one)
	}
	bare, err := Strip(raw)
	if err != nil {
		t.Fatalf("Strip: %v", err)
	}
	if got, err := Strip(one); err != nil || !bytes.Equal(got, bare) {
		t.Fatalf("Strip(Splice(x)) = %v\n%q, want Strip(x)\n%q", err, got, bare)
	}
	if _, had := Extract(raw); !had && !bytes.Equal(bare, raw) {
		t.Fatalf("Strip changed text without a block: %q", bare)
	}
	var value, want, before, after map[string]any
	block, _ := Extract(one)
	_ = json.Unmarshal(block, &value)
	_ = json.Unmarshal([]byte(smallText), &want)
	if !reflect.DeepEqual(value, want) {
		t.Fatalf("block %s", block)
	}
	if !json.Valid(bytes.TrimPrefix(one, bom)) {
		t.Fatalf("not JSON: %q", one)
	}
	decodeExact(raw, &before)
	decodeExact(one, &after)
	delete(before, blockName)
	delete(after, blockName)
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("another member changed: %v, was %v", after, before)
	}
}

// decodeExact decodes without losing digits.
func decodeExact(raw []byte, into *map[string]any) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, bom)))
	d.UseNumber()
	_ = d.Decode(into)
}
