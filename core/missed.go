package core

import "time"

// AuditMissed is the audit's word for a clash that was named or taken back.
const AuditMissed AuditKind = "missed clash"

// Missed is a clash between a unit and an item that a cosigner knows of and that no run flagged. It is kept to measure recall by and is
// never a flag or a label: no model said it. Rows are only ever added; of a cosigner's rows about the same two contents the latest holds.
type Missed struct {
	ID         int64
	ManifestID int64
	RunID      int64 // the judged run that was on the page
	UnitID     string
	Unit       string // hex SHA-256 of the unit's content, as in Basis
	Item       string // id
	ItemHash   []byte // SHA-256 of the item's text; nil on the way in: as the corpus has it now
	Label      Label  // contra or dup; empty: taken back
	Rank       int    // of the item among the unit's pairs; 0: the retrieval did not bring it
	Said       Label  // what the judge said of it; empty: nothing, or it was not asked
	Note       string
	By         Cosigner
	At         time.Time // UTC; set by the database
}

// InUse counts the clashes that reviewers know of, each (unit content, item content) once, over all runs but those of the demo model and
// of the sample.
type InUse struct {
	// Found were flagged, both cosigners have decided the flag, and at least one of them confirmed it (fix or drop as dup). A flag that
	// only one has decided is in no number, so that it gives nothing away.
	Found      int
	NotBrought int // named by a cosigner: the retrieval did not bring the item
	OtherLabel int // named by a cosigner: the item was brought, and judged otherwise or not at all
}

// Known counts all of them.
func (u InUse) Known() int { return u.Found + u.NotBrought + u.OtherLabel }
