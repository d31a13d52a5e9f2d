package units

import (
	"fmt"
	"slices"
	"strings"

	"storozh/core"
	"storozh/core/passage"
)

// Options are what a derivation needs to know about the world. Nil functions are allowed: then names stand for themselves, nothing
// is classified, and no HEAD text is known.
type Options struct {
	// Canonical gives a repo's canonical name (C3); an unknown name comes back as it is.
	Canonical func(name string) string
	// Classify gives the type of a path in a repo (canonical), and the home a path rule demands; frontMatterType is the word that
	// the file's own front matter declares, or empty. Not ok: unclassified.
	Classify func(repo, path, frontMatterType string) (t core.UnitType, home string, ok bool)
	// Head gives the text of a file at HEAD if its blob id starts with the given abbreviation (which may be empty for a file that
	// the diff only moves). repo is repos[].name as it stands.
	Head func(repo, path, blob string) (text string, ok bool)
	// Ahead is told for which files Head will be asked next, paths and blobs side by side, so that they can be read at once.
	Ahead func(repo string, paths, blobs []string)
	// Unborn tells whether a repo is known to have no commit yet.
	Unborn func(repo string) bool
}

func (o Options) withDefaults() Options {
	if o.Canonical == nil {
		o.Canonical = func(name string) string { return name }
	}
	if o.Classify == nil {
		o.Classify = func(string, string, string) (core.UnitType, string, bool) { return "", "", false }
	}
	if o.Head == nil {
		o.Head = func(string, string, string) (string, bool) { return "", false }
	}
	if o.Ahead == nil {
		o.Ahead = func(string, []string, []string) {}
	}
	if o.Unborn == nil {
		o.Unborn = func(string) bool { return false }
	}
	return o
}

// aheadBatch is how many files' old texts are read at once.
const aheadBatch = 200

// deriver collects the derivation of one manifest.
type deriver struct {
	Options
	out core.Derivation
	ids map[string]int // unit id → number of the section it came from
	at  int            // number of the section in hand

	units   []core.Unit   // of the section in hand
	earlier [][]core.Unit // of those before; joined once, since growing one big list costs more than making the units
}

// Derive splits a manifest into units, in the manifest's order. Warnings name their place, `<repo>/<path>` where one is known;
// lists hold `<canonical repo>/<path>` and are sorted. It never fails: what cannot be read is a warning.
func Derive(m core.Manifest, o Options) core.Derivation {
	d := &deriver{Options: o.withDefaults(), ids: map[string]int{}}
	for _, r := range m.Repos {
		d.repo(r)
	}
	d.out.Units = slices.Concat(d.earlier...)
	sortUnique(&d.out.NotInDiff)
	sortUnique(&d.out.Unclassified)
	return d.out
}

func sortUnique(list *[]string) {
	slices.Sort(*list)
	*list = slices.Compact(*list)
}

// repo derives the units of one member of repos.
func (d *deriver) repo(r core.Repo) {
	canonical := d.Canonical(r.Name)
	files, warnings := ParseDiff(r.Diff)
	for _, w := range warnings {
		d.warn("%s: %s", canonical, w)
	}
	l := readListing(r.Files)
	files = slices.DeleteFunc(files, func(f File) bool {
		// A note that ends the diff may have lost the end of its path; the manifest's list knows.
		lost := f.Action == core.Unmerged && f.Cut && !l.holds(f.Path)
		if lost {
			d.warn("%s: the note %q may be cut off; it was skipped", canonical, shorten(f.Raw, 160))
		}
		return lost
	})
	stands := map[string]bool{}
	for _, f := range files {
		if f.Action != core.Removed {
			stands[f.Path] = true
		}
	}
	for i, f := range files {
		if i%aheadBatch == 0 {
			d.ahead(r.Name, files[i:min(i+aheadBatch, len(files))])
		}
		d.at++
		s := source{d: d, File: f, observed: r.Name, repo: canonical}
		// A change of type (file to symlink) comes as a deletion and a creation of one path: the path stands, only its text went.
		s.derive(f.Action == core.Removed && stands[f.Path])
		d.earlier, d.units = append(d.earlier, d.units), nil
	}
	d.reconcile(r, canonical, l, files)
}

// ahead announces the old texts that the files will want.
func (d *deriver) ahead(repo string, files []File) {
	var paths, blobs []string
	for _, f := range files {
		s := source{File: f}
		if s.wantsHead() {
			paths, blobs = append(paths, s.old()), append(blobs, f.OldBlob)
		}
	}
	if len(paths) > 1 {
		d.Ahead(repo, paths, blobs)
	}
}

func (d *deriver) warn(format string, args ...any) {
	d.out.Warnings = append(d.out.Warnings, fmt.Sprintf(format, args...))
}

// add appends a unit under an id that is still free: two entries of one repo, or one path twice, must not share it.
func (d *deriver) add(u core.Unit) {
	id := u.Repo + "/" + u.Path
	if u.Anchor != "" {
		id += "#" + u.Anchor
	}
	u.ID = id
	for n := 2; d.ids[u.ID] != 0; n++ {
		u.ID = fmt.Sprintf("%s~%d", id, n)
	}
	// Inside one section the old and the new text may both have a line of that number; across sections it is worth a word.
	if u.ID != id && d.ids[id] != d.at {
		d.warn("%s: this manifest changes it more than once; the later one is listed as %s", id, u.ID)
	}
	d.ids[u.ID] = d.at
	d.units = append(d.units, u)
}

// frontMatterType is the word that a file declares as its unit type, or empty. Only prose has front matter: the first document of
// a YAML file is data.
func frontMatterType(path, text string) string {
	if !passage.Prose(path) || !strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---") {
		return ""
	}
	fields, _, _ := passage.FrontMatter(text)
	if t := fields["unit-type"]; t != "" {
		return t
	}
	return fields["type"]
}
