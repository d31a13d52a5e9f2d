package units

import (
	"strings"
	"unicode/utf8"

	"storozh/core"
)

// The caps on what one unit carries, in bytes.
const (
	maxText      = 256 << 10
	maxNormative = 32 << 10
	maxEvidence  = 64 << 10
)

const cutNote = "\n… cut"

// capText cuts s to n bytes at a rune's border and says so.
func capText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return cutUTF8(s, n) + cutNote
}

// cutUTF8 cuts s to at most n bytes without splitting a rune.
func cutUTF8(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutNormative cuts what binds a reader to maxNormative bytes. Every `Counter:` behind the cut is kept (case J2), as long as they fit into a
// quarter of it.
func cutNormative(s string) string {
	if len(s) <= maxNormative {
		return s
	}
	var behind []string
	for at, end := range core.Counters(s) {
		if end > maxNormative*3/4 {
			behind = append(behind, s[at:end])
		}
	}
	kept := cutUTF8(strings.Join(behind, "\n"), maxNormative/4-1)
	if kept == "" {
		return cutUTF8(s, maxNormative)
	}
	return cutUTF8(s, maxNormative-len(kept)-1) + "\n" + kept
}

func holdsCounter(s string) bool {
	for range core.Counters(s) {
		return true
	}
	return false
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+@%,=:", c))
	}) < 0
	if plain && s[0] != '=' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
