// Package review holds the rules by which two cosigners decide (design §9). It is pure: it is given what a run found and what was
// decided, and says what is open, what holds and what is done.
//
// The model: a flag has a basis (see core.Basis). A decision holds for a flag while the flag has the decision's basis; the latest one of a
// cosigner counts. A cosigner is done when every misroute, contra and dup has a decision of theirs that holds. Nothing a cosigner decided
// is shown to the other before both have decided that flag, unless the other asked to see it.
package review

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"

	"storozh/core"
)

// ContentHash is the SHA-256 of what a decision about a unit rests on: its type and its text.
func ContentHash(u core.Unit) [32]byte {
	text := u.Normative
	if text == "" {
		text = u.Text + "\x00" + u.Diff
	}
	return sha256.Sum256([]byte(string(u.Type) + "\x00" + u.Title + "\x00" + text))
}

// Flags lists what is to be decided about the units of a run, in their order: a unit's misroute before its label.
func Flags(units []core.UnitResult) []core.FlagBasis {
	var out []core.FlagBasis
	for _, u := range units {
		if !u.Flag.Flagged() {
			continue
		}
		sum := ContentHash(u.Unit)
		unit := hex.EncodeToString(sum[:])
		if u.Flag.Routing == core.Misroute {
			out = append(out, core.FlagBasis{UnitID: u.Unit.ID, Basis: core.Basis{
				Flag: core.FlagRouting, Label: string(core.Misroute), Unit: unit, Covers: []string{u.Flag.ObservedRepo + ">" + u.Flag.ExpectedRepo},
			}})
		}
		if u.Flag.Semantic == core.Contra || u.Flag.Semantic == core.Dup {
			out = append(out, core.FlagBasis{UnitID: u.Unit.ID, Basis: core.Basis{
				Flag: core.FlagSemantic, Label: string(u.Flag.Semantic), Unit: unit, Covers: covers(u),
			}})
		}
	}
	return out
}

