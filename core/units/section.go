package units

import (
	"strings"

	"storozh/core"
)

// head is what the lines between `diff --git` and the first hunk say.
type head struct {
	names            string // what stands behind `diff --git `
	oldMode, newMode string
	oldBlob, newBlob string
	minus, plus      string // the `---` and `+++` names, unquoted, prefixes on; devNull where nothing is
	from, to         string // rename or copy
	isNew, isDeleted bool
	isRename, isCopy bool
	isBinary         bool
	same             bool   // similarity index 100%: a move without a change of content
	lines            int    // how many header lines followed
	tail             string // keyword of a line that is the diff's last and so may be cut
}

const devNull = "/dev/null"

// section reads one `diff --git` section.
func (p *parser) section() {
	start := p.pos
	h := head{names: strings.TrimSuffix(strings.TrimPrefix(p.next(), "diff --git "), "\r")}
	alone := p.last
	for p.more() && h.line(p) {
	}
	f := File{OldBlob: h.oldBlob, NewBlob: h.newBlob, OldMode: h.oldMode, NewMode: h.newMode}
	for p.more() && strings.HasPrefix(p.peek(), "@@ ") {
		hunk, ok := p.hunk()
		if !ok {
			f.Cut = true
			break
		}
		f.Hunks = append(f.Hunks, hunk)
	}
	if f.Cut {
		p.skipSection()
	}
	f.Raw = p.raw(start)
	if h.lines == 0 && !alone && !f.Cut {
		return // diff.autoRefreshIndex=false: touched, but nothing changed
	}
	path, old, problem := h.resolve()
	if h.lines == 0 && alone {
		problem = "it is cut off in its first line"
	}
	if problem != "" {
		p.warn("section %q: %s; it was skipped", "diff --git "+shorten(h.names, 160), problem)
		return
	}
	f.Path, f.OldPath = path, old
	f.Action = h.action(len(f.Hunks) > 0)
	f.Cut = f.Cut || h.incomplete(len(f.Hunks))
	if f.Cut {
		p.warn("%s: the diff is cut off in this section; %d whole hunks of it were read", path, len(f.Hunks))
	}
	p.files = append(p.files, f)
}

// line takes one header line; false leaves the cursor on a line that is none.
func (h *head) line(p *parser) bool {
	line := strings.TrimSuffix(p.peek(), "\r")
	word, rest := keyword(line)
	switch word {
	case "old mode ":
		h.oldMode = rest
	case "new mode ":
		h.newMode = rest
	case "new file mode ":
		h.isNew, h.newMode = true, rest
	case "deleted file mode ":
		h.isDeleted, h.oldMode = true, rest
	case "rename from ", "copy from ":
		h.from = plainName(rest)
	case "rename to ":
		h.isRename, h.to = true, plainName(rest)
	case "copy to ":
		h.isCopy, h.to = true, plainName(rest)
	case "index ":
		h.index(rest)
	case "--- ":
		h.minus = plainName(rest)
	case "+++ ":
		h.plus = plainName(rest)
	case "similarity index ":
		h.same = rest == "100%"
	case "Binary files ":
		h.isBinary = true
	case "GIT binary patch":
		h.isBinary = true
		p.skipSection()
		h.lines++
		return false
	case "":
		return false
	}
	h.lines++
	p.next()
	if p.last {
		h.tail = word
	}
	return true
}

// keywords are git's extended header lines.
var keywords = []string{
	"index ", "--- ", "+++ ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "rename from ", "rename to ",
	"copy from ", "copy to ", "similarity index ", "dissimilarity index ", "Binary files ", "GIT binary patch",
}

func keyword(line string) (word, rest string) {
	for _, k := range keywords {
		if strings.HasPrefix(line, k) {
			return k, line[len(k):]
		}
	}
	return "", ""
}

// index reads `<old>..<new>[ <mode>]`.
func (h *head) index(rest string) {
	ids, mode, hasMode := strings.Cut(rest, " ")
	h.oldBlob, h.newBlob, _ = strings.Cut(ids, "..")
	if !isHex(h.oldBlob) || !isHex(h.newBlob) {
		h.oldBlob, h.newBlob = "", ""
	}
	if hasMode && h.oldMode == "" && h.newMode == "" {
		h.oldMode, h.newMode = mode, mode
	}
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// action tells apart what happened to the file (design §4).
func (h *head) action(hunks bool) core.Action {
	switch {
	case h.isDeleted:
		return core.Removed
	case strings.HasPrefix(h.newMode, "160"):
		return core.Submodule
	case strings.HasPrefix(h.newMode, "120"):
		return core.Symlink
	case h.isBinary:
		return core.Binary
	case h.isRename:
		return core.Renamed
	case h.isCopy:
		return core.Copied
	case h.isNew:
		return core.Added
	case !hunks && h.oldMode != h.newMode:
		return core.ModeOnly
	}
	return core.Edited
}

// emptyBlobs are the ids of empty content, SHA-1 and SHA-256: creating or deleting it has no hunk.
var emptyBlobs = []string{
	"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}

// incomplete tells whether a section without enough content was cut off before its end.
func (h *head) incomplete(hunks int) bool {
	switch {
	case hunks > 0 || h.isBinary:
		return false
	case h.oldBlob == "" && (h.isRename || h.isCopy):
		return !h.same
	case h.oldBlob == "": // no index line: only a change of mode is complete
		return len(h.oldMode) != 6 || len(h.newMode) != 6
	case (h.isNew || h.isDeleted) && h.minus == "" && h.plus == "":
		filled := h.newBlob
		if h.isDeleted {
			filled = h.oldBlob
		}
		return !isEmptyBlob(filled)
	}
	return true
}

func isEmptyBlob(id string) bool {
	for _, e := range emptyBlobs {
		if len(id) >= 4 && strings.HasPrefix(e, id) {
			return true
		}
	}
	return false
}
