package guard

import (
	"context"
	"fmt"
	"strings"

	"storozh/core"
	"storozh/core/localllm"
)

// What may be asked about, in bytes.
const (
	maxAskTitle = 1_000
	maxAskText  = 20_000
)

// Ask tells what Storozh would say of a statement: its nearest items in the corpus as last read, nearest first, and with judged the judge's
// label for each. Nothing of it becomes a unit or a run; vectors and verdicts are kept like those of a run, so that asking again costs
// nothing. core.ErrInvalid: no text, or too much; core.ErrUnavailable: the model could not be had. ctx bounds the wait.
func (g *Guard) Ask(ctx context.Context, title, text string, judged bool) ([]core.Pair, error) {
	title, text = strings.TrimSpace(title), strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, fmt.Errorf("%w: there is no statement to look for", core.ErrInvalid)
	case len(text) > maxAskText || len(title) > maxAskTitle:
		return nil, fmt.Errorf("%w: a statement may have %d bytes and its title %d", core.ErrInvalid, maxAskText, maxAskTitle)
	}
	w := &work{Guard: g, job: Job{Progress: func(core.Progress) {}}}
	u := &core.UnitResult{Unit: core.Unit{ID: "asked", Title: title, Text: text, Normative: text}}
	todo := []*core.UnitResult{u}
	var err error
	if w.models, err = g.model.Resolve(ctx); err != nil {
		return nil, unavailable(err)
	}
	if w.head, err = g.store.CorpusHead(ctx, g.opt.ShieldDir); err != nil {
		return nil, err
	}
	v, err := w.embed(ctx, todo, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	if err := w.newFinder(nil, todo).neighbours(ctx, todo, v.model); err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	if judged {
		a := w.startAsking(ctx)
		if err := a.end(a.add(todo)); err != nil {
			return nil, err
		}
	}
	return u.Pairs, nil
}

// unavailable tells the model's errors from the store's.
func unavailable(err error) error {
	if localllm.KindOf(err) == "" {
		return err
	}
	return fmt.Errorf("%w: the local model did not embed the statement: %w", core.ErrUnavailable, err)
}
