package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/blocktest"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
)

// serveWeb puts the real dashboard handler behind real HTTP.
func serveWeb(t testing.TB, a *App) string {
	t.Helper()
	web, closeWeb, err := a.webServer()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(web.Handler)
	t.Cleanup(func() { s.Close(); closeWeb() })
	return s.URL
}

// call does one request and decodes the JSON answer.
func call(t testing.TB, method, url, bearer string, body []byte, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s %s: %d %s", method, url, res.StatusCode, b)
		}
	}
	return res.StatusCode
}

// seen is what a client reads of GET /api/manifests/{id}.
type seen struct {
	ID       json.Number `json:"id"`
	Status   string      `json:"status"`
	BLUF     string      `json:"bluf"`
	Storozh  *core.Block `json:"storozh"`
	Warnings []string    `json:"warnings"`
	Units    []struct {
		Unit, Type, Action, Routing, Semantic, Severity, Reason string
		ExpectedRepo                                            string
		Pairs                                                   []struct {
			Item, Label, Note, Text string
			Similarity              float64
			Cached                  bool
		}
	} `json:"units"`
}

// workday is what a session leaves: a misrouted lesson, a contradiction, a duplicate, a quiet new lesson and a code change.
func workday(e eco) {
	e.change("neuro-matrix/lessons/fridays.md", "# Fridays are fine\n\nDeploys on a Friday are welcome at any hour.\n")
	e.change("shield/lessons/merging.md", "# Merging first\n\nMerge first and run the tests afterwards.\n")
	e.change("shield/lessons/log-lines.md", "# Log lines\n\nEach line of a log is one JSON object.\n")
	e.change("shield/lessons/naps.md", "# Naps\n\nA short walk beats a third coffee.\n")
	e.change("mirabilis/cmd/run/main.go", "package main\n\nfunc main() { println(1) }\n")
}

var workdayRules = map[string]core.Label{
	"Deploys on a Friday are welcome | deploy on a Friday": core.Contra,
	"run the tests afterwards | tests run before":          core.Contra,
	"one JSON object | one JSON object":                    core.Dup,
}

func byUnit(s seen) map[string][2]string {
	out := map[string][2]string{}
	for _, u := range s.Units {
		out[u.Unit] = [2]string{u.Routing, u.Semantic}
	}
	return out
}

var workdayFlags = map[string][2]string{
	"neuro-matrix/lessons/fridays.md": {"misroute", "contra"},
	"shield/lessons/merging.md":       {"ok", "contra"},
	"shield/lessons/log-lines.md":     {"ok", "dup"},
	"shield/lessons/naps.md":          {"ok", "ok"},
	"mirabilis/cmd/run/main.go":       {"ok", ""},
}

func TestMainJob(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, nil)
	base := serveWeb(t, a)
	raw := e.manifest("s1", "2026-05-01T12:00:00Z")
	writeFile(t, a.cfg.ManifestPath, raw)

	var got seen
	if code := call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &got); code != http.StatusOK {
		t.Fatalf("webhook: %d %+v", code, got)
	}
	if diff := cmp.Diff(workdayFlags, byUnit(got)); diff != "" {
		t.Error(diff)
	}
	if got.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" || got.Status != "done" || got.Storozh.ContraCheck != core.ContraRan {
		t.Errorf("%s · %s · %s", got.BLUF, got.Status, got.Storozh.ContraCheck)
	}
	first := got.Units[0]
	if len(first.Pairs) < 5 || first.Pairs[0].Similarity < first.Pairs[4].Similarity || first.Pairs[0].Text == "" {
		t.Errorf("neighbours of %s: %+v", first.Unit, first.Pairs)
	}

	t.Run("the file has the block and is otherwise the same to the byte", func(t *testing.T) {
		id, _ := got.ID.Int64()
		if err := a.WaitWritten(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(a.cfg.ManifestPath)
		if err != nil {
			t.Fatal(err)
		}
		blocktest.ValidateManifest(t, b)
		if without, err := manifest.Strip(b); err != nil || !bytes.Equal(without, raw) {
			t.Errorf("other bytes changed (%v)", err)
		}
		var spliced bytes.Buffer
		res, err := http.NewRequestWithContext(t.Context(), "GET", base+"/api/manifests/"+got.ID.String()+"/manifest", nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Header.Set("Authorization", "Bearer claude-token-of-the-test")
		r, err := http.DefaultClient.Do(res)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		if _, err := spliced.ReadFrom(r.Body); err != nil || !bytes.Equal(spliced.Bytes(), b) {
			t.Error("the API gives other bytes than the file")
		}
	})

	t.Run("the same manifest again asks the model nothing", func(t *testing.T) {
		before := model.Counts()
		if code := call(t, "POST", base+"/api/manifests/"+got.ID.String()+"/runs", "owner-token-of-the-test", []byte(`{}`), nil); code != http.StatusAccepted {
			t.Fatalf("judge again: %d", code)
		}
		id, _ := got.ID.Int64()
		if err := a.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		var again seen
		call(t, "GET", base+"/api/manifests/"+got.ID.String(), "owner-token-of-the-test", nil, &again)
		after := model.Counts()
		if after.Completions != before.Completions || after.Chat != before.Chat || after.Texts != before.Texts {
			t.Errorf("asked: %+v, before %+v", after, before)
		}
		if diff := cmp.Diff(workdayFlags, byUnit(again)); diff != "" {
			t.Error(diff)
		}
		if !again.Units[0].Pairs[0].Cached {
			t.Error("the pair is not marked as judged before")
		}
	})

	t.Run("judging afresh asks again", func(t *testing.T) {
		before := model.Counts()
		call(t, "POST", base+"/api/manifests/"+got.ID.String()+"/runs", "owner-token-of-the-test", []byte(`{"fresh":true}`), nil)
		id, _ := got.ID.Int64()
		if err := a.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if after := model.Counts(); after.Completions <= before.Completions {
			t.Error("the model was not asked")
		}
	})
}

func TestWithoutModelNoLabelIsInvented(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Down = true })
	a := newApp(t, e, model, nil)
	base := serveWeb(t, a)
	raw := e.manifest("s1", "2026-05-01T12:00:00Z")
	var got seen
	call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &got)
	if got.Storozh.ContraCheck != core.SkippedUnreachable || got.BLUF != "5 units: 1 misroute; contra-check: skipped (localllm unreachable)" {
		t.Errorf("%s", got.BLUF)
	}
	b, _ := json.Marshal(got.Storozh)
	if strings.Contains(string(b), `"semantic"`) {
		t.Errorf("a label was invented: %s", b)
	}
	blocktest.Validate(t, *got.Storozh)

	// The model comes back: the same manifest, sent again, is judged.
	model.Set(func(f *llmtest.Faults) { f.Down = false; f.Answer = rules(workdayRules) })
	call(t, "POST", base+"/webhooks/mirabilis?wait=60s", testSecret, raw, &got)
	if got.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		t.Errorf("after the model came back: %s", got.BLUF)
	}
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
