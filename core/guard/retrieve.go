package guard

import (
	"context"
	"fmt"
	"slices"

	"storozh/core"
	"storozh/core/judge"
)

// retrieveBatch is how many units are looked up in one round trip: few enough that a cancelled run ends soon.
const retrieveBatch = 200

// finder makes the pairs of a run's units, in their order, and hands them to the judge.
type finder struct {
	*work
	asking *asking
	todo   []*core.UnitResult
	found  int // units of todo that have their neighbours
	ex     exclusion
	words  *WordSearch // made for the first batch
}

func (w *work) newFinder(a *asking, todo []*core.UnitResult) *finder {
	return &finder{work: w, asking: a, todo: todo, ex: newExclusion(w.items, w.derived.Replaced, w.fromHead)}
}

// upTo finds the neighbours of the units that have their vectors by now, up to the first that has none.
func (f *finder) upTo(v *vectors) error {
	n := f.found
	for n < len(f.todo) && v.of(f.todo[n].Unit) != nil {
		n++
	}
	for batch := range slices.Chunk(f.todo[f.found:n], retrieveBatch) {
		if err := f.neighbours(f.asking.ctx, batch, v.model); err != nil {
			return fmt.Errorf("retrieve: %w", err)
		}
		if err := f.asking.add(batch); err != nil {
			return err
		}
		f.found += len(batch)
	}
	return nil
}

// rest finds what upTo left, and pairs the units with each other.
func (f *finder) rest(v *vectors) error {
	if err := f.upTo(v); err != nil {
		return err
	}
	f.pairSiblings(f.todo, v)
	return f.asking.add(f.todo)
}

// neighbours makes the pairs of a batch of units in one round trip.
func (f *finder) neighbours(ctx context.Context, batch []*core.UnitResult, model int) error {
	hashes, own := make([][]byte, len(batch)), make([][]string, len(batch))
	most := 0
	for i, u := range batch {
		hashes[i] = judge.TextHash(textOfUnit(u.Unit))
		own[i] = f.ex.own(u.Unit)
		most = max(most, len(own[i]))
	}
	// As many more as may be excluded: never fewer than k while more exist.
	near, err := f.store.NearestAll(ctx, f.opt.ShieldDir, model, hashes, f.opt.K+most+len(f.ex.replaced))
	if err != nil {
		return err
	}
	for i := range batch {
		near[i] = f.pick(near[i], own[i])
	}
	if err := f.addByWords(ctx, batch, hashes, own, near, model); err != nil {
		return err
	}
	byID, err := f.itemsOf(ctx, near)
	if err != nil {
		return err
	}
	for i, u := range batch {
		f.addNear(u, near[i], byID)
	}
	return nil
}

// pick takes the neighbours that count, and behind them those that go with this manifest and are as near.
func (f *finder) pick(near []core.Near, own []string) []core.Near {
	var counted, resolved []core.Near
	for _, n := range near {
		switch {
		case len(counted) == f.opt.K || slices.Contains(own, n.Item):
		case f.ex.replaced[n.Item]:
			resolved = append(resolved, n)
		default:
			counted = append(counted, n)
		}
	}
	return append(counted, resolved[:min(len(resolved), f.opt.K)]...)
}

// addNear appends one pair per neighbour.
func (f *finder) addNear(u *core.UnitResult, near []core.Near, byID map[string]core.Item) {
	for _, n := range near {
		it, ok := byID[n.Item]
		if !ok {
			continue // another run has synced a newer corpus meanwhile
		}
		f.addPair(u, core.Pair{Item: it.ID, ItemTitle: it.Title, ItemText: it.Text, Similarity: n.Similarity, Words: n.Words, Resolved: f.ex.replaced[n.Item]}, textOfItem(it))
	}
}

// addPair completes a pair and appends it. What the judge reads of the item is its normative text, which the pair's own text may exceed.
func (w *work) addPair(u *core.UnitResult, p core.Pair, item judge.Text) {
	unit := textOfUnit(u.Unit)
	p.Unit, p.Rank = u.Unit.ID, len(u.Pairs)+1
	p.UnitHash, p.ItemHash = judge.TextHash(unit), judge.TextHash(item)
	p.Judge, p.Prompt = w.models.Judge, judge.PromptVersion
	p.Hint = judge.Hint(item, unit)
	if w.read == nil {
		w.read = map[string]judge.Text{}
	}
	w.read[p.Item] = item
	u.Pairs = append(u.Pairs, p)
}
