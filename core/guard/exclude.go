package guard

import (
	"storozh/core"
	"storozh/core/passage"
)

// exclusion finds the items that a unit is never compared with: itself, and what this manifest removes or rewrites.
type exclusion struct {
	byPath   map[string][]core.Item // full path, `shield/…` → its items
	replaced map[string]bool        // ids that the manifest removes or rewrites
	fromHead map[string]bool        // full paths whose text at HEAD is the one that the diff begins with
}

func newExclusion(items []core.Item, spans []core.Span, fromHead map[string]bool) exclusion {
	e := exclusion{byPath: map[string][]core.Item{}, replaced: map[string]bool{}, fromHead: fromHead}
	for _, it := range items {
		p := core.Shield + "/" + it.Path
		e.byPath[p] = append(e.byPath[p], it)
	}
	for _, s := range spans {
		for _, it := range e.byPath[s.Repo+"/"+s.Path] {
			if touches(s, it) {
				e.replaced[it.ID] = true
			}
		}
	}
	return e
}

// touches tells whether a span of the old text takes in an item: the passage of that anchor, else by lines; a span without either is
// the whole file.
func touches(s core.Span, it core.Item) bool {
	switch {
	case s.Anchor != "" && s.Anchor == it.Anchor:
		return true
	case s.Start == 0:
		return s.Anchor == ""
	default:
		return it.StartLine <= s.End && s.Start <= it.EndLine
	}
}

// own lists the items that are the unit itself: its id, what it edits or moves from, and, where it may have been committed meanwhile, the
// same text at the same path. While HEAD still holds the text that the diff begins with, that is a duplicate in the same file.
func (e exclusion) own(u core.Unit) []string {
	out := append([]string{u.ID}, u.Replaces...)
	if e.fromHead[u.Repo+"/"+u.Path] {
		return out
	}
	text := passage.Normalise(u.Normative)
	for _, it := range e.byPath[u.Repo+"/"+u.Path] {
		if it.ID != u.ID && passage.Normalise(it.Normative) == text {
			out = append(out, it.ID)
		}
	}
	return out
}
