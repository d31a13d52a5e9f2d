package core

// Kind is the kind of a corpus item, by where it lies in the shield repo.
type Kind string

// The kinds of corpus items.
const (
	KindClaim     Kind = "claim"
	KindInvariant Kind = "invariant"
	KindLesson    Kind = "lesson"
	KindMemory    Kind = "memory"
)

// Item is one existing statement of the shield corpus at HEAD.
type Item struct {
	ID        string // `shield/<path>[#anchor]`
	Path      string // inside the shield repo
	Anchor    string
	Kind      Kind
	Title     string
	Text      string // as written
	Normative string // what is embedded and judged; never empty
	StartLine int    // 1-based
	EndLine   int    // inclusive
	Blob      string // object id of the file it came from
}

// Fault is a place in a file that could not be read; the rest of the file still counts.
type Fault struct {
	Path string // inside the repo; may be empty when the caller knows it
	Line int    // 1-based; 0: the whole file
	What string // what is wrong, for people
}

// CorpusState describes the corpus that a run was judged against.
type CorpusState struct {
	Commit string // object id of HEAD; empty if the corpus was never read
	Items  int    // items in use
	Stale  bool   // HEAD could not be read; the last good version is in use
	Reason string // why it is stale or unavailable, for people
	Faults []Fault
	// Reindexing counts the texts that have a vector of a new embedding model, of all; Of is 0 when no model is being changed.
	Reindexing Progress
}
