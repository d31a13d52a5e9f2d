package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
)

// The watched name comes and goes, is a link, and points at what cannot be read: each manifest that is there is judged once, and nothing
// stops the watch.
func TestTheWatchedFileComesAndGoes(t *testing.T) {
	e := newEco(t)
	workday(e)
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }), nil)
	path := a.cfg.ManifestPath
	watching(t, a)
	done := func(n int) func() bool {
		return func() bool {
			recs, _, err := a.db.Records(t.Context(), core.RecordQuery{})
			if err != nil || len(recs) != n {
				return false
			}
			for _, r := range recs {
				if r.Run.Status != core.Done || r.Run.WriteBack.State == core.WritePend {
					return false
				}
			}
			return true
		}
	}
	manifestOf := func(session string) []byte { return e.manifest(session, "2026-05-01T12:00:00Z") }

	writeFile(t, path, manifestOf("first"))
	settled(t, "the first manifest", done(1))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, manifestOf("after it was removed"))
	settled(t, "the file that was made again", done(2))

	if err := os.Remove(path); err != nil { // a folder stands there now: not readable as a file, not the end of the watch
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * settle)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	elsewhere := filepath.Join(t.TempDir(), "real.json")
	raw := manifestOf("behind a link")
	writeFile(t, elsewhere, raw)
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	settled(t, "the manifest behind a link", done(3))
	b, err := os.ReadFile(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if without, err := manifest.Strip(b); err != nil || !bytes.Equal(without, raw) || bytes.Equal(b, raw) {
		t.Errorf("behind the link stands %s", b)
	}
	if st, err := os.Lstat(path); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced (%v)", err)
	}
	again := manifestOf("written through the link")
	writeFile(t, path, again) // in the folder that is not watched: the polling finds it
	settled(t, "the manifest that was written through the link", done(4))
}
