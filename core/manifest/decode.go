package manifest

import (
	"fmt"

	"storozh/core"
)

// Caps against hostile text; a manifest of four repos is far below each of them. What lies beyond is warned about.
const (
	maxRepos    = 1_000
	maxFiles    = 1_000_000 // in all repos together
	maxWarnings = 100
)

var (
	repoNames    = []string{"name", "dir", "diff", "files"}
	sessionNames = []string{"transcriptMinusTools"}
)

// decoder decodes wanted ranges of text that the scanner has validated.
type decoder struct {
	data     []byte
	files    int // so far, in all repos
	warnings []string
	unsaid   int // warnings beyond the cap
}

// decode reads the manifest out of its top-level members; doc's picks are those of topNames.
func decode(raw []byte, doc object) core.Manifest {
	d := &decoder{data: raw}
	m := core.Manifest{
		SessionID: d.text(doc.picks[0], "sessionId"),
		Timestamp: d.timestamp(doc.picks[1], "timestamp"),
		Repos:     d.repos(doc.picks[2]),
	}
	if at, ok := d.present(doc.picks[3], "session", "an object", '{'); ok {
		m.Transcript = d.text(d.object(at, sessionNames)[0], "session.transcriptMinusTools")
	}
	if d.unsaid > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("%d more warnings of this kind", d.unsaid))
	}
	m.Warnings = d.warnings
	return m
}

// repos reads the list of repos; an element that is no object is left out with a warning.
func (d *decoder) repos(p pick) []core.Repo {
	repos := []core.Repo{}
	if p.times == 0 {
		d.warn("repos", "missing, expected a list")
	}
	at, ok := d.present(p, "repos", "a list", '[')
	if !ok {
		return repos
	}
	d.each(at, func(i int, at span) {
		switch {
		case i == maxRepos:
			d.warn("repos", fmt.Sprintf("more than %d entries; the rest is not read", maxRepos))
		case i > maxRepos:
		case d.data[at.from] != '{':
			d.mismatch(fmt.Sprintf("repos[%d]", i), "an object", at)
		default:
			repos = append(repos, d.repo(at, fmt.Sprintf("repos[%d]", i)))
		}
	})
	return repos
}

// repo reads one member of repos.
func (d *decoder) repo(at span, place string) core.Repo {
	picks := d.object(at, repoNames)
	if picks[0].times == 0 {
		d.warn(place+".name", "missing, expected text")
	}
	return core.Repo{
		Name:  d.text(picks[0], place+".name"),
		Dir:   d.text(picks[1], place+".dir"),
		Diff:  d.text(picks[2], place+".diff"),
		Files: d.fileList(picks[3], place+".files"),
	}
}

// fileList reads a list of names; an element that is no text is left out with a warning.
func (d *decoder) fileList(p pick, place string) []string {
	at, ok := d.present(p, place, "a list", '[')
	if !ok {
		return nil
	}
	var files []string
	d.each(at, func(i int, at span) {
		if d.data[at.from] != '"' {
			d.mismatch(fmt.Sprintf("%s[%d]", place, i), "text", at)
			return
		}
		d.files++
		switch {
		case d.files <= maxFiles:
			files = append(files, unquote(d.data[at.from:at.to]))
		case d.files == maxFiles+1:
			d.warn(place, fmt.Sprintf("more than %d files in the manifest; the rest is not read", maxFiles))
		}
	})
	return files
}

// text reads a member that should be text; absent and null are empty text.
func (d *decoder) text(p pick, place string) string {
	at, ok := d.present(p, place, "text", '"')
	if !ok {
		return ""
	}
	return unquote(d.data[at.from:at.to])
}

// present is the range of a member that is there, not null, and begins as its kind does; anything else is warned about.
func (d *decoder) present(p pick, place, kind string, first byte) (span, bool) {
	if p.times > 1 {
		d.warn(place, fmt.Sprintf("given %d times; the last one counts", p.times))
	}
	switch {
	case p.times == 0 || d.data[p.value.from] == 'n':
		return span{}, false
	case d.data[p.value.from] != first:
		d.mismatch(place, kind, p.value)
		return span{}, false
	}
	return p.value, true
}

// object picks the named members of the object at a range.
func (d *decoder) object(at span, names []string) []pick {
	s := &scanner{data: d.data[:at.to], pos: at.from}
	o, _ := s.object(names...) // validated before
	return o.picks
}

// each calls visit for each element of the list at a range.
func (d *decoder) each(at span, visit func(i int, at span)) {
	s := &scanner{data: d.data[:at.to], pos: at.from}
	i := 0
	_ = s.elements(func(at span) { // validated before
		visit(i, at)
		i++
	})
}
