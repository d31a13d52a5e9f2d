// Package embedded runs PostgreSQL 18 with pgvector, compiled to WebAssembly (PGlite), in a child Node process, so that a newcomer needs
// Go and Node and no database server.
//
// The model: [Start] finds Node, installs two npm packages once per lock file into a cache folder, takes the lock of the data folder
// and starts `server.mjs`, which listens on a unix socket. Everyone else sees an ordinary DSN.
//
// Invariants:
//
//   - One connection at a time. The pool must have exactly one (SetMaxOpenConns(1)); a second connection waits until the first has
//     closed and is refused after half a minute. What a connection leaves open is rolled back before the next is served.
//   - One writer per data folder. The child itself holds the flock of `postgres.lock`, so the lock lives as long as the writer does, also
//     when this process is killed.
//   - No orphan. The child ends when its stdin closes: at [Server.Close], or however this process ends.
//   - A database that was never handed out is never kept: `postgres.creating` marks a first start that did not get through.
//
// What differs from a native Postgres: no COPY FROM STDIN (refused), no LISTEN over connections, no several databases, no cancelling of a
// running statement (a cancelled context closes the connection; the statement still runs to its end), nothing is ever fsynced, and
// nothing checkpoints or vacuums by itself (see [Maintain]). Losing power may lose data. Unix systems only.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Options say where the database lives and who is told about its start.
type Options struct {
	DataDir  string            // the database lies in DataDir/postgres; made if absent; not used with Memory
	CacheDir string            // the npm packages are installed here; shared between processes
	Progress func(line string) // what takes long, line by line, for people; may be nil
	Log      *slog.Logger      // the child's output; nil: none
	LockWait time.Duration     // how long to wait for another process to let go of DataDir; 0: 20 s
	Memory   bool              // keep the database in memory only, for tests

	queueWait time.Duration // how long a second connection waits; 0: as server.mjs has it
}

const (
	defaultLockWait = 20 * time.Second
	readyLimit      = 2 * time.Minute // the child's start, recovery included
)

func (o Options) withDefaults() (Options, error) {
	if o.CacheDir == "" {
		return o, errors.New("embedded postgres: no cache folder given")
	}
	if o.DataDir == "" && !o.Memory {
		return o, errors.New("embedded postgres: no data folder given")
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LockWait == 0 {
		o.LockWait = defaultLockWait
	}
	return o, nil
}

// Start installs what is missing, starts the child and returns once it serves. ctx limits the start only; the server then runs until
// [Server.Close]. Errors: [ErrNoNode], [ErrNodeTooOld], [ErrInstall], [ErrLocked], [ErrStart], or ctx's own.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	node, err := findNode(ctx)
	if err != nil {
		return nil, err
	}
	home, err := install(ctx, node, o)
	if err != nil {
		return nil, err
	}
	if o.Memory {
		return spawn(ctx, node, home, "memory://", nil, o)
	}
	return startOnDisk(ctx, node, home, o)
}

// startOnDisk starts the child on DataDir/postgres under its lock.
func startOnDisk(ctx context.Context, node string, home home, o Options) (*Server, error) {
	data := filepath.Join(o.DataDir, "postgres")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("embedded postgres: make the data folder: %w", err)
	}
	lock, err := acquire(ctx, data+".lock", o.LockWait, func(pid int) {
		o.Progress(fmt.Sprintf("embedded Postgres: %s is in use%s; waiting up to %s", data, byProcess(pid), o.LockWait))
	})
	if err != nil {
		return nil, err
	}
	defer lock.Close() // the child has its own descriptor by then
	creating := data + ".creating"
	if err := prepare(data, creating); err != nil {
		return nil, fmt.Errorf("embedded postgres: prepare the data folder: %w", err)
	}
	s, err := spawn(ctx, node, home, data, lock, o)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(creating); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("embedded postgres: %w", err), s.Close(ctx))
	}
	return s, nil
}

// prepare leaves data as a complete database or an empty folder with the marker `creating` beside it. The lock must be held.
func prepare(data, creating string) error {
	if _, err := os.Stat(creating); err == nil { // an earlier first start was cut off; nobody has seen that database
		if err := os.RemoveAll(data); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(data, 0o700); err != nil { // the files inside are as open as the template's
		return err
	}
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return nil
	}
	return os.WriteFile(creating, nil, 0o600)
}
