package views

import (
	"fmt"

	"storozh/core"
)

// Tab is one queue of the inbox.
type Tab struct {
	Name    string
	URL     string
	Count   int // -1: not counted
	Current bool
}

// Queues lists the queues in the order of the tabs.
func Queues() []core.Queue {
	return []core.Queue{core.QueueYours, core.QueueOther, core.QueueDisagree, core.QueueDone}
}

// QueueName is a queue's name in addresses.
func QueueName(q core.Queue) string {
	switch q {
	case core.QueueYours:
		return "yours"
	case core.QueueOther:
		return "other"
	}
	return string(q)
}

// queueBadge says whose turn a manifest is.
func queueBadge(q core.Queue) Badge {
	b := Badge{Kind: "none", Word: string(q)}
	switch q {
	case core.QueueYours:
		b.Kind = "turn"
	case core.QueueOther:
		b.Kind = "wait"
	case core.QueueDisagree:
		b.Kind = "warn"
	case core.QueueDone:
		b.Kind = "ok"
	}
	return b
}

// Standing is where the review of a manifest stands, for the reader.
type Standing struct {
	Known  bool // there is a judged run
	Badge  Badge
	Line   string
	Next   string     // the first flag that is open to the reader; empty: none
	Differ []FlagLink // flags on which both have decided, and not the same; at most listLimit
	More   int        // that are not listed
}

// differShown is how many disagreements stand open above the units; more are folded, so that the units stay in sight.
const differShown = 5

// FlagLink leads to a flag.
type FlagLink struct {
	URL, Unit, Label string
}

func newStanding(p Page, r core.Record, in ReviewInput) Standing {
	if r.Run.Status != core.Done || r.Run.Block == nil || !p.Signed.Valid() {
		return Standing{}
	}
	s := Standing{Known: true}
	flags := make([]core.FlagBasis, 0, len(in.Flags))
	by := map[core.FlagKey]FlagInput{}
	for _, f := range in.Flags {
		flags = append(flags, f.Flag)
		by[f.Flag.Key()] = f
	}
	mine, theirs, differ := 0, 0, 0
	for _, f := range UrgentFirst(flags, *r.Run.Block) {
		v := by[f.Key()]
		at := FlagURL(r.ID, f.Key(), false, "")
		if v.Mine == nil {
			mine++
			if s.Next == "" {
				s.Next = at
			}
		}
		if !v.OtherDecided {
			theirs++
		}
		if v.Mine != nil && v.Theirs != nil && v.Mine.Choice != v.Theirs.Choice {
			if differ++; differ <= listLimit {
				s.Differ = append(s.Differ, FlagLink{at, f.UnitID, f.Basis.Label})
			}
		}
	}
	s.More = differ - len(s.Differ)
	s.word(len(flags), mine, theirs, differ, p.Signed.Other())
	return s
}

// word chooses badge and sentence. Of the other's decisions it tells the number alone.
func (s *Standing) word(of, mine, theirs, differ int, other core.Cosigner) {
	rest := fmt.Sprintf("%s has decided %d of %d", other, of-theirs, of)
	switch {
	case of == 0:
		s.Badge, s.Line = queueBadge(core.QueueDone), "Nothing is flagged, so there is nothing to decide."
	case mine > 0:
		s.Badge, s.Line = queueBadge(core.QueueYours), fmt.Sprintf("%d of %s to decide; %s.", mine, plural(of, "flag"), rest)
	case theirs > 0:
		s.Badge, s.Line = queueBadge(core.QueueOther), fmt.Sprintf("You have decided all; %s.", rest)
	case differ > 0:
		s.Badge, s.Line = queueBadge(core.QueueDisagree), fmt.Sprintf("Both have decided, and differ on %s. Either may change their mind.", plural(differ, "flag"))
	default:
		s.Badge, s.Line = queueBadge(core.QueueDone), "Both have decided, and agree. The block holds both reviews."
	}
}
