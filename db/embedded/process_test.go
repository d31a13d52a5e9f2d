package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStartCloseStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 2 {
		began := time.Now()
		s := start(t, Options{DataDir: dir})
		t.Logf("round %d: %s after %s, %s resident", round, s.Version(), time.Since(began).Round(time.Millisecond), resident(s.cmd.Process.Pid))
		db := pool(t, s)
		if round == 0 {
			mustExec(t, db, `CREATE TABLE kept AS SELECT 42 AS n`)
		}
		if n := value[int](t, db, `SELECT n FROM kept`); n != 42 {
			t.Errorf("round %d: %d", round, n)
		}
		mode := func(path string) os.FileMode {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			return info.Mode().Perm()
		}
		for path, want := range map[string]os.FileMode{s.dir: 0o700, filepath.Join(s.dir, ".s.PGSQL.5432"): 0o600, filepath.Join(dir, "postgres"): 0o700} {
			if got := mode(path); got != want {
				t.Errorf("%s has mode %o, want %o", path, got, want)
			}
		}
		db.Close()
		for range 2 {
			if err := s.Close(limited(t)); err != nil {
				t.Fatal(err)
			}
		}
		gone(t, s)
		if err := s.Err(); err != nil {
			t.Errorf("a server that was closed says %v", err)
		}
	}
}

// gone fails unless nothing of s is left.
func gone(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Done():
	default:
		t.Error("not done")
	}
	if alive(s.cmd.Process.Pid) {
		t.Errorf("process %d is still there", s.cmd.Process.Pid)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's folder is still there: %v", err)
	}
}

func resident(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}

// A statement that outlives the patience of Close is ended with its process.
func TestCloseDuringStatement(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Memory: true})
	db := pool(t, s)
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	go db.Exec(`SELECT pg_sleep(60)`)
	time.Sleep(200 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want one that says it was killed", err)
	}
	gone(t, s)
}

func TestSecondStartIsLockedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, Options{DataDir: dir})
	var said []string
	_, err := Start(t.Context(), Options{DataDir: dir, CacheDir: cacheDir(), LockWait: 300 * time.Millisecond, Progress: func(l string) { said = append(said, l) }})
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("%v, want ErrLocked", err)
	}
	pid := fmt.Sprintf("process %d", s.cmd.Process.Pid)
	for _, text := range []string{err.Error(), strings.Join(said, "\n")} {
		if !strings.Contains(text, pid) {
			t.Errorf("does not name %s: %s", pid, text)
		}
	}
	if !strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("names no way out: %v", err)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		s.Close(context.Background())
	}()
	start(t, Options{DataDir: dir}) // waits for the first to end
}

// host is the other process of TestKilledHost: it opens the database in dir, writes a row, says so and waits to be killed.
func host(dir string) {
	s, err := Start(context.Background(), Options{DataDir: dir, CacheDir: cacheDir()})
	if err == nil {
		db, _ := open(s)
		_, err = db.Exec(`CREATE TABLE IF NOT EXISTS kept (n int); INSERT INTO kept VALUES (1)`)
		if err == nil {
			_, err = db.Exec(`BEGIN`)
		}
		if err == nil {
			_, err = db.Exec(`INSERT INTO kept VALUES (-1)`)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"pid": s.cmd.Process.Pid, "dir": s.dir})
	time.Sleep(10 * time.Minute)
	os.Exit(1)
}

func TestKilledHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := 1; round <= 2; round++ {
		pid, socketDir := killHost(t, dir)
		s := start(t, Options{DataDir: dir}) // waits for the orphan to let go
		if alive(pid) {
			t.Errorf("child %d still runs beside its successor", pid)
		}
		if _, err := os.Stat(socketDir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the killed host's socket folder is still there: %v", err)
		}
		db := pool(t, s)
		if n := value[int](t, db, `SELECT sum(n) FROM kept`); n != round {
			t.Errorf("%d rows after %d killed hosts", n, round)
		}
		db.Close()
		if err := s.Close(limited(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// killHost runs a host on dir until it has written its row, then kills it; it returns the database's process and its socket's folder.
func killHost(t *testing.T, dir string) (pid int, socketDir string) {
	t.Helper()
	cmd := exec.CommandContext(limited(t), os.Args[0])
	cmd.Env = append(os.Environ(), hostEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	line, _ := bufio.NewReader(out).ReadBytes('\n')
	var said struct {
		Pid int
		Dir string
	}
	if err := json.Unmarshal(line, &said); err != nil {
		t.Fatalf("host said %q: %v", line, err)
	}
	if !alive(said.Pid) {
		t.Fatal("the host has no child")
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return said.Pid, said.Dir
}

// A crash inside WebAssembly ends the child, which is noticed, instead of leaving it running with who knows what in its memory.
func TestCrash(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Memory: true})
	db := pool(t, s)
	for _, query := range []string{ // rough, but no crash
		`SELECT pg_terminate_backend(pg_backend_pid())`,
		`SELECT pg_cancel_backend(pg_backend_pid())`,
		`SELECT length(repeat('x', 1 << 30) || 'y')`,
		`LISTEN something; NOTIFY something, 'x'`,
	} {
		_, _ = db.ExecContext(limited(t), query)
		if n := value[int](t, db, `SELECT $1::int`, 5); n != 5 {
			t.Errorf("after %s: %d", query, n)
		}
	}
	if _, err := db.ExecContext(limited(t), `COPY (SELECT 1) TO PROGRAM 'cat'`); err == nil { // there are no programs
		t.Error("no error")
	}
	select {
	case <-s.Done():
	case <-limited(t).Done():
		t.Fatal("the crash was not noticed")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "exit status 70: ") || !strings.Contains(err.Error(), "crashed") {
		t.Errorf("Err: %v", err)
	}
	if err := s.Close(limited(t)); err != nil {
		t.Error(err)
	}
	gone(t, s)
}

func TestCancelledStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := Start(ctx, Options{DataDir: dir, CacheDir: cacheDir()})
		cancel()
		if err == nil {
			s.Close(limited(t))
			t.Fatalf("started within %s", after)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %v", after, err)
		}
	}
	s := start(t, Options{DataDir: dir, LockWait: time.Nanosecond}) // nobody holds the lock any more
	if n := value[int](t, pool(t, s), `SELECT 1`); n != 1 {
		t.Error(n)
	}
}

// A first start that was cut off while it unpacked its files leaves nothing that a second one would trip over.
func TestInterruptedCreation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := filepath.Join(dir, "postgres")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(half, "PG_VERSION"), half + ".creating"} {
		if err := os.WriteFile(path, []byte("18\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, Options{DataDir: dir})
	if n := value[int](t, pool(t, s), `SELECT 1`); n != 1 {
		t.Error(n)
	}
}

// Without the marker a broken database is somebody's data: it is reported and left alone.
func TestBrokenDatabaseIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := filepath.Join(dir, "postgres", "PG_VERSION")
	if err := os.MkdirAll(filepath.Dir(version), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(version, []byte("17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), Options{DataDir: dir, CacheDir: cacheDir()})
	if err == nil {
		s.Close(limited(t))
	}
	if !errors.Is(err, ErrStart) {
		t.Fatalf("%v, want ErrStart", err)
	}
	if !strings.Contains(err.Error(), "could not access the server configuration file") {
		t.Errorf("does not say why: %v", err)
	}
	if b, err := os.ReadFile(version); err != nil || string(b) != "17\n" {
		t.Errorf("the data was touched: %q, %v", b, err)
	}
}
