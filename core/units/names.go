package units

import (
	"strings"
	"unicode/utf8"
)

// prefixes are the pairs that git puts before the two names: the default, diff.mnemonicPrefix in its forms, and diff.noprefix.
var prefixes = [][2]string{{"a/", "b/"}, {"c/", "w/"}, {"i/", "w/"}, {"c/", "i/"}, {"o/", "w/"}, {"o/", "i/"}, {"", ""}}

// resolve finds the section's path, and the old one for a move. problem says why it can't, for people.
func (h *head) resolve() (path, old, problem string) {
	raw, rawOld := "", ""
	switch {
	case h.isRename || h.isCopy:
		if h.tail == "rename to " || h.tail == "copy to " {
			if !h.headerHolds(h.from, h.to) {
				return "", "", "it is cut off in a name"
			}
		}
		raw, rawOld = h.to, h.from
	case h.from != "":
		return "", "", "it is cut off between its names"
	default:
		raw = h.name()
	}
	if raw == "" {
		return "", "", "its file name can't be read"
	}
	path, ok := cleanPath(raw)
	if !ok {
		return "", "", "its path leads out of the repo or is too long"
	}
	if rawOld != "" {
		if old, ok = cleanPath(rawOld); !ok {
			return "", "", "its old path leads out of the repo or is too long"
		}
	}
	return path, old, ""
}

// name finds the one path of a section that is no move: the `---` and `+++` lines first, then the split of the header whose
// halves agree (case D4). A line that ends the diff may be cut and is not believed.
func (h *head) name() string {
	minus, plus := h.minus, h.plus
	if h.tail == "--- " {
		minus = ""
	}
	if h.tail == "+++ " {
		plus = ""
	}
	both := minus != "" && plus != "" && minus != devNull && plus != devNull
	if both {
		if n := agree(minus, plus); n != "" {
			return n
		}
		return commonTail(minus, plus)
	}
	left, right, split := splitQuoted(h.names)
	n := ""
	if split {
		n = agree(left, right)
	} else {
		n = agreeRaw(h.names)
	}
	if n != "" {
		return n
	}
	// diff.srcPrefix and diff.dstPrefix can be anything; then the one name that is known tells where the header splits.
	switch {
	case split:
		return commonTail(left, right)
	case minus == devNull && plus != "" && strings.HasSuffix(h.names, " "+plus):
		return commonTail(strings.TrimSuffix(h.names, " "+plus), plus)
	case plus == devNull && minus != "" && strings.HasPrefix(h.names, minus+" "):
		return commonTail(minus, strings.TrimPrefix(h.names, minus+" "))
	}
	return ""
}

// headerHolds tells whether the header is made of exactly these two names.
func (h *head) headerHolds(from, to string) bool {
	left, right, split := splitQuoted(h.names)
	for _, p := range prefixes {
		if split && left == p[0]+from && right == p[1]+to {
			return true
		}
		if !split && h.names == p[0]+from+" "+p[1]+to {
			return true
		}
	}
	return false
}

// agree strips a pair of prefixes off two names and returns what is left if it is the same.
func agree(left, right string) string {
	for _, p := range prefixes {
		l, okL := strings.CutPrefix(left, p[0])
		r, okR := strings.CutPrefix(right, p[1])
		if okL && okR && l == r {
			return l
		}
	}
	return ""
}

// agreeRaw does the same for an unquoted header. The lengths say where it must split, so names with spaces cost nothing.
func agreeRaw(names string) string {
	for _, p := range prefixes {
		n := len(names) - 1 - len(p[0]) - len(p[1])
		if n <= 0 || n%2 != 0 {
			continue
		}
		at := len(p[0]) + n/2
		if names[at] != ' ' {
			continue
		}
		l, okL := strings.CutPrefix(names[:at], p[0])
		r, okR := strings.CutPrefix(names[at+1:], p[1])
		if okL && okR && l == r {
			return l
		}
	}
	return ""
}

// commonTail returns the longest common end of two names that begins after a slash in both, or at the start.
func commonTail(left, right string) string {
	n, best := 0, 0
	for n < len(left) && n < len(right) && left[len(left)-1-n] == right[len(right)-1-n] {
		n++
		if border(left, n) && border(right, n) {
			best = n
		}
	}
	return left[len(left)-best:]
}

func border(s string, n int) bool { return n == len(s) || s[len(s)-1-n] == '/' }

// splitQuoted splits a header in which at least one name is quoted.
func splitQuoted(names string) (left, right string, ok bool) {
	if strings.HasPrefix(names, `"`) {
		l, rest, good := unquote(names)
		if !good || !strings.HasPrefix(rest, " ") {
			return "", "", false
		}
		return l, plainName(rest[1:]), true
	}
	// An unquoted name holds no quote sign, so the first one opens the second name.
	at := strings.Index(names, ` "`)
	if at < 0 {
		return "", "", false
	}
	r, rest, good := unquote(names[at+1:])
	if !good || rest != "" {
		return "", "", false
	}
	return names[:at], r, true
}

// plainName undoes git's quoting of one name; in an unquoted name a TAB ends it (git adds one behind names with spaces). A broken
// quote stays as it stands.
func plainName(s string) string {
	if strings.HasPrefix(s, `"`) {
		if n, rest, ok := unquote(s); ok && strings.TrimRight(rest, "\t\r") == "" {
			return n
		}
	}
	s, _, _ = strings.Cut(s, "\t")
	return s
}

// unquote reads a C-style quoted name (core.quotePath) at the start of s and returns what follows the closing quote.
func unquote(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			r, n := escape(s[i+1:])
			if n == 0 {
				return "", s, false
			}
			b.WriteByte(r)
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", s, false
}

// escape reads what follows a backslash and returns the byte and how much it took; 0 for what git never writes.
func escape(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abtnvfr"\`, s[0]); i >= 0 {
		return "\a\b\t\n\v\f\r\"\\"[i], 1
	}
	if len(s) < 3 {
		return 0, 0
	}
	n := 0
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return 0, 0
		}
		n = n*8 + int(s[i]-'0')
	}
	return byte(n), 3
}

// maxPath is the longest path in bytes that any system git runs on can hold.
const maxPath = 4096

// cleanPath makes a name fit for ids and pages: NUL dropped, valid UTF-8. It refuses absolute paths, such that leave the repo, and such
// that no file can have.
func cleanPath(s string) (string, bool) {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if s == "" || len(s) > maxPath {
		return "", false
	}
	for seg := range strings.SplitSeq(s, "/") {
		if seg == "" || seg == "." || seg == ".." {
			return "", false
		}
	}
	return s, true
}
