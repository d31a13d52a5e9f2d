package judge

import (
	"errors"
	"fmt"
	"regexp"
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
// first; of what remains, every verdict counts, and all must agree.
func Read(answer string) (core.Verdict, error) {
	if len(answer) > maxAnswer {
		return core.Verdict{}, fmt.Errorf("judge: %w: it has %d bytes", ErrUnreadable, len(answer))
	}
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	all, whole := wholeObject(answer)
	if !whole {
		rest := withoutThinking(answer)
		if len(rest) > maxVerdicts {
			return core.Verdict{}, fmt.Errorf("judge: %w: it has %d bytes without the thinking", ErrUnreadable, len(rest))
		}
		all, rest = objects(rest)
		all = append(all, inText(rest, len(all) > 0)...)
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

// labelValue maps the value of a label key. Only these words are labels; anything else is unknown.
func labelValue(s string) core.Label {
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

// The tags that models wrap their thinking in; harmony's channels are apart.
var thinkTag = regexp.MustCompile(`(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|seed:think)>|\[(/?)THINK\]`)

const harmonyFinal = "<|channel|>final<|message|>"

// withoutThinking cuts off reasoning: closed blocks, a block without an end up to the end, and everything before an end without a
// beginning (chat templates may swallow the opening tag).
func withoutThinking(s string) string {
	if i := strings.LastIndex(s, harmonyFinal); i >= 0 {
		s, _, _ = strings.Cut(s[i+len(harmonyFinal):], "<|")
	} else if i := strings.Index(s, "<|channel|>"); i >= 0 {
		s = s[:i]
	}
	var b strings.Builder
	from, inside := 0, false
	for _, m := range thinkTag.FindAllStringSubmatchIndex(s, -1) {
		closes := strings.Contains(s[m[0]:m[1]], "/")
		switch {
		case closes && !inside:
			b.Reset()
		case !closes && !inside:
			b.WriteString(s[from:m[0]])
			b.WriteByte('\n')
		}
		inside, from = !closes, m[1]
	}
	if !inside {
		b.WriteString(s[from:])
	}
	return b.String()
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
