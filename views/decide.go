package views

import (
	"fmt"
	"net/url"
	"sort"
	"strconv"

	"storozh/core"
)

// FlagInput is one flag with what the reader may see of its decisions.
type FlagInput struct {
	Flag         core.FlagBasis
	Run          int64 // the judged run that the page shows
	Seen         int64 // the reader's latest decision on this flag; 0: none
	Own          []core.Decision
	Mine         *core.Decision  // of Own: the one that holds
	Theirs       *core.Decision  // the other's that holds, if it is open to the reader
	OtherDecided bool            // whether or not it is open
	Before       []core.Decision // of other manifests or an earlier run, which cover this flag; only where Mine is nil
	Same         int             // other open flags that one decision may serve too
}

// FlagView is the decision panel of one flag.
type FlagView struct {
	FlagInput
	DOM   string // id of its element: the permalink
	Post  string // path of the manifest's page
	Other core.Cosigner
	Badge Badge
	Show  string // the filter that the page is under
	One   bool   // the page shows this unit alone
}

// flagMarkup is what the markup of a panel costs, besides its texts.
const flagMarkup = 2_600

func newFlag(p Page, base, show string, one bool, in FlagInput) FlagView {
	v := FlagView{FlagInput: in, DOM: FlagDOM(in.Flag.Key()), Post: base, Other: p.Signed.Other(), Show: show, One: one}
	v.Badge = Badge{Kind: in.Flag.Basis.Label, Word: in.Flag.Basis.Label}
	return v
}

// Differ tells whether both have decided, and not the same, as far as the reader may see it.
func (v FlagView) differ() bool {
	return v.Mine != nil && v.Theirs != nil && v.Mine.Choice != v.Theirs.Choice
}

// history are the reader's own earlier decisions, newest first: those that no longer count.
func (v FlagView) history() []core.Decision {
	var out []core.Decision
	for i := len(v.Own) - 1; i >= 0 && len(out) < listLimit; i-- {
		if v.Mine == nil || v.Own[i].ID != v.Mine.ID {
			out = append(out, v.Own[i])
		}
	}
	return out
}

// cost estimates the bytes of HTML that the panel takes.
func (v FlagView) cost() int {
	n := flagMarkup + 7*len(v.Flag.UnitID)
	for _, d := range v.history() {
		n += 300 + Excerpt{Text: d.Rationale}.cost()
	}
	for _, d := range append(v.Before, v.decided()...) {
		n += 400 + 2*Excerpt{Text: d.Rationale}.cost()
	}
	return n
}

// decided are the decisions that stand side by side.
func (v FlagView) decided() []core.Decision {
	var out []core.Decision
	for _, d := range []*core.Decision{v.Mine, v.Theirs} {
		if d != nil {
			out = append(out, *d)
		}
	}
	return out
}

// same words the checkbox that lets one decision serve the identical flags too.
func (v FlagView) same() string {
	if v.Same == 1 {
		return "the same for the 1 identical flag"
	}
	return fmt.Sprintf("the same for the %d identical flags", v.Same)
}

// who names the author of a decision to the reader.
func (v FlagView) who(c core.Cosigner) string {
	if c == v.Other {
		return string(c)
	}
	return "you"
}

// FlagDOM is the id of a flag's panel, and so its permalink. It stays the same from run to run.
func FlagDOM(k core.FlagKey) string {
	return "flag-" + domID(k.UnitID)[len("unit-"):] + "-" + string(k.Kind)
}

// FlagURL is the path of a flag on its manifest's page: alone if one is set, else on the page that holds it, under the filter show.
func FlagURL(manifest int64, k core.FlagKey, one bool, show string) string {
	q := url.Values{"at": {core.UnitMark(k.UnitID)}}
	switch {
	case one:
		q = url.Values{"unit": {k.UnitID}}
	case show != "":
		q.Set("show", show)
	}
	return manifestURL(manifest) + "?" + q.Encode() + "#" + FlagDOM(k)
}

// UrgentFirst puts flags into the order of the page.
func UrgentFirst(flags []core.FlagBasis, b core.Block) []core.FlagBasis {
	by := make(map[string]core.Flag, len(b.Flags))
	for _, f := range b.Flags {
		by[f.Unit] = f
	}
	out := append([]core.FlagBasis{}, flags...)
	sort.SliceStable(out, func(i, j int) bool {
		return core.UnitResult{Flag: by[out[i].UnitID]}.Urgency() < core.UnitResult{Flag: by[out[j].UnitID]}.Urgency()
	})
	return out
}

// choice is one button of the decision form.
type choice struct {
	Choice core.Choice
	Word   string
	Hint   string
	Key    string
}

// choices are the buttons in the order of the keys 1–4.
func choices() []choice {
	hints := map[core.Choice]string{
		core.Land: "no obstacle: it goes in as it is", core.Fix: "the flag is right: the unit is to be changed",
		core.Accept: "the flag is right and the unit stays, for the reason given", core.DropAsDup: "the unit adds nothing and goes",
	}
	var out []choice
	for i, c := range core.Choices() {
		out = append(out, choice{c, ChoiceWord(c), hints[c], strconv.Itoa(i + 1)})
	}
	return out
}

// ChoiceWord is a choice for people.
func ChoiceWord(c core.Choice) string {
	if c == core.DropAsDup {
		return "drop as dup"
	}
	return string(c)
}
