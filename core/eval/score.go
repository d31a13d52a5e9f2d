package eval

import (
	"cmp"
	"slices"
	"time"
	"unicode"

	"storozh/core"
)

// labels are the labels in the order of the report.
var labels = []core.Label{core.Contra, core.Dup, core.OK}

// Answer is what a judge made of a pair.
type Answer struct {
	ID       string     `json:"id"`
	Right    core.Label `json:"right"` // the label that people gave
	Label    core.Label `json:"label"` // empty: unjudged
	Reason   string     `json:"reason,omitempty"`
	Unjudged string     `json:"unjudged,omitempty"` // why
	// Swapped is the label with the unit shown first; empty: unjudged, or not asked.
	Swapped core.Label `json:"swapped,omitempty"`
}

// Call is one request to the model, as it was counted.
type Call struct {
	Prompt, Answer int // estimated tokens
	Took           time.Duration
}

// Score turns the answers to a set, in its order, into figures. Answers that the set lacks are an error of the caller's.
func Score(set Set, answers []Answer, calls []Call, swapped bool) core.JudgeScore {
	s := core.JudgeScore{Set: set.Name, SetHash: set.Hash, Pairs: len(set.Pairs), Calls: len(calls), Reasons: map[string]int{}}
	matrix := map[core.Label]map[core.Label]int{core.Contra: {}, core.Dup: {}, core.OK: {}}
	right, unjudged := 0, 0
	for i, p := range set.Pairs {
		a := answers[i]
		matrix[p.Label][a.Label]++
		switch a.Label {
		case "":
			unjudged++
			s.Reasons[a.Unjudged]++
		case p.Label:
			right++
		}
	}
	for _, l := range labels {
		s.Labels = append(s.Labels, labelScore(l, matrix))
	}
	s.Right, s.Unjudged = Wilson(right, len(set.Pairs)), Wilson(unjudged, len(set.Pairs))
	s.Kinds = groups(set, answers, Kinds, func(p Pair) string { return p.Kind })
	s.Languages = groups(set, answers, Languages, func(p Pair) string { return p.Lang })
	if swapped {
		s.Swap = swapScore(answers)
	}
	count(&s, calls)
	return s
}

func labelScore(l core.Label, m map[core.Label]map[core.Label]int) core.LabelScore {
	hits, is, said := m[l][l], 0, 0
	for _, n := range m[l] {
		is += n
	}
	for _, row := range m {
		said += row[l]
	}
	return core.LabelScore{
		Label: l, Answers: core.Tally{Contra: m[l][core.Contra], Dup: m[l][core.Dup], OK: m[l][core.OK], Unjudged: m[l][""]},
		Precision: Wilson(hits, said), Recall: Wilson(hits, is), F1: f1(hits, is-hits+said-hits),
	}
}

// groups scores the pairs by a property, in the order of names; a group without pairs is left out.
func groups(set Set, answers []Answer, names []string, of func(Pair) string) []core.GroupScore {
	var out []core.GroupScore
	for _, name := range names {
		right, all, unjudged := 0, 0, 0
		for i, p := range set.Pairs {
			if of(p) != name {
				continue
			}
			all++
			switch answers[i].Label {
			case p.Label:
				right++
			case "":
				unjudged++
			}
		}
		if all > 0 {
			out = append(out, core.GroupScore{Name: name, Right: Wilson(right, all), Unjudged: unjudged})
		}
	}
	return out
}

func swapScore(answers []Answer) *core.SwapScore {
	same, both := 0, 0
	for _, a := range answers {
		if a.Label == "" || a.Swapped == "" {
			continue
		}
		both++
		if a.Label == a.Swapped {
			same++
		}
	}
	return &core.SwapScore{Same: Wilson(same, both), Unjudged: len(answers) - both}
}

// count sums up what the calls cost.
func count(s *core.JudgeScore, calls []Call) {
	times := make([]time.Duration, 0, len(calls))
	for _, c := range calls {
		s.PromptTokens += c.Prompt
		s.AnswerTokens += c.Answer
		times = append(times, c.Took)
	}
	if len(times) == 0 {
		return
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	s.Median, s.P95, s.Slowest = quantile(times, 0.5), quantile(times, 0.95), times[len(times)-1]
}

// quantile is the smallest of the sorted times that at least the share q does not exceed.
func quantile(times []time.Duration, q float64) time.Duration {
	i := int(q * float64(len(times)))
	if float64(i) == q*float64(len(times)) && i > 0 {
		i--
	}
	return times[min(i, len(times)-1)]
}

// Tokens estimates how many tokens a text has: four Latin characters each, two of other scripts. Servers count in their own ways, and not
// all of them tell.
func Tokens(s string) int {
	latin, other := 0, 0
	for _, r := range s {
		if r <= unicode.MaxLatin1 {
			latin++
		} else {
			other++
		}
	}
	return (latin+3)/4 + (other+1)/2
}
