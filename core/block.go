package core

// Routing tells whether a unit landed in the repo that C3 names for its type.
type Routing string

// The two routings.
const (
	RoutingOK Routing = "ok"
	Misroute  Routing = "misroute"
)

// CrossLane is the severity of a misroute between lanes (C3); any other misroute has none.
const CrossLane = "cross-lane"

// Flag is one unit's entry in the block, flagged or not (C4).
type Flag struct {
	Unit         string   `json:"unit"`
	Routing      Routing  `json:"routing"`
	ObservedRepo string   `json:"observed-repo"`
	ExpectedRepo string   `json:"expected-repo"`
	Semantic     Label    `json:"semantic,omitempty"`
	Against      []string `json:"against"` // never nil
	JudgeNote    string   `json:"judge-note"`
	Severity     string   `json:"severity,omitempty"`
}

// Flagged tells whether a cosigner has something to decide on.
func (f Flag) Flagged() bool {
	return f.Routing == Misroute || f.Semantic == Contra || f.Semantic == Dup
}

// Summary counts units by flag; a unit with two flags counts under both (C4).
type Summary struct {
	Units    int `json:"units"`
	Misroute int `json:"misroute"`
	Contra   int `json:"contra"`
	Dup      int `json:"dup"`
	OK       int `json:"ok"`
	Unjudged int `json:"unjudged,omitempty"`
}

// Resolved is a clash with an item that the same manifest removes or rewrites.
type Resolved struct {
	Unit string `json:"unit"`
	Item string `json:"item"`
}

// BlockCorpus names the corpus a block was judged against.
type BlockCorpus struct {
	Commit string `json:"commit"`
	Items  int    `json:"items"`
}

// The values of contra-check (C4). Incomplete ones begin with ContraIncomplete.
const (
	ContraRan          = "ran"
	ContraIncomplete   = "incomplete"
	SkippedNoKnowledge = "skipped (no knowledge-lane unit)"
	SkippedUnreachable = "skipped (localllm unreachable)"
	SkippedNoEmbedding = "skipped (no usable embedding model)"
	SkippedNoCorpus    = "skipped (shield corpus unavailable)"
)

// Block is the `storozh` member of a manifest (C4). Field order is the order of its keys.
type Block struct {
	RanAt        string       `json:"ranAt"` // RFC 3339 UTC
	K            int          `json:"k"`
	ContraCheck  string       `json:"contra-check"`
	Flags        []Flag       `json:"flags"` // never nil
	Summary      Summary      `json:"summary"`
	NotInDiff    []string     `json:"not-in-diff,omitempty"`
	Unclassified []string     `json:"unclassified,omitempty"`
	Resolved     []Resolved   `json:"resolved,omitempty"`
	Warnings     []string     `json:"warnings,omitempty"`
	Corpus       *BlockCorpus `json:"corpus,omitempty"`
	Reviews      []Review     `json:"reviews,omitempty"` // only once both cosigners are done
}
