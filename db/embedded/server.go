package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	closeLimit = 15 * time.Second // for a running statement to end and the database to shut down
	maxSocket  = 103              // bytes of a socket's path that every system takes
)

// Server is a running embedded Postgres. Its methods may be called from any goroutine.
type Server struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	dir     string // of the socket
	version string
	log     *slog.Logger
	ready   chan string // the line that says so, once
	done    chan struct{}

	mu      sync.Mutex
	said    tail // the end of stderr
	closing bool
	err     error // why it ended, if unasked; set before done is closed
}

// spawn starts the child on data and waits until it serves. lock, if any, is handed to it.
func spawn(ctx context.Context, node string, h home, data string, lock *os.File, o Options) (*Server, error) {
	dir, err := socketDir()
	if err != nil {
		return nil, failure(ErrStart, waysOn, "%w", err)
	}
	s := &Server{dir: dir, log: o.Log, ready: make(chan string, 1), done: make(chan struct{})}
	s.cmd = exec.Command(node, h.script(), "serve", data, filepath.Join(dir, ".s.PGSQL.5432"), h.template(), strconv.FormatInt(o.queueWait.Milliseconds(), 10))
	s.cmd.Dir, s.cmd.Env = string(h), serverEnv()
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours to handle
	if lock != nil {
		s.cmd.ExtraFiles = []*os.File{lock}
	}
	if err := s.launch(); err != nil {
		os.RemoveAll(dir)
		return nil, failure(ErrStart, waysOn, "%w", err)
	}
	if lock != nil {
		if err := sign(lock, s.cmd.Process.Pid); err != nil {
			s.log.Warn("embedded postgres: sign the lock", "err", err)
		}
	}
	if err := s.await(ctx); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// socketDir makes a folder that only this user can enter, with a path short enough for a socket.
func socketDir() (string, error) {
	dir, err := os.MkdirTemp("", "storozh-")
	if err == nil && len(dir)+len("/.s.PGSQL.5432") > maxSocket {
		os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "storozh-")
	}
	return dir, err
}

// launch starts the process and the goroutines that read it.
func (s *Server) launch() error {
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.stdin = stdin
	var readers sync.WaitGroup
	readers.Go(func() { eachLine(stdout, s.heard) })
	readers.Go(func() { eachLine(stderr, s.complained) })
	go func() {
		readers.Wait() // Wait closes the pipes
		s.ended(s.cmd.Wait())
	}()
	return nil
}

// eachLine calls do for every line of r; a very long line comes in pieces.
func eachLine(r io.Reader, do func(line []byte)) {
	b := bufio.NewReaderSize(r, 16<<10)
	for {
		line, _, err := b.ReadLine()
		if err != nil {
			return
		}
		do(line)
	}
}

func (s *Server) heard(line []byte) {
	if rest, ok := strings.CutPrefix(string(line), "READY "); ok {
		select {
		case s.ready <- rest:
			return
		default:
		}
	}
	s.log.Debug("embedded postgres", "stdout", string(line))
}

func (s *Server) complained(line []byte) {
	s.mu.Lock()
	fmt.Fprintf(&s.said, "%s\n", line)
	s.mu.Unlock()
	s.log.Warn("embedded postgres", "stderr", string(line))
}

func (s *Server) ended(err error) {
	s.mu.Lock()
	if !s.closing {
		if err == nil {
			err = errors.New("exit status 0")
		}
		s.err = fmt.Errorf("embedded postgres: ended unasked: %w: %s", err, s.said.String())
	}
	s.mu.Unlock()
	os.RemoveAll(s.dir)
	close(s.done)
}

// await waits for the child to say that it serves.
func (s *Server) await(ctx context.Context) error {
	limit := time.NewTimer(readyLimit)
	defer limit.Stop()
	select {
	case line := <-s.ready:
		var hello struct{ Version string }
		if err := json.Unmarshal([]byte(line), &hello); err != nil {
			return failure(ErrStart, waysOn, "unreadable READY line %.200q: %w", line, err)
		}
		s.version = hello.Version
		return nil
	case <-s.done:
		return failure(ErrStart, waysOn, "%w", s.Err())
	case <-limit.C:
		return failure(ErrStart, waysOn, "not ready after %s", readyLimit)
	case <-ctx.Done():
		return fmt.Errorf("embedded postgres: start: %w", ctx.Err())
	}
}

// DSN is a lib/pq connection string. Use it with exactly one open connection.
func (s *Server) DSN() string {
	return fmt.Sprintf("host='%s' port=5432 user=postgres dbname=postgres sslmode=disable", strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.dir))
}

// Version is the version of PostgreSQL, such as 18.3.
func (s *Server) Version() string { return s.version }

// Done is closed when the child has ended, asked or not; [Server.Err] tells which.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err tells why the child ended unasked; nil while it runs and after [Server.Close].
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close shuts the database down and waits for the child to end; after ctx, or 15 s, it is killed, which loses nothing committed. Close
// the pool before: connections still open are cut. It may be called again.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stdin.Close() // again: an error that says so, of no interest
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		s.kill()
		return fmt.Errorf("embedded postgres: killed, it did not end in time: %w", ctx.Err())
	case <-limit.C:
		s.kill()
		return fmt.Errorf("embedded postgres: killed, it did not end within %s", closeLimit)
	}
}

// kill ends the child the hard way and waits for it.
func (s *Server) kill() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stdin.Close()
	_ = s.cmd.Process.Kill() // fails only if it has ended already
	<-s.done
}
