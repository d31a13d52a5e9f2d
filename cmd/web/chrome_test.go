package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// One browser process serves all tests; each test has a window of its own with its own cookies. No test sleeps: every wait asks again
// until a condition holds or patience ends.
const (
	patience  = time.Minute // for one condition, on a machine that is busy with other tests
	lookAgain = 50 * time.Millisecond
)

var chrome struct {
	once sync.Once
	ctx  context.Context
	stop []func()
	err  error
}

// chromePath finds the browser under the names that distributions give it.
func chromePath() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", errors.New("no browser found; install chromium-headless-shell (Debian: apt-get install chromium-headless-shell)")
}

func startChrome() error {
	path, err := chromePath()
	if err != nil {
		return err
	}
	profile, err := os.MkdirTemp("", "storozh-browser-")
	if err != nil {
		return err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(patience))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	chrome.ctx = ctx
	chrome.stop = []func(){stop, stopAlloc, func() { _ = os.RemoveAll(profile) }}
	return chromedp.Do(ctx)
}

// stopChrome ends the browser once all tests are through.
func stopChrome() {
	for _, f := range chrome.stop {
		f()
	}
}

// needChrome starts the browser, or skips: a newcomer need not have one, the gate must.
func needChrome(t *testing.T) {
	t.Helper()
	if _, err := chromePath(); err != nil {
		if os.Getenv("STOROZH_CI") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	chrome.once.Do(func() { chrome.err = startChrome() })
	if chrome.err != nil {
		t.Fatalf("start the browser: %v", chrome.err)
	}
}

// window is a browser window of its own: one tab, no cookies of others. What its console complains of is kept; see calm.
type window struct {
	t    *testing.T
	ctx  context.Context
	base string

	told map[string]bool // faults that were told in full

	mu         sync.Mutex
	complaints []string
}

func (r *running) window(t *testing.T) *window {
	t.Helper()
	needChrome(t)
	w := &window{t: t, base: "http://" + r.addr}
	ctx, cancel := chromedp.NewContext(chrome.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(w.hear))
	t.Cleanup(cancel)
	w.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a window: %v", err)
	}
	call(w, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	w.look(1400, 900, 1, false)
	return w
}

// hear keeps what a developer would see in red in the console, and requests to anywhere but us.
func (w *window) hear(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			w.complain("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		w.complain("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.URL)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			w.complain("console.%s", e.Type)
		}
	case *page.EventJavascriptDialogOpening:
		w.complain("a dialog opened: %s", e.Message)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, w.base+"/") && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			w.complain("a request to %s", u)
		}
	}
}

func (w *window) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}

// calm checks that the console stayed empty since the last check: no error, no violation of the content security policy, no foreign
// request. Complaints that hold one of the expected words are let through.
func (w *window) calm(expected ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.complaints {
		known := false
		for _, e := range expected {
			known = known || strings.Contains(c, e)
		}
		if !known {
			w.t.Errorf("the browser complains: %s", c)
		}
	}
	w.complaints = nil
}

// limited is the context of one step: no step outlasts patience.
func (w *window) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, patience)
}

func (w *window) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// open goes to a path of the dashboard, or to a whole address.
func (w *window) open(path string) {
	w.t.Helper()
	if !strings.HasPrefix(path, "http") && !strings.HasPrefix(path, "data:") {
		path = w.base + path
	}
	w.do("open "+path, chromedp.Navigate(path))
}

// eval gives the value of an expression in the page; a promise is waited for. It works with the page's own scripts switched off, too.
func eval[T any](w *window, expression string) (T, error) {
	ctx, cancel := w.limited()
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// get is eval for what must work.
func get[T any](w *window, expression string) T {
	w.t.Helper()
	v, err := eval[T](w, expression)
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true. While a page is on its way expressions fail; that is "not yet".
func (w *window) until(what, expression string) {
	w.t.Helper()
	end := time.Now().Add(patience)
	for {
		ok, err := eval[bool](w, "Boolean("+expression+")")
		if ok && err == nil {
			return
		}
		if time.Now().After(end) {
			where, _ := eval[string](w, `location.href + "\n" + document.body.innerText.slice(0, 3000)`)
			w.t.Fatalf("waited in vain for %s (%v); the page is %s", what, err, where)
		}
		time.Sleep(lookAgain)
	}
}

// untilSays waits for a text in the main part of the page.
func (w *window) untilSays(text string) {
	w.t.Helper()
	w.until("the text "+text, `document.readyState === "complete" && document.querySelector("main").innerText.includes(`+quote(text)+`)`)
}

func (w *window) path() string { return get[string](w, "location.pathname") }

// says is the text of the page as a reader sees it, folded parts left out.
func (w *window) says() string { return get[string](w, "document.body.innerText") }

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a form in JSON
	}
	return string(b)
}
