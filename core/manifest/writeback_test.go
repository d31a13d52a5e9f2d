package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"storozh/core"
)

const shortKeep = 60 * time.Millisecond

// place writes a manifest file into a fresh folder.
func place(t *testing.T, raw string) (path string, content [32]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "changeset-manifest.json")
	if err := os.WriteFile(path, []byte(raw), 0o640); err != nil {
		t.Fatal(err)
	}
	bare, err := Strip([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return path, sha256.Sum256(bare)
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// spliced is what the file should hold.
func spliced(t *testing.T, raw string, b core.Block) string {
	t.Helper()
	out, err := Splice([]byte(raw), b)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// alone fails if anything but the file is left in its folder.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, error %v", entries, err)
	}
}

// outcome writes and checks the state.
func outcome(t *testing.T, w *Writer, path string, content [32]byte, want core.WriteState) core.WriteBack {
	t.Helper()
	got, err := w.Write(t.Context(), path, content, sampleBlock())
	if err != nil {
		t.Fatal(err)
	}
	if got.State != want || got.Path != path {
		t.Fatalf("outcome %+v, want %s", got, want)
	}
	return got
}

func TestWritePutsTheBlockAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	w := &Writer{Keep: shortKeep}
	if got := outcome(t, w, path, content, core.Written); got.Detail != "" {
		t.Errorf("detail %q", got.Detail)
	}
	if got := read(t, path); got != spliced(t, typical, sampleBlock()) {
		t.Errorf("file:\n%s", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	alone(t, path)

	// The same block again touches nothing; another block replaces it.
	outcome(t, w, path, content, core.Written)
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(info, after) || !after.ModTime().Equal(info.ModTime()) {
		t.Error("the same block was written again")
	}
	got, err := w.Write(t.Context(), path, content, small())
	if err != nil || got.State != core.Written || read(t, path) != spliced(t, typical, small()) {
		t.Errorf("another block: %+v, %v", got, err)
	}
	alone(t, path)
}

func TestWriteLeavesAnotherManifestAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, now, detail string }{
		{"another", `{"repos":[]}`, "another manifest"},
		{"half-written", typical[:50], "no complete manifest"},
		{"truncated", "", "no complete manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, content := place(t, typical)
			if err := os.WriteFile(path, []byte(c.now), 0o600); err != nil {
				t.Fatal(err)
			}
			got := outcome(t, &Writer{Keep: shortKeep}, path, content, core.MovedOn)
			if !strings.Contains(got.Detail, c.detail) || read(t, path) != c.now {
				t.Errorf("detail %q, file %q", got.Detail, read(t, path))
			}
		})
	}
	path, content := place(t, typical)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, &Writer{}, path, content, core.MovedOn); !strings.Contains(got.Detail, "gone") {
		t.Errorf("missing file: %q", got.Detail)
	}
	if got := outcome(t, &Writer{}, filepath.Dir(path), content, core.WriteFailed); !strings.Contains(got.Detail, "not a regular file") {
		t.Errorf("a folder: %q", got.Detail)
	}
}

func TestWriteFollowsASymbolicLink(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	outcome(t, &Writer{Keep: shortKeep}, link, content, core.Written)
	if to, err := os.Readlink(link); err != nil || to != path || read(t, path) != spliced(t, typical, sampleBlock()) {
		t.Errorf("link to %q, %v", to, err)
	}
	alone(t, path)
	alone(t, link)
}

// A reader that polls sees whole manifests only.
func TestReadersNeverSeeHalfAFile(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for reads := 0; ; reads++ {
			raw, err := os.ReadFile(path)
			if err == nil && !json.Valid(raw) {
				err = fmt.Errorf("read %d saw %q", reads, raw)
			}
			select {
			case <-stop:
				done <- err
				return
			default:
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	w := &Writer{Keep: time.Millisecond}
	for i := range 200 {
		b := sampleBlock()
		b.K = i + 1
		if got, err := w.Write(t.Context(), path, content, b); err != nil || got.State != core.Written {
			t.Fatalf("write %d: %+v, %v", i, got, err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	alone(t, path)
}

func TestFailuresLeaveTheFileAndNoTempFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point  string
		err    error
		detail string
	}{
		{pointTemp, fmt.Errorf("write: %w", syscall.ENOSPC), "free some disk space"},
		{pointSwap, syscall.EIO, "input/output error"},
	} {
		path, content := place(t, typical)
		w := &Writer{Keep: shortKeep, fault: func(p string) error {
			if p == c.point {
				return c.err
			}
			return nil
		}}
		got := outcome(t, w, path, content, core.WriteFailed)
		if !strings.Contains(got.Detail, c.detail) || read(t, path) != typical {
			t.Errorf("%s: detail %q", c.point, got.Detail)
		}
		alone(t, path)
	}
}

func TestAContextThatEndedWritesNothing(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	ctx, cancel := context.WithCancel(t.Context())
	w := &Writer{fault: func(p string) error {
		if p == pointTemp {
			cancel()
		}
		return nil
	}}
	got, err := w.Write(ctx, path, content, sampleBlock())
	if !errors.Is(err, context.Canceled) || got.State != core.WritePend || read(t, path) != typical {
		t.Errorf("%+v, %v", got, err)
	}
	alone(t, path)
}

// A context that ends after the exchange cuts the watch short, but the outcome is told.
func TestAContextThatEndsLateCutsTheWatchShort(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	ctx, cancel := context.WithCancel(t.Context())
	w := &Writer{Keep: time.Hour, fault: func(p string) error {
		if p == pointSwapped {
			cancel()
		}
		return nil
	}}
	got, err := w.Write(ctx, path, content, sampleBlock())
	if err != nil || got.State != core.Written {
		t.Errorf("%+v, %v", got, err)
	}
	alone(t, path)
}

// A killed run leaves its temp file; the next one removes it, unless it holds a manifest of its own.
func TestLeftoversOfAKilledRun(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	dir := filepath.Dir(path)
	leftovers := map[string]struct {
		text string
		gone bool
	}{
		".changeset-manifest.json.storozh-1":  {typical, true},
		".changeset-manifest.json.storozh-2":  {spliced(t, typical, sampleBlock())[:len(typical)-1], true},
		".changeset-manifest.json.storozh-3":  {"", true},
		".changeset-manifest.json.storozh-4":  {`{"repos":[]}`, false},
		".changeset-manifest.json.storozh-5x": {typical, false},
		"changeset-manifest.json.storozh-6":   {typical, false},
	}
	for name, l := range leftovers {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(l.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outcome(t, &Writer{Keep: shortKeep}, path, content, core.Written)
	for name, l := range leftovers {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) != l.gone {
			t.Errorf("%s: gone %v, want %v", name, !l.gone, l.gone)
		}
	}
}

func TestWritersTakeTurns(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	errs := make(chan error, 4)
	for i := range 4 {
		go func() {
			b := small()
			b.K = i + 1
			got, err := (&Writer{Keep: 5 * time.Millisecond}).Write(context.Background(), path, content, b)
			if err == nil && got.State != core.Written {
				err = fmt.Errorf("%+v", got)
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	bare, err := Strip([]byte(read(t, path)))
	if err != nil || !bytes.Equal(bare, []byte(typical)) {
		t.Errorf("content changed: %v", err)
	}
	alone(t, path)
}