// covers lists content and label of every item in `against`.
func covers(u core.UnitResult) []string {
	var out []string
	for _, p := range u.Pairs {
		if p.Label == u.Flag.Semantic && slices.Contains(u.Flag.Against, p.Item) {
			out = append(out, hex.EncodeToString(p.ItemHash)+":"+string(p.Label))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// State is where a manifest's review stands.
type State struct {
	Flags   []core.FlagBasis
	Holding map[core.FlagKey]map[core.Cosigner]core.Decision // the latest decision of each cosigner that holds
}

// Of weighs decisions (of one manifest, any order) against the flags of its latest run.
func Of(flags []core.FlagBasis, decisions []core.Decision) State {
	s := State{Flags: flags, Holding: map[core.FlagKey]map[core.Cosigner]core.Decision{}}
	basis := make(map[core.FlagKey]core.Basis, len(flags))
	for _, f := range flags {
		basis[f.Key()] = f.Basis
		s.Holding[f.Key()] = map[core.Cosigner]core.Decision{}
	}
	for _, d := range decisions {
		k := core.FlagKey{UnitID: d.UnitID, Kind: d.Basis.Flag}
		b, flagged := basis[k]
		if !flagged || !Same(b, d.Basis) {
			continue
		}
		if old, ok := s.Holding[k][d.By]; !ok || d.ID > old.ID {
			s.Holding[k][d.By] = d
		}
	}
	return s
}

// Same tells whether two bases are the same.
func Same(a, b core.Basis) bool {
	return a.Flag == b.Flag && a.Label == b.Label && a.Unit == b.Unit && slices.Equal(a.Covers, b.Covers)
}

// Open counts the flags that a cosigner has still to decide.
func (s State) Open(c core.Cosigner) int {
	n := 0
	for _, f := range s.Flags {
		if _, ok := s.Holding[f.Key()][c]; !ok {
			n++
		}
	}
	return n
}

// Done tells whether a cosigner has decided every flag. Where nothing is flagged nothing is to be decided.
func (s State) Done(c core.Cosigner) bool { return s.Open(c) == 0 }

// BothDone tells whether the review is over.
func (s State) BothDone() bool { return s.Done(core.Owner) && s.Done(core.Claude) }

// Differ lists the flags on which both have decided, and not the same.
func (s State) Differ() []core.FlagKey {
	var out []core.FlagKey
	for _, f := range s.Flags {
		by := s.Holding[f.Key()]
		o, okO := by[core.Owner]
		c, okC := by[core.Claude]
		if okO && okC && o.Choice != c.Choice {
			out = append(out, f.Key())
		}
	}
	return out
}

// Queue says whose turn it is, for c. It gives nothing away about single decisions before both are done.
func (s State) Queue(c core.Cosigner) core.Queue {
	switch {
	case !s.Done(c):
		return core.QueueYours
	case !s.Done(c.Other()):
		return core.QueueOther
	case len(s.Differ()) > 0:
		return core.QueueDisagree
	default:
		return core.QueueDone
	}
}

// Visible tells whether c may see what the other decided on a flag: both have decided it, or c asked to see it.
func (s State) Visible(k core.FlagKey, c core.Cosigner, asked bool) bool {
	by := s.Holding[k]
	_, mine := by[c]
	_, theirs := by[c.Other()]
	return theirs && (mine || asked)
}

// Reviews is the part of the block that both decisions make, owner first; nil until both are done, and where nothing was flagged.
func (s State) Reviews() []core.Review {
	if len(s.Flags) == 0 || !s.BothDone() {
		return nil
	}
	var out []core.Review
	for _, c := range []core.Cosigner{core.Owner, core.Claude} {
		r := core.Review{By: c, Decisions: []core.ReviewDecision{}}
		var last time.Time
		for _, f := range s.Flags {
			d := s.Holding[f.Key()][c]
			if d.At.After(last) {
				last = d.At
			}
			r.Decisions = append(r.Decisions, core.ReviewDecision{Unit: f.UnitID, Flag: f.Basis.Flag, Decision: d.Choice, Rationale: d.Rationale})
		}
		r.DoneAt = last.UTC().Format("2006-01-02T15:04:05Z")
		out = append(out, r)
	}
	return out
}

// Carry finds what was decided before about the same clash: the latest earlier decision whose unit content and label are the flag's and
// that covered everything the flag is held against (content and label). A new contradiction is therefore never hidden: it is not covered.
func Carry(f core.FlagBasis, earlier []core.Decision) (core.Decision, bool) {
	var best core.Decision
	for _, d := range earlier {
		if d.ID > best.ID && d.Basis.Flag == f.Basis.Flag && d.Basis.Label == f.Basis.Label && d.Basis.Unit == f.Basis.Unit && coversAll(d.Basis, f.Basis) {
			best = d
		}
	}
	return best, best.ID != 0
}

func coversAll(earlier, now core.Basis) bool {
	if len(now.Covers) == 0 {
		return false
	}
	for _, c := range now.Covers {
		if !slices.Contains(earlier.Covers, c) {
			return false
		}
	}
	return true
}

// Identical tells whether two flags of a manifest are so alike that one decision may serve both at once: the same kind and label, held
// against the same.
func Identical(a, b core.FlagBasis) bool {
	return a.Basis.Flag == b.Basis.Flag && a.Basis.Label == b.Basis.Label && slices.Equal(a.Basis.Covers, b.Basis.Covers)
}

// MaxRationale bounds a rationale, in bytes.
const MaxRationale = 10_000

// seen tells whether a reader can see a character: a rationale of zero-width ones gives no reason.
func seen(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// Check tells what is wrong with a decision that a cosigner hands in; empty: nothing. The words are for people.
func Check(c core.Choice, kind core.FlagKind, rationale string) string {
	switch {
	case !c.Valid():
		return "the decision must be land, fix, accept or drop-as-dup"
	case !kind.Valid():
		return "the flag must be routing or semantic"
	case c == core.Accept && !strings.ContainsFunc(rationale, seen):
		return "accepting a flag needs a rationale: say why it may stay"
	case len(rationale) > MaxRationale:
		return "the rationale is longer than 10,000 bytes; shorten it"
	}
	return ""
}
