package judge

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"storozh/core"
)

// Why an answer yields no verdict. Both lead to one strict retry, then to an unjudged pair.
var (
	ErrUnreadable = errors.New("the answer holds no readable label")
	ErrDisagree   = errors.New("the answer holds labels that disagree")
)

const (
	maxAnswer   = 256 << 10 // bytes, thinking included
	maxVerdicts = 16 << 10  // bytes, thinking cut off
	maxReason   = 300       // runes
)

// unknown is the label of a verdict that says something else than a label: it agrees with nothing.
const unknown core.Label = "?"

// found is one verdict in an answer.
type found struct {
	label  core.Label
	reason string
}

// Read finds the one verdict of an answer (design §5, cases L2 and J1), or [ErrUnreadable] or [ErrDisagree]. Thinking is cut off
// first; of what remains, every verdict counts, and all must agree, with those that only look like verdicts, too. A text of the
// pair that a model repeats can therefore make an answer unreadable, but never lend it another label: see [withoutThinking].
func Read(answer string) (core.Verdict, error) {
	if len(answer) > maxAnswer {
		return core.Verdict{}, fmt.Errorf("judge: %w: it has %d bytes", ErrUnreadable, len(answer))
	}
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	all, whole := wholeObject(answer)
	if !whole {
		answer = withoutTagsInObjects(answer)
		if n := countTags(answer); n >= maxTags || n != countTags(plain(answer)) {
			return core.Verdict{}, fmt.Errorf("judge: %w: its marks of thinking are too many, or only look like ones", ErrUnreadable)
		}
		rest, aside := withoutThinking(answer)
		if len(rest) > maxVerdicts {
			return core.Verdict{}, fmt.Errorf("judge: %w: it has %d bytes without the thinking", ErrUnreadable, len(rest))
		}
		if all = visible(rest); len(all) > 0 { // a verdict aside can contradict, but is none itself
			all = append(all, asides(aside)...)
		}
	}
	return agree(all)
}

// agree is the verdict that all found ones share.
func agree(all []found) (core.Verdict, error) {
	if len(all) == 0 {
		return core.Verdict{}, fmt.Errorf("judge: %w", ErrUnreadable)
	}
	v := core.Verdict{Label: all[0].label}
	for _, f := range all {
		if f.label != v.Label {
			return core.Verdict{}, fmt.Errorf("judge: %w", ErrDisagree)
		}
		if v.Reason == "" {
			v.Reason = clean(f.reason)
		}
	}
	if v.Label == unknown {
		return core.Verdict{}, fmt.Errorf("judge: %w", ErrUnreadable)
	}
	return v, nil
}

// labelValue maps the value of a label key. Only these words are labels; anything else is unknown, also a letter of another script
// that folds to one of theirs (the Kelvin sign is a k in lower case).
func labelValue(s string) core.Label {
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }) {
		return unknown
	}
	switch strings.ToLower(strings.Trim(strings.TrimSpace(s), "\"'`*_. ")) {
	case "contra", "contradiction":
		return core.Contra
	case "dup", "duplicate":
		return core.Dup
	case "ok":
		return core.OK
	}
	return unknown
}

// clean makes a reason one line of at most 300 runes, without characters that nobody sees.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxReason {
		s = strings.TrimSpace(string(r[:maxReason-1])) + "…"
	}
	return s
}
