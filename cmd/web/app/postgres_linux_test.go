package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// ownServer is a native Postgres that one test has for itself, so that it may stop it.
type ownServer struct {
	t    *testing.T
	bin  string // folder of pg_ctl
	dir  string
	port int
	as   *syscall.Credential // Postgres refuses to run as root; nil: as who we are
}

// newServer makes a server from the programs in STOROZH_TEST_PG_BIN and starts it. It keeps what it has acknowledged, as it does by default.
func newServer(t *testing.T) *ownServer {
	t.Helper()
	bin := os.Getenv("STOROZH_TEST_PG_BIN")
	if bin == "" {
		if os.Getenv("STOROZH_CI") != "" {
			t.Fatal("STOROZH_TEST_PG_BIN does not name the folder of pg_ctl")
		}
		t.Skip("needs a Postgres of its own: set STOROZH_TEST_PG_BIN to the folder of its pg_ctl (.ci/native-postgres installs one)")
	}
	dir, err := os.MkdirTemp("", "storozh-pg-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	s := &ownServer{t: t, bin: bin, dir: dir, port: freePort(t)}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		s.as = unprivileged(t)
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
	s.start()
	t.Cleanup(func() { _, _ = s.try("pg_ctl", "-D", s.data(), "-m", "immediate", "stop") })
	return s
}

func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("no user but root to run Postgres as")
	return nil
}

func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port
}

func (s *ownServer) data() string { return filepath.Join(s.dir, "data") }

func (s *ownServer) dsn() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

func (s *ownServer) start() {
	s.t.Helper()
	options := fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s", s.port, s.dir)
	s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log"), "-o", options, "start")
}

// stop ends the server as a crash does: no connection is taken leave of, and the next start recovers.
func (s *ownServer) stop() {
	s.t.Helper()
	s.run("pg_ctl", "-D", s.data(), "-w", "-m", "immediate", "stop")
}

func (s *ownServer) run(program string, args ...string) {
	s.t.Helper()
	if out, err := s.try(program, args...); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.t.Fatalf("%s: %v\n%s\n%s", program, err, out, log)
	}
}

func (s *ownServer) try(program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + s.bin + ":/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + s.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd.CombinedOutput()
}
