package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"storozh/cmd/web/app"
	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
	"storozh/db/dbtest"
)

// batch is how hard the kill test pushes: on a native Postgres a start takes a moment, the embedded one needs seconds.
func batch() (manifests, kills int) {
	if dbtest.Native() {
		return 50, 100
	}
	return 10, 6
}

// Killed at random moments again and again, every manifest that was accepted ends done, with one block in its file; and at no instant does a
// reader see a file that is not whole.
func TestKilledAgainAndAgain(t *testing.T) {
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 15 * time.Millisecond })
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL="+model.URL, "STOROZH_LOG_LEVEL=error")...)
	nFiles, kills := batch()
	files := writeManifests(t, m.home, nFiles)
	ctx, stop := context.WithCancel(t.Context()) // the kills alone take minutes on a busy machine
	defer stop()

	var wg sync.WaitGroup
	reading, stopReading := context.WithCancel(ctx)
	wg.Go(func() { readAll(t, reading, files) })
	var mu sync.Mutex
	ids := map[string]int64{}
	wg.Go(func() {
		for path, raw := range files {
			if id, ok := submitUntilAccepted(ctx, m, path, raw); ok {
				mu.Lock()
				ids[path] = id
				mu.Unlock()
			}
		}
	})
	for range kills {
		r := m.start()
		time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
		if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-r.rest
		_ = r.cmd.Wait()
	}
	last := m.start()
	d := dialed(t, ctx, m)
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		mu.Lock()
		n := len(ids)
		mu.Unlock()
		if n == nFiles && allEnded(ctx, d, ids) {
			break
		}
	}
	for path, id := range ids {
		o, err := d.Outcome(ctx, id)
		if err != nil || o.Status != core.Done || o.WriteBack.State != core.Written {
			t.Errorf("%s: %s %+v %s (%v)", filepath.Base(path), o.Status, o.WriteBack, o.Error, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		without, err := manifest.Strip(b)
		if err != nil || !bytes.Equal(without, files[path]) || bytes.Count(b, []byte(`"contra-check"`)) != 1 {
			t.Errorf("%s holds %s", filepath.Base(path), b)
		}
	}
	if len(ids) != nFiles {
		t.Errorf("%d of %d manifests were accepted", len(ids), nFiles)
	}
	stopReading()
	stop()
	wg.Wait()
	last.interrupt()
	if left, _ := filepath.Glob(filepath.Join(m.home, ".*.storozh-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func writeManifests(t *testing.T, dir string, n int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i := range n {
		raw := fmt.Appendf(nil, "{\n  \"sessionId\": \"s%d\",\n  \"timestamp\": \"2026-05-01T12:00:00Z\",\n  \"repos\": [{\"name\": \"neuro-matrix\", \"diff\": "+
			"\"diff --git a/lessons/a.md b/lessons/a.md\\nnew file mode 100644\\n--- /dev/null\\n+++ b/lessons/a.md\\n@@ -0,0 +1 @@\\n+Lesson %d.\", \"files\": []}]\n}", i, i)
		path := filepath.Join(dir, fmt.Sprintf("m%d.json", i))
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		files[path] = raw
	}
	return files
}

// readAll reads the files over and over, as mirabilis or a cosigner may at any moment.
func readAll(t *testing.T, ctx context.Context, files map[string][]byte) {
	for ctx.Err() == nil {
		for path := range files {
			b, err := os.ReadFile(path)
			if err != nil || !json.Valid(b) {
				t.Errorf("%s is not whole: %q (%v)", filepath.Base(path), b, err)
				return
			}
		}
	}
}

// submitUntilAccepted hands a manifest in until some process has said that it is durable.
func submitUntilAccepted(ctx context.Context, m machine, path string, raw []byte) (int64, bool) {
	dir := filepath.Join(m.home, ".local", "share", "storozh")
	for ctx.Err() == nil {
		if r, ok := app.Dial(ctx, dir); ok {
			if id, err := r.Check(ctx, raw, path); err == nil {
				return id, true
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return 0, false
}

func dialed(t *testing.T, ctx context.Context, m machine) *app.Remote {
	t.Helper()
	r, ok := app.Dial(ctx, filepath.Join(m.home, ".local", "share", "storozh"))
	if !ok {
		t.Fatal("nobody answers on the control socket")
	}
	return r
}

func allEnded(ctx context.Context, d *app.Remote, ids map[string]int64) bool {
	for _, id := range ids {
		if o, err := d.Outcome(ctx, id); err != nil || !o.Ended() {
			return false
		}
	}
	return true
}
