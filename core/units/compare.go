package units

import (
	"sort"
	"strings"
	"unicode"

	"storozh/core/passage"
)

// change is a passage that differs between the sides of a view. after is nil for a removed one.
type change struct {
	after  *passage.Passage
	before []*passage.Passage // what it edits or moves from; for a removed one, itself
	lives  bool               // a removed one of which lines stand on in unchanged passages: rewritten, but no unit
}

// comparison matches the passages of a view (design §4: "compared by anchor and normalised text"). Only passages with a changed
// line are looked at, so a heading whose number merely shifted is no change.
type comparison struct {
	*view
	ownersB, ownersA []int32        // per line: its passage, or -1
	touchedB         []bool         // old passages with a removed line
	touchedA         []bool         // new passages with an added line, or with lines of a touched old one
	doneB, doneA     []bool         // found again with the same text, or accounted for
	keptB            []bool         // old passages that live on in an edited one
	byAnchor         map[string]int // old passages by stable anchor
	changes          []change
}

// compare returns the changed passages: those of the new text in its order, then the removed ones.
func compare(v *view) []change {
	if len(v.before.lines) == 0 { // a new file: all of it
		out := make([]change, len(v.after.passages))
		for i := range out {
			out[i].after = &v.after.passages[i]
		}
		return out
	}
	c := &comparison{view: v}
	c.ownersB, c.touchedB = v.before.owners()
	c.ownersA, c.touchedA = v.after.owners()
	c.doneB, c.keptB = make([]bool, len(v.before.passages)), make([]bool, len(v.before.passages))
	c.doneA = make([]bool, len(v.after.passages))
	c.byAnchor = make(map[string]int, len(v.before.passages))
	for i, p := range v.before.passages {
		if !isLineAnchor(p.Anchor) {
			c.byAnchor[p.Anchor] = i
		}
	}
	c.spread()
	c.shortened()
	c.matchText()
	c.matchRest()
	for i := range v.before.passages {
		if c.touchedB[i] && !c.doneB[i] && !c.keptB[i] {
			p := &v.before.passages[i]
			c.changes = append(c.changes, change{before: []*passage.Passage{p}, lives: c.livesElsewhere(i)})
		}
	}
	return c.changes
}

// owners maps lines to passages and tells which passages have a changed line. A whole file's passage owns every line, its front
// matter too.
func (s *side) owners() (owner []int32, touched []bool) {
	owner, touched = make([]int32, len(s.lines)), make([]bool, len(s.passages))
	for i := range owner {
		owner[i] = -1
	}
	for i := range s.passages {
		from, to := s.extent(i)
		for l := from; l < to; l++ {
			owner[l] = int32(i)
			touched[i] = touched[i] || s.other[l] < 0
		}
	}
	return owner, touched
}

// extent is a passage's range of line indexes, end excluded.
func (s *side) extent(i int) (from, to int) {
	p := s.passages[i]
	if p.Anchor == "" {
		return 0, len(s.lines)
	}
	return max(0, p.Start-1), min(p.End, len(s.lines))
}

// spread marks the new passages that only lost lines, and so have no added one: those around a removed stretch of a touched old
// passage. Where the stretch lay between two new passages it belonged to neither.
func (c *comparison) spread() {
	for i, touched := range c.touchedB {
		if !touched {
			continue
		}
		from, to := c.before.extent(i)
		above, open := int32(-1), false // the new passage of the last kept line, and whether lines were removed since
		for l := from; l < to; l++ {
			n := c.before.other[l]
			if n < 0 {
				open = true
				continue
			}
			below := c.ownersA[n]
			if below < 0 || !solid(c.before.lines[l]) {
				continue
			}
			if open && (above < 0 || above == below) {
				c.touchedA[below] = true
			}
			above, open = below, false
		}
		if open && above >= 0 {
			c.touchedA[above] = true
		}
	}
}

// shortened marks the new passages that begin as an old one did and say something else, without a changed line of their own: a new head put in
// between took the rest, such as an invariant's `Counter:`. The old one is gone, and what stands of it binds anew.
func (c *comparison) shortened() {
	for i := range c.before.passages {
		old := &c.before.passages[i]
		from, to := c.before.extent(i)
		if old.Anchor == "" || from >= to || c.before.other[from] < 0 {
			continue // a whole file that becomes sections does not change them
		}
		n := c.ownersA[c.before.other[from]]
		if n < 0 || c.touchedA[n] || c.after.passages[n].Anchor == "" {
			continue
		}
		start, end := c.after.extent(int(n))
		if int32(start) == c.before.other[from] && end-start != to-from && textKey(old) != textKey(&c.after.passages[n]) {
			c.touchedA[n] = true
		}
	}
}

