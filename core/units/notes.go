package units

import (
	"strings"

	"storozh/core"
)

// stripColour removes SGR sequences (color.ui=always). Only a diff that has one at the start of a line is coloured: elsewhere an
// escape is content and stays.
func stripColour(s string) string {
	if !strings.HasPrefix(s, "\x1b[") && !strings.Contains(s, "\n\x1b[") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := 2
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ';' || s[n] == ':') {
			n++
		}
		switch {
		case n == len(s): // cut off inside the sequence
			return b.String()
		case s[n] == 'm' || s[n] == 'K':
			s = s[n+1:]
		default:
			b.WriteString(s[:n])
			s = s[n:]
		}
	}
}

// combined reads a `diff --cc` section: a merge that is not finished. Its hunks have several parents and are not content to judge.
func (p *parser) combined() {
	start := p.pos
	line := strings.TrimSuffix(p.next(), "\r")
	cut := p.last
	_, name, _ := strings.Cut(strings.TrimPrefix(line, "diff --"), " ")
	for p.more() && !strings.HasPrefix(p.peek(), "diff --") {
		p.next() // content is prefixed, so it never looks like a section
	}
	path, ok := cleanPath(plainName(name))
	if !ok || cut {
		p.warn("section %q: its file name can't be read; it was skipped", shorten(line, 160))
		return
	}
	p.files = append(p.files, File{Path: path, Action: core.Unmerged, Raw: p.raw(start)})
}

// unmergedNote reads `* Unmerged path x`.
func (p *parser) unmergedNote() {
	line := strings.TrimSuffix(p.next(), "\r")
	path, ok := cleanPath(plainName(strings.TrimPrefix(line, "* Unmerged path ")))
	if !ok {
		p.warn("note %q: its path can't be read; it was skipped", shorten(line, 160))
		return
	}
	// At the end of the diff the name may be cut; the caller can compare it with the manifest's list.
	p.files = append(p.files, File{Path: path, Action: core.Unmerged, Raw: line, Cut: p.last})
}

// submoduleNote reads `Submodule x <what>` (diff.submodule=log or diff) and the commits listed below it.
func (p *parser) submoduleNote() {
	start := p.pos
	line := strings.TrimSuffix(p.next(), "\r")
	cut := p.last
	for p.more() && (strings.HasPrefix(p.peek(), "  > ") || strings.HasPrefix(p.peek(), "  < ")) {
		p.next()
	}
	name, deleted, ok := submoduleName(strings.TrimPrefix(line, "Submodule "), cut)
	path, clean := cleanPath(plainName(name))
	if !ok || !clean {
		p.warn("note %q: its path can't be read; it was skipped", shorten(line, 160))
		return
	}
	f := File{Path: path, Action: core.Submodule, NewMode: "160000", Raw: p.raw(start)}
	if deleted {
		f.Action = core.Removed
	}
	p.files = append(p.files, f)
}

// submoduleName cuts off what git says behind the path: `contains … content`, or a range of commits and its remarks.
func submoduleName(s string, cut bool) (name string, deleted, ok bool) {
	for _, what := range []string{" contains untracked content", " contains modified content"} {
		if n, found := strings.CutSuffix(s, what); found {
			return n, false, true
		}
	}
	deleted = strings.HasSuffix(s, "(submodule deleted)")
	for end := len(s); end > 0; {
		at := strings.LastIndexByte(s[:end], ' ')
		if at < 0 {
			return "", false, false
		}
		if isCommitRange(strings.TrimSuffix(s[at+1:end], ":")) && !(cut && end == len(s) && s[end-1] != ':') {
			return s[:at], deleted, true
		}
		end = at
	}
	return "", false, false
}

func isCommitRange(s string) bool {
	from, to, ok := strings.Cut(s, "..")
	return ok && len(from) >= 4 && isHex(from) && isHex(strings.TrimPrefix(to, "."))
}

// foldNotes merges notes with each other and with the sections they speak of: a path that is unmerged is nothing else, several
// notes about one submodule are one file, and sections inside a submodule (diff.submodule=diff) belong to its own repo.
func foldNotes(files []File) []File {
	unmerged, subs := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		switch {
		case f.Action == core.Unmerged:
			unmerged[f.Path] = true
		case f.NewMode == "160000" && strings.HasPrefix(f.Raw, "Submodule "):
			subs[f.Path] = true
		}
	}
	if len(unmerged) == 0 && len(subs) == 0 {
		return files
	}
	out := make([]File, 0, len(files))
	done := map[string]bool{}
	for _, f := range files {
		if insideAny(f.Path, subs) {
			continue
		}
		if unmerged[f.Path] {
			f.Action, f.Hunks, f.OldPath = core.Unmerged, nil, ""
		}
		if unmerged[f.Path] || subs[f.Path] {
			if done[f.Path] {
				continue
			}
			done[f.Path] = true
		}
		out = append(out, f)
	}
	return out
}

// insideAny tells whether one of path's parent folders is in set.
func insideAny(path string, set map[string]bool) bool {
	if len(set) == 0 {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && set[path[:i]] {
			return true
		}
	}
	return false
}
