package units

import (
	"strings"

	"storozh/core"
)

// listing is a manifest's `files` beside the diff (C1): what `git status` printed, cut by a rule that does not know quoting.
type listing []listed

// listed is one entry.
type listed struct {
	raw  string // as it stands
	path string // unquoted; a folder keeps its slash
	half string // the end of a quoted name that contained ` -> `; else empty
}

// maxListed caps the entries of one repo that are looked at.
const maxListed = 200_000

func readListing(files []string) listing {
	if len(files) > maxListed {
		files = files[:maxListed]
	}
	out := make(listing, 0, len(files))
	for _, raw := range files {
		if raw = strings.ReplaceAll(strings.TrimSpace(raw), "\x00", ""); raw == "" {
			continue
		}
		out = append(out, readListed(raw))
	}
	return out
}

func readListed(raw string) listed {
	e := listed{raw: raw, path: plainName(raw)}
	if strings.HasPrefix(raw, `"`) || !strings.HasSuffix(raw, `"`) {
		return e
	}
	// A name with a quote sign at its end is always quoted at its start too, so this is the second half of one that contained the
	// arrow; for a rename of such a name the new one may follow.
	tail := raw
	if i := strings.LastIndex(raw, ` -> "`); i >= 0 {
		e.path = plainName(raw[i+len(" -> "):])
		return e
	}
	if name, rest, ok := unquote(`"` + tail); ok && rest == "" {
		e.half = name
	}
	return e
}

// holds tells whether a path is listed.
func (l listing) holds(path string) bool {
	for _, e := range l {
		if e.path == path || e.half != "" && strings.HasSuffix(path, " -> "+e.half) {
			return true
		}
	}
	return false
}

// reconcile lists what `files` has and the diff lacks, with the command that brings it in. The diff's own headers are right where
// the two disagree (case D3).
func (d *deriver) reconcile(r core.Repo, canonical string, l listing, files []File) {
	known, arrows := map[string]bool{}, map[string]bool{}
	note := func(path string) {
		known[path] = true
		for rest := path; ; {
			_, after, ok := strings.Cut(rest, " -> ")
			if !ok {
				break
			}
			arrows[after], rest = true, after
		}
	}
	for _, f := range files {
		note(f.Path)
		if f.OldPath != "" {
			note(f.OldPath)
		}
	}
	anew, end := l.standAnew(files), cutAt(files)
	var missing []string
	behind := 0
	for i, e := range l {
		if !anew[i] && e.inDiff(known, arrows) {
			continue
		}
		paths := d.missing(canonical, e)
		if end != "" && e.path > end { // git sorts by path: the diff may have held it, and adding would not bring it in
			behind += len(paths)
			continue
		}
		missing = append(missing, paths...)
	}
	if behind > 0 {
		d.warn("%s: mirabilis stopped reading the diff in %s, as it does at a line above 1 MiB, so the listed files behind it (%d) could not be checked: break up that line, or commit the file",
			canonical, end, behind)
	}
	if len(missing) == 0 {
		return
	}
	if r.Diff == "" && d.Unborn(r.Name) { // adding would not help: there is no HEAD to differ from
		d.warn("%s: the repo has no commit yet, so no diff can hold its files: make a first commit, an empty one will do", canonical)
		return
	}
	sortUnique(&missing)
	dir := r.Dir
	if dir == "" {
		dir = r.Name
	}
	words := []string{"git", "-C", shellQuote(strings.ReplaceAll(dir, "\x00", "")), "add", "-N", "--"}
	for _, m := range missing {
		words = append(words, shellQuote(m))
	}
	d.out.AddCommands = append(d.out.AddCommands, strings.Join(words, " "))
}

// cutAt is the path in which the diff ends before its time, or empty.
func cutAt(files []File) string {
	if len(files) == 0 {
		return ""
	}
	if f := files[len(files)-1]; f.Cut && f.Action != core.Unmerged {
		return f.Path
	}
	return ""
}

// standAnew finds, by index, the entries of paths that the diff takes away and that stand again, untracked: the diff does not hold their text.
// `git status` lists what is deleted once, and of a rename the new name alone; a further entry is the untracked one. A user who
// switched status.renames off has the old name listed, in its place among the sorted tracked names.
func (l listing) standAnew(files []File) map[int]bool {
	stands, gone, moved := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range files {
		switch {
		case f.Action == core.Removed:
			gone[f.Path] = true
		default:
			stands[f.Path] = true
		}
		if f.OldPath != "" && f.Action != core.Copied {
			moved[f.OldPath] = true
		}
	}
	if len(gone)+len(moved) == 0 {
		return nil
	}
	tracked := 0 // where the entries end that the diff holds
	for i, e := range l {
		if stands[e.path] || gone[e.path] {
			tracked = i + 1
		}
	}
	out, seen, last := map[int]bool{}, map[string]bool{}, ""
	for i, e := range l {
		switch p := e.path; {
		case stands[p]:
			last = max(last, p)
		case gone[p] && !seen[p]:
			seen[p], last = true, max(last, p)
		case gone[p], moved[p] && (p < last || i >= tracked):
			out[i] = true
		}
	}
	return out
}

func (e listed) inDiff(known, arrows map[string]bool) bool {
	if known[e.path] || known[strings.TrimSuffix(e.path, "/")] || e.half != "" && arrows[e.half] {
		return true
	}
	// A rename whose old name contains the arrow: only what follows the last one is a name.
	if i := strings.LastIndex(e.raw, `" -> `); i >= 0 {
		return known[plainName(e.raw[i+len(`" -> `):])]
	}
	return false
}

// missing lists one entry as not in the diff and returns the pathspecs that would add it.
func (d *deriver) missing(canonical string, e listed) []string {
	if e.half != "" {
		d.out.NotInDiff = append(d.out.NotInDiff, canonical+"/… -> "+e.half)
		return []string{"*-> " + escapeGlob(e.half)}
	}
	path, ok := cleanPath(strings.TrimSuffix(e.path, "/"))
	if !ok {
		d.warn("%s: the listed file %q leads out of the repo or has no name; it was skipped", canonical, shorten(e.raw, 160))
		return nil
	}
	if strings.HasSuffix(e.path, "/") {
		path += "/"
	}
	d.out.NotInDiff = append(d.out.NotInDiff, canonical+"/"+path)
	if strings.HasPrefix(path, ":") || strings.ContainsAny(path, `*?[\`) {
		path = ":(literal)" + path // git would read a pattern
	}
	return []string{path}
}

// escapeGlob makes a name literal inside a git pathspec pattern.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}
