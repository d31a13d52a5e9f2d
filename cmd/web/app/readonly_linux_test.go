package app

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
)

// inside tells the test process that it runs in a namespace in which it may mount.
const inside = "STOROZH_TEST_MAY_MOUNT"

// noMounts is what the test process inside says when it may not mount after all.
const noMounts = "mounting is not allowed here: "

// mayMount runs the test once more in a process with mounts of its own, which vanish with it: in a user namespace, which needs no privilege
// where it is allowed, else as root. It returns true inside. Where neither is allowed the test is skipped, in CI too, for containers forbid it.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		return true
	}
	ids := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	var why []string
	for _, way := range []struct {
		name string
		attr *syscall.SysProcAttr
	}{
		{"in a user namespace", &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER, Unshareflags: syscall.CLONE_NEWNS, UidMappings: ids(os.Getuid()), GidMappings: ids(os.Getgid()),
		}},
		{"as root", &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=5m")
		cmd.Env, cmd.SysProcAttr = append(os.Environ(), inside+"=1"), way.attr
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			why = append(why, way.name+": "+err.Error())
			continue
		}
		if _, refused, ok := strings.Cut(string(out), noMounts); ok {
			refused, _, _ = strings.Cut(refused, "\n")
			why = append(why, way.name+": "+refused)
			continue
		}
		t.Logf("%s:\n%s", way.name, out)
		if err != nil {
			t.Fail()
		}
		return false
	}
	t.Skipf("NOT TESTED: mounts, for they are allowed neither %s", strings.Join(why, ", nor "))
	return false
}

// bind mounts a file or folder over itself, so that it can be made read-only, and in a file's place nothing else can be put.
func bind(t *testing.T, path string) {
	t.Helper()
	err := syscall.Mount(path, path, "", syscall.MS_BIND, "")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skip(noMounts, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(path, syscall.MNT_DETACH) })
}

// remount makes a bind mount read-only, or writable again.
func remount(t *testing.T, path string, readOnly bool) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		t.Fatal(err)
	}
	// What the file system below is mounted with may not be given up.
	const same = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC | syscall.MS_NOATIME | syscall.MS_NODIRATIME
	flags := uintptr(syscall.MS_REMOUNT|syscall.MS_BIND) | uintptr(st.Flags)&same
	if readOnly {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("", path, "", flags, ""); err != nil {
		t.Fatalf("remount: %v", err)
	}
}

// mounted is a watched manifest in a folder of its own, judged by a running App.
type mounted struct {
	t    *testing.T
	a    *App
	path string
	raw  []byte
}

// watchMounted puts a manifest into a folder, mounts it as the test likes, and starts an App that watches it.
func watchMounted(t *testing.T, mount func(folder, file string)) mounted {
	t.Helper()
	e := newEco(t)
	workday(e)
	folder := filepath.Join(t.TempDir(), "claude")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	m := mounted{t: t, path: filepath.Join(folder, "changeset-manifest.json"), raw: e.manifest("s", "2026-05-01T12:00:00Z")}
	writeFile(t, m.path, m.raw)
	mount(folder, m.path)
	m.a = newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }), func(c *Config) { c.ManifestPath = m.path })
	watching(t, m.a)
	return m
}

// written waits for the outcome of the latest run and gives it, with what the file holds.
func (m mounted) written() (core.Record, []byte) {
	m.t.Helper()
	var rec core.Record
	settled(m.t, "the outcome", func() bool {
		recs, _, err := m.a.db.Records(m.t.Context(), core.RecordQuery{})
		if err != nil || len(recs) != 1 {
			return false
		}
		rec = recs[0]
		return rec.Run.Status == core.Done && rec.Run.WriteBack.State != core.WritePend
	})
	if rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		m.t.Errorf("the block in the database: %s", rec.BLUF)
	}
	b, err := os.ReadFile(m.path)
	if err != nil {
		m.t.Fatal(err)
	}
	if names, err := os.ReadDir(filepath.Dir(m.path)); err != nil || len(names) != 1 {
		m.t.Errorf("beside the file lies something: %v (%v)", names, err)
	}
	return rec, b
}

// again judges once more, as the advice says, and wants the block in the file.
func (m mounted) again(id int64) core.WriteBack {
	m.t.Helper()
	if _, err := m.a.Rerun(m.t.Context(), id, false); err != nil {
		m.t.Fatal(err)
	}
	if err := m.a.WaitWritten(m.t.Context(), id); err != nil {
		m.t.Fatal(err)
	}
	rec, _ := m.written()
	oneBlock(m.t, m.path, m.raw, rec.Run.WriteBack)
	return rec.Run.WriteBack
}

// A watched manifest that can't be replaced, or not be written at all: it is read and judged, what became of the block is said in plain words,
// and nothing is left half done.
func TestMounts(t *testing.T) {
	if !mayMount(t) {
		return
	}
	t.Run("the folder is read-only", readOnlyFolder)
	t.Run("the file is a mount, as a container gets it", mountedFile)
}

func readOnlyFolder(t *testing.T) {
	m := watchMounted(t, func(folder, _ string) { bind(t, folder); remount(t, folder, true) })
	rec, b := m.written()
	w := rec.Run.WriteBack
	if w.State != core.WriteFailed || !strings.Contains(w.Detail, "read-only file system") || !strings.Contains(w.Detail, "mount the file's folder writable and judge again") {
		t.Errorf("%+v", w)
	}
	if !bytes.Equal(b, m.raw) {
		t.Errorf("the file became %s", b)
	}
	time.Sleep(4 * settle)
	if n := runs(t, m.a); n != 1 {
		t.Errorf("%d runs: a failed write starts others", n)
	}
	remount(t, filepath.Dir(m.path), false)
	if w := m.again(rec.ID); w.State != core.Written || w.Detail != "" {
		t.Errorf("writable again: %+v", w)
	}
}

// It can't be replaced, so it is written in place, and the page says so.
func mountedFile(t *testing.T) {
	m := watchMounted(t, func(_, file string) { bind(t, file); remount(t, file, true) })
	rec, b := m.written()
	if w := rec.Run.WriteBack; w.State != core.WriteFailed || !strings.Contains(w.Detail, "read-only file system") || !bytes.Equal(b, m.raw) {
		t.Errorf("%+v", w)
	}
	remount(t, m.path, false)
	if w := m.again(rec.ID); w.State != core.Written || !strings.HasPrefix(w.Detail, "written in place: ") || !strings.Contains(w.Detail, "device or resource busy") {
		t.Errorf("%+v", w)
	}
}
