package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// twoModels is a model server that holds two embedding models of the same vector length; all else is llmtest's.
type twoModels struct {
	url string

	mu    sync.Mutex
	lists string         // the embedding model on the list of models
	texts map[string]int // embedded, by the name that was asked for
	deaf  bool           // answers with the new model, whatever the name
	limit int            // texts of the new model that are answered; 0: any number
}

const oldModel, newModel = "old-embed", "new-embed"

func startTwoModels(t *testing.T) *twoModels {
	t.Helper()
	rest := llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(nil) })
	to, err := url.Parse(strings.TrimSuffix(rest.URL, "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	m := &twoModels{lists: oldModel, texts: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(to))
	mux.HandleFunc("POST /v1/embeddings", m.embeddings)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []map[string]any{{"id": m.lists}, {"id": "judge"}}})
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	m.url = srv.URL + "/v1"
	return m
}

func (m *twoModels) embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if in.Model == newModel && m.limit > 0 && m.texts[newModel]+len(in.Input) > m.limit {
		http.Error(w, "the model crashed", http.StatusInternalServerError)
		return
	}
	m.texts[in.Model] += len(in.Input)
	data := []map[string]any{}
	for i, text := range in.Input {
		v, _ := localllm.NewFake().Embeddings(r.Context(), text)
		if in.Model == newModel || m.deaf {
			slices.Reverse(v)
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (m *twoModels) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *twoModels) asked(model string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts[model]
}

// manyRules is a corpus that is too large to embed while a run waits.
const manyRules = 400

func changeModel(t *testing.T) (a *App, e eco, m *twoModels) {
	t.Helper()
	e = newEco(t)
	var text strings.Builder
	for i := range manyRules {
		fmt.Fprintf(&text, "#%d [style] [O] part %d of house %d is painted in colour %d\n", i+10, i, i*i, i*7)
	}
	e.write("shield/invariants/many.txt", text.String())
	e.commit("shield")
	e.change("shield/lessons/first.md", "# First\n\nPart 7 of house 49 stays unpainted.\n")
	m = startTwoModels(t)
	a = newApp(t, e, nil, func(c *Config) {
		c.Demo, c.LLM = false, localllm.Config{BaseURL: m.url, MaxRetries: -1}
	})
	rec, _ := runEco(t, a, e, "one")
	if rec.Run.EmbedModel != oldModel || len(rec.Run.Block.Warnings) != 0 {
		t.Fatalf("%s %v", rec.Run.EmbedModel, rec.Run.Block.Warnings)
	}
	m.set(func() { m.lists = newModel })
	return a, e, m
}

func nextRun(t *testing.T, a *App, e eco, name string) (core.Record, []string) {
	t.Helper()
	e.change("shield/lessons/"+name+".md", "# "+name+"\n\nPart 9 of house 81 is what "+name+" paints.\n")
	rec, units := runEco(t, a, e, name)
	return rec, items(unitNamed(t, units, "shield/lessons/"+name+".md"))
}

func reindexState(t *testing.T, a *App) core.Progress {
	t.Helper()
	s, err := a.System(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Corpus.Reindexing
}

func TestRunsGoByTheOldModelUntilTheNewOneIsThere(t *testing.T) {
	a, e, m := changeModel(t)
	rec, near := nextRun(t, a, e, "second")
	if w := rec.Run.Block.Warnings; len(w) != 1 || !strings.HasPrefix(w[0], "reindexing: 0 of 406 items have vectors of the new model "+newModel) ||
		!strings.Contains(w[0], "by those of "+oldModel) {
		t.Errorf("warnings %q", w)
	}
	if rec.Run.EmbedModel != oldModel || len(near) != 5 || near[0] != "shield/invariants/many.txt#19" {
		t.Errorf("compared by %s with %v", rec.Run.EmbedModel, near)
	}
	if n := m.asked(newModel); n != 1 {
		t.Errorf("the run embedded %d texts by the new model", n)
	}
	if p := reindexState(t, a); p != (core.Progress{Done: 1, Of: 406}) {
		t.Errorf("shown as %+v", p)
	}

	m.set(func() { m.limit = 100 }) // the model goes away in between
	if err := a.tend(t.Context(), "one"); err == nil {
		t.Error("an outage was no error")
	}
	if p := reindexState(t, a); p != (core.Progress{Done: 65, Of: 406}) {
		t.Errorf("after an outage %+v", p)
	}
	rec, _ = nextRun(t, a, e, "third")
	if w := rec.Run.Block.Warnings; rec.Run.EmbedModel != oldModel || len(w) != 1 || !strings.HasPrefix(w[0], "reindexing: 65 of 406 items") {
		t.Errorf("%s %v", rec.Run.EmbedModel, w)
	}

	m.set(func() { m.limit = 0 })
	if err := a.tend(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if n := m.asked(newModel); n != 406 || reindexState(t, a).Of != 0 {
		t.Errorf("%d texts were embedded, state %+v", n, reindexState(t, a))
	}
	olds := m.asked(oldModel)
	rec, near = nextRun(t, a, e, "fourth")
	if rec.Run.EmbedModel != newModel || len(rec.Run.Block.Warnings) != 0 || len(near) != 5 || m.asked(oldModel) != olds {
		t.Errorf("%s %v %v", rec.Run.EmbedModel, rec.Run.Block.Warnings, near)
	}
}

// A server that takes every name for the model that is loaded would mix vectors of two models up. Then the run waits.
func TestAServerThatIgnoresNamesIsFoundOut(t *testing.T) {
	a, e, m := changeModel(t)
	m.set(func() { m.deaf = true })
	rec, near := nextRun(t, a, e, "second")
	if rec.Run.EmbedModel != newModel || len(rec.Run.Block.Warnings) != 0 || len(near) != 5 || m.asked(newModel) < 406 {
		t.Errorf("%s %v %v, %d texts", rec.Run.EmbedModel, rec.Run.Block.Warnings, near, m.asked(newModel))
	}
	if p := reindexState(t, a); p.Of != 0 {
		t.Errorf("%+v", p)
	}
}

func TestReindexingIsOneProcessesWorkAndIsLeftWhenTheModelIsChangedBack(t *testing.T) {
	a, e, m := changeModel(t)
	nextRun(t, a, e, "second")
	if ok, err := a.db.Lease(t.Context(), reindexLease, "another process", time.Minute); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := a.tend(t.Context(), "one"); err != nil || m.asked(newModel) != 1 {
		t.Errorf("%d texts by the new model, %v", m.asked(newModel), err)
	}
	if err := a.db.EndLease(t.Context(), reindexLease, "another process"); err != nil {
		t.Fatal(err)
	}
	m.set(func() { m.lists = oldModel })
	if err := a.tend(t.Context(), "two"); err != nil || m.asked(newModel) != 1 || reindexState(t, a).Of != 0 {
		t.Errorf("%v, %d texts, %+v", err, m.asked(newModel), reindexState(t, a))
	}
	if rec, _ := nextRun(t, a, e, "third"); rec.Run.EmbedModel != oldModel || len(rec.Run.Block.Warnings) != 0 {
		t.Errorf("%s %v", rec.Run.EmbedModel, rec.Run.Block.Warnings)
	}
}

// `web sync` does not leave the rest to the background.
func TestSyncEmbedsByTheNewModelAtOnce(t *testing.T) {
	a, e, m := changeModel(t)
	if _, err := a.Sync(t.Context()); err != nil || m.asked(newModel) != 406 {
		t.Fatalf("%d texts, %v", m.asked(newModel), err)
	}
	if rec, _ := nextRun(t, a, e, "second"); rec.Run.EmbedModel != newModel || len(rec.Run.Block.Warnings) != 0 {
		t.Errorf("%s %v", rec.Run.EmbedModel, rec.Run.Block.Warnings)
	}
}

// The process does it by itself: woken when the run has ended, through by the time that is waited for here, and gone when the process ends.
func TestTheCorpusIsTendedBesideTheRuns(t *testing.T) {
	a, e, m := changeModel(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { a.tendCorpus(ctx) })
	nextRun(t, a, e, "second")
	for deadline := time.Now().Add(time.Minute); m.asked(newModel) < 406 || reindexState(t, a).Of != 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d texts after a minute, %+v", m.asked(newModel), reindexState(t, a))
		}
	}
	stop()
	wg.Wait()
	if n := m.asked(newModel); n != 406 {
		t.Errorf("%d texts were embedded", n)
	}
}
