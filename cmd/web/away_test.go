package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/cmd/web/app"
	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/db/dbtest"
)

// script is a Desk that answers about a run what is written down; the last answer is given again and again.
type script struct {
	app.Desk
	answers []error // nil: the run works
	last    app.Outcome
	asked   int
}

func (s *script) Outcome(context.Context, int64) (app.Outcome, error) {
	s.asked++
	switch {
	case s.asked > len(s.answers) && s.last.Status != "":
		return s.last, nil
	case s.asked > len(s.answers):
		return app.Outcome{}, s.answers[len(s.answers)-1]
	}
	return app.Outcome{Status: core.Running, Progress: core.Progress{Done: s.asked, Of: 9}}, s.answers[s.asked-1]
}

func TestFollowWaitsWhileNobodyAnswers(t *testing.T) {
	noDatabase, gone := fmt.Errorf("asking: %w", core.ErrNoDatabase), fmt.Errorf("%w: EOF", app.ErrGone)
	end := app.Outcome{Status: core.Done, BLUF: "1 unit: all ok"}
	for name, tt := range map[string]struct {
		answers []error
		last    app.Outcome
		says    []string // in order
		fails   string   // part of the error
	}{
		"the database comes back": {[]error{nil, noDatabase, noDatabase, nil}, end, []string{"1 of 9 pairs", "the database does not answer", "4 of 9 pairs"}, ""},
		"the process comes back":  {[]error{nil, gone, nil}, end, []string{"1 of 9 pairs", "has gone away", "3 of 9 pairs"}, ""},
		"it stays away":           {[]error{nil, noDatabase}, app.Outcome{}, []string{"1 of 9 pairs", "the database does not answer"}, "the manifest is kept"},
		"another error":           {[]error{nil, core.ErrNotFound}, app.Outcome{}, []string{"1 of 9 pairs"}, core.ErrNotFound.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			d := &script{answers: tt.answers, last: tt.last}
			limit := time.Hour
			if tt.last.Status == "" {
				limit = time.Nanosecond
			}
			o, err := commands{err: &said, awayLimit: limit}.follow(t.Context(), d, 1)
			if tt.fails == "" && (err != nil || o.BLUF != end.BLUF) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("%+v %v", o, err)
			}
			lines := strings.Split(strings.TrimSpace(said.String()), "\n")
			if len(lines) != len(tt.says) {
				t.Fatalf("it says %q", lines)
			}
			for i, l := range lines {
				if !strings.Contains(l, tt.says[i]) {
					t.Errorf("line %d: %q, want %q", i, l, tt.says[i])
				}
			}
		})
	}
}

// wire stands between a process and its Postgres, and can be cut.
type wire struct {
	to string
	ln net.Listener

	mu   sync.Mutex
	down bool
	all  []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{to: to, ln: ln}
	t.Cleanup(func() { _ = ln.Close(); w.cut() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go w.join(c)
		}
	}()
	return w
}

func (w *wire) join(c net.Conn) {
	out, err := net.Dial("tcp", w.to)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	down := w.down
	w.all = append(w.all, c, out)
	w.mu.Unlock()
	if down {
		_ = c.Close()
		_ = out.Close()
		return
	}
	go func() { _, _ = io.Copy(out, c); _ = out.Close() }()
	_, _ = io.Copy(c, out)
	_ = c.Close()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for _, c := range w.all {
		_ = c.Close()
	}
	w.all = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

// watchWords passes a stream on and tells when words have come by.
type watchWords struct {
	mu   sync.Mutex
	b    bytes.Buffer
	want string
	seen chan struct{}
}

func (w *watchWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := strings.Contains(w.b.String(), w.want)
	w.b.Write(p)
	if !had && strings.Contains(w.b.String(), w.want) {
		close(w.seen)
	}
	return len(p), nil
}

func (w *watchWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// The connection to Postgres is cut while `web check` follows a run of the running process, and comes back: the check waits and ends well.
func TestCheckOutlastsTheDatabase(t *testing.T) {
	if !dbtest.Native() {
		t.Skip("the embedded Postgres is reached by no wire that could be cut; the native run covers it")
	}
	u, err := url.Parse(dbtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, u.Host)
	u.Host = w.ln.Addr().String()
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(string) string { <-gate; return `{"reason":"another subject","label":"ok"}` }
	})
	m := newMachine(t, "DATABASE_URL="+u.String(), "STOROZH_LLM_URL="+model.URL)
	m.ecosystem(map[string]string{"SolitaryEquilibriumShield/invariants/core.txt": invariants})
	r := m.start()
	writeManifests(t, m.home, 1)
	cmd := m.command("check", filepath.Join(m.home, "m0.json"))
	var out bytes.Buffer
	errs := &watchWords{want: "pairs judged", seen: make(chan struct{})}
	away := &watchWords{want: "the database does not answer", seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(errs, away)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for _, step := range []struct {
		seen chan struct{}
		then func()
	}{{errs.seen, w.cut}, {away.seen, func() { w.mend(); open() }}} {
		select {
		case <-step.seen:
			step.then()
		case err := <-ended:
			t.Fatalf("the check ended with %v\n%s\n%s", err, &out, errs)
		}
	}
	if err := <-ended; err != nil || !strings.HasPrefix(out.String(), "1 unit: 1 misroute") || !strings.Contains(out.String(), "file: written") {
		t.Errorf("the check ended with %v\n%s\n%s", err, &out, errs)
	}
	r.interrupt()
}
