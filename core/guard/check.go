package guard

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"storozh/core"
	"storozh/core/localllm"
)

// contraCheck does stages 2 and 3, or finds out why not. The order of the skips is C4's. The corpus is read in every case.
func (w *work) contraCheck(ctx context.Context) error {
	todo := w.withText()
	asks := w.anyKnowledge() && len(todo) > 0
	var refused error
	g, both := errgroup.WithContext(ctx)
	if asks { // a slow server need not wait for git, nor git for it
		goSafely(g, func() error {
			w.models, refused = w.model.Resolve(both)
			return nil
		})
	}
	goSafely(g, func() error { return w.readCorpus(both) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	w.check = core.ContraRan
	switch {
	case !w.anyKnowledge():
		w.check = core.SkippedNoKnowledge
		return nil
	case !asks:
		return nil
	case refused != nil:
		return w.skip(todo, skipOf(refused))
	}
	w.warnings = append(w.warnings, w.models.Warnings...)
	if w.corpus.Items == 0 {
		return w.withoutCorpus(ctx, todo)
	}
	return w.compare(ctx, todo)
}

// withoutCorpus skips for want of a corpus, unless the model could not have embedded it: that comes before in C4's order, and is to be
// mended first. One vector shows it.
func (w *work) withoutCorpus(ctx context.Context, todo []*core.UnitResult) error {
	_, err := w.embed(ctx, todo[:1], nil)
	switch {
	case err == nil:
		return w.skip(todo, core.SkippedNoCorpus)
	case localllm.KindOf(err) == "" || ctx.Err() != nil:
		return err
	}
	return w.skip(todo, skipOf(err))
}

// compareTries is how often units are compared while others store newer readings of the corpus.
const compareTries = 3

// compare embeds, retrieves and judges. When the stored corpus was changed meanwhile, by another run or process, an item may have been without
// a vector just when it was looked for: then the units are compared again. What was judged is kept, so that only new pairs cost a question.
func (w *work) compare(ctx context.Context, todo []*core.UnitResult) error {
	before := len(w.warnings)
	for try := 1; ; try++ {
		if err := w.compareOnce(ctx, todo); err != nil || w.check != core.ContraRan {
			return err
		}
		now, err := w.store.CorpusHead(ctx, w.opt.ShieldDir)
		if err != nil {
			return err
		}
		if now.Revision == w.head.Revision {
			break
		}
		if try == compareTries {
			w.warnings = append(w.warnings, "the shield corpus changed while the units were compared: judge again")
			break
		}
		w.warnings, w.job.Fresh = w.warnings[:before], false
		for _, u := range todo {
			u.Pairs = nil
		}
		if err := w.readCorpus(ctx); err != nil {
			return fmt.Errorf("corpus: %w", err)
		}
		if w.corpus.Items == 0 {
			return w.skip(todo, core.SkippedNoCorpus)
		}
	}
	w.label(todo)
	w.warnings = append(w.warnings, notices(todo, w.read)...)
	return nil
}

// compareOnce gives the units their judged pairs, or skips. A unit's pairs go to the judge as soon as its neighbours are known, while later
// units are still being embedded; only a server that holds one model at a time embeds everything first.
func (w *work) compareOnce(ctx context.Context, todo []*core.UnitResult) error {
	a := w.startAsking(ctx)
	find := w.newFinder(a, todo)
	ready := find.upTo
	if w.models.OneAtATime {
		ready = nil
	}
	v, err := w.embed(a.ctx, todo, ready)
	if err == nil {
		err = find.rest(v)
	}
	if err := a.end(err); err != nil {
		if localllm.KindOf(err) == "" || ctx.Err() != nil {
			return err
		}
		for _, u := range todo { // what was judged already is kept for the next run; half a comparison is no result
			u.Pairs = nil
		}
		return w.skip(todo, skipOf(err))
	}
	return nil
}

func (w *work) anyKnowledge() bool {
	for _, u := range w.units {
		if w.policy.Knowledge(u.Unit.Type) {
			return true
		}
	}
	return false
}

// withText lists the units that there is something to judge about.
func (w *work) withText() []*core.UnitResult {
	var out []*core.UnitResult
	for i := range w.units {
		if w.units[i].Unit.Normative != "" {
			out = append(out, &w.units[i])
		}
	}
	return out
}

// skip ends the contra-check: every unit with text is unjudged.
func (w *work) skip(todo []*core.UnitResult, why string) error {
	w.check = why
	for _, u := range todo {
		u.Unjudged = true
	}
	return nil
}

// skipOf names the skip of C4 for a model's error: a server that cannot be had is "unreachable", one that answers but embeds nothing
// usable has "no usable embedding model".
func skipOf(err error) string {
	switch localllm.KindOf(err) {
	case localllm.KindUnreachable, localllm.KindTimeout, localllm.KindRateLimited, localllm.KindServer:
		return core.SkippedUnreachable
	default:
		return core.SkippedNoEmbedding
	}
}
