// Package corpus reads the shield corpus: the statements that the shield repo holds at HEAD, as items.
//
// The model: [Repo] reads git objects through the git command; [Read] lists the tree of HEAD, picks the corpus files by path
// (contracts, "The shield corpus") and splits them with the splitter that units use. The result is a [Snapshot].
//
// Invariants:
//   - Only what is committed counts. The working tree is never looked at: it holds the very work that is to be compared.
//   - An item has normative text, always; its id is `shield/<path>[#anchor]`.
//   - A file that can't be read, or a part of one, is a fault and costs nothing else; what is known of such a file stays. Only a
//     repository that can't be read at all is an error; the caller then keeps the last good snapshot.
//   - A file whose path and blob are known costs nothing: it is neither fetched from git nor split again.
package corpus

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// MaxFile is the size in bytes above which a file is not read.
const MaxFile = 8 << 20

// Splitter is the version of the rules by which files become items: those here and those of core/passage. Raise it whenever the same bytes
// would give other items, so that files that have not changed are read again.
const Splitter = 2

// Snapshot is the corpus at a commit, as far as it was read: what is known is named, not repeated.
type Snapshot struct {
	Commit string
	Items  []core.Item  // of the files that were read, in the order of the tree and of each file
	Faults []core.Fault // with path; line 0 for a whole file
	Read   []string     // paths of the files that Items is all of: those that were read, and unreadable ones of which nothing is known
	Gone   []string     // known paths that are no longer there, in order
	Files  int          // corpus files in the tree
	Reused int          // files that are known
}

// Known takes the files with faults out of those of an earlier snapshot (path → blob): reading them again is what keeps their faults on the
// list. It changes files and gives it back.
func Known(files map[string]string, faults []core.Fault) map[string]string {
	for _, f := range faults {
		if _, ok := files[f.Path]; ok {
			files[f.Path] = ""
		}
	}
	return files
}

// Read reads the corpus of the repository at dir. known holds the files whose items are known, path → blob, and may be nil; build it with
// [Known]. The error is one of [Repo.Head], or git's.
func Read(ctx context.Context, dir string, known map[string]string) (Snapshot, error) {
	return read(ctx, Open(dir), known)
}

// Head is the commit that [Read] would read: its object id.
func Head(ctx context.Context, dir string) (string, error) {
	commit, err := Open(dir).Head(ctx)
	if err != nil {
		return "", fmt.Errorf("read the corpus: %w", err)
	}
	return commit, nil
}

func read(ctx context.Context, repo *Repo, known map[string]string) (Snapshot, error) {
	commit, err := repo.Head(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus: %w", err)
	}
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus at %s: %w", commit, err)
	}
	snap := Snapshot{Commit: commit}
	files := snap.choose(tree, known)
	if err := fill(ctx, repo, files); err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus at %s: %w", commit, err)
	}
	for _, f := range files {
		if _, stored := known[f.path]; stored && f.unread {
			f.faults[0].What += "; its last good version stays in use"
		} else {
			snap.Read = append(snap.Read, f.path)
		}
		snap.Items = append(snap.Items, f.items...)
		snap.Faults = append(snap.Faults, f.faults...)
	}
	return snap, nil
}

// choose picks the corpus files of a tree that are to be read, and notes what is known or gone.
func (s *Snapshot) choose(tree []Entry, known map[string]string) []file {
	var files []file
	there := make(map[string]bool, len(known))
	for _, e := range tree {
		kind, ok := KindOf(e.Path)
		if !ok {
			continue
		}
		// Paths are stored and shown: other bytes than UTF-8 can't be.
		path := strings.ToValidUTF8(e.Path, "\ufffd")
		if there[path] {
			s.Faults = append(s.Faults, core.Fault{Path: path, What: "another file has the same name but for bytes that are no UTF-8; only the first is read"})
			continue
		}
		there[path] = true
		s.Files++
		if known[path] == e.Blob {
			s.Reused++
			continue
		}
		files = append(files, file{path: path, blob: e.Blob, kind: kind})
	}
	for path := range known {
		if !there[path] {
			s.Gone = append(s.Gone, path)
		}
	}
	slices.Sort(s.Gone)
	return files
}

// fill reads the files' contents through one git process. Files with the same content are read once.
func fill(ctx context.Context, repo *Repo, files []file) error {
	wanted := make(map[string][]int, len(files)) // blob → the files that hold it
	var ids []string
	for i, f := range files {
		if wanted[f.blob] == nil {
			ids = append(ids, f.blob)
		}
		wanted[f.blob] = append(wanted[f.blob], i)
	}
	return repo.each(ctx, ids, MaxFile, func(id string, data []byte, problem string) {
		for _, i := range wanted[id] {
			files[i].fill(data, problem)
		}
	})
}

// file is one corpus file on its way to items.
type file struct {
	path   string
	blob   string
	kind   core.Kind
	items  []core.Item
	faults []core.Fault
	unread bool // nothing could be made of it; faults says why
}

// fill splits the file's content into items, or notes the problem with it.
func (f *file) fill(data []byte, problem string) {
	format := formatOf(f.kind, f.path)
	if problem == "" && f.wide(data) {
		problem = "it is UTF-16 or no text at all; save it as UTF-8"
	}
	if problem != "" {
		f.faults, f.unread = append(f.faults, core.Fault{Path: f.path, What: problem}), true
		return
	}
	if format == passage.Whole && bytes.IndexByte(data, 0) >= 0 {
		return // a lesson without a known ending that is no text
	}
	passages, bad := passage.Split(format, string(data))
	for _, b := range bad {
		b.Path = f.path
		f.faults = append(f.faults, b)
	}
	for _, p := range passages {
		if p.Normative == "" {
			continue
		}
		f.items = append(f.items, core.Item{
			ID: itemID(f.path, p.Anchor), Path: f.path, Anchor: p.Anchor, Kind: f.kind, Title: p.Title, Text: p.Text,
			Normative: p.Normative, StartLine: p.Start, EndLine: p.End, Blob: f.blob,
		})
	}
}

// wide tells whether a file that should be text is UTF-16 or UTF-32, by its mark or its many NULs: neither readable nor comparable as it
// stands.
func (f *file) wide(data []byte) bool {
	if !passage.Prose(f.path) && !strings.HasSuffix(strings.ToLower(f.path), ".ttl") {
		return false
	}
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || 4*bytes.Count(data, []byte{0}) > len(data)
}

func itemID(file, anchor string) string {
	id := core.Shield + "/" + file
	if anchor != "" {
		id += "#" + anchor
	}
	return id
}
