package manifest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// look is how often a displaced file is glanced at.
const look = 20 * time.Millisecond

// settle watches the displaced file, which lies under the temp name now. A writer that had opened it before the exchange
// rewrites it there: it is given its place back at once, complete or not, so that the writer goes on where it meant to. At
// most two exchanges follow, because whoever opened the later file is the later writer.
func (w *Writer) settle(ctx context.Context, t *target, temp string) error {
	if err := w.at(pointSwapped); err != nil {
		return err
	}
	if !w.changes(ctx, temp, t.raw, pointLooked) {
		_ = os.Remove(temp)
		if same, err := sameBytes(t.path, t.next); err != nil || !same {
			return movedOn("the block was written, and then the file was rewritten")
		}
		return nil
	}
	if same, err := sameBytes(t.path, t.next); err != nil || !same {
		_ = os.Remove(temp) // the writer of the file in place came later
		return movedOn("the file was rewritten meanwhile; its new content stands")
	}
	if err := swap(temp, t.path); err != nil {
		return fmt.Errorf("a newer manifest lies in %s and could not be put back, move it to %s: %w", temp, t.path, err)
	}
	if err := w.at(pointBack); err != nil {
		return err
	}
	// Ours is displaced now; a writer that opened it while it was in place is the latest of all.
	if w.changes(ctx, temp, t.next, "") {
		if err := swap(temp, t.path); err != nil {
			return fmt.Errorf("a newer manifest lies in %s and could not be put back, move it to %s: %w", temp, t.path, err)
		}
	}
	_ = os.Remove(temp)
	syncFolder(filepath.Dir(t.path))
	return movedOn("the file was rewritten meanwhile; its new content stands")
}

// changes tells whether the file at path comes to differ from want while it is kept. Glances compare size and time; bytes
// are compared at first, at last, and when a glance finds a difference. If ctx ends, the last look comes early.
func (w *Writer) changes(ctx context.Context, path string, want []byte, point string) bool {
	before, err := os.Stat(path)
	if err != nil {
		return false // removed by someone: nothing to give back
	}
	if differs(path, want) {
		return true
	}
	if point != "" && w.at(point) != nil {
		return differs(path, want)
	}
	end := time.NewTimer(w.keep())
	defer end.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return differs(path, want)
		case <-end.C:
			return differs(path, want)
		case <-tick.C:
		}
		now, err := os.Stat(path)
		if err == nil && glance(now) != glance(before) && differs(path, want) {
			return true
		}
	}
}

// differs tells whether a file is there and holds something else.
func differs(path string, want []byte) bool {
	same, err := sameBytes(path, want)
	return err == nil && !same
}

// glance is what tells a change of a file cheaply.
func glance(info fs.FileInfo) [2]int64 {
	return [2]int64{info.Size(), info.ModTime().UnixNano()}
}
