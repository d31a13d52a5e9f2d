package guard

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/passage"
)

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
	w.label(todo)
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
			item, unit := w.read[p.Item], textOfUnit(u.Unit)
			if certain(p, item, unit) {
				continue
			}
			of++
			if strings.HasPrefix(p.Item, core.SiblingPrefix) && bytes.Compare(p.UnitHash, p.ItemHash) < 0 {
				item, unit = unit, item // the same question from either side
			}
			key := judge.Key(p.Judge, p.Prompt, judge.TextHash(unit), judge.TextHash(item))
			q := byKey[string(key)]
			if q == nil {
				q = &question{key: key, item: item, unit: unit}
				byKey[string(key)] = q
				out = append(out, q)
			}
			q.pairs = append(q.pairs, p)
		}
	}
	return out, of
}

// certain settles what needs no model: a text that stands in the corpus word for word is a duplicate.
func certain(p *core.Pair, item, unit judge.Text) bool {
	if passage.Normalise(item.Statement) != passage.Normalise(unit.Statement) {
		return false
	}
	p.Label, p.Note, p.Judge, p.Prompt = core.Dup, "word for word the same", "", ""
	return true
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
			p.Label, p.Note, p.Unstable, p.Cached = v.Label, v.Reason, v.Unstable, true
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
			v, why, err := w.settle(ctx, q)
			if err != nil {
				return err
			}
			for _, p := range q.pairs {
				p.Label, p.Note, p.Unstable, p.Unjudged = v.Label, v.Reason, v.Unstable, why
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
