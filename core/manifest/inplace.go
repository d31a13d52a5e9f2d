package manifest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// overwrite writes the file in place, for want of anything better: a reader may see half of it, a crash may leave it so. What
// stands before the block is not touched; what can't be written whole is taken back.
func (w *Writer) overwrite(ctx context.Context, t *target, why *refusal) (string, error) {
	f, err := os.OpenFile(t.path, os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("replacing the file is refused (%s), and so is writing it in place: %w", why, err)
	}
	defer f.Close()
	unlock, err := lockFile(ctx, f)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := w.at(pointInPlace); err != nil {
		return "", err
	}
	if same, err := sameContent(f, t.raw); err != nil {
		return "", err
	} else if !same {
		return "", movedOn("the file was rewritten meanwhile; nothing written")
	}
	if err := change(f, t.raw, t.next); err != nil {
		_ = change(f, nil, t.raw)
		return "", fmt.Errorf("write in place: %w", err)
	}
	if err := w.at(pointOver); err != nil {
		return "", err
	}
	if w.changes(ctx, t.path, t.next, "") {
		w.pause(ctx) // the other writer may not have finished
		t.dropTail(f)
		return "", movedOn("the file was rewritten meanwhile; its new content stands")
	}
	return fmt.Sprintf("written in place: replacing the file is refused (%s)", why), nil
}

// change makes a file that holds from hold to, beginning at the first difference, and syncs it.
func change(f *os.File, from, to []byte) error {
	at := commonPrefix(from, to)
	if _, err := f.WriteAt(to[at:], int64(at)); err != nil {
		return err
	}
	if len(to) != len(from) {
		if err := f.Truncate(int64(len(to))); err != nil {
			return err
		}
	}
	return f.Sync()
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// dropTail cuts off the rest of our bytes behind a shorter manifest that another writer put over them.
func (t *target) dropTail(f *os.File) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxTarget))
	if err != nil || len(data) != len(t.next) {
		return
	}
	s := &scanner{data: data}
	s.space()
	if s.members(nil) != nil || s.pos == len(data) {
		return
	}
	if bytes.Equal(data[s.pos:], t.next[s.pos:]) {
		_ = f.Truncate(int64(s.pos))
	}
}

// pause waits as long as a displaced file is kept.
func (w *Writer) pause(ctx context.Context) {
	timer := time.NewTimer(w.keep())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
