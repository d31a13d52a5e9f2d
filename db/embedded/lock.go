package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockPoll is how often a taken lock is tried again. (flock could wait by itself, but not for a limited time.)
const lockPoll = 50 * time.Millisecond

// acquire takes the flock of the file at path, waiting up to wait. If it has to wait, it calls waiting once with the holder's process id
// (0: unknown). The lock belongs to the open file, so a child that inherits the descriptor keeps it. Errors: [ErrLocked], or ctx's own.
func acquire(ctx context.Context, path string, wait time.Duration, waiting func(pid int)) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded postgres: open the lock: %w", err)
	}
	deadline := time.Now().Add(wait)
	for first := true; ; first = false {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("embedded postgres: lock %s: %w", path, err)
		}
		if first {
			waiting(holder(f))
		}
		if !time.Now().Before(deadline) {
			pid := holder(f)
			f.Close()
			return nil, failure(ErrLocked, "end that process, or "+waysOn, "%s is held%s", path, byProcess(pid))
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("embedded postgres: waiting for %s: %w", path, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// sign writes the holder's process id into the lock file, for whoever finds it taken.
func sign(f *os.File, pid int) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0)
	return err
}

// holder reads who signed the lock file; 0 if nobody readable did.
func holder(f *os.File) int {
	b := make([]byte, 32)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}

// byProcess is the end of a sentence about a lock.
func byProcess(pid int) string {
	if pid == 0 {
		return ""
	}
	return fmt.Sprintf(" by process %d", pid)
}
