package views

import (
	"net/url"
	"path"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"storozh/core"
)

// Limits of the transcript's page.
const (
	transcriptPage = 64_000 // bytes of one page, give or take a line
	passageAround  = 400    // bytes shown on each side of a name
	passageLimit   = 30     // passages listed
	mentionLimit   = 10_000 // mentions counted per name
	shortestName   = 4      // bytes; a shorter file name is found everywhere
)

// Transcript is the page of what a session said: the passages that name one unit's file, and the whole in pages.
type Transcript struct {
	Page
	Back     string // path of the review page
	Line     string // the manifest's first line
	Unit     string // id of the unit asked for; empty: none
	UnitURL  string
	File     string   // its path, as it is looked for
	Passages []string // with some text around
	Named    int      // how often the file is named; 0: never
	Names    []string // what was looked for, the longest first
	Size     string   // of the whole
	Text     string   // this page of it
	At       int      // number of this page, from 1
	Of       int      // 0: the transcript is empty
	Newer    string   // path of the page before; empty: none
	Older    string   // path of the page after
}

// NewTranscript builds a page of a session's transcript. The unit is nil when none was asked for; at is untrusted.
func NewTranscript(p Page, r core.Record, transcript string, u *core.Unit, at int) Transcript {
	m := Transcript{Page: p, Back: manifestURL(r.ID), Line: Line(r), Size: bytesWord(len(transcript))}
	m.Title = "Session of " + m.Line
	m.Of = (len(transcript) + transcriptPage - 1) / transcriptPage
	m.At = min(max(at, 1), max(m.Of, 1))
	m.Text = transcript[border(transcript, m.At-1):border(transcript, m.At)]
	if u != nil {
		m.Unit, m.File = u.ID, u.Path
		m.UnitURL = m.Back + "?unit=" + url.QueryEscape(u.ID)
		m.Names = namesOf(*u)
		m.Passages, m.Named = passages(transcript, m.Names)
	}
	if m.At > 1 {
		m.Newer = m.pageURL(m.At - 1)
	}
	if m.At < m.Of {
		m.Older = m.pageURL(m.At + 1)
	}
	return m
}

func (m Transcript) pageURL(at int) string {
	q := url.Values{"page": {strconv.Itoa(at)}}
	if m.Unit != "" {
		q.Set("unit", m.Unit)
	}
	return m.Back + "/transcript?" + q.Encode() + "#whole"
}

// border is where page n ends: behind a line near its full size, else at a rune's border. It looks at that place only, so that megabytes
// cost no more than their name search.
func border(s string, n int) int {
	at := n * transcriptPage
	if at <= 0 || at >= len(s) {
		return max(min(at, len(s)), 0)
	}
	if i := strings.LastIndexByte(s[at-transcriptPage/8:at], '\n'); i >= 0 {
		return at - transcriptPage/8 + i + 1
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(s[at]); back++ {
		at--
	}
	return at
}

// namesOf lists how a session may have named a unit's file: its path, the path before a rename, and the bare names.
func namesOf(u core.Unit) (out []string) {
	seen := map[string]bool{}
	for _, name := range []string{u.Path, u.OldPath, path.Base(u.Path), path.Base(u.OldPath)} {
		if len(name) >= shortestName && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i]) > len(out[j]) })
	return out
}

// passages cuts out the surroundings of the named places; neighbours that touch become one passage. It returns the first ones, and
// how many places there are.
func passages(s string, names []string) (out []string, named int) {
	found := mentions(s, names)
	from, to := 0, -1
	flush := func() {
		if to > from {
			out = append(out, strings.TrimSpace(strings.ToValidUTF8(s[from:to], "")))
		}
	}
	for _, p := range found {
		lo, hi := around(s, p.from, p.to)
		if lo <= to && to-from < 4*passageAround {
			to = hi
			continue
		}
		flush()
		if from, to = max(lo, to), hi; len(out) == passageLimit {
			return out, len(found)
		}
	}
	flush()
	return out[:min(len(out), passageLimit)], len(found)
}

// mention is where a text names a file.
type mention struct{ from, to int }

// mentions finds the names in a text, in order and without overlaps: a path counts once, not again as the bare name at its end. Each name
// is looked for in one pass, so that a transcript of megabytes costs milliseconds.
func mentions(s string, names []string) (out []mention) {
	var all []mention
	for _, name := range names {
		hits := 0
		for at := 0; hits < mentionLimit; {
			i := strings.Index(s[at:], name)
			if i < 0 {
				break
			}
			p := mention{at + i, at + i + len(name)}
			if at = p.to; wholeName(s, p) {
				all = append(all, p)
				hits++
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].from < all[j].from })
	end := 0
	for _, p := range all {
		if p.from >= end {
			out, end = append(out, p), p.to
		}
	}
	return out
}

// wholeName tells that a place is not the middle of a longer name.
func wholeName(s string, p mention) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:p.from])
	after, _ := utf8.DecodeRuneInString(s[p.to:])
	return !inName(before) && before != '.' && !inName(after)
}

func inName(r rune) bool {
	return r != utf8.RuneError && (r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// around widens a place by passageAround bytes to each side, and from there in to a line's border if one is near.
func around(s string, begin, end int) (lo, hi int) {
	lo, hi = max(begin-passageAround, 0), min(end+passageAround, len(s))
	if i := strings.IndexByte(s[lo:begin], '\n'); i >= 0 && lo > 0 {
		lo += i + 1
	}
	if i := strings.LastIndexByte(s[end:hi], '\n'); i >= 0 && hi < len(s) {
		hi = end + i
	}
	return lo, hi
}

// nameRuns marks the names in a text; nil when it holds none.
func nameRuns(s string, names []string) (out []Run) {
	at := 0
	for _, p := range mentions(s, names) {
		out = append(out, Run{Text: s[at:p.from]}, Run{Text: s[p.from:p.to], Only: true})
		at = p.to
	}
	if at == 0 {
		return nil
	}
	return append(out, Run{Text: s[at:]})
}

// namedNote says how often the file is named, and that not all of it is listed.
func namedNote(m Transcript) string {
	times := strconv.Itoa(m.Named) + " times"
	switch {
	case m.Named == 1:
		times = "once"
	case m.Named >= mentionLimit:
		times = "thousands of times"
	}
	line := "The session names this file " + times + "."
	if len(m.Passages) == passageLimit {
		line += " The first passages are shown."
	}
	return line
}
