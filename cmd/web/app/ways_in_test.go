package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/blocktest"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
)

func TestTheSampleShowsEveryKindOfFlag(t *testing.T) {
	a := newApp(t, newEco(t), nil, nil)
	id, err := a.RunSample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WaitWritten(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, err := a.db.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if want := "5 units: 1 misroute, 2 contra, 1 dup; 1 file not in the diff; demo model"; rec.BLUF != want {
		t.Errorf("BLUF: %s, want %s", rec.BLUF, want)
	}
	blocktest.Validate(t, *rec.Run.Block)
	for _, f := range rec.Run.Block.Flags {
		if f.Semantic != "" && !strings.Contains(f.JudgeNote, "demo model") {
			t.Errorf("%s: the note %q does not say whose it is", f.Unit, f.JudgeNote)
		}
	}
	if rec.Run.WriteBack.State != core.WriteOff || !rec.Run.Demo {
		t.Errorf("%+v", rec.Run.WriteBack)
	}
	again, err := a.RunSample(t.Context())
	if err != nil || again != id {
		t.Errorf("the same sample is another manifest: %d, %d (%v)", id, again, err)
	}
	if head, err := a.db.CorpusHead(t.Context(), a.cfg.ShieldDir); err != nil || head.Items != 0 {
		t.Errorf("the sample's items are in the real corpus: %d (%v)", head.Items, err)
	}
}

// The demo model never writes, whichever way the manifest came.
func TestTheDemoModelLeavesFilesAlone(t *testing.T) {
	e := newEco(t)
	workday(e)
	a := newApp(t, e, nil, nil)
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	writeFile(t, a.cfg.ManifestPath, raw)
	id, err := a.Check(t.Context(), raw, a.cfg.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WaitWritten(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(a.cfg.ManifestPath); err != nil || !bytes.Equal(b, raw) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// settled waits until cond holds; the deadline is only there so that a broken test ends.
func settled(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("never came: %s", what)
}

func watching(t *testing.T, a *App) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { a.watch(ctx) })
	t.Cleanup(func() { stop(); wg.Wait() })
}

// runs counts all runs ever queued.
func runs(t *testing.T, a *App) int {
	t.Helper()
	var n int
	if err := a.db.SQL().QueryRow("SELECT count(*) FROM runs").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Case W2 and design §6: each content one run, our own write none; half-written JSON is waited out; a block that was lost is put back.
func TestWatchedFile(t *testing.T) {
	e := newEco(t)
	workday(e)
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }), nil)
	path := a.cfg.ManifestPath
	first, second := e.manifest("s", "2026-05-01T12:00:00Z"), e.manifest("s", "2026-05-01T12:05:00Z")
	writeFile(t, path, first[:len(first)/2]) // mirabilis is still writing
	watching(t, a)
	time.Sleep(2 * settle)
	if n := runs(t, a); n != 0 {
		t.Fatalf("a half-written file started %d runs", n)
	}
	writeFile(t, path, first)
	hasBlock := func(raw []byte) func() bool {
		return func() bool {
			b, err := os.ReadFile(path)
			if err != nil {
				return false
			}
			_, has := manifest.Extract(b)
			without, err := manifest.Strip(b)
			return has && err == nil && bytes.Equal(without, raw)
		}
	}
	settled(t, "the block of the first manifest", hasBlock(first))
	if n := runs(t, a); n != 1 {
		t.Errorf("%d runs after one manifest", n)
	}
	tmp := filepath.Join(t.TempDir(), "m")
	writeFile(t, tmp, second)
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
	settled(t, "the block of the second manifest", hasBlock(second))
	writeFile(t, path, second) // without its block
	settled(t, "the block put back", hasBlock(second))
	time.Sleep(4 * settle)
	if n := runs(t, a); n != 2 {
		t.Errorf("%d runs after two manifests: own writes started runs", n)
	}
	recs, _, err := a.db.Records(t.Context(), core.RecordQuery{})
	if err != nil || len(recs) != 1 || recs[0].Source != core.SourceFile {
		t.Errorf("%d open entries of one session (%v)", len(recs), err)
	}
}

