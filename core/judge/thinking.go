package judge

import (
	"regexp"
	"slices"
	"strings"

	"storozh/core"
)

// thinkTag is a tag that models wrap their thinking in, at the start of a text; the groups are the slash of a closing one, by form.
// Harmony's channels are apart.
var thinkTag = regexp.MustCompile(`(?i)^(?:<\s*(/?)\s*(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|seed:think)(?:\s[^<>]*)?>` +
	`|\[(/?)THINK\]|◁(/?)think▷|<\|(begin|end)_of_(?:thought|thinking)\|>)`)

const (
	maxTag  = 256  // bytes of a tag with its attributes
	maxTags = 1000 // marks of thinking in an answer; one with more is no answer
)

// tag is one mark of thinking in a text.
type tag struct {
	at, end int
	closes  bool
}

// tags finds the marks of thinking in s, and stops at maxTags.
func tags(s string) (all []tag) {
	for i := 0; i < len(s) && len(all) < maxTags; i++ {
		if !mayBeTag(s[i:]) {
			continue
		}
		m := thinkTag.FindStringSubmatchIndex(s[i:min(i+maxTag, len(s))])
		if m == nil {
			continue
		}
		t := tag{at: i, end: i + m[1]}
		for g := 2; g < len(m); g += 2 {
			t.closes = t.closes || m[g] >= 0 && m[g+1] > m[g] && !strings.EqualFold(s[i+m[g]:i+m[g+1]], "begin")
		}
		all, i = append(all, t), t.end-1
	}
	return all
}

// mayBeTag looks at the first bytes of s: most are no tag, and a pattern is slow.
func mayBeTag(s string) bool {
	switch s[0] {
	case '<':
		return len(s) > 1 && s[1] != '<'
	case '[':
		return len(s) > 1 && (s[1] == '/' || s[1]|0x20 == 't')
	}
	return strings.HasPrefix(s, "◁")
}

// withoutTagsInObjects blanks the marks of thinking that stand inside JSON objects with a verdict: a reason may quote them, and
// there they begin and end nothing. Like [objects] it goes no further than the first broken object.
func withoutTagsInObjects(s string) string {
	var b strings.Builder
	for {
		at := startsObject.FindStringIndex(s)
		if at == nil {
			break
		}
		found, n, ok := object(s[at[0]:])
		if !ok {
			break
		}
		inner := s[at[0] : at[0]+n]
		b.WriteString(s[:at[0]])
		s = s[at[0]+n:]
		if len(found) > 0 {
			for _, t := range slices.Backward(tags(inner)) {
				inner = inner[:t.at] + " " + inner[t.end:]
			}
			inner = channelMark.ReplaceAllString(inner, " ")
		}
		b.WriteString(inner)
	}
	return b.String() + s
}

// channel begins a part of harmony's answer; what the marks of a channel leave behind is no text.
const (
	channel      = "<|channel|>"
	channelFinal = "<|channel|>final<|message|>"
)

var channelMark = regexp.MustCompile(`<\|[a-z_]+\|>`)

// countTags counts the marks of thinking in s.
func countTags(s string) int {
	return len(tags(s)) + strings.Count(strings.ToLower(s), channel)
}

// withoutThinking cuts off reasoning: closed blocks; everything before an end without a beginning (chat templates may swallow the
// opening tag); and, where a block has no end, everything from the first beginning on.
//
// Marks of thinking can be repeated from a text of the pair. So what is cut off is not forgotten where a repeated mark could have
// cut off the answer itself: aside is that text, and a verdict in it must not contradict (see [asides]). Inside a block that began
// and ended nothing is looked at.
func withoutThinking(s string) (rest, aside string) {
	var b, doubt strings.Builder
	if at := strings.LastIndex(s, channelFinal); at >= 0 {
		if !strings.HasPrefix(strings.TrimSpace(s), "<|") { // harmony begins with a mark; this was repeated further down
			doubt.WriteString(s[:at] + "\n")
		}
		s = channelMark.ReplaceAllString(s[at+len(channelFinal):], "\n")
	} else if at := strings.Index(s, channel); at >= 0 {
		doubt.WriteString(s[at:] + "\n")
		s = s[:at]
	}
	all := tags(s)
	if n := len(all); n > 0 && !all[n-1].closes {
		open := all[slices.IndexFunc(all, func(t tag) bool { return !t.closes })].at
		doubt.WriteString(s[open:])
		return s[:open], doubt.String()
	}
	from, inside := 0, false
	for _, t := range all {
		if !inside {
			b.WriteString(s[from:t.at] + "\n")
		}
		if t.closes && !inside {
			doubt.WriteString(b.String())
			b.Reset()
		}
		inside, from = !t.closes, t.end
	}
	b.WriteString(s[from:])
	return b.String(), doubt.String()
}

// answerLabel is a label as the form that is asked for writes it.
var answerLabel = regexp.MustCompile(`(?i)"(?:label|verdict)"\s*:\s*"([^"\\]{0,40})"`)

// asides are the labels in a text that was cut off but may be the answer itself.
func asides(s string) (all []found) {
	seen := map[core.Label]bool{}
	for _, m := range answerLabel.FindAllStringSubmatch(s, -1) {
		if l := labelValue(m[1]); l != unknown && !seen[l] {
			seen[l] = true
			all = append(all, found{label: l})
		}
	}
	return all
}
