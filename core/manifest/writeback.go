package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"storozh/core"
)

const (
	defaultKeep = 2 * time.Second
	// maxTarget caps the file that is read: a manifest of at most 64 MiB with its block.
	maxTarget = 256 << 20
)

// Writer puts blocks into manifest files (design §6). The zero value is ready; a Writer may be used by many goroutines, and
// several processes may write into one folder: they take turns.
type Writer struct {
	// Keep is how long the displaced file is watched for a writer that still has it open; 0 means two seconds. Write takes
	// that much longer.
	Keep time.Duration

	fault func(point string) error // tests: called at the points below; an error is taken for one of the step ahead
}

// The points at which tests interfere.
const (
	pointRead    = "read"     // the file has been read, nothing written
	pointTemp    = "temp"     // the temp file is about to be filled
	pointSwap    = "swap"     // the temp file is complete, the exchange comes next
	pointSwapped = "swapped"  // exchanged, the displaced file not yet looked at
	pointLooked  = "looked"   // the displaced file was unchanged at first
	pointBack    = "back"     // a changed file has been given its place back
	pointInPlace = "in-place" // rename was refused, the file is about to be checked and overwritten
	pointOver    = "over"     // overwritten in place
)

// movedOn is the outcome that the file no longer holds what was judged; the text says what it holds instead.
type movedOn string

func (m movedOn) Error() string { return string(m) }

// Write puts block into the file at path if that file, without its block, still has the SHA-256 content. A symbolic link is
// followed. States: written (also when the same block stood there already: then nothing is touched), moved-on (nothing of
// ours is left in the file) and failed (the file is as it was); Detail says why, and what to do. A writer that rewrites the
// file meanwhile wins. The caller fills in At. The error is non-nil only if ctx ended before anything was written; the state
// is then pending.
func (w *Writer) Write(ctx context.Context, path string, content [32]byte, block core.Block) (core.WriteBack, error) {
	note, err := w.write(ctx, path, content, block)
	out := core.WriteBack{State: core.Written, Path: path, Detail: note}
	var moved movedOn
	switch {
	case err == nil:
	case errors.As(err, &moved):
		out.State, out.Detail = core.MovedOn, string(moved)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		out.State = core.WritePend
		return out, fmt.Errorf("write the block to %s: %w", path, err)
	default:
		out.State, out.Detail = core.WriteFailed, advise(err)
	}
	return out, nil
}

// write does it; the note is for people, the error a movedOn, the context's, or a failure.
func (w *Writer) write(ctx context.Context, path string, content [32]byte, block core.Block) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", movedOn("the file is gone; nothing written")
	} else if err != nil {
		return "", err
	}
	unlock, err := lockFolder(ctx, filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer unlock()
	t, err := w.open(path, content, block)
	if err != nil {
		return "", err
	}
	t.removeStale(content)
	if bytes.Equal(t.raw, t.next) {
		return "", nil // a run that was killed after the exchange comes here
	}
	if err := w.at(pointRead); err != nil {
		return "", err
	}
	err = w.replace(ctx, t)
	var no *refusal
	if errors.As(err, &no) {
		return w.overwrite(ctx, t, no)
	}
	return "", err
}

// target is the file on its way from raw to next.
type target struct {
	path string // symbolic links resolved
	info fs.FileInfo
	raw  []byte // as read
	next []byte // with the block
}

// open reads the file and splices the block, or finds that the file has moved on.
func (w *Writer) open(path string, content [32]byte, block core.Block) (*target, error) {
	raw, info, err := readTarget(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, movedOn("the file is gone; nothing written")
	} else if err != nil {
		return nil, err
	}
	bare, err := Strip(raw)
	if err != nil {
		return nil, movedOn("the file holds no complete manifest at the moment; nothing written")
	}
	if sha256.Sum256(bare) != content {
		return nil, movedOn("the file holds another manifest now; nothing written")
	}
	next, err := Splice(raw, block)
	if err != nil {
		return nil, err
	}
	return &target{path: path, info: info, raw: raw, next: next}, nil
}

// at lets a test interfere.
func (w *Writer) at(point string) error {
	if w.fault == nil {
		return nil
	}
	return w.fault(point)
}

// keep is how long a displaced file is watched.
func (w *Writer) keep() time.Duration {
	if w.Keep <= 0 {
		return defaultKeep
	}
	return w.Keep
}