func TestAFileThatMovedOnIsNotTouched(t *testing.T) {
	e := newEco(t)
	workday(e)
	var a *App
	next := []byte(`{"sessionId":"later","repos":null}`)
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		var once sync.Once
		f.Answer = func(p string) string {
			once.Do(func() { writeFile(t, a.cfg.ManifestPath, next) })
			return rules(workdayRules)(p)
		}
	})
	a = newApp(t, e, model, nil)
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	writeFile(t, a.cfg.ManifestPath, raw)
	id, err := a.Check(t.Context(), raw, a.cfg.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WaitWritten(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, err := a.db.Record(t.Context(), id)
	if err != nil || rec.Run.WriteBack.State != core.MovedOn {
		t.Errorf("%+v %v", rec.Run.WriteBack, err)
	}
	if b, _ := os.ReadFile(a.cfg.ManifestPath); !bytes.Equal(b, next) {
		t.Errorf("the later manifest became %s", b)
	}
}

func TestControlSocket(t *testing.T) {
	e := newEco(t)
	workday(e)
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }), nil)
	if _, ok := Dial(t.Context(), a.cfg.DataDir); ok {
		t.Fatal("something answers before there is a server")
	}
	ln, err := listenControl(a.cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: controlHandler(a), ReadHeaderTimeout: time.Second}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close() })
	if st, err := os.Stat(controlPath(a.cfg.DataDir)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the socket is open to others: %v %v", st.Mode(), err)
	}
	r, ok := Dial(t.Context(), a.cfg.DataDir)
	if !ok {
		t.Fatal("nobody answers")
	}
	file := filepath.Join(t.TempDir(), "m.json")
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	writeFile(t, file, raw)
	id, err := r.Check(t.Context(), raw, file)
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	settled(t, "the outcome", func() bool {
		o, err = r.Outcome(t.Context(), id)
		return err != nil || o.Ended()
	})
	if err != nil || o.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" || o.WriteBack.State != core.Written {
		t.Fatalf("%+v %v", o, err)
	}
	b, _ := os.ReadFile(file)
	blocktest.ValidateManifest(t, b)
	if _, err := r.Check(t.Context(), []byte(`{"repos":`), file); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("a truncated manifest gave %v", err)
	}
	if _, err := r.Link(t.Context(), "mallory"); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("a link for a stranger gave %v", err)
	}
	link, err := r.Link(t.Context(), core.Claude)
	if err != nil || !strings.HasPrefix(link, a.cfg.URL()+"/login/storozh_link_") {
		t.Errorf("%q %v", link, err)
	}
	r.limit = time.Nanosecond // what waits for a model has none: a first reading of a big corpus can take an hour
	if st, err := r.Sync(t.Context()); err != nil || st.Items != 6 {
		t.Errorf("%+v %v", st, err)
	}
	if _, err := r.Export(t.Context(), io.Discard); err != nil {
		t.Errorf("an export: %v", err)
	}
	if _, err := r.Link(t.Context(), core.Claude); !errors.Is(err, ErrGone) {
		t.Errorf("a process that does not answer gave %v", err)
	}
}

// A model that sleeps: the run is cancelled, its requests with it, and what was judged is kept for the next one.
func TestCancelAndGoOn(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 150 * time.Millisecond; f.Answer = rules(workdayRules) })
	a := newApp(t, e, model, func(c *Config) { c.Concurrency = 1 })
	id, err := a.Check(t.Context(), e.manifest("s", "2026-05-01T12:00:00Z"), "")
	if err != nil {
		t.Fatal(err)
	}
	settled(t, "a judged pair", func() bool { return model.Counts().Completions > 2 })
	if err := a.db.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, _ := a.db.Record(t.Context(), id)
	if rec.Run.Status != core.Cancelled {
		t.Fatalf("the run is %s", rec.Run.Status)
	}
	asked := model.Counts().Completions
	if _, err := a.Rerun(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	rec, _ = a.db.Record(t.Context(), id)
	if rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		t.Errorf("%s", rec.BLUF)
	}
	total := model.Counts().Completions
	if _, err := a.Rerun(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	// The request that was cut off is asked again, with the swapped one that may follow it; nothing else is.
	if whole := model.Counts().Completions - total; total > whole+2 || total <= asked {
		t.Errorf("%d requests in all, %d before the cancel; a whole run needs %d", total, asked, whole)
	}
}
