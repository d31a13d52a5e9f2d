package corpus

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Errors that tell the states of a repository apart.
var (
	// ErrNoCommits means that the branch HEAD points to has no commit yet.
	ErrNoCommits = errors.New("the repository has no commit yet; commit the corpus, since only committed files count")
	// ErrNotARepo means that the folder is missing, no git repository, or one that git refuses to read.
	ErrNotARepo = errors.New("not a git repository that can be read")
	// ErrNoGit means that there is no git command to read a repository with.
	ErrNoGit = errors.New("the git command was not found; install git 2.38 or newer")
)

const (
	maxStderr = 4 << 10          // bytes kept of git's own words
	graceTime = 2 * time.Second  // between the end of the context and giving up on git's pipes
	treeTime  = 60 * time.Second // limit of a call that reads no file content
	fetchTime = 60 * time.Second // limit of a first pass over contents, in which git may ask a promisor remote for them
)

// settings are given to each call. safe.directory lets git read repositories that belong to someone else (git 2.38 and newer take
// it from the command line); the file system monitor is a program that a repository's own configuration would make git start.
var settings = []string{"-c", "safe.directory=*", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}

// environment is all that git gets to know: nothing of ours, no user's or system's configuration, no prompt, no lock. dir is the
// repository; git must not take a folder that is none for a part of the repository around it.
func environment(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return []string{
		"LC_ALL=C", "HOME=/nonexistent", "PATH=/usr/local/bin:/usr/bin:/bin",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=5",
	}
}

// command prepares a git call in the repository. It runs in a process group of its own, which is killed as a whole when the context
// ends: a fetch from a promisor remote has children that would outlive it.
func (r *Repo) command(ctx context.Context, args ...string) (*exec.Cmd, *capped, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, nil, ErrNoGit
	}
	all := append(append([]string{}, settings...), "-C", r.dir)
	cmd := exec.CommandContext(ctx, git, append(all, args...)...)
	cmd.Env = environment(r.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: r.as}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = graceTime
	stderr := &capped{max: maxStderr}
	cmd.Stderr = stderr
	return cmd, stderr, nil
}

// small runs a git call whose answer is a few lines at most.
func (r *Repo) small(ctx context.Context, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, treeTime)
	defer stop()
	cmd, stderr, err := r.command(ctx, args...)
	if err != nil {
		return "", err
	}
	out := &capped{max: maxStderr}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return "", failure(ctx, args[0], err, stderr)
	}
	return strings.TrimSpace(out.String()), nil
}

// failure words a failed call with git's own explanation.
func failure(ctx context.Context, what string, err error, stderr *capped) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", what, ctx.Err())
	}
	if words := strings.TrimSpace(stderr.String()); words != "" {
		return fmt.Errorf("git %s: %w: %s", what, err, words)
	}
	return fmt.Errorf("git %s: %w", what, err)
}

// exitCode returns a process's exit code, or -1 if it did not end by itself.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// capped keeps the first max bytes written to it and swallows the rest.
type capped struct {
	buf []byte
	max int
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.max - len(c.buf); room > 0 {
		c.buf = append(c.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (c *capped) String() string { return strings.ToValidUTF8(string(c.buf), "\ufffd") }
