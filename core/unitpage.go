package core

import (
	"crypto/sha256"
	"encoding/hex"
)

// The filters of the units of a run, by the name they have in addresses. Any other name means all.
const (
	ShowAll      = "all"
	ShowOpen     = "open" // a flag that the reader has still to decide
	ShowFlagged  = "flagged"
	ShowMisroute = "misroute"
	ShowContra   = "contra"
	ShowDup      = "dup"
	ShowUnjudged = "unjudged"
	ShowOK       = "ok" // neither flagged nor unjudged
)

// UnitFilters lists the filters in the order of their links.
func UnitFilters() []string {
	return []string{ShowAll, ShowOpen, ShowFlagged, ShowMisroute, ShowContra, ShowDup, ShowUnjudged, ShowOK}
}

// How urgent a unit is, the most urgent first.
const (
	UrgentClash    = iota // a contradiction, or a misroute across lanes
	UrgentFlag            // another flag
	UrgentUnjudged        // no flag, and no label where there should be one
	UrgentNot             // nothing to decide
)

// Urgency orders the units of a run. The database orders its pages by the same rule (db.UnitPage).
func (u UnitResult) Urgency() int {
	switch {
	case u.Flag.Semantic == Contra, u.Flag.Routing == Misroute && u.Flag.Severity == CrossLane:
		return UrgentClash
	case u.Flag.Flagged():
		return UrgentFlag
	case u.Unjudged:
		return UrgentUnjudged
	}
	return UrgentNot
}

// UnitQuery asks for one page of what a run found, the most urgent first: contradictions and cross-lane misroutes, other flags, units that
// lack their label, the rest; each of these in the block's order.
type UnitQuery struct {
	ManifestID int64
	RunID      int64
	Reader     Cosigner // whose decisions ShowOpen goes by
	Show       string   // one of UnitFilters
	Find       string   // what name, title or text of the unit or the name of a neighbour must hold, in any letter case; empty: all
	At         string   // UnitMark of the unit whose page is asked for; empty or not among the units: From counts
	From       int      // units before the page
	Limit      int      // units on a page; 0: none, the counts alone
}

// UnitPage is one page of what a run found.
type UnitPage struct {
	Units  []UnitResult   // each with its pairs, nearest first
	From   int            // units before the page
	Counts map[string]int // units under each of UnitFilters, of those that Find keeps
	Judged int            // pairs with a label, of the whole run
	Cached int            // of these: the label came from an earlier run
}

// UnitMark is a short name of a unit for addresses: 12 hex digits. Unit ids hold any character, so it is a hash; it stays the same from run to
// run.
func UnitMark(unit string) string {
	sum := sha256.Sum256([]byte(unit))
	return hex.EncodeToString(sum[:6])
}
