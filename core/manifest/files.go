package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// readTarget reads a regular file whole.
func readTarget(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > maxTarget {
		return nil, nil, movedOn(fmt.Sprintf("the file has grown to %d MiB; nothing written", info.Size()>>20))
	}
	raw, err := os.ReadFile(path)
	return raw, info, err
}

// sameBytes tells whether the file at path holds want.
func sameBytes(path string, want []byte) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return sameContent(f, want)
}

// sameContent compares a file with want from its beginning, without holding it in memory.
func sameContent(f *os.File, want []byte) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() != int64(len(want)) {
		return false, err
	}
	buf := make([]byte, 128<<10)
	for at := 0; ; {
		n, err := f.ReadAt(buf, int64(at))
		if at+n > len(want) || !bytes.Equal(buf[:n], want[at:at+n]) {
			return false, nil
		}
		at += n
		if errors.Is(err, io.EOF) {
			return at == len(want), nil
		}
		if err != nil {
			return false, err
		}
	}
}

// tempPrefix is how the names of temp files for path begin; digits follow.
func tempPrefix(path string) string { return "." + filepath.Base(path) + ".storozh-" }

// removeStale removes temp files of a run that was killed. Only such that hold nothing of their own: the manifest that stands
// in the file right now, with or without a block, or the beginning of it. The folder is locked, so no live run owns them.
func (t *target) removeStale(content [32]byte) {
	dir := filepath.Dir(t.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), tempPrefix(t.path))
		if !ok || strings.Trim(digits, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, e.Name())
		data, _, err := readTarget(name)
		if err != nil {
			continue
		}
		bare, err := Strip(data)
		if err == nil && sha256.Sum256(bare) == content || bytes.HasPrefix(t.next, data) || bytes.HasPrefix(t.raw, data) {
			_ = os.Remove(name)
		}
	}
}

// syncFolder makes renames durable. Some file systems can't; a rename lost in a power cut leaves the old manifest, which is
// whole, and the block is in the database.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// lockWait is how long another Storozh may take for its turn.
const lockWait = 30 * time.Second

// lockFolder makes processes and goroutines that write into one folder take turns; the lock ends with the process. Where
// folders can't be opened or locked there are no turns, and the look at what was displaced is the safeguard.
func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}, nil
	}
	if _, err := lockFile(ctx, d); err != nil {
		_ = d.Close()
		return nil, err
	}
	return func() { _ = d.Close() }, nil
}

// lockFile waits for an exclusive lock, within ctx and lockWait.
func lockFile(ctx context.Context, f *os.File) (unlock func(), err error) {
	end := time.NewTimer(lockWait)
	defer end.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		busy := tryLock(f)
		if !busy {
			return func() { unlockFile(f) }, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end.C:
			return nil, fmt.Errorf("%s is locked by another program for %s", f.Name(), lockWait)
		case <-tick.C:
		}
	}
}

// advise words a failure for people: what was wrong and what to do.
func advise(err error) string {
	todo := "the block is in the database"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		todo = "free some disk space and judge again; the file is as it was"
	case errors.Is(err, syscall.EROFS):
		todo = "mount the file's folder writable and judge again; the file is as it was"
	case errors.Is(err, fs.ErrPermission):
		todo = "let the user that Storozh runs as write the file and its folder, and judge again; the file is as it was"
	}
	return fmt.Sprintf("%v; %s", err, todo)
}
