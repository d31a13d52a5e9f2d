package core

import "time"

// Arrival is a manifest at the door: parsed far enough to be stored, its bytes untouched.
type Arrival struct {
	Raw         []byte   // as it came, block included
	ContentHash [32]byte // SHA-256 of Raw without its `storozh` block: one manifest per content
	SessionID   string
	Timestamp   time.Time // zero if unreadable
	Source      Source
	Target      string // the file its block belongs in; empty: off
}

// Receipt says what became of an arrival once it is durable.
type Receipt struct {
	ManifestID int64
	RunID      int64
	New        bool // false: the same content was known already
	Status     Status
}

// Cosigner is one of the two identities that decide.
type Cosigner string

// The two cosigners.
const (
	Owner  Cosigner = "owner"
	Claude Cosigner = "claude"
)

// Valid tells whether c is one of the two.
func (c Cosigner) Valid() bool { return c == Owner || c == Claude }

// Other is the one who decides beside c.
func (c Cosigner) Other() Cosigner {
	if c == Owner {
		return Claude
	}
	return Owner
}

// RecordQuery selects manifests for a list, newest first.
type RecordQuery struct {
	After             string // where the last page ended, as the last call returned it; empty: from the newest
	Limit             int    // 1 … 200; 0: 50
	IncludeSuperseded bool   // also those that a later manifest of their session folded away
	Queue             Queue  // only those in this queue of For; empty: all
	For               Cosigner
}
