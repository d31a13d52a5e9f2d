package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
)

// gate holds a model's answers back, so that a run stands still where the test wants it.
type gate struct {
	mu   sync.Mutex
	pass chan struct{}
	wide bool // closed, which lets everything through
}

func (g *gate) now() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pass
}

// open lets everything through, shut nothing more.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.wide {
		close(g.pass)
		g.wide = true
	}
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass, g.wide = make(chan struct{}), false
}

// let lets n answers through.
func (g *gate) let(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case g.now() <- struct{}{}:
		case <-time.After(patience):
			t.Fatal("the model is not asked")
		}
	}
}

// gatedModel is a model server whose judge waits for the gate; the embeddings come at once.
func gatedModel(t *testing.T) (*llmtest.Server, *gate) {
	t.Helper()
	g := &gate{pass: make(chan struct{})}
	fake := localllm.NewFake()
	srv := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(prompt string) string {
			<-g.now()
			out, _ := fake.Complete(context.Background(), prompt, localllm.Opts{})
			return out
		}
	})
	t.Cleanup(g.open) // before the server's own end, which waits for its answers
	return srv, g
}

// A run that takes long can be watched: the page moves by itself, without a reload; with scripts off by the refresh link.
func TestARunCanBeWatched(t *testing.T) {
	needChrome(t)
	model, g := gatedModel(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL="+model.URL, "STOROZH_LLM_CONCURRENCY=1", "STOROZH_K=3")...)
	eco := m.ecosystem(map[string]string{"shield/invariants.txt": invariants, "neuro-matrix/hooks/stop.sh": "#!/bin/sh\n"})
	r := m.begin()
	w, plain := r.window(t), r.window(t)
	plain.noScripts()
	w.signIn(r.link("owner"))
	plain.signIn(r.link("claude"))

	eco.write("shield/lessons/zones.md", "Never store timestamps in UTC: store all timestamps in the zone of the reader.\n")
	eco.write("shield/lessons/tea.md", "Green tea is steeped for two minutes.\n")
	raw := eco.stop("slow", "2026-03-01T10:00:00Z")
	g.let(t, 1)
	w.openNewest()
	w.untilJudged(1)
	w.check("review running")
	get[bool](w, `(window.sameDocument = true)`)
	g.let(t, 2)
	w.untilJudged(3)
	if !get[bool](w, `window.sameDocument === true`) {
		t.Error("the page was loaded again to show the progress")
	}
	plain.openNewest()
	plain.untilJudged(3)
	g.open()
	const line = "2 units: 1 contra"
	w.untilSays(line)
	w.calm()
	for end := time.Now().Add(patience); !get[bool](plain, `document.querySelector("h1").innerText.includes(`+quote(line)+`)`); {
		if time.Now().After(end) {
			t.Fatalf("the refresh link never led to the result: %s", plain.says())
		}
		plain.follow("Refresh")
	}
	plain.calm()
	b, err := os.ReadFile(eco.manifestFile())
	if err != nil {
		t.Fatal(err)
	}
	if without, err := manifest.Strip(b); err != nil || string(without) != string(raw) || len(b) == len(raw) {
		t.Errorf("the manifest file is now %s", b)
	}
	g.shut()
	judgeAgain(w, g, line)
}

// judgeAgain asks the model anew and cancels: the result that was there stays on the page all the time.
func judgeAgain(w *window, g *gate, line string) {
	w.t.Helper()
	w.click("ask anew", `document.querySelector('input[name="fresh"]')`)
	w.follow("Judge again")
	g.let(w.t, 1)
	w.untilSays("A new run: running: 1 of")
	w.untilSays(line)
	w.glance("review running over a result")
	w.follow("Cancel")
	w.until("the run to be cancelled", `/\bcancelled\b/.test(document.querySelector("main").innerText.replace("being cancelled", "")) && !document.querySelector("progress")?.checkVisibility()`)
	w.open(w.path())
	w.untilSays(line)
	w.glance("review cancelled over a result")
	w.calm()
}

// untilJudged waits until the page says that n pairs are judged.
func (w *window) untilJudged(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d judged pairs", n), fmt.Sprintf(`/running: %d of \d+ pairs judged/.test(document.querySelector("main").innerText)`, n))
}

// openNewest goes to the first manifest of the inbox, once there is one.
func (w *window) openNewest() {
	w.t.Helper()
	for end := time.Now().Add(patience); ; {
		w.open("/")
		if get[bool](w, `!!document.querySelector(".entry .bluf")`) {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("no manifest came into the inbox: %s", w.says())
		}
		time.Sleep(lookAgain)
	}
	w.click("the newest manifest", `document.querySelector(".entry .bluf")`)
	w.until("its page", `location.pathname.startsWith("/manifests/") && document.readyState === "complete"`)
}
