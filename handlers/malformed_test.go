package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"storozh/core"
)

// Twenty-odd kinds of bodies that are no manifest: each gets 400 with the place and what was expected there, and nothing is stored.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, says string }{
		"nothing":                   {"", "line 1, column 1"},
		"blanks":                    {" \n\t ", "line 2"},
		"half a manifest":           {`{"sessionId":"s","repos":[{"name":"shi`, "line 1, column"},
		"a list":                    {`[]`, "line 1, column 1"},
		"a string":                  {`"manifest"`, "line 1, column 1"},
		"a number":                  {`42`, "line 1, column 1"},
		"null":                      {`null`, "line 1, column 1"},
		"two documents":             {"{}\n{}", "line 2, column 1"},
		"text after it":             {`{} trailing`, "line 1, column 4"},
		"a comma too many":          {`{"a":1,}`, "line 1, column 8"},
		"a comma too few":           {"{\"a\":1\n\"b\":2}", "line 2, column 1"},
		"no colon":                  {`{"a" 1}`, "line 1, column 6"},
		"no value":                  {`{"a":}`, "line 1, column 6"},
		"a bare key":                {`{a:1}`, "line 1, column 2"},
		"single quotes":             {`{'a':1}`, "line 1, column 2"},
		"a comment":                 {"{\n// no\n}", "line 2, column 1"},
		"NaN":                       {`{"a":NaN}`, "line 1, column 6"},
		"a number with a zero":      {`{"a":01}`, "line 1, column 7"},
		"an unknown escape":         {`{"a":"\x41"}`, "line 1, column"},
		"half an escape":            {`{"a":"\u12"}`, "line 1, column"},
		"a line break in a string":  {"{\"a\":\"x\ny\"}", "line 1, column"},
		"a NUL in a string":         {"{\"a\":\"x\x00y\"}", "line 1, column"},
		"a byte that means nothing": {"{\"a\":\xff}", "line 1, column 6"},
		"UTF-16":                    {"\xff\xfe{\x00}\x00", "line 1, column 1"},
		"nested beyond measure":     {strings.Repeat("[", 200_000), "line 1, column"},
		"nested inside":             {`{"a":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`, "line 1, column"},
		"a form":                    {"manifest=%7B%7D", "line 1, column 1"},
		"HTML":                      {"<html></html>", "line 1, column 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			got := h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(tc.body), "Authorization", "Bearer "+hookSecret)
			var p problem
			if err := json.Unmarshal([]byte(got.body), &p); err != nil {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if got.status != http.StatusBadRequest || !strings.Contains(p.Detail, tc.says) || p.ID == "" || p.ID != got.header.Get("X-Request-Id") {
				t.Errorf("%d %+v, want %q", got.status, p, tc.says)
			}
			if len(p.Detail) > 400 {
				t.Errorf("%d bytes of detail", len(p.Detail))
			}
			if d := h.mem.last(); len(h.mem.arrivals) != 0 || d.Verdict != core.DeliveryBadJSON {
				t.Errorf("%d stored, recorded as %q", len(h.mem.arrivals), d.Verdict)
			}
		})
	}
}
