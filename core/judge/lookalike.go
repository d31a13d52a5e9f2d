package judge

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"storozh/core"
)

// twins are letters of other scripts that look like those of the labels and their keys.
var twins = strings.NewReplacer("а", "a", "с", "c", "е", "e", "о", "o", "р", "p", "к", "k", "т", "t", "і", "i", "ԁ", "d", "ѵ", "v", "ь", "b", "в", "b",
	"α", "a", "ο", "o", "κ", "k", "ν", "v", "ρ", "p", "τ", "t", "ι", "i", "ϲ", "c", "ε", "e", "υ", "u")

// plain is a text as a hasty reader sees it: compatibility forms (full width, other blanks) folded, invisible characters gone, look-alike letters
// made Latin, all in lower case. Nothing is read from it; it serves to notice what only looks like a verdict.
func plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cc, r):
			return -1
		}
		return r
	}, s)
	return twins.Replace(strings.ToLower(norm.NFKC.String(s)))
}

// visible are the verdicts of a text without thinking. Where a reader would see other verdicts than stand there (a full-width colon,
// a Cyrillic о, a blank of no width), the answer is in doubt: one more, unknown, is added. What stands inside a whole object is a
// reason or a label that is checked by itself.
func visible(s string) []found {
	inObjects, rest := objects(s)
	all := append(inObjects, inText(rest, len(inObjects) > 0)...)
	seen := plain(rest)
	if seen == strings.ToLower(rest) {
		return all
	}
	looks, rest := objects(seen)
	looks = append(looks, inText(rest, len(inObjects)+len(looks) > 0)...)
	if !slices.Equal(labelsOf(all[len(inObjects):]), labelsOf(looks)) {
		all = append(all, found{label: unknown})
	}
	return all
}

// labelsOf are the labels that occur, sorted.
func labelsOf(all []found) []core.Label {
	out := make([]core.Label, 0, len(all))
	for _, f := range all {
		out = append(out, f.label)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
