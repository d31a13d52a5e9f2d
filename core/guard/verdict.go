package guard

import (
	"context"
	"errors"

	"storozh/core"
	"storozh/core/judge"
	"storozh/core/localllm"
)

// verdictOf brings one question to a verdict. A verdict that flags is asked once more with the order of presentation swapped: a judge that goes
// by the order, and not by the texts, is found out, and the flag is marked unstable. The first answer stands either way. Where the second could
// not be had the verdict is not confirmed, which is no reason to keep it so.
func (w *work) verdictOf(ctx context.Context, q *question) (v core.Verdict, why string, err error) {
	v, why, err = w.verdict(ctx, q)
	if err != nil || w.opt.NoSwap || v.Label == "" || v.Label == core.OK {
		return v, why, err
	}
	swapped := judge.Swapped(w.opt.Secret, q.item, q.unit)
	second, lost, err := Verdict(ctx, w.complete, swapped, judge.SwappedShorter(w.opt.Secret, q.item, q.unit))
	if err != nil {
		return core.Verdict{}, "", err
	}
	v.Unstable = second.Label != v.Label // also where it brought no label: then nothing confirms the first
	q.passing = unanswered(lost)
	return v, "", nil
}

// unanswered tells whether a pair has no label because the model could not be had, and not for what it answered.
func unanswered(why string) bool {
	switch localllm.Kind(why) {
	case localllm.KindUnreachable, localllm.KindTimeout, localllm.KindRateLimited, localllm.KindServer, localllm.KindRefused, localllm.KindNoModel:
		return true
	}
	return false
}

// verdict asks the judge about one question.
func (w *work) verdict(ctx context.Context, q *question) (core.Verdict, string, error) {
	return Verdict(ctx, w.complete, judge.Build(w.opt.Secret, q.item, q.unit), judge.Shorter(w.opt.Secret, q.item, q.unit))
}

// Complete puts a prompt to a model and returns its answer.
type Complete func(ctx context.Context, p judge.Prompt) (string, error)

// Verdict asks once, and once more if the answer cannot be read: by the shorter prompt after an overflow, with more room after an answer
// that was cut off, else strictly. Without a readable answer there is no label, and why says what kept it away. err is only for a ctx that
// ended.
func Verdict(ctx context.Context, complete Complete, p, shorter judge.Prompt) (v core.Verdict, why string, err error) {
	if v, err = answer(ctx, complete, p); err == nil {
		return v, "", nil
	}
	if ctx.Err() != nil {
		return core.Verdict{}, "", ctx.Err()
	}
	first := localllm.KindOf(err)
	next, ok := secondTry(first, p, shorter)
	if !ok {
		return core.Verdict{}, string(first), nil
	}
	v, err = answer(ctx, complete, next)
	switch {
	case err == nil && first == localllm.KindTooLong && next.Cut:
		v.Reason = shortened + v.Reason
		return v, "", nil
	case err == nil:
		return v, "", nil
	case ctx.Err() != nil:
		return core.Verdict{}, "", ctx.Err()
	case first == localllm.KindCutOff && localllm.KindOf(err) == localllm.KindTooLong: // it is the room that does not fit
		return core.Verdict{}, reasonCutOff, nil
	}
	return core.Verdict{}, reasonUnjudged(err), nil
}

// secondTry is what to ask after an answer that failed; not ok where asking again is of no use. Kind "" is an answer that nobody can read.
func secondTry(kind localllm.Kind, p, shorter judge.Prompt) (next judge.Prompt, ok bool) {
	switch kind {
	case localllm.KindTooLong:
		return shorter, true
	case localllm.KindCutOff:
		return judge.Roomy(p), true
	case localllm.KindEmpty, "":
		return judge.Strict(p), true
	}
	return p, false
}

// answer asks once and reads the answer; one that was cut off counts if the verdict in it is whole.
func answer(ctx context.Context, complete Complete, p judge.Prompt) (core.Verdict, error) {
	text, err := complete(ctx, p)
	switch {
	case localllm.KindOf(err) == localllm.KindCutOff:
		if v, unread := judge.ReadCutOff(text); unread == nil {
			return v, nil
		}
		return core.Verdict{}, err
	case err != nil:
		return core.Verdict{}, err
	}
	return judge.Read(text)
}

// Opts are a prompt's options for a model.
func Opts(p judge.Prompt, model string) localllm.Opts {
	return localllm.Opts{System: p.System, MaxTokens: p.MaxTokens, Stop: p.Stop, Model: model, Schema: judge.Schema()}
}

func (w *work) complete(ctx context.Context, p judge.Prompt) (string, error) {
	return w.model.Complete(ctx, p.User, Opts(p, w.models.Judge))
}

// reasonCutOff is said of a pair whose answers ended at their token limit.
const reasonCutOff = "answer cut off"

// reasonUnjudged words why a pair has no label, as contra-check shows it.
func reasonUnjudged(err error) string {
	switch kind := localllm.KindOf(err); {
	case errors.Is(err, judge.ErrDisagree):
		return "answers disagree"
	case errors.Is(err, judge.ErrUnreadable):
		return "unreadable answer"
	case kind == localllm.KindCutOff:
		return reasonCutOff
	case kind == localllm.KindTooLong:
		return "too long"
	case kind == localllm.KindEmpty:
		return "empty answer"
	default:
		return string(kind)
	}
}
