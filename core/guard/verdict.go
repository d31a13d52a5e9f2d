package guard

import (
	"context"
	"errors"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// verdictOf brings one question to a verdict. A verdict that flags is asked once more with the order of presentation swapped: a judge that goes
// by the order, and not by the texts, is found out, and the flag is marked unstable. The first answer stands either way.
func (w *work) verdictOf(ctx context.Context, q *question) (v core.Verdict, why string, err error) {
	v, why, err = w.verdict(ctx, q)
	if err != nil || w.opt.NoSwap || v.Label == "" || v.Label == core.OK {
		return v, why, err
	}
	second, err := answer(ctx, w.complete, judge.Swapped(w.opt.Secret, q.item, q.unit))
	if ctx.Err() != nil {
		return core.Verdict{}, "", ctx.Err()
	}
	v.Unstable = err != nil || second.Label != v.Label
	return v, "", nil
}

// verdict asks the judge about one question.
func (w *work) verdict(ctx context.Context, q *question) (core.Verdict, string, error) {
	return Verdict(ctx, w.complete, judge.Build(w.opt.Secret, q.item, q.unit), judge.Shorter(w.opt.Secret, q.item, q.unit))
}

// Complete puts a prompt to a model and returns its answer.
type Complete func(ctx context.Context, p judge.Prompt) (string, error)

// Verdict asks once, and once more strictly, or by the shorter prompt after an overflow, if the answer cannot be read. Without a readable
// answer there is no label, and why says what kept it away. err is only for a ctx that ended.
func Verdict(ctx context.Context, complete Complete, p, shorter judge.Prompt) (v core.Verdict, why string, err error) {
	if v, err = answer(ctx, complete, p); err == nil {
		return v, "", nil
	}
	switch kind := localllm.KindOf(err); {
	case ctx.Err() != nil:
		return core.Verdict{}, "", ctx.Err()
	case kind == localllm.KindTooLong:
		p = shorter
	case kind == localllm.KindEmpty, kind == "":
		p = judge.Strict(p)
	default:
		return core.Verdict{}, string(kind), nil
	}
	if v, err = answer(ctx, complete, p); err == nil {
		return v, "", nil
	}
	if ctx.Err() != nil {
		return core.Verdict{}, "", ctx.Err()
	}
	return core.Verdict{}, reasonUnjudged(err), nil
}

// answer asks once and reads the answer.
func answer(ctx context.Context, complete Complete, p judge.Prompt) (core.Verdict, error) {
	text, err := complete(ctx, p)
	if err != nil {
		return core.Verdict{}, err
	}
	return judge.Read(text)
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
