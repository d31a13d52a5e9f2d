package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Several processes at once, in a cache folder where a cleaner of caches has left half of an installation, install once.
func TestColdCache(t *testing.T) {
	t.Parallel()
	node, err := findNode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var installs atomic.Int32
	o := Options{CacheDir: t.TempDir(), Progress: func(line string) {
		t.Log(line)
		if strings.Contains(line, "installing") {
			installs.Add(1)
		}
	}}
	want := homeIn(o.CacheDir)
	if err := os.MkdirAll(filepath.Join(string(want), "node_modules", "@electric-sql", "pglite"), 0o700); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if h, err := install(t.Context(), node, o); err != nil || h != want || !h.whole() {
				t.Errorf("%s: %v", h, err)
			}
		})
	}
	wg.Wait()
	if n := installs.Load(); n != 1 {
		t.Errorf("installed %d times", n)
	}
	if left, _ := filepath.Glob(string(want) + ".tmp*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCancelledInstall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	cache := t.TempDir()
	began := time.Now()
	_, err := Start(ctx, Options{CacheDir: cache, Memory: true})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("cancelled after 500 ms, returned after %s", took)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "pglite-*")); len(left) > 1 || len(left) == 1 && !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind: %v", left)
	}
}

// The lock file names no registry: whoever installs uses the one they have configured.
func TestLockFile(t *testing.T) {
	t.Parallel()
	if strings.Contains(string(packageLock), "resolved") || strings.Contains(string(packageLock), "://") {
		t.Error("package-lock.json holds addresses; make it anew with omit-lockfile-registry-resolved")
	}
	var wanted struct{ Dependencies map[string]string }
	var locked struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := errors.Join(json.Unmarshal(packageJSON, &wanted), json.Unmarshal(packageLock, &locked)); err != nil {
		t.Fatal(err)
	}
	for name, version := range wanted.Dependencies {
		if p := locked.Packages["node_modules/"+name]; p.Version != version || p.Integrity == "" {
			t.Errorf("%s %s is locked as %+v", name, version, p)
		}
	}
}

// tools makes a folder of scripts that stand for programs, to be the whole PATH.
func tools(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestWithoutTheTools(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	realNode := `exec ` + node + ` "$@"`
	for name, c := range map[string]struct {
		scripts map[string]string
		want    error
		says    string
	}{
		"no node":     {nil, ErrNoNode, "node"},
		"broken node": {map[string]string{"node": "exit 3"}, ErrNoNode, "exit status 3"},
		"odd node":    {map[string]string{"node": "echo hello"}, ErrNoNode, "unknown version"},
		"old node":    {map[string]string{"node": "echo v18.19.0"}, ErrNodeTooOld, "v18.19.0"},
		"no npm":      {map[string]string{"node": realNode}, ErrInstall, "npm"},
		"broken npm":  {map[string]string{"node": realNode, "npm": "echo no such registry >&2; exit 1"}, ErrInstall, "no such registry"},
		"lazy npm":    {map[string]string{"node": realNode, "npm": "exit 0"}, ErrInstall, "@electric-sql/pglite"},
	} {
		t.Run(name, func(t *testing.T) {
			tools(t, c.scripts)
			cache := t.TempDir()
			s, err := Start(t.Context(), Options{CacheDir: cache, Memory: true})
			if err == nil {
				s.Close(context.Background())
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			for _, text := range []string{c.says, "Node.js 20", "DATABASE_URL", "pgvector"} {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("does not mention %q: %v", text, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "pglite-*[0-9a-f]")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{DataDir: "x"}, {CacheDir: "x"}} {
		if _, err := Start(t.Context(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
