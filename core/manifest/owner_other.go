//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package manifest

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to keep where files have no numeric owner.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// tryLock never finds a lock held: there is no advisory locking here.
func tryLock(*os.File) (busy bool) { return false }

// unlockFile has nothing to give back.
func unlockFile(*os.File) {}
