//go:build linux

package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"storozh/core"
)

const nobody = 65534

// TestMain lets this test binary be run again as another user that only writes one file.
func TestMain(m *testing.M) {
	if path := os.Getenv("STOROZH_TEST_WRITE"); path != "" {
		if os.Getenv("STOROZH_TEST_LIMIT") != "" {
			limitFileSize(len(typical) + 100)
		}
		got, err := (&Writer{Keep: shortKeep}).Write(context.Background(), path, sha256.Sum256([]byte(typical)), sampleBlock())
		if err != nil {
			panic(err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(got)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// limitFileSize makes writes beyond n bytes fail half way, as a full disk does.
func limitFileSize(n int) {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}); err != nil {
		panic(err)
	}
}

// asNobody writes the block to path in a process without privileges.
func asNobody(t *testing.T, path string, env ...string) core.WriteBack {
	t.Helper()
	exe := filepath.Join(filepath.Dir(filepath.Dir(path)), "test-binary")
	if err := exec.Command("cp", os.Args[0], exe).Run(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), "STOROZH_TEST_WRITE="+path), env...)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got core.WriteBack
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// shared is a folder that every user can reach, with a manifest of the given modes.
func shared(t *testing.T, folder, file os.FileMode) string {
	t.Helper()
	top, err := os.MkdirTemp("", "storozh-")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "folder")
	path := filepath.Join(dir, "m.json")
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o755)
		_ = os.RemoveAll(top)
	})
	for _, err := range []error{
		os.Chmod(top, 0o755), os.Mkdir(dir, 0o755), os.WriteFile(path, []byte(typical), 0o600),
		os.Chmod(path, file), os.Chmod(dir, folder),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAFolderThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	path := shared(t, 0o555, 0o666)
	got := asNobody(t, path)
	if got.State != core.Written || !strings.HasPrefix(got.Detail, "written in place: ") {
		t.Errorf("%+v", got)
	}
	if read(t, path) != spliced(t, typical, sampleBlock()) {
		t.Errorf("file:\n%s", read(t, path))
	}
}

func TestNeitherFolderNorFileMayBeWritten(t *testing.T) {
	t.Parallel()
	path := shared(t, 0o555, 0o444)
	got := asNobody(t, path)
	if got.State != core.WriteFailed || !strings.Contains(got.Detail, "let the user that Storozh runs as write") {
		t.Errorf("%+v", got)
	}
	if read(t, path) != typical {
		t.Error("the file was changed")
	}
	alone(t, path)
}

// A write that fails half way is taken back, on either path.
func TestAWriteThatFailsHalfWay(t *testing.T) {
	t.Parallel()
	for _, folder := range []os.FileMode{0o777, 0o555} {
		path := shared(t, folder, 0o666)
		got := asNobody(t, path, "STOROZH_TEST_LIMIT=1")
		if got.State != core.WriteFailed || !strings.Contains(got.Detail, "file too large") {
			t.Errorf("folder %v: %+v", folder, got)
		}
		if read(t, path) != typical {
			t.Errorf("folder %v: file:\n%s", folder, read(t, path))
		}
		alone(t, path)
	}
}

// The owner is kept: where it can't be given to a new file, the old one is written in place; root gives it away.
func TestTheOwnerIsKept(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("another owner can only be set up as root, as in CI")
	}
	path := shared(t, 0o777, 0o666)
	if got := asNobody(t, path); got.State != core.Written || !strings.Contains(got.Detail, "owner") {
		t.Errorf("%+v", got)
	}
	path, content := place(t, typical)
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	outcome(t, &Writer{Keep: shortKeep}, path, content, core.Written)
	info, err := os.Stat(path)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Errorf("owner %+v, %v", info.Sys(), err)
	}
	alone(t, path)
}
