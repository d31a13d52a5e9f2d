package routing

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// glob is a path pattern anchored at the repo's root, one element per path segment. `*` and `?` stay inside a segment; a segment
// `**` stands for any number of segments, and at the end for at least one: `lessons/**` is what lies in lessons, not a file of
// that name.
type glob []string

// parseGlob checks and splits a pattern.
func parseGlob(pattern string) (glob, error) {
	g := glob(strings.Split(pattern, "/"))
	for _, s := range g {
		switch {
		case s == "" || s == "." || s == "..":
			return nil, fmt.Errorf("glob %q: write it from the repo's root, without a leading or double slash and without dots", pattern)
		case s != "**" && strings.Contains(s, "**"):
			return nil, fmt.Errorf("glob %q: ** must stand alone between slashes", pattern)
		}
	}
	return g, nil
}

// match tells whether the whole path fits. Both loops remember only the last star, so the cost is at most the product of the
// two lengths, whatever the pattern.
func (g glob) match(path string) bool {
	segs := strings.Split(path, "/")
	pi, si := 0, 0
	starP, starS := -1, 0
	for si < len(segs) {
		switch {
		case pi < len(g) && g[pi] == "**":
			starP, starS = pi, si
			pi++
			if pi == len(g) {
				return segs[si] != "" // a trailing ** takes the rest, at least one segment
			}
		case pi < len(g) && matchSegment(g[pi], segs[si]):
			pi++
			si++
		case starP >= 0:
			starS++
			pi, si = starP+1, starS
		default:
			return false
		}
	}
	return pi == len(g)
}

// matchSegment matches `*` and `?` inside one path segment.
func matchSegment(pattern, s string) bool {
	pi, si := 0, 0
	starP, starS := -1, 0
	for si < len(s) {
		_, w := utf8.DecodeRuneInString(s[si:])
		switch {
		case pi < len(pattern) && pattern[pi] == '*':
			starP, starS = pi, si
			pi++
		case pi < len(pattern) && pattern[pi] == '?':
			pi++
			si += w
		case pi < len(pattern) && pattern[pi] == s[si]:
			pi++
			si++
		case starP >= 0:
			starS++
			pi, si = starP+1, starS
		default:
			return false
		}
	}
	for pi < len(pattern) && pattern[pi] == '*' {
		pi++
	}
	return pi == len(pattern)
}
