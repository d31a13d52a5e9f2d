package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"storozh/db/dbtest"
)

// axeSource gives the text of axe-core, the accessibility checker. The package is installed once per lock file beside the packages of
// the embedded Postgres.
func axeSource(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("testdata/axe/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := dbtest.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, fmt.Sprintf("axe-%.8x", sha256.Sum256(lock)))
	file := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(file); err != nil {
		installAxe(t, dir, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// installAxe installs under a lock, unless another process has done so meanwhile.
func installAxe(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	unlock, err := flock(ctx, dir+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := os.Stat(file); err == nil {
		return
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("testdata/axe", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
	npm.Dir, npm.WaitDelay = dir, 5*time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("install axe-core (npm of Node 20 or newer is needed): %v\n%s", err, out)
	}
}

func flock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("waiting for %s: %w", path, ctx.Err())
		case <-time.After(lookAgain):
		}
	}
}

// verdict is what axe found on a page.
type verdict struct {
	Passes     int
	Violations []struct {
		ID, Help string
		Nodes    []string
	}
}

// axe runs every rule over the page as it is now. The script comes in by evaluation, which the content security policy does not bind.
func (w *window) axe() verdict {
	w.t.Helper()
	if !get[bool](w, `"axe" in window`) {
		get[bool](w, axeSource(w.t)+`;true`)
	}
	return get[verdict](w, `axe.run(document, {preload: false, resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(r => ({
		Passes: r.passes.length,
		Violations: r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 4).map(n => n.target.join(" ") + ": " + n.failureSummary.split("\n").slice(1, 3).join(";"))})),
	}))`)
}

// accessible checks one state of a page.
func (w *window) accessible(state string) {
	w.t.Helper()
	v := w.axe()
	if v.Passes < 10 {
		w.t.Errorf("%s: axe passed only %d rules: did it see the page?", state, v.Passes)
	}
	for _, f := range v.Violations {
		w.faultOnce(state, "axe "+f.ID+": "+f.Help, strings.Join(f.Nodes, "\n  "))
	}
}

// The checker itself can find something, else its silence means nothing.
func TestAxeSeesABadPage(t *testing.T) {
	w := (&running{machine: machine{addr: "127.0.0.1:0"}}).window(t)
	w.open(`data:text/html,<title>x</title><p style="color:%23ccc;background:%23fff">pale</p><img src="data:,"><button></button>`)
	found := map[string]bool{}
	for _, v := range w.axe().Violations {
		found[v.ID] = true
	}
	for _, id := range []string{"color-contrast", "image-alt", "button-name", "html-has-lang"} {
		if !found[id] {
			t.Errorf("axe does not find %s, only %v", id, found)
		}
	}
}
