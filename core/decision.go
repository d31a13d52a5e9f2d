package core

import "time"

// FlagKind tells which of a unit's two flags is meant.
type FlagKind string

// The two kinds of flags.
const (
	FlagRouting  FlagKind = "routing"  // a misroute
	FlagSemantic FlagKind = "semantic" // a contra or a dup
)

// Valid tells whether k is one of the two.
func (k FlagKind) Valid() bool { return k == FlagRouting || k == FlagSemantic }

// Choice is what a cosigner decides about a flag (design §9).
type Choice string

// The choices. Accept needs a rationale, the others may have one.
const (
	Land      Choice = "land"        // the flag is no obstacle: it goes in as it is
	Fix       Choice = "fix"         // it is right: the unit is to be changed
	Accept    Choice = "accept"      // it is right and stays, for the reason given
	DropAsDup Choice = "drop-as-dup" // the unit adds nothing and goes
)

// Choices lists them in the order of the keys 1–4.
func Choices() []Choice { return []Choice{Land, Fix, Accept, DropAsDup} }

// Valid tells whether c is one of the four.
func (c Choice) Valid() bool { return c == Land || c == Fix || c == Accept || c == DropAsDup }

// Basis is what a decision was about. It holds exactly as long as the flag has this basis: another label, another text of the unit or
// of an item it is held against, and the decision has lapsed.
type Basis struct {
	Flag   FlagKind
	Label  string   // misroute, contra or dup
	Unit   string   // hex SHA-256 of the unit's content
	Covers []string // routing: `observed>expected`; semantic: `<hex hash of the item's text>:<label>` of each item in against, sorted
}

// FlagBasis is one flag that wants a decision from each cosigner, with what it rests on.
type FlagBasis struct {
	UnitID string
	Basis  Basis
}

// FlagKey names a flag within a manifest.
type FlagKey struct {
	UnitID string
	Kind   FlagKind
}

// Key gives the flag's name.
func (f FlagBasis) Key() FlagKey { return FlagKey{f.UnitID, f.Basis.Flag} }

// Decision is one cosigner's word on one flag. Decisions are only ever added: a change of mind is a later one.
type Decision struct {
	ID         int64
	ManifestID int64
	RunID      int64 // the run that was on the page
	By         Cosigner
	UnitID     string
	Basis      Basis
	Choice     Choice
	Rationale  string
	At         time.Time // UTC
	CarriedID  int64     // the earlier decision that this one confirms; 0: a new one
}

// Review is one cosigner's part of the block, written once both are done (C4).
type Review struct {
	By        Cosigner         `json:"by"`
	DoneAt    string           `json:"doneAt"` // RFC 3339 UTC
	Decisions []ReviewDecision `json:"decisions"`
}

// ReviewDecision is one decision as the block holds it.
type ReviewDecision struct {
	Unit      string   `json:"unit"`
	Flag      FlagKind `json:"flag"`
	Decision  Choice   `json:"decision"`
	Rationale string   `json:"rationale"`
}

// Queue says whose turn a manifest is, for one cosigner.
type Queue string

// The queues of the inbox.
const (
	QueueYours    Queue = "your turn"
	QueueOther    Queue = "waiting for the other"
	QueueDisagree Queue = "disagree" // both are done and differ somewhere
	QueueDone     Queue = "done"
)

// Reviewing is all that one cosigner's page of a manifest needs to know of its review, read at once.
type Reviewing struct {
	Flags     []FlagBasis      // of the judged run, in the block's order
	Decisions []Decision       // on this manifest, of both, oldest first
	Earlier   []Decision       // on other manifests, about units with the content of flagged ones, latest first
	Asked     map[FlagKey]bool // flags on which the cosigner asked to see the other's decision
}
