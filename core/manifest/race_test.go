package manifest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"storozh/core"
)

// newer is the manifest that another writer puts into the file.
const newer = `{"sessionId":"newer","repos":[{"name":"darwin","diff":"x"}]}`

// once calls do at one point of the write.
func once(point string, do func()) func(string) error {
	var first sync.Once
	return func(p string) error {
		if p == point {
			first.Do(do)
		}
		return nil
	}
}

func allPoints() []string {
	return []string{pointRead, pointTemp, pointSwap, pointSwapped, pointLooked}
}

// mirabilis rewrites the file by name, with os.WriteFile, at every point: its manifest stands afterwards.
func TestAWriterByNameWinsAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range allPoints() {
		for _, text := range []string{newer, strings.Repeat(" ", 4*len(typical)) + newer} {
			path, content := place(t, typical)
			w := &Writer{Keep: shortKeep, fault: once(point, func() {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			})}
			outcome(t, w, path, content, core.MovedOn)
			if got := read(t, path); got != text {
				t.Errorf("at %s: file holds %q", point, got)
			}
			alone(t, path)
		}
	}
}

// A writer that opened the old file long ago and truncates and fills it in pieces, beginning at every point.
func TestAWriterWithTheOldFileOpenWinsAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range allPoints() {
		path, content := place(t, typical)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		w := &Writer{Keep: 4 * shortKeep, fault: once(point, func() {
			err := f.Truncate(0)
			go func() { // slowly, on both sides of the put-back
				for i := 0; i < len(newer) && err == nil; i += 10 {
					time.Sleep(5 * time.Millisecond)
					_, err = f.WriteAt([]byte(newer[i:min(i+10, len(newer))]), int64(i))
				}
				done <- err
			}()
		})}
		outcome(t, w, path, content, core.MovedOn)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if got := read(t, path); got != newer {
			t.Errorf("at %s: file holds %q", point, got)
		}
		alone(t, path)
	}
}

// A writer that replaces the file by rename (W2) at every point.
func TestAWriterByRenameWinsAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range allPoints() {
		path, content := place(t, typical)
		other := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(other, []byte(newer), 0o600); err != nil {
			t.Fatal(err)
		}
		w := &Writer{Keep: shortKeep, fault: once(point, func() {
			if err := os.Rename(other, path); err != nil {
				t.Error(err)
			}
		})}
		outcome(t, w, path, content, core.MovedOn)
		if got := read(t, path); got != newer {
			t.Errorf("at %s: file holds %q", point, got)
		}
		alone(t, path)
	}
}

// Two writers: one had the old file open, one opened ours. The one that opened later is the later one.
func TestTheLaterOfTwoWritersWins(t *testing.T) {
	t.Parallel()
	const latest = `{"sessionId":"latest"}`
	for _, point := range []string{pointSwapped, pointBack} {
		path, content := place(t, typical)
		old, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ours *os.File
		rewrite := func(f *os.File, text string) {
			if err := f.Truncate(0); err != nil {
				t.Error(err)
			}
			if _, err := f.WriteAt([]byte(text), 0); err != nil {
				t.Error(err)
			}
		}
		w := &Writer{Keep: shortKeep, fault: func(p string) error {
			if p == pointSwapped {
				if ours, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
					t.Error(err)
				}
				rewrite(old, newer)
			}
			if p == point {
				rewrite(ours, latest)
			}
			return nil
		}}
		outcome(t, w, path, content, core.MovedOn)
		if got := read(t, path); got != latest {
			t.Errorf("at %s: file holds %q", point, got)
		}
		alone(t, path)
	}
}

// The same where the system has no exchange.
func TestSwapByLinkKeepsBothFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, ".m.storozh-1"), filepath.Join(dir, "m")
	for name, text := range map[string]string{a: "ours", b: "theirs"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := swapByLink(a, b); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if read(t, a) != "theirs" || read(t, b) != "ours" || len(entries) != 2 {
		t.Errorf("%q, %q, %v", read(t, a), read(t, b), entries)
	}
	if err := swapByLink(a, filepath.Join(dir, "missing")); err == nil || read(t, a) != "theirs" {
		t.Errorf("a missing target: %v", err)
	}
}

// refuse makes the exchange fail as a bind-mounted file does, and interferes elsewhere.
func refuse(point string, do func()) func(string) error {
	at := once(point, do)
	return func(p string) error {
		if p == pointSwap {
			return &os.LinkError{Op: "exchange", Old: "a", New: "b", Err: syscall.EBUSY}
		}
		return at(p)
	}
}

