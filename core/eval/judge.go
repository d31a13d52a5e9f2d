package eval

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/guard"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// Options are how a set is asked. Only Secret is required.
type Options struct {
	Secret      []byte             // keys the codes of the prompts
	Concurrency int                // requests at once; below 1: one
	Swap        bool               // ask each pair once more with the unit shown first
	Clock       func() time.Time   // for latencies; nil: not measured
	Progress    func(done, of int) // after each pair, from one goroutine at a time; may be nil
	Models      localllm.Models    // as resolved
}

// Judge asks a model about every pair of a set, as a run would: once, and once more strictly or shorter where the answer cannot be read.
// What cannot be read then is unjudged. The error is for a context that ended and for a server that did not answer a single pair.
func Judge(ctx context.Context, m localllm.Model, set Set, opt Options) (core.JudgeScore, []Answer, error) {
	w := &asker{model: m, opt: opt}
	answers := make([]Answer, len(set.Pairs))
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(max(opt.Concurrency, 1))
	for i, p := range set.Pairs {
		g.Go(func() error {
			if err := run.Err(); err != nil {
				return err
			}
			a, err := w.pair(run, p)
			answers[i] = a
			w.step(len(set.Pairs))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return core.JudgeScore{}, nil, fmt.Errorf("eval: stopped before the end: %w", err)
	}
	s := Score(set, answers, w.calls, opt.Swap)
	s.Model, s.Prompt = opt.Models.Judge, judge.PromptVersion
	if n := s.Reasons[string(localllm.KindUnreachable)]; n > 0 && n == s.Pairs {
		return core.JudgeScore{}, nil, fmt.Errorf("eval: nothing answers at %s", m.URL())
	}
	return s, answers, nil
}

// asker asks and counts.
type asker struct {
	model localllm.Model
	opt   Options
	mu    sync.Mutex
	calls []Call
	done  int
}

func (w *asker) step(of int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	if w.opt.Progress != nil {
		w.opt.Progress(w.done, of)
	}
}

func (w *asker) pair(ctx context.Context, p Pair) (Answer, error) {
	a := Answer{ID: p.ID, Right: p.Label}
	item, unit := p.Item.Text(), p.Unit.Text()
	v, why, err := w.verdict(ctx, judge.Build(w.opt.Secret, item, unit), judge.Shorter(w.opt.Secret, item, unit))
	if err != nil {
		return a, err
	}
	a.Label, a.Reason, a.Unjudged = v.Label, v.Reason, why
	if w.opt.Swap {
		if v, _, err = w.verdict(ctx, judge.Swapped(w.opt.Secret, item, unit), judge.SwappedShorter(w.opt.Secret, item, unit)); err != nil {
			return a, err
		}
		a.Swapped = v.Label
	}
	return a, nil
}

// verdict is one question, asked as a run asks it.
func (w *asker) verdict(ctx context.Context, p, shorter judge.Prompt) (core.Verdict, string, error) {
	return guard.Verdict(ctx, w.ask, p, shorter)
}

// ask puts one prompt to the model and counts the call.
func (w *asker) ask(ctx context.Context, p judge.Prompt) (string, error) {
	start := w.now()
	answer, err := w.model.Complete(ctx, p.User, guard.Opts(p, w.opt.Models.Judge))
	c := Call{Prompt: Tokens(p.System) + Tokens(p.User), Answer: Tokens(answer), Took: w.now().Sub(start)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return answer, err
}

func (w *asker) now() time.Time {
	if w.opt.Clock == nil {
		return time.Time{}
	}
	return w.opt.Clock()
}
