package review

import (
	"encoding/hex"
	"slices"

	"storozh/core"
)

// MaxMissedNote bounds the note on a missed clash, in bytes.
const MaxMissedNote = 2_000

// UnitHash is ContentHash as a basis holds it.
func UnitHash(u core.Unit) string {
	sum := ContentHash(u)
	return hex.EncodeToString(sum[:])
}

// Miss completes a clash that a cosigner names: what the run had found of the unit and the item. Whether the corpus holds the item is the
// caller's to find out where ItemHash stays nil.
func Miss(u core.UnitResult, m core.Missed) core.Missed {
	m.UnitID, m.Unit = u.Unit.ID, UnitHash(u.Unit)
	for _, p := range u.Pairs {
		if p.Item == m.Item {
			m.ItemHash, m.Rank, m.Said = p.ItemHash, p.Rank, p.Label
		}
	}
	return m
}

// CheckMissed tells what is wrong with a clash that a cosigner names (or, with an empty label, takes back); empty: nothing. The words are
// for people.
func CheckMissed(u core.UnitResult, m core.Missed) string {
	switch {
	case m.Label != core.Contra && m.Label != core.Dup && m.Label != "":
		return "the label must be contra or dup, or withdrawn to take a word back"
	case m.Item == "":
		return "name the item of the corpus that the unit clashes with, by its id"
	case u.Unit.Normative == "":
		return "this unit has no text that is compared, so nothing can have been missed"
	case m.Item == u.Unit.ID || slices.Contains(u.Unit.Replaces, m.Item):
		return "this unit edits that very item, and is never compared with it"
	case len(m.Note) > MaxMissedNote:
		return "the note is longer than 2,000 bytes; shorten it"
	case m.Label != "" && slices.ContainsFunc(u.Pairs, func(p core.Pair) bool { return p.Item == m.Item && p.Label == m.Label }):
		return "the run found that: the item stands beside the unit as " + string(m.Label) + " already"
	}
	return ""
}
