package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
)

const typical = `{
  "sessionId": "s-7",
  "timestamp": "2026-03-01T10:20:30.5Z",
  "repos": [
    {
      "name": "SolitaryEquilibriumShield",
      "dir": "/home/o/ecosystem/SolitaryEquilibriumShield",
      "diff": "diff --git a/x b/x\n+a \u003c b",
      "files": ["lessons/new/", "\"lessons/\\320\\277.md\""]
    }
  ],
  "session": { "transcriptMinusTools": "user: привет\nassistant: ∀ε" },
  "extra": [1e400]
}`

func TestParseReadsAManifest(t *testing.T) {
	t.Parallel()
	want := core.Manifest{
		SessionID: "s-7",
		Timestamp: time.Date(2026, 3, 1, 10, 20, 30, 5e8, time.UTC),
		Repos: []core.Repo{{
			Name:  "SolitaryEquilibriumShield",
			Dir:   "/home/o/ecosystem/SolitaryEquilibriumShield",
			Diff:  "diff --git a/x b/x\n+a < b",
			Files: []string{"lessons/new/", `"lessons/\320\277.md"`},
		}},
		Transcript: "user: привет\nassistant: ∀ε",
	}
	for _, raw := range []string{typical, "\ufeff" + typical, " \r\n\t" + typical + "\n"} {
		got, err := Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("manifest (-want +got):\n%s", diff)
		}
	}
}

func TestParseWarnsAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		want      core.Manifest
	}{
		{"no repos at all", `{}`, core.Manifest{Repos: []core.Repo{}, Warnings: []string{"repos: missing, expected a list"}}},
		{"repos null", `{"repos":null}`, core.Manifest{Repos: []core.Repo{}}},
		{"repos is text", `{"repos":"x","sessionId":"s"}`, core.Manifest{SessionID: "s", Repos: []core.Repo{},
			Warnings: []string{"repos: expected a list, found text"}}},
		{"a diff that is a number", `{"repos":[{"name":"a"},{"name":"b","diff":7,"files":["f"]}]}`,
			core.Manifest{Repos: []core.Repo{{Name: "a"}, {Name: "b", Files: []string{"f"}}},
				Warnings: []string{"repos[1].diff: expected text, found number"}}},
		{"null elements", `{"repos":[null,{"name":"b","files":["f",null,[],"g"]}]}`,
			core.Manifest{Repos: []core.Repo{{Name: "b", Files: []string{"f", "g"}}}, Warnings: []string{
				"repos[0]: expected an object, found null", "repos[1].files[1]: expected text, found null",
				"repos[1].files[2]: expected text, found a list"}}},
		{"no name", `{"repos":[{"diff":"d"}]}`, core.Manifest{Repos: []core.Repo{{Diff: "d"}},
			Warnings: []string{"repos[0].name: missing, expected text"}}},
		{"names in other letter case are other names", `{"Repos":[1],"SESSIONID":3,"repos":[{"name":"n","Name":"N","DIFF":1}]}`,
			core.Manifest{Repos: []core.Repo{{Name: "n"}}}},
		{"escaped name", `{"rep\u006fs":[{"n\u0061me":"n"}]}`, core.Manifest{Repos: []core.Repo{{Name: "n"}}}},
		{"given twice", `{"repos":[{"name":"a","diff":"x","files":["p"]}],"repos":[{"name":"b","name":"c"}]}`,
			core.Manifest{Repos: []core.Repo{{Name: "c"}}, Warnings: []string{
				"repos: given 2 times; the last one counts", "repos[0].name: given 2 times; the last one counts"}}},
		{"session of another kind", `{"repos":[],"session":[],"sessionId":false,"timestamp":12}`,
			core.Manifest{Repos: []core.Repo{}, Warnings: []string{"sessionId: expected text, found true or false",
				"timestamp: expected text, found number", "session: expected an object, found a list"}}},
		{"NUL, lone surrogate, pair", `{"repos":[],"session":{"transcriptMinusTools":"a\u0000b\ud800c\ud83d\ude00\udc00"}}`,
			core.Manifest{Repos: []core.Repo{}, Transcript: "a\x00b\ufffdc😀\ufffd"}},
		{"invalid UTF-8", "{\"repos\":[],\"sessionId\":\"a\xff\xfe\\n\xd0\"}",
			core.Manifest{SessionID: "a\ufffd\ufffd\n\ufffd", Repos: []core.Repo{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNamesThePlaceOfAFault(t *testing.T) {
	t.Parallel()
	deep := `{"a":` + strings.Repeat("[", maxDepth)
	for _, c := range []struct{ name, raw, want string }{
		{"empty", "", "line 1, column 1 (byte 0): expected '{' at the beginning of a JSON object in UTF-8, found the end of the text"},
		{"a list", "[1]", "line 1, column 1 (byte 0): expected '{'"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "(byte 0): expected '{' at the beginning of a JSON object in UTF-8, found the byte 0xff"},
		{"cut off in text", `{"repos":[{"diff":"abc`, "column 23 (byte 22): expected the closing quote of a text, found the end of the text"},
		{"cut off in an escape", `{"a":"\`, "after a backslash, found the end of the text"},
		{"cut off behind a value", "{\n \"a\": 1", "line 2, column 8 (byte 9): expected ',' or '}', found the end of the text"},
		{"columns count characters", `{"привет":х}`, "column 11 (byte 16): expected a value, found 'х'"},
		{"two documents", `{"a":1} {"a":2}`, "column 9 (byte 8): expected the end of the text behind the object, found '{'"},
		{"trailing comma", `{"a":1,}`, "expected a name in double quotes, found '}'"},
		{"raw line end in text", "{\"a\":\"b\n\"}", `expected control characters in text to be escaped, found '\n'`},
		{"bad number", `{"a":01}`, "expected ',' or '}', found '1'"},
		{"bad word", `{"a":nul}`, "expected null, found '}'"},
		{"bad \\u", `{"a":"\u12g4"}`, `expected four hexadecimal digits after \u, found 'g'`},
		{"too deep", deep, "expected at most 10,000 levels of nesting, found '['"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(c.raw))
			if !errors.Is(err, core.ErrInvalid) || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("error %v, want core.ErrInvalid with %q", err, c.want)
			}
			if _, _, err := Arrive([]byte(c.raw), core.SourceFile, ""); !errors.Is(err, core.ErrInvalid) {
				t.Errorf("Arrive: %v", err)
			}
		})
	}
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-01-02T12:00:00Z": noon, " 2026-01-02t12:00:00z ": noon, "2026-01-02T15:00:00+03:00": noon,
		"2026-01-02T15:00:00+0300": noon, "2026-01-02 12:00:00": noon, "2026-01-02T12:00:00": noon,
		"2026-01-02 12:00:00 +0000": noon, "2026-01-02T12:00:00.000000000Z": noon, "": {},
		"yesterday": {}, "0000-01-01T00:00:00+23:00": {}, "9999-12-31T23:59:59-23:00": {},
	} {
		raw, _ := json.Marshal(map[string]any{"timestamp": text, "repos": nil})
		m, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if !m.Timestamp.Equal(want) || m.Timestamp.Location() != time.UTC {
			t.Errorf("%q: %v, want %v", text, m.Timestamp, want)
		}
		if warned := len(m.Warnings) > 0; warned != (want.IsZero() && text != "") {
			t.Errorf("%q: warnings %q", text, m.Warnings)
		}
	}
}

func TestCapsAreSaid(t *testing.T) {
	t.Parallel()
	raw := `{"repos":[` + strings.Repeat(`{"name":"r"},`, maxRepos+5) + `{"name":"r"}]}`
	m, err := Parse([]byte(raw))
	if err != nil || len(m.Repos) != maxRepos || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "more than 1000 entries") {
		t.Errorf("%d repos, warnings %q, error %v", len(m.Repos), m.Warnings, err)
	}
	raw = `{"repos":[{"name":"r","files":[` + strings.Repeat("1,", 500) + `"f"]}]}`
	m, err = Parse([]byte(raw))
	if err != nil || len(m.Warnings) != maxWarnings+1 || m.Warnings[maxWarnings] != "400 more warnings of this kind" ||
		len(m.Repos[0].Files) != 1 {
		t.Errorf("%d warnings, last %q, error %v", len(m.Warnings), m.Warnings[len(m.Warnings)-1], err)
	}
}

func TestArriveHashesTheContentWithoutTheBlock(t *testing.T) {
	t.Parallel()
	raw := []byte(typical)
	a, m, err := Arrive(raw, core.SourceWebhook, "/t/m.json")
	if err != nil {
		t.Fatal(err)
	}
	want := core.Arrival{Raw: raw, ContentHash: sha256.Sum256(raw), SessionID: "s-7", Timestamp: m.Timestamp,
		Source: core.SourceWebhook, Target: "/t/m.json"}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("arrival (-want +got):\n%s", diff)
	}
	with, err := Splice(raw, sampleBlock())
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Arrive(with, core.SourceFile, "")
	if err != nil || b.ContentHash != a.ContentHash || !bytes.Equal(b.Raw, with) {
		t.Errorf("with a block: hash %x, want %x; error %v", b.ContentHash, a.ContentHash, err)
	}
}

// The scanner must agree with encoding/json about what is valid, and decode text as it does.
func FuzzParse(f *testing.F) {
	for _, s := range []string{typical, `{}`, `{"repos":[{"name":"\ud83d\ude00\ud800","files":[null,1,"\u0000"]}]}`,
		`{"a":-0.5e+3,"b":[true,false,null],"sessionId":"` + "\xff" + `"}`, `{"a":1}{`, `{"timestamp":"2026-01-02T12:00:00Z"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Parse(raw)
		body := bytes.TrimPrefix(raw, bom)
		object := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
		if valid := json.Valid(body) && object; valid != (err == nil) {
			t.Fatalf("valid: %v, error: %v", valid, err)
		}
		if err != nil {
			if !errors.Is(err, core.ErrInvalid) {
				t.Fatalf("%v is not core.ErrInvalid", err)
			}
			return
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(body, &top); err != nil {
			t.Fatal(err)
		}
		var want string
		if json.Unmarshal(top["sessionId"], &want) == nil && want != m.SessionID {
			t.Fatalf("sessionId %q, want %q", m.SessionID, want)
		}
		if m.Repos == nil {
			t.Fatal("repos is nil")
		}
	})
}
