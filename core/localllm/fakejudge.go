package localllm

import (
	"regexp"
	"strings"

	"storozh/core"
)

// opposites are words that turn a statement round when one takes the place of the other; by their stems.
var opposites = stemmed(`utc local, enable disable, before after, first last, public private, include exclude, accept reject, tabs spaces,
	ascending descending, minimum maximum, increase decrease, open closed, allow deny, squash merge, keep delete, encrypted plain, local remote,
	sync async, add remove, left right, mandatory optional, utc локальный, utc местный, включать выключать, включен выключен, перед после, до после,
	первый последний, публичный приватный, открытый закрытый, открыто закрыто, принимать отклонять, хранить удалять, добавлять удалять,
	русский английский, слева справа, максимум минимум, разрешать запрещать`)

func stemmed(pairs string) (out [][2]string) {
	for pair := range strings.SplitSeq(pairs, ",") {
		w := strings.Fields(pair)
		out = append(out, [2]string{stem(w[0]), stem(w[1])})
	}
	return out
}

// A text's stance is odd when it forbids what it names.
var (
	negation  = regexp.MustCompile(`(?i)(^|[^\p{L}])(not|never|no|cannot|without|forbidden|prohibited|banned|avoid|forbid|refuse|stop|\p{L}+n[’']t|не|нет|нельзя|никогда|без|запрещено|запрещается|запрещен|запрещены|избегайте)($|[^\p{L}])`)
	doubled   = regexp.MustCompile(`(?i)(^|[^\p{L}])(?:никогда|нигде|никто|ничего|никому|ни)\s(?:[^.!?;]*\s)?не(?:\s|$)`)
	idle      = regexp.MustCompile(`(?i)not only|no matter|not just|no later than|no more than|no fewer than|не только|не позднее|не более|не менее`)
	duty      = regexp.MustCompile(`(?i)(^|[^\p{L}])(must|always|required|shall|every|обязан\p{L}*|долж\p{L}+|всегда|обязательн\p{L}*)($|[^\p{L}])`)
	free      = regexp.MustCompile(`(?i)(^|[^\p{L}])(optional|voluntary|need not|needn[’']t|not required|not needed|may be skipped|can be skipped|необязательн\p{L}*|по желанию|можно пропу\p{L}+)($|[^\p{L}])`)
	reports   = regexp.MustCompile(`(?i)(^|[^\p{L}])(said|says|reported|used to|formerly|previously|until \d{4}|was violated|violation|раньше|сказал\p{L}*|сообщил\p{L}*|прежде|нарушил\p{L}*|нарушени\p{L}*)($|[^\p{L}])`)
	exception = regexp.MustCompile(`(?i)(^|[^\p{L}])(except|unless|apart from|кроме|за исключением)($|[^\p{L}])`)
)

// compare is the demo judge: it asks for contra before dup, as the real instruction does.
func compare(item, unit fakeText) (core.Label, string) {
	demand, counter := item.rule()
	said, _ := unit.rule()
	a, numA := subject(demand)
	b, numB := subject(said)
	turns := turned(a, b)
	shared := common(a, b) + turns
	switch smaller := min(len(a), len(b)); {
	case shared < 2 || float64(shared) < 0.5*float64(smaller):
		return core.OK, "the two texts share few words"
	case reports.MatchString(said) && !reports.MatchString(demand):
		return core.OK, "the unit reports or quotes"
	case counter != "" && excused(counter, said):
		return core.OK, "the item's Counter covers it"
	case exception.MatchString(said) && !exception.MatchString(demand):
		return core.OK, "the unit states an exception"
	}
	flips := turns + stance(demand) + stance(said)
	dropped := duty.MatchString(demand) && free.MatchString(said) || free.MatchString(demand) && duty.MatchString(said) && !free.MatchString(said)
	narrow := float64(shared) < 0.45*float64(max(len(a), len(b)))
	switch {
	case narrow:
		return core.OK, "the subjects differ"
	case dropped:
		return core.Contra, "one demands what the other leaves free"
	case flips%2 == 1:
		return core.Contra, "the same subject with the opposite demand"
	case len(numA) > 0 && len(numB) > 0 && common(numA, numB) < min(len(numA), len(numB)):
		return core.Contra, "the same subject with another number"
	case shared == 0 || 10*shared < 6*(len(a)+len(b)-shared):
		return core.OK, "related, and both can be followed"
	default:
		return core.Dup, "almost the same words"
	}
}

// stance is 1 if a text forbids, 0 if it demands; two negations cancel out.
func stance(text string) int {
	text = idle.ReplaceAllString(text, " ")
	text = doubled.ReplaceAllString(text, "${1}не ") // Russian says it twice and means it once
	n := 0
	for _, part := range strings.Fields(text) { // by word: neighbours would share a border
		if negation.MatchString(part) {
			n++
		}
	}
	return n % 2
}

// turned counts the opposites of which a and b hold one side each.
func turned(a, b map[string]bool) int {
	n := 0
	for _, o := range opposites {
		x, y := o[0], o[1]
		if a[x] && b[y] && !a[y] && !b[x] || a[y] && b[x] && !a[x] && !b[y] {
			n++
		}
	}
	return n
}

// excused tells whether a unit lies in what a Counter names.
func excused(counter, said string) bool {
	c, _ := subject(counter)
	u, _ := subject(said)
	return len(c) > 0 && 10*common(c, u) >= 6*len(c)
}

func common(a, b map[string]bool) int {
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
