package guard

import (
	"context"
	"fmt"
	"time"

	"storozh/core"
	"storozh/core/localllm"
)

// keepLimit is how long verdicts may take to be stored; also those of a run that is cut off meanwhile.
const keepLimit = 15 * time.Second

// A judge is given up after so many questions in a row, and twice those that are under way at once, that all ran into the time limit: each
// costs minutes, and a run of a thousand pairs shall not cost days.
const mostTimeouts = 8

// notAsked is said of a pair that came up after that.
const notAsked = "not asked after timeouts"

func (a *asking) givenUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timeouts >= max(mostTimeouts, 2*a.opt.Concurrency)
}

// heard counts what became of a question that was asked; an answer of any kind begins the count anew.
func (a *asking) heard(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timeouts++
	if localllm.Kind(why) != localllm.KindTimeout {
		a.timeouts = 0
	}
}

// answer is one slot of the judge: it asks one question after the other. What is found is kept by another goroutine, so that no slot of the
// model ever waits for the database.
func (a *asking) answer() error {
	for {
		select {
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		case q, more := <-a.open:
			if !more {
				return nil
			}
			if a.givenUp() {
				a.settle(q, core.Verdict{}, notAsked)
				a.report()
				continue
			}
			v, why, err := a.verdictOf(a.ctx, q)
			if err != nil {
				return err
			}
			a.heard(why)
			a.settle(q, v, why)
			a.report()
			if v.Label == "" || q.passing {
				continue
			}
			q.record.Label, q.record.Note, q.record.Unstable = v.Label, v.Reason, v.Unstable
			a.settled <- q
		}
	}
}

// keep stores verdicts: all that came in while the last ones were being stored, at once. It goes on after the run was cut off, for what was
// answered before: the next run shall not ask again.
func (a *asking) keep() error {
	defer func() { // after a panic, too, no slot shall wait for ever
		for range a.settled {
		}
	}()
	var failed error
	for q := range a.settled {
		qs := a.atHand(q)
		if failed != nil {
			continue // no slot shall wait for ever
		}
		if err := a.keepAll(qs); err != nil {
			failed = fmt.Errorf("keep verdicts: %w", err)
			a.group.Go(func() error { return failed }) // ends the slots now
		}
	}
	return failed
}

// atHand is q and what waits behind it.
func (a *asking) atHand(q *question) []*question {
	out := []*question{q}
	for {
		select {
		case q, more := <-a.settled:
			if !more {
				return out
			}
			out = append(out, q)
		default:
			return out
		}
	}
}

func (a *asking) keepAll(qs []*question) error {
	keys, pairs := make([][]byte, len(qs)), make([]core.Pair, len(qs))
	for i, q := range qs {
		keys[i], pairs[i] = q.key, q.record
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), keepLimit)
	defer cancel()
	return a.store.SaveVerdicts(ctx, keys, pairs)
}