func TestInPlaceWhereRenameIsRefused(t *testing.T) {
	t.Parallel()
	raw := `{"storozh":"` + strings.Repeat("long", 1000) + `","a":1}`
	for _, raw := range []string{typical, raw} { // longer and shorter than before
		path, content := place(t, raw)
		before, _ := os.Stat(path)
		got := outcome(t, &Writer{Keep: shortKeep, fault: refuse("", nil)}, path, content, core.Written)
		after, _ := os.Stat(path)
		if !strings.HasPrefix(got.Detail, "written in place: ") || !strings.Contains(got.Detail, "busy") {
			t.Errorf("detail %q", got.Detail)
		}
		if read(t, path) != spliced(t, raw, sampleBlock()) || !os.SameFile(before, after) {
			t.Errorf("file:\n%s", read(t, path))
		}
		alone(t, path)
	}
}

// In place, too, another writer's manifest stands: before the check it is left alone, and behind it our bytes are taken off.
func TestAWriterWinsInPlace(t *testing.T) {
	t.Parallel()
	for _, point := range []string{pointInPlace, pointOver} {
		path, content := place(t, typical)
		write := func() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			// As if its truncation had come just before our bytes: its text lies over ours.
			if _, err := f.WriteAt([]byte(newer), 0); err != nil {
				t.Error(err)
			}
			if point == pointInPlace {
				_ = f.Truncate(int64(len(newer)))
			}
		}
		outcome(t, &Writer{Keep: shortKeep, fault: refuse(point, write)}, path, content, core.MovedOn)
		if got := read(t, path); got != newer || !json.Valid([]byte(got)) {
			t.Errorf("at %s: file holds %q", point, got)
		}
		alone(t, path)
	}
}

// A change that neither size nor time betrays is found by the last look, also when the context cuts the watch short.
func TestTheLastLookComparesBytes(t *testing.T) {
	t.Parallel()
	changed := strings.Replace(typical, "s-7", "s-8", 1)
	for _, cut := range []bool{false, true} {
		path, content := place(t, typical)
		ctx, cancel := context.WithCancel(t.Context())
		keep := shortKeep
		if cut {
			keep = time.Hour
		}
		w := &Writer{Keep: keep, fault: once(pointLooked, func() {
			temps, _ := filepath.Glob(filepath.Join(filepath.Dir(path), tempPrefix(path)+"*"))
			info, err := os.Stat(temps[0])
			if err == nil {
				err = os.WriteFile(temps[0], []byte(changed), 0o600) // as a writer that has it open
			}
			if err == nil {
				err = os.Chtimes(temps[0], info.ModTime(), info.ModTime())
			}
			if err != nil {
				t.Error(err)
			}
			if cut {
				cancel()
			}
		})}
		got, err := w.Write(ctx, path, content, sampleBlock())
		cancel()
		if err != nil || got.State != core.MovedOn || read(t, path) != changed {
			t.Errorf("cut %v: %+v, %v, file:\n%s", cut, got, err, read(t, path))
		}
		alone(t, path)
	}
}

// Real races at no chosen point: whatever the order, the other writer's manifest is what the file holds in the end.
func TestAManifestIsNeverLostInARace(t *testing.T) {
	t.Parallel()
	text := strings.Replace(newer, `"x"`, `"`+strings.Repeat("long ", 40_000)+`"`, 1)
	states := map[core.WriteState]int{}
	for i := range 60 {
		path, content := place(t, typical)
		done := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(i) * 200 * time.Microsecond)
			done <- os.WriteFile(path, []byte(text), 0o600)
		}()
		got, err := (&Writer{Keep: 20 * time.Millisecond}).Write(t.Context(), path, content, sampleBlock())
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if bare, serr := Strip([]byte(read(t, path))); err != nil || serr != nil || string(bare) != text {
			t.Fatalf("race %d: %+v, %v, %v; file holds %.80q", i, got, err, serr, read(t, path))
		}
		states[got.State]++
		alone(t, path)
	}
	t.Logf("outcomes: %v", states)
}

// A writer gets its place back at once, not when the watch ends.
func TestAChangeIsSeenLongBeforeTheWatchEnds(t *testing.T) {
	t.Parallel()
	path, content := place(t, typical)
	old, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := &Writer{Keep: time.Hour, fault: func(p string) error {
		switch p {
		case pointLooked:
			_, err := old.WriteString("\n")
			return err
		case pointBack:
			if ctx.Err() != nil {
				t.Error("the change was seen by the last look only")
			}
			cancel() // no need to watch ours
		}
		return nil
	}}
	got, err := w.Write(ctx, path, content, sampleBlock())
	if err != nil || got.State != core.MovedOn || read(t, path) != typical+"\n" {
		t.Errorf("%+v, %v", got, err)
	}
	alone(t, path)
}
