package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"storozh/core"
	"storozh/core/localllm"
)

const (
	maxAside = 8 // items that a run sets aside; with more of them the model is taken for broken
	doubtful = 2 // texts without a vector, one after the other, from which on the model has to show that it works
)

// embedChunk is embedTexts for a batch that may hold a text for which the model gives no vector (some answer certain texts with null, NaN or an
// error of theirs). One such item must not keep every manifest from being compared: it is set aside, and a warning names it. A unit's own text
// is not: then there is nothing to compare.
func (w *work) embedChunk(ctx context.Context, m embedder, chunk []pendingText, v *vectors) error {
	all := w.embedTexts(ctx, m, chunk, v)
	if !aboutText(all) {
		return all
	}
	works, aside := false, []string(nil)
	for i, p := range chunk {
		err := all
		if len(chunk) > 1 {
			err = w.embedTexts(ctx, m, chunk[i:i+1], v)
		}
		switch {
		case err == nil:
			works = true
			continue
		case !aboutText(err) || p.item == "" || v.wanted[string(p.hash)] || len(v.aside)+len(aside) == maxAside:
			return err
		}
		aside = append(aside, p.item)
		if !works && (len(aside) == doubtful || len(aside) == len(chunk)) {
			if works, err = w.stillEmbeds(ctx, m, v); err != nil || !works {
				return errors.Join(err, all)
			}
		}
	}
	v.aside = append(v.aside, aside...)
	return nil
}

// aboutText tells whether an error of the embedding model may be about one text.
func aboutText(err error) bool {
	switch localllm.KindOf(err) {
	case localllm.KindMalformed, localllm.KindServer:
		return true
	}
	return false
}

// stillEmbeds tells whether the model gives a vector for a text for which it has given one before.
func (w *work) stillEmbeds(ctx context.Context, m embedder, v *vectors) (bool, error) {
	item, _, err := w.store.SampleEmbedding(ctx, w.opt.ShieldDir, v.model)
	if errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = m.ask(ctx, []string{m.words(textOfItem(item))})
	return err == nil, ctx.Err()
}

func asideNotice(model string, items []string) string {
	return fmt.Sprintf("%s compared with nothing: %s gives no vector for %s",
		counted(len(items), "item of the shield corpus was", "items of the shield corpus were"), model, strings.Join(items, ", "))
}
