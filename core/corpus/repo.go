package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"storozh/core"
)

// maxEntries is the number of files above which a tree is refused.
const maxEntries = 1_000_000

// maxPath is the longest line of a tree listing that is read, in bytes.
const maxPath = 64 << 10

// Repo reads a git repository at HEAD through the git command, which copes with linked worktrees, alternates, sparse checkouts,
// partial clones and other hash functions. It never looks at the working tree. It is safe for concurrent use.
type Repo struct {
	dir string
	as  *syscall.Credential // tests run git as somebody else

	mu    sync.Mutex
	blobs map[string]string // path → blob at the commit that Text saw first
	ahead map[string]string // blob → text, of what Ahead read last
}

// Open names a repository; nothing is read yet. dir is its working tree, or a bare repository.
func Open(dir string) *Repo { return &Repo{dir: dir} }

// Head returns the object id of the commit at HEAD. Errors: ErrNoCommits, ErrNotARepo with git's own words, ErrNoGit, or the
// context's.
func (r *Repo) Head(ctx context.Context) (string, error) {
	id, err := r.small(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	switch {
	case err == nil && isID(id):
		return id, nil
	case err == nil:
		return "", fmt.Errorf("%s: git names %q as HEAD, which is no object id", r.dir, id)
	case exitCode(err) == 1:
		return "", fmt.Errorf("%s: %w", r.dir, ErrNoCommits)
	case exitCode(err) == 128:
		return "", fmt.Errorf("%s: %w: %w", r.dir, ErrNotARepo, err)
	}
	return "", fmt.Errorf("%s: %w", r.dir, err)
}

// Entry is a file of a tree.
type Entry struct {
	Path string // from the root, with slashes; any bytes but NUL
	Blob string // object id
}

// Tree lists the regular files of a commit in git's order. Symbolic links and submodules are no files. Sizes are not asked for: in
// a partial clone that alone would fetch each file.
func (r *Repo) Tree(ctx context.Context, commit string) ([]Entry, error) {
	return r.list(ctx, commit, "-r")
}

func (r *Repo) list(ctx context.Context, commit string, args ...string) ([]Entry, error) {
	if !isID(commit) {
		return nil, fmt.Errorf("%w: %q is no object id", core.ErrInvalid, commit)
	}
	ctx, stop := context.WithTimeout(ctx, treeTime)
	defer stop()
	call := append([]string{"ls-tree", "-z", "--full-tree"}, args[:1]...)
	call = append(append(call, commit, "--"), args[1:]...)
	cmd, stderr, err := r.command(ctx, call...)
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	entries, bad := readTree(out)
	if bad != nil {
		stop() // ends git, which may still be writing
	}
	if err := cmd.Wait(); err != nil && bad == nil {
		return nil, failure(ctx, "ls-tree", err, stderr)
	}
	return entries, bad
}

func readTree(out io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxPath)
	lines.Split(splitNUL)
	for lines.Scan() {
		meta, path, ok := strings.Cut(lines.Text(), "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 || !isID(f[2]) {
			return nil, fmt.Errorf("git ls-tree: unexpected line %.80q", lines.Text())
		}
		if f[1] != "blob" || f[0] == "120000" {
			continue
		}
		if len(entries) == maxEntries {
			return nil, fmt.Errorf("git ls-tree: more than %d files", maxEntries)
		}
		entries = append(entries, Entry{Path: path, Blob: f[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	return entries, nil
}

func splitNUL(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// isID tells whether s is an object id: SHA-1 or SHA-256 in lower-case hexadecimal digits.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// HeadFile reads one regular file at HEAD. core.ErrNotFound: it is not in the tree. A file above [MaxFile] is an error.
func (r *Repo) HeadFile(ctx context.Context, path string) (text []byte, blob string, err error) {
	commit, err := r.Head(ctx)
	if err != nil {
		return nil, "", err
	}
	entries, err := r.list(ctx, commit, "-r", path)
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		if e.Path == path {
			text, err := r.blob(ctx, e.Blob)
			return text, e.Blob, err
		}
	}
	return nil, "", fmt.Errorf("%s at HEAD of %s: %w", path, r.dir, core.ErrNotFound)
}

func (r *Repo) blob(ctx context.Context, id string) (text []byte, err error) {
	err = r.each(ctx, []string{id}, MaxFile, func(_ string, data []byte, problem string) {
		if text = data; problem != "" {
			err = errors.New(problem)
			text = nil
		}
	})
	return text, err
}

// Text returns a file's text at HEAD if the id of its blob begins with abbrev, the abbreviation on a diff's `index` line; empty for a file
// that the diff only moves. The tree is read once, at the first call: open a new Repo for each manifest.
func (r *Repo) Text(ctx context.Context, path, abbrev string) (string, bool) {
	id := r.blobAt(ctx, path, abbrev)
	if id == "" {
		return "", false
	}
	r.mu.Lock()
	known, ok := r.ahead[id]
	r.mu.Unlock()
	if ok {
		return known, true
	}
	text, err := r.blob(ctx, id)
	if err != nil {
		return "", false
	}
	return string(text), true
}

// maxAhead bounds the texts that Ahead keeps, in bytes; what does not fit is read when it is asked for.
const maxAhead = 32 << 20

// Ahead reads files that Text will be asked for next through one git process, instead of one for each. It keeps them until the next call;
// what can't be read is left to Text.
func (r *Repo) Ahead(ctx context.Context, paths, abbrevs []string) {
	var ids []string
	for i, path := range paths {
		if id := r.blobAt(ctx, path, abbrevs[i]); id != "" {
			ids = append(ids, id)
		}
	}
	texts, size := make(map[string]string, len(ids)), 0
	_ = r.each(ctx, ids, MaxFile, func(id string, data []byte, problem string) {
		if size += len(data); problem == "" && size <= maxAhead {
			texts[id] = string(data)
		}
	})
	r.mu.Lock()
	r.ahead = texts
	r.mu.Unlock()
}

// blobAt is the blob of a path at HEAD if its id begins with abbrev; else empty.
func (r *Repo) blobAt(ctx context.Context, path, abbrev string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blobs == nil {
		r.blobs = r.index(ctx)
	}
	id := r.blobs[path]
	if abbrev != "" && (len(abbrev) < 4 || !strings.HasPrefix(id, abbrev)) {
		return ""
	}
	return id
}

// index maps each path at HEAD to its blob; nil if HEAD can't be read now, so that a later call tries again.
func (r *Repo) index(ctx context.Context) map[string]string {
	commit, err := r.Head(ctx)
	if err != nil {
		return nil
	}
	entries, err := r.Tree(ctx, commit)
	if err != nil {
		return nil
	}
	m := make(map[string]string, len(entries))
	for _, e := range entries {
		m[e.Path] = e.Blob
	}
	return m
}
