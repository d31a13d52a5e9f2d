package core

import (
	"fmt"
	"strings"
)

// BLUF is the bottom line up front: the first line on page, API, terminal and log (design §8). `all ok` appears only if every
// unit is counted in ok and nothing is unjudged, missing from the diff or warned about; unclassified files are named beside it.
func BLUF(b Block) string {
	s := b.Summary
	if s.Units == 0 {
		return join("no units", notChecked(b))
	}
	parts := []string{count(s.Misroute, "misroute"), count(s.Contra, "contra"), count(s.Dup, "dup"), count(s.Unjudged, "unjudged")}
	skipped := strings.HasPrefix(b.ContraCheck, "skipped")
	if skipped {
		parts = parts[:3] // a skip already says that nothing was judged
	}
	head := strings.Join(drop(parts), ", ")
	if head == "" {
		head = quiet(b, skipped)
	}
	line := fmt.Sprintf("%s: %s", plural(s.Units, "unit"), head)
	if b.ContraCheck != ContraRan {
		line += "; contra-check: " + b.ContraCheck
	}
	return join(line, notChecked(b))
}

// quiet words the head of a block without flags.
func quiet(b Block, skipped bool) string {
	judged := b.Summary.Unjudged == 0 && !strings.HasPrefix(b.ContraCheck, ContraIncomplete)
	clean := b.Summary.OK == b.Summary.Units && judged && len(b.NotInDiff) == 0 && len(b.Warnings) == 0
	switch {
	case clean:
		return "all ok"
	case skipped:
		return "routing ok"
	default:
		return "no flags"
	}
}

// notChecked lists what the flags do not cover, so that silence is never taken for a clean bill.
func notChecked(b Block) []string {
	var out []string
	if n := len(b.NotInDiff); n > 0 {
		out = append(out, plural(n, "file")+" not in the diff")
	}
	if n := len(b.Unclassified); n > 0 {
		out = append(out, plural(n, "file")+" unclassified")
	}
	if n := len(b.Warnings); n > 0 {
		out = append(out, plural(n, "warning"))
	}
	return out
}

func join(head string, rest []string) string {
	return strings.Join(append([]string{head}, rest...), "; ")
}

func count(n int, word string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, word)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func drop(in []string) []string {
	out := in[:0]
	for _, s := range in {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
