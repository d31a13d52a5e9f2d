package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// retrieve finds each unit's neighbours and makes its pairs.
func (w *work) retrieve(ctx context.Context, todo []*core.UnitResult, v *vectors) error {
	ex := newExclusion(w.items, w.derived.Replaced)
	for _, u := range todo {
		text := textOfUnit(u.Unit)
		hash := judge.TextHash(text)
		near, err := w.store.Nearest(ctx, w.opt.ShieldDir, v.model, v.byHash[string(hash)], w.opt.K, ex.of(u.Unit))
		if err != nil {
			return err
		}
		for i, n := range near {
			u.Pairs = append(u.Pairs, core.Pair{
				Unit: u.Unit.ID, Item: n.Item.ID, ItemTitle: n.Item.Title, ItemText: n.Item.Text, Rank: i + 1, Similarity: n.Similarity,
				UnitHash: hash, ItemHash: itemHash(n.Item), Judge: w.models.Judge, Prompt: judge.PromptVersion,
			})
		}
		// What the judge reads of an item is its normative text, which the pair's own text may exceed.
		w.rememberItems(near)
	}
	return nil
}

func (w *work) rememberItems(near []core.Neighbour) {
	if w.judged == nil {
		w.judged = map[string]judge.Text{}
	}
	for _, n := range near {
		w.judged[n.Item.ID] = textOfItem(n.Item)
	}
}

// question is one text pair to ask about, with every pair of the run that has these texts.
type question struct {
	key   []byte
	item  judge.Text
	unit  judge.Text
	pairs []*core.Pair
}

// judge asks for what is not kept yet, with bounded concurrency, and labels the units.
func (w *work) judge(ctx context.Context, todo []*core.UnitResult) error {
	asked, of := w.questions(todo)
	if !w.job.Fresh {
		var err error
		if asked, err = w.answerFromCache(ctx, asked); err != nil {
			return err
		}
	}
	done := of
	for _, q := range asked {
		done -= len(q.pairs)
	}
	w.job.Progress(core.Progress{Done: done, Of: of})
	if err := w.ask(ctx, asked, core.Progress{Done: done, Of: of}); err != nil {
		return err
	}
	w.label(todo, of)
	return nil
}

// questions groups the pairs by what is asked: identical texts are asked once.
func (w *work) questions(todo []*core.UnitResult) ([]*question, int) {
	byKey := map[string]*question{}
	var out []*question
	of := 0
	for _, u := range todo {
		for i := range u.Pairs {
			p := &u.Pairs[i]
			of++
			key := judge.Key(p.Judge, p.Prompt, p.UnitHash, p.ItemHash)
			q := byKey[string(key)]
			if q == nil {
				q = &question{key: key, item: w.judged[p.Item], unit: textOfUnit(u.Unit)}
				byKey[string(key)] = q
				out = append(out, q)
			}
			q.pairs = append(q.pairs, p)
		}
	}
	return out, of
}

func (w *work) answerFromCache(ctx context.Context, all []*question) ([]*question, error) {
	keys := make([][]byte, len(all))
	for i, q := range all {
		keys[i] = q.key
	}
	kept, err := w.store.Verdicts(ctx, keys)
	if err != nil {
		return nil, err
	}
	var open []*question
	for _, q := range all {
		v, ok := kept[string(q.key)]
		if !ok {
			open = append(open, q)
			continue
		}
		for _, p := range q.pairs {
			p.Label, p.Note, p.Cached = v.Label, v.Reason, true
		}
	}
	return open, nil
}

func (w *work) ask(ctx context.Context, open []*question, start core.Progress) error {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.opt.Concurrency)
	for _, q := range open {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			v, why, err := w.verdict(ctx, q)
			if err != nil {
				return err
			}
			for _, p := range q.pairs {
				p.Label, p.Note, p.Unjudged = v.Label, v.Reason, why
			}
			if v.Label != "" {
				if err := w.store.SaveVerdict(ctx, q.key, *q.pairs[0]); err != nil {
					return fmt.Errorf("keep verdict: %w", err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			start.Done += len(q.pairs)
			w.job.Progress(start)
			return nil
		})
	}
	return g.Wait()
}

// verdict asks the judge about one question: once, and once more strictly (or shorter) if the answer cannot be read. Without a readable
// answer the pair is unjudged, and why says so. err is only for a run that was cut off.
func (w *work) verdict(ctx context.Context, q *question) (v core.Verdict, why string, err error) {
	prompt := judge.Build(w.opt.Secret, q.item, q.unit)
	answer, err := w.complete(ctx, prompt)
	if err == nil {
		if v, err = judge.Read(answer); err == nil {
			return v, "", nil
		}
	}
	switch kind := localllm.KindOf(err); {
	case ctx.Err() != nil:
		return core.Verdict{}, "", ctx.Err()
	case kind == localllm.KindTooLong:
		prompt = judge.Shorter(w.opt.Secret, q.item, q.unit)
	case kind == localllm.KindEmpty, kind == "":
		prompt = judge.Strict(prompt)
	default:
		return core.Verdict{}, string(kind), nil
	}
	answer, err = w.complete(ctx, prompt)
	if err == nil {
		if v, err = judge.Read(answer); err == nil {
			return v, "", nil
		}
	}
	if ctx.Err() != nil {
		return core.Verdict{}, "", ctx.Err()
	}
	return core.Verdict{}, reasonUnjudged(err), nil
}

func (w *work) complete(ctx context.Context, p judge.Prompt) (string, error) {
	return w.model.Complete(ctx, p.User, localllm.Opts{System: p.System, MaxTokens: p.MaxTokens, Stop: p.Stop, Model: w.models.Judge})
}

// reasonUnjudged words why a pair has no label, as contra-check shows it.
func reasonUnjudged(err error) string {
	switch kind := localllm.KindOf(err); {
	case errors.Is(err, judge.ErrDisagree):
		return "answers disagree"
	case errors.Is(err, judge.ErrUnreadable):
		return "unreadable answer"
	case kind == localllm.KindTooLong:
		return "too long"
	case kind == localllm.KindEmpty:
		return "empty answer"
	default:
		return string(kind)
	}
}
