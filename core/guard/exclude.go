package guard

import (
	"storozh/core"
	"storozh/core/passage"
)

// exclusion finds the items that a unit is never compared with: itself, and what this manifest removes or rewrites.
type exclusion struct {
	byPath   map[string][]core.Item // full path, `shield/…` → its items
	replaced map[string]bool        // ids that the manifest removes or rewrites
}

func newExclusion(items []core.Item, spans []core.Span) exclusion {
	e := exclusion{byPath: map[string][]core.Item{}, replaced: map[string]bool{}}
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

// own lists the items that are the unit itself: its id, what it edits or moves from, and, if it was committed meanwhile, the same text at
// the same path.
func (e exclusion) own(u core.Unit) []string {
	out := append([]string{u.ID}, u.Replaces...)
	text := passage.Normalise(u.Normative)
	for _, it := range e.byPath[u.Repo+"/"+u.Path] {
		if it.ID != u.ID && passage.Normalise(it.Normative) == text {
			out = append(out, it.ID)
		}
	}
	return out
}
