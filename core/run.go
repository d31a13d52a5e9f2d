package core

import "time"

// Status is the state of a run, and of a manifest through its latest run.
type Status string

// The states of a run.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Finished tells whether a run with this status has come to its end.
func (s Status) Finished() bool { return s == Done || s == Failed || s == Cancelled }

// Progress counts judged pairs.
type Progress struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// WriteState is what became of the block on its way into the manifest's file.
type WriteState string

// The write-back states of design §7.
const (
	Written     WriteState = "written"
	WritePend   WriteState = "pending"
	MovedOn     WriteState = "moved-on"
	WriteOff    WriteState = "off"
	WriteFailed WriteState = "failed"
)

// WriteBack is the outcome of appending the block to a file.
type WriteBack struct {
	State  WriteState
	Path   string // the target; empty when off
	At     time.Time
	Detail string // for people; empty when there is nothing to say
}

// Run is one pass of a manifest through the guard.
type Run struct {
	ID            int64
	ManifestID    int64
	Status        Status
	Attempt       int   // 1 for the first try
	Fence         int64 // fencing token: the writes of an older claim are refused
	Fresh         bool  // bypass the verdict cache
	Progress      Progress
	Error         string // why it failed, for people
	Demo          bool   // judged by the demo model
	JudgeModel    string
	EmbedModel    string
	PromptVersion string
	PolicySource  string // where C3 came from: a path with commit, or "built-in copy"
	QueuedAt      time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
	Block         *Block // nil until done
	WriteBack     WriteBack
}

// UnitResult is a unit with everything a run found about it.
type UnitResult struct {
	Unit     Unit
	Flag     Flag
	Unjudged bool   // it should have a label and has none
	Pairs    []Pair // nearest first
}

// Result is what one pass of the guard yields.
type Result struct {
	Block         Block
	Units         []UnitResult // in the block's order
	AddCommands   []string
	JudgeModel    string
	EmbedModel    string
	PromptVersion string
	PolicySource  string
	Corpus        CorpusState
	Flags         []FlagBasis // what is to be decided; filled in before the result is kept
}

// Record is a stored manifest with its latest run, as lists show it.
type Record struct {
	ID           int64
	SessionID    string
	Timestamp    time.Time // the manifest's own; zero if unreadable
	ReceivedAt   time.Time
	Source       Source
	Target       string           // file the block belongs in; empty: off
	SupersededBy int64            // a later manifest of the same session; 0: none
	Run          Run              // the latest
	Judged       *Run             // the latest that is done: what pages show while a newer one is under way; nil: none yet
	BLUF         string           // of Judged
	Open         map[Cosigner]int // flags that each has still to decide; nil before there is a judged run
	Differ       int              // flags on which both decided, and not the same
}

// Queue says whose turn the manifest is, for c; empty before there is a judged run.
func (r Record) Queue(c Cosigner) Queue {
	switch {
	case r.Judged == nil || r.Open == nil:
		return ""
	case r.Open[c] > 0:
		return QueueYours
	case r.Open[c.Other()] > 0:
		return QueueOther
	case r.Differ > 0:
		return QueueDisagree
	default:
		return QueueDone
	}
}

// ItemMeeting is one unit that was compared with an item, in one run.
type ItemMeeting struct {
	ManifestID int64
	RunID      int64
	At         time.Time // when the run ended
	UnitID     string
	UnitTitle  string
	Similarity float64
	Label      Label // empty: unjudged
	Note       string
	Decisions  []Decision // of both cosigners on the unit's semantic flag, as they hold in that run; only where both have decided
}
