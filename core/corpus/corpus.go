// Package corpus reads the shield corpus: the statements that the shield repo holds at HEAD, as items.
//
// The model: [Repo] reads git objects through the git command; [Read] lists the tree of HEAD, picks the corpus files by path
// (contracts, "The shield corpus") and splits them with the splitter that units use. The result is a [Snapshot].
//
// Invariants:
//   - Only what is committed counts. The working tree is never looked at: it holds the very work that is to be compared.
//   - An item has normative text, always; its id is `shield/<path>[#anchor]`.
//   - A file that can't be read, or a part of one, is a fault and costs nothing else. Only a repository that can't be read at all is
//     an error; the caller then keeps the last good snapshot.
//   - A file whose path and blob are known costs nothing: it is neither fetched from git nor split again.
package corpus

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// MaxFile is the size in bytes above which a file is not read.
const MaxFile = 8 << 20

// Snapshot is the corpus at a commit.
type Snapshot struct {
	Commit string
	Items  []core.Item  // in the order of the tree and of each file
	Faults []core.Fault // with path; line 0 for a whole file
	Files  int          // corpus files in the tree
	Reused int          // files whose items were known
}

// Key names a version of a file in the map of known items.
func Key(file, blob string) string { return file + "\x00" + blob }

// Known groups the items of an earlier snapshot for the next [Read]. Files with faults are left out: reading them again is what
// keeps their faults on the list.
func Known(items []core.Item, faults []core.Fault) map[string][]core.Item {
	faulty := make(map[string]bool)
	for _, f := range faults {
		faulty[f.Path] = true
	}
	known := make(map[string][]core.Item)
	for _, it := range items {
		if !faulty[it.Path] {
			k := Key(it.Path, it.Blob)
			known[k] = append(known[k], it)
		}
	}
	return known
}

// KindOf tells which kind of items a file of the shield repo holds, by its path; ok is false if it is no part of the corpus.
func KindOf(file string) (kind core.Kind, ok bool) {
	top, rest, nested := strings.Cut(file, "/")
	ext := strings.ToLower(path.Ext(file))
	switch {
	case nested && top == "claims" && rest != "":
		return core.KindClaim, ext == ".ttl"
	case nested && top == "invariants", file == "invariants":
		return core.KindInvariant, true
	case !nested && strings.HasPrefix(file, "invariants") && (ext == ".txt" || ext == ".md"):
		return core.KindInvariant, true
	case nested && top == "lessons":
		return core.KindLesson, formatOf(core.KindLesson, file) != passage.Code
	case nested && top == "memory":
		return core.KindMemory, formatOf(core.KindMemory, file) != passage.Code
	}
	return "", false
}

// formatOf picks the format that the same file would have as a unit.
func formatOf(kind core.Kind, file string) passage.Format {
	if kind == core.KindLesson || kind == core.KindMemory {
		return passage.FormatOf(file, core.Lesson)
	}
	return passage.FormatOf(file, core.Invariant)
}

// Read reads the corpus of the repository at dir. known holds items of an earlier read by [Key] of their file and may be nil; build
// it with [Known]. The error is one of [Repo.Head], or git's.
func Read(ctx context.Context, dir string, known map[string][]core.Item) (Snapshot, error) {
	return read(ctx, Open(dir), known)
}

func read(ctx context.Context, repo *Repo, known map[string][]core.Item) (Snapshot, error) {
	commit, err := repo.Head(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus: %w", err)
	}
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus at %s: %w", commit, err)
	}
	snap := Snapshot{Commit: commit}
	var files []file
	wanted := map[string][]int{} // blob → the files that hold it
	var ids []string
	for _, e := range tree {
		kind, ok := KindOf(e.Path)
		if !ok {
			continue
		}
		// Paths are stored and shown: other bytes than UTF-8 can't be.
		f := file{path: strings.ToValidUTF8(e.Path, "\ufffd"), blob: e.Blob, kind: kind}
		if f.items, ok = known[Key(f.path, f.blob)]; ok {
			snap.Reused++
		} else {
			if wanted[f.blob] == nil {
				ids = append(ids, f.blob)
			}
			wanted[f.blob] = append(wanted[f.blob], len(files))
		}
		files = append(files, f)
	}
	err = repo.each(ctx, ids, MaxFile, func(id string, data []byte, problem string) {
		for _, i := range wanted[id] {
			files[i].fill(data, problem)
		}
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the corpus at %s: %w", commit, err)
	}
	for _, f := range files {
		snap.Items = append(snap.Items, f.items...)
		snap.Faults = append(snap.Faults, f.faults...)
	}
	snap.Files = len(files)
	return snap, nil
}

// file is one corpus file on its way to items.
type file struct {
	path   string
	blob   string
	kind   core.Kind
	items  []core.Item
	faults []core.Fault
}

// fill splits the file's content into items, or notes the problem with it.
func (f *file) fill(data []byte, problem string) {
	if problem != "" {
		f.faults = append(f.faults, core.Fault{Path: f.path, What: problem})
		return
	}
	format := formatOf(f.kind, f.path)
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

func itemID(file, anchor string) string {
	id := core.Shield + "/" + file
	if anchor != "" {
		id += "#" + anchor
	}
	return id
}
