package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"storozh/core"
	"storozh/core/manifest"
)

const (
	settle   = 150 * time.Millisecond // after a change, for the writer to finish
	pollFile = 5 * time.Second        // beside the events: network folders and bind mounts may send none
	maxFile  = 64 << 20               // as for the webhook
)

// watch follows the manifest file until ctx ends: the folder's events, and slow polling by content.
func (a *App) watch(ctx context.Context) {
	if a.cfg.ManifestPath == "" {
		return
	}
	w := watcher{app: a, path: a.cfg.ManifestPath}
	events, stop := w.events()
	defer stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-events:
			select { // let a burst of events pass
			case <-ctx.Done():
				return
			case <-time.After(settle):
			}
		case <-time.After(pollFile):
		}
	}
}

type watcher struct {
	app        *App
	path       string
	last       [32]byte // SHA-256 of the bytes last looked at to the end
	writes     int64    // our own writes when it was looked at: after one, the same bytes may be somebody's who took the block out
	unreadable [32]byte // SHA-256 of bytes that were no whole manifest
	said       string   // the last complaint, so that it is logged once
}

// events gives a channel that gets something whenever the file's folder changes; it stays silent where the system has no such events.
func (w *watcher) events() (<-chan struct{}, func()) {
	out := make(chan struct{}, 1)
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return out, func() {}
	}
	if err := fw.Add(filepath.Dir(w.path)); err != nil {
		_ = fw.Close()
		return out, func() {}
	}
	go func() {
		for {
			select {
			case e, ok := <-fw.Events:
				if !ok {
					return
				}
				if filepath.Base(e.Name) == filepath.Base(w.path) {
					select {
					case out <- struct{}{}:
					default:
					}
				}
			case _, ok := <-fw.Errors:
				if !ok {
					return
				}
			}
		}
	}()
	return out, func() { _ = fw.Close() }
}

// look submits the file if its bytes are new. A half-written file is waited out: it is looked at again at the next event or poll.
func (w *watcher) look(ctx context.Context) {
	raw, err := readCapped(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		w.complain(err)
		return
	}
	hash := sha256.Sum256(raw)
	writes := w.app.writes.Load()
	if hash == w.last && writes == w.writes || len(bytes.TrimSpace(raw)) == 0 {
		return
	}
	arr, _, err := manifest.Arrive(raw, core.SourceFile, w.path)
	if err != nil {
		if hash == w.unreadable { // still, after a while: it is not just being written
			w.complain(err)
		}
		w.unreadable = hash
		return
	}
	r, err := w.app.Submit(ctx, arr)
	if err != nil {
		w.complain(err)
		return
	}
	w.said = ""
	if r.New || r.Status != core.Done || w.putBack(ctx, raw, r) {
		w.last, w.writes = hash, writes
	}
}

// putBack writes the block again when known content came back without it. False: a write is still under way, look again.
func (w *watcher) putBack(ctx context.Context, raw []byte, r core.Receipt) bool {
	if _, has := manifest.Extract(raw); has {
		return true
	}
	rec, err := w.app.db.Record(ctx, r.ManifestID)
	if err != nil || rec.Run.WriteBack.State == core.WritePend {
		return false
	}
	w.app.writeBlock(ctx, rec.Run)
	return true
}

func (w *watcher) complain(err error) {
	if s := err.Error(); s != w.said {
		w.said = s
		w.app.log.Warn("the manifest file is not readable yet", "path", w.path, "err", err)
	}
}

var (
	errTooLarge = errors.New("the file is larger than 64 MiB")
	errNoFile   = errors.New("it is not a regular file")
)

// readCapped reads a manifest file. Whatever else may stand under its name is not opened: reading a pipe may never end.
func readCapped(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errNoFile
	case st.Size() > maxFile:
		return nil, errTooLarge
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadCapped(f)
}

// ReadCapped reads the bytes of a manifest, at most as many as the webhook takes.
func ReadCapped(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(raw) > maxFile {
		return nil, errTooLarge
	}
	return raw, err
}
