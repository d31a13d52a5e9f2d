package guard

import (
	"fmt"
	"strings"

	"storozh/core"
	"storozh/core/judge"
)

// When a verdict is not worth its label a reviewer must hear so before the flags. These are the least numbers of pairs that say
// something: five of five nearest items contradicted is no chance any more, and even a corpus of near copies makes few units repeat all.
const (
	sameContra   = 5
	sameDup      = 20
	sameUnstable = 5
)

// shortened begins the note of a verdict that was given on less than the pair's usual prompt holds.
const shortened = "judged by the heads of the texts: "

// notices are the warnings about finished units: texts of which not all was compared, and a judge whose answers do not depend on what it
// is asked. read is what the judge read of each item, by id.
func notices(units []*core.UnitResult, read map[string]judge.Text) []string {
	long := unread(units, read)
	if n := len(long) - maxUnread; n > 0 {
		long = append(long[:maxUnread], fmt.Sprintf("and %d more texts that are too long", n))
	}
	return append(long, unfit(units)...)
}

// maxUnread is how many texts that are too long are named.
const maxUnread = 20

// unread names what was too long.
func unread(units []*core.UnitResult, read map[string]judge.Text) (out []string) {
	long, heads := map[string]bool{}, 0
	for _, u := range units {
		if judge.Cut(textOfUnit(u.Unit)) && len(u.Pairs) > 0 {
			out = append(out, fmt.Sprintf("%s is too long: %s were compared, split it", u.Unit.ID, judge.Head))
		}
		for _, p := range u.Pairs {
			if judge.Cut(read[p.Item]) && !strings.HasPrefix(p.Item, core.SiblingPrefix) {
				long[p.Item] = true
			}
			if strings.HasPrefix(p.Note, shortened) {
				heads++
			}
		}
	}
	for _, u := range units { // in the order of the pairs, not of a map
		for _, p := range u.Pairs {
			if long[p.Item] {
				delete(long, p.Item)
				out = append(out, fmt.Sprintf("%s in the corpus is too long: %s were compared, split it", p.Item, judge.Head))
			}
		}
	}
	if heads > 0 {
		out = append(out, fmt.Sprintf("the context of the judge's model is too small: %s judged by no more than the first 1,200 characters and each Counter:, give it more and ask the model anew", counted(heads, "pair was", "pairs were")))
	}
	return out
}

// unfit finds a judge that says one thing whatever it is asked, or that goes by the order of the texts. Only what a model said in this
// run or an earlier one counts, not what was certain without it.
func unfit(units []*core.UnitResult) (out []string) {
	by, flagged, unstable, of := map[core.Label]int{}, 0, 0, 0
	for _, u := range units {
		for _, p := range u.Pairs {
			if p.Judge == "" || p.Label == "" {
				continue
			}
			of++
			by[p.Label]++
			if p.Label != core.OK {
				flagged++
			}
			if p.Unstable {
				unstable++
			}
		}
	}
	for _, l := range []struct {
		label core.Label
		least int
	}{{core.Contra, sameContra}, {core.Dup, sameDup}} {
		if of >= l.least && by[l.label] == of {
			out = append(out, fmt.Sprintf("all %d pairs were judged %s: the model may be unfit to judge, measure it with `web eval`", of, l.label))
		}
	}
	if flagged >= sameUnstable && unstable == flagged {
		out = append(out, fmt.Sprintf("none of the %d flagged pairs got the same label in swapped order: the model may be unfit to judge, measure it with `web eval`", flagged))
	}
	return out
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
