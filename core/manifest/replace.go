package manifest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// refusal is a folder or file system that does not let a file be replaced; writing in place may still work.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// refusals are the errors that mean "not by rename": a bind-mounted single file (EBUSY, EXDEV), a folder that may not be
// written (EACCES, EPERM, EROFS), a file system without exchange and hard links.
var refusals = []error{
	syscall.EBUSY, syscall.EXDEV, syscall.EACCES, syscall.EPERM, syscall.EROFS,
	syscall.ENOSYS, syscall.EINVAL, syscall.EOPNOTSUPP, errors.ErrUnsupported,
}

// refusable wraps err as a refusal if it is one.
func refusable(err error) error {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return &refusal{err}
		}
	}
	return err
}

// replace exchanges the file for a complete one, so that no reader ever sees half of it. Up to the exchange an error leaves
// the file as it was and no temp file behind.
func (w *Writer) replace(ctx context.Context, t *target) error {
	temp, err := w.prepare(t)
	if err != nil {
		return err
	}
	if err := w.swapIn(ctx, t, temp); err != nil {
		_ = os.Remove(temp) // still ours
		return err
	}
	syncFolder(filepath.Dir(t.path))
	return w.settle(ctx, t, temp)
}

// prepare writes the temp file, with mode and owner of the target, and makes it durable.
func (w *Writer) prepare(t *target) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(t.path), tempPrefix(t.path)+"*")
	if err != nil {
		return "", refusable(fmt.Errorf("create a temp file beside it: %w", err))
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close the temp file beside it: %w", cerr)
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := w.at(pointTemp); err != nil {
		return "", err
	}
	if _, err := f.Write(t.next); err != nil {
		return "", fmt.Errorf("write a temp file beside it: %w", err)
	}
	// Owner first: a change of owner may clear mode bits.
	if err := keepOwner(f, t.info); err != nil {
		return "", refusable(fmt.Errorf("keep the file's owner: %w", err))
	}
	if err := f.Chmod(t.info.Mode().Perm()); err != nil {
		return "", refusable(fmt.Errorf("keep the file's mode: %w", err))
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("sync the temp file beside it: %w", err)
	}
	return f.Name(), nil
}

// swapIn exchanges temp file and target unless the target has changed or ctx has ended.
func (w *Writer) swapIn(ctx context.Context, t *target, temp string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if same, err := sameBytes(t.path, t.raw); err != nil || !same {
		return movedOn("the file was rewritten meanwhile; nothing written")
	}
	if err := w.at(pointSwap); err != nil {
		return refusable(err)
	}
	return refusable(swap(temp, t.path))
}

// swap exchanges two names of one folder, atomically where the system can. Elsewhere the second name is replaced atomically,
// and what it held is reachable under the first afterwards, through a hard link; only a writer that renames a file into place
// between two system calls would be missed.
func swap(temp, path string) error {
	err := exchange(temp, path)
	if !errors.Is(err, syscall.ENOSYS) && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err // nil included
	}
	return swapByLink(temp, path)
}

// swapByLink is swap where exchange is not supported.
func swapByLink(temp, path string) error {
	held := temp + "0" // matches the pattern of temp names
	if err := os.Link(path, held); err != nil {
		return fmt.Errorf("neither exchange nor hard link: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(held)
		return err
	}
	return os.Rename(held, temp)
}