// matchText takes out the passages whose text is the same on both sides, those with the same anchor first.
func (c *comparison) matchText() {
	byText, byBoth := map[string][]int{}, map[string]int{}
	for i := range c.before.passages {
		if c.touchedB[i] {
			p := &c.before.passages[i]
			k := textKey(p)
			byText[k] = append(byText[k], i)
			byBoth[p.Anchor+"\x00"+k] = i
		}
	}
	if len(byText) == 0 {
		return
	}
	for i := range c.after.passages {
		p := &c.after.passages[i]
		if !c.touchedA[i] {
			continue
		}
		if o, ok := byBoth[p.Anchor+"\x00"+textKey(p)]; ok {
			c.doneB[o], c.doneA[i] = true, true
		}
	}
	for i := range c.after.passages {
		if !c.touchedA[i] || c.doneA[i] {
			continue
		}
		k := textKey(&c.after.passages[i])
		queue := byText[k]
		for len(queue) > 0 && c.doneB[queue[0]] {
			queue = queue[1:]
		}
		if len(queue) > 0 {
			c.doneB[queue[0]], c.doneA[i] = true, true
		}
		byText[k] = queue
	}
}

// textKey is what two passages must have in common to be the same. A whole file's title may come from its front matter, so its
// normative text counts as well.
func textKey(p *passage.Passage) string {
	k := passage.Normalise(p.Text)
	if p.Anchor == "" {
		k += "\x00" + passage.Normalise(p.Normative)
	}
	return k
}

// matchRest finds what each remaining touched new passage was before: by stable anchor, by shared lines, by likeness, or nothing.
func (c *comparison) matchRest() {
	var open []int
	for i := range c.after.passages {
		if !c.touchedA[i] || c.doneA[i] {
			continue
		}
		from := c.origins(i)
		if len(from) == 0 {
			open = append(open, i)
		}
		for _, o := range from {
			c.keptB[o] = true
		}
		if len(from) > 0 && textKey(&c.after.passages[i]) == textKey(&c.before.passages[from[0]]) {
			continue // only blank lines came or went
		}
		c.changes = append(c.changes, c.change(i, from))
	}
	like := c.matchLikeness(open)
	for i := range c.changes {
		ch := &c.changes[i]
		if o, ok := like[ch.after]; ok {
			c.keptB[o] = true
			ch.before = append(ch.before, &c.before.passages[o])
		}
	}
}

func (c *comparison) change(i int, from []int) change {
	ch := change{after: &c.after.passages[i]}
	for _, o := range from {
		ch.before = append(ch.before, &c.before.passages[o])
	}
	return ch
}

// origins lists the old passages that new passage i continues: the one with its stable anchor first, then those it shares lines
// with. An old passage that found itself again elsewhere is none.
func (c *comparison) origins(i int) []int {
	var out []int
	from, to := c.after.extent(i)
	var shared map[int]bool
	for l := from; l < to; l++ {
		if o := c.after.other[l]; o >= 0 && c.ownersB[o] >= 0 && solid(c.after.lines[l]) {
			n := int(c.ownersB[o])
			if shared == nil {
				shared = map[int]bool{}
			}
			if !shared[n] && !c.doneB[n] {
				out = append(out, n)
			}
			shared[n] = true
		}
	}
	sort.Ints(out)
	a := c.after.passages[i].Anchor
	o, ok := c.byAnchor[a]
	if !ok || isLineAnchor(a) || c.doneB[o] {
		return out
	}
	if shared[o] {
		for at, n := range out { // the same passage by name goes first
			if n == o {
				copy(out[1:at+1], out[:at])
				out[0] = o
			}
		}
		return out
	}
	if c.livesElsewhere(o) {
		return out
	}
	return append([]int{o}, out...)
}

// livesElsewhere tells whether any solid line of an old passage still stands in the new text.
func (c *comparison) livesElsewhere(o int) bool {
	from, to := c.before.extent(o)
	for l := from; l < to; l++ {
		if n := c.before.other[l]; n >= 0 && c.ownersA[n] >= 0 && solid(c.before.lines[l]) {
			return true
		}
	}
	return false
}

// solid tells whether a line says enough for two passages to be the same because they share it: a lone bracket or full stop
// stands everywhere.
func solid(line string) bool {
	n := 0
	for _, r := range line {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if n++; n == 3 {
				return true
			}
		}
	}
	return false
}

// section is the heading a bullet stands under; bullets are only likened within one.
func section(p *passage.Passage) string { return strings.TrimSpace(p.Title) }
