package guard

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/passage"
)

// question is one text pair to ask about, with every pair of the run that has these texts.
type question struct {
	key        []byte
	item, unit judge.Text
	record     core.Pair // what is kept of it
	pairs      []pairAt
	verdict    core.Verdict
	why        string // no verdict: what kept it away
	settled    bool
	cached     bool
	passing    bool // the verdict holds for this run only
}

// pairAt is a pair by its place: a unit's list of pairs may still grow, and move.
type pairAt struct {
	unit *core.UnitResult
	i    int
}

// openQuestions is how many questions wait for the judge before finding more of them waits, too.
const openQuestions = 1024

// asking puts the questions of a run to the judge while more of them come in. add and end are called by one goroutine.
type asking struct {
	*work
	ctx      context.Context // ends when any part of the asking fails
	group    *errgroup.Group
	byKey    map[string]*question
	seen     map[*core.UnitResult]int // pairs of a unit that were added
	open     chan *question
	settled  chan *question // to be kept
	mu       sync.Mutex     // guards what follows, and each question's pairs and outcome
	done     core.Progress
	timeouts int // questions in a row that ran into the time limit
}

// startAsking starts the judge's slots; end must be called.
func (w *work) startAsking(ctx context.Context) *asking {
	a := &asking{
		work: w, byKey: map[string]*question{}, seen: map[*core.UnitResult]int{},
		open: make(chan *question, openQuestions), settled: make(chan *question, openQuestions),
	}
	a.group, a.ctx = errgroup.WithContext(ctx)
	var slots sync.WaitGroup
	for range w.opt.Concurrency {
		slots.Add(1)
		goSafely(a.group, func() error {
			defer slots.Done()
			return a.answer()
		})
	}
	goSafely(a.group, a.keep)
	a.group.Go(func() error {
		slots.Wait()
		close(a.settled)
		return nil
	})
	return a
}

// add asks about the pairs of units that were not added before: identical texts once, and nothing that is kept from earlier.
func (a *asking) add(units []*core.UnitResult) error {
	fresh := a.questions(units)
	if !a.job.Fresh {
		var err error
		if fresh, err = a.answerFromCache(fresh); err != nil {
			return err
		}
	}
	a.report()
	for _, q := range fresh {
		select {
		case a.open <- q:
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		}
	}
	return nil
}

// end waits for what was asked, or gives it up if finding the questions failed with err, and writes the outcome into the pairs.
func (a *asking) end(err error) error {
	if err != nil {
		a.group.Go(func() error { return err })
	}
	close(a.open)
	if failed := a.group.Wait(); failed != nil {
		return failed
	}
	for _, q := range a.byKey {
		for _, at := range q.pairs {
			p := &at.unit.Pairs[at.i]
			p.Label, p.Note, p.Unstable, p.Unjudged, p.Cached = q.verdict.Label, q.verdict.Reason, q.verdict.Unstable, q.why, q.cached
		}
	}
	return nil
}

// questions groups new pairs by what is asked, and gives the questions that are new.
func (a *asking) questions(units []*core.UnitResult) []*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	var fresh []*question
	for _, u := range units {
		for i := a.seen[u]; i < len(u.Pairs); i++ {
			p := &u.Pairs[i]
			item, unit := a.read[p.Item], textOfUnit(u.Unit)
			if certain(p, item, unit) {
				continue
			}
			a.done.Of++
			if strings.HasPrefix(p.Item, core.SiblingPrefix) && bytes.Compare(p.UnitHash, p.ItemHash) < 0 {
				item, unit = unit, item // the same question from either side
			}
			key := judge.Key(p.Judge, a.orders(p.Prompt), judge.TextHash(unit), judge.TextHash(item))
			q := a.byKey[string(key)]
			if q == nil {
				q = &question{key: key, item: item, unit: unit, record: *p}
				a.byKey[string(key)] = q
				fresh = append(fresh, q)
			}
			q.pairs = append(q.pairs, pairAt{u, i})
			if q.settled {
				a.done.Done++
			}
		}
		a.seen[u] = len(u.Pairs)
	}
	return fresh
}

// orders names what a verdict is kept under: one that was asked for in one order only must not be taken for one that stood both.
func (w *work) orders(prompt string) string {
	if w.opt.NoSwap {
		return prompt + "-one-order"
	}
	return prompt
}

// certain settles what needs no model: a text that stands in the corpus word for word is a duplicate.
func certain(p *core.Pair, item, unit judge.Text) bool {
	if passage.Normalise(item.Statement) != passage.Normalise(unit.Statement) {
		return false
	}
	p.Label, p.Note, p.Judge, p.Prompt = core.Dup, "word for word the same", "", ""
	return true
}

func (a *asking) answerFromCache(all []*question) ([]*question, error) {
	if len(all) == 0 {
		return nil, nil
	}
	keys := make([][]byte, len(all))
	for i, q := range all {
		keys[i] = q.key
	}
	kept, err := a.store.Verdicts(a.ctx, keys)
	if err != nil {
		return nil, err
	}
	var open []*question
	for _, q := range all {
		if v, ok := kept[string(q.key)]; ok {
			q.cached = true
			a.settle(q, v, "")
		} else {
			open = append(open, q)
		}
	}
	return open, nil
}

// settle writes down what became of a question.
func (a *asking) settle(q *question, v core.Verdict, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q.settled, q.verdict, q.why = true, v, why
	a.done.Done += len(q.pairs)
}

// report tells how far the judging is.
func (a *asking) report() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.job.Progress(a.done)
}
