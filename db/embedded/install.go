package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

var (
	//go:embed package.json
	packageJSON []byte
	//go:embed package-lock.json
	packageLock []byte
	//go:embed server.mjs
	serverScript []byte
)

// installLimit bounds an installation, and the wait for another process that is at it.
const installLimit = 10 * time.Minute

// home is the folder of an installation: node_modules, the template of an empty database, and the scripts that use them.
type home string

// homeIn is the one place in a cache folder for the packages of this binary's lock file.
func homeIn(cacheDir string) home {
	key := sha256.Sum256(bytes.Join([][]byte{packageJSON, packageLock}, []byte{0}))
	return home(filepath.Join(cacheDir, fmt.Sprintf("pglite-%.8x", key)))
}

func (h home) template() string { return filepath.Join(string(h), "template.tar.gz") }

// script is named by its content: binaries with the same packages but another script may share the folder.
func (h home) script() string {
	return filepath.Join(string(h), fmt.Sprintf("server-%.8x.mjs", sha256.Sum256(serverScript)))
}

// whole tells whether everything that the script needs is there; cleaners of cache folders may have been at it.
func (h home) whole() bool {
	for _, path := range []string{
		h.template(),
		filepath.Join(string(h), "node_modules/@electric-sql/pglite/dist/index.js"),
		filepath.Join(string(h), "node_modules/@electric-sql/pglite-pgvector/package.json"),
	} {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

// install returns the folder with the packages of this binary's lock file, installing them if they are not there yet. Any number of
// processes may call it at once: one installs, the others wait.
func install(ctx context.Context, node string, o Options) (home, error) {
	h := homeIn(o.CacheDir)
	if !h.whole() {
		if err := os.MkdirAll(o.CacheDir, 0o700); err != nil {
			return "", failure(ErrInstall, waysOut, "make the cache folder: %w", err)
		}
		if err := installOnce(ctx, node, h, o.Progress); err != nil {
			return "", err
		}
	}
	if err := placeScript(h.script()); err != nil {
		return "", failure(ErrInstall, waysOut, "%w", err)
	}
	return h, nil
}

// installOnce installs under the lock of h, unless another process has done so meanwhile.
func installOnce(ctx context.Context, node string, h home, progress func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	lock, err := acquire(ctx, string(h)+".lock", installLimit, func(pid int) {
		progress("embedded Postgres: waiting for the installation" + byProcess(pid))
	})
	if err != nil {
		return failure(ErrInstall, waysOut, "%w", err)
	}
	defer lock.Close()
	if h.whole() {
		return nil
	}
	if err := sign(lock, os.Getpid()); err != nil {
		return failure(ErrInstall, waysOut, "%w", err)
	}
	start := time.Now()
	progress("embedded Postgres: installing two npm packages, about 30 MB, once, in " + string(h))
	if err := build(ctx, node, h, lock, progress); err != nil {
		return failure(ErrInstall, waysOut, "%w", err)
	}
	progress(fmt.Sprintf("embedded Postgres: installed in %.1f s", time.Since(start).Seconds()))
	return nil
}

// build makes the installation beside its place and then renames it, so that what has the name is whole.
func build(ctx context.Context, node string, h home, lock *os.File, progress func(string)) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return err
	}
	tmp := home(string(h) + ".tmp")
	if err := os.RemoveAll(string(tmp)); err != nil {
		return err
	}
	defer os.RemoveAll(string(tmp))
	if err := os.Mkdir(string(tmp), 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"package.json": packageJSON, "package-lock.json": packageLock} {
		if err := os.WriteFile(filepath.Join(string(tmp), name), content, 0o600); err != nil {
			return err
		}
	}
	if err := placeScript(tmp.script()); err != nil {
		return err
	}
	if err := step(ctx, tmp, lock, progress, npmEnv(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"); err != nil {
		return err
	}
	progress("embedded Postgres: preparing an empty database")
	if err := step(ctx, tmp, lock, progress, serverEnv(), node, tmp.script(), "template", tmp.template()); err != nil {
		return err
	}
	if !tmp.whole() {
		return fmt.Errorf("npm ci ended well, but files are missing in %s", tmp)
	}
	if err := os.RemoveAll(string(h)); err != nil { // half of an old one
		return err
	}
	return os.Rename(string(tmp), string(h))
}

// step runs one command of an installation in its own process group. The command keeps the lock for as long as it writes, also when
// this process is killed meanwhile.
func step(ctx context.Context, dir home, lock *os.File, progress func(string), env []string, name string, args ...string) error {
	var said tail
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = string(dir), env, &said, &said
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	stdin, err := cmd.StdinPipe() // stays open while the command runs: the script ends with its stdin
	if err != nil {
		return err
	}
	defer stdin.Close()
	stop := every(10*time.Second, func(since time.Duration) {
		progress(fmt.Sprintf("embedded Postgres: still at it after %.0f s", since.Seconds()))
	})
	defer stop()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, said.String())
	}
	return nil
}

// every calls do at each interval until the returned function is called.
func every(interval time.Duration, do func(since time.Duration)) (stop func()) {
	start, done := time.Now(), make(chan struct{})
	go func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				do(time.Since(start))
			}
		}
	}()
	return func() { close(done) }
}

// placeScript writes the server script at path, whole or not at all.
func placeScript(path string) error {
	if b, err := os.ReadFile(path); err == nil && bytes.Equal(b, serverScript) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".script-*")
	if err != nil {
		return err
	}
	_, err = f.Write(serverScript)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	return os.Rename(f.Name(), path)
}
