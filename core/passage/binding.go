package passage

import (
	"strings"

	"storozh/core"
)

// bindingText is what an invariant binds its reader to: modality, statement and every part but `Why:` (contracts, "The shield
// corpus"). Nothing cuts `Counter:` off: it opens a part of its own wherever it stands, with or without a `|` before it, in any
// order and letter case.
func bindingText(s string) string {
	s = dropSeverity(Normalise(s))
	var parts []string
	why, from := false, 0
	flush := func(to int) {
		if p := strings.TrimSpace(s[from:to]); p != "" && !why && hasWords(p) {
			parts = append(parts, p)
		}
	}
	for i := 0; i < len(s); i++ {
		label, at := "counter", i
		end, ok := core.CounterAt(s, i)
		if s[i] == '|' {
			at = i + 1
			label, end, ok = core.LabelAt(s, at)
		}
		if !ok {
			continue
		}
		flush(i)
		why, from = label == "why", at
		i = end - 1
	}
	flush(len(s))
	if len(parts) == 1 && onlyTags(parts[0]) {
		return ""
	}
	return strings.Join(parts, "\n")
}

// dropSeverity drops the leading tags that only say how bad a breach is. The modality tag and tags of unknown meaning stay.
func dropSeverity(s string) string {
	var kept []string
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			break
		}
		switch strings.ToLower(strings.TrimSpace(s[1:end])) {
		case "critical", "important", "style":
		default:
			kept = append(kept, s[:end+1])
		}
		s = strings.TrimLeft(s[end+1:], " ")
	}
	return strings.TrimSpace(strings.Join(kept, " ") + " " + s)
}

// onlyTags tells whether nothing but tags is left: a number without a rule binds nobody.
func onlyTags(s string) bool {
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return false
		}
		s = strings.TrimSpace(s[end+1:])
	}
	return !hasWords(s)
}
