package core

// Label is a judge's verdict over a pair. The empty label means unjudged.
type Label string

// The labels, strongest first.
const (
	Contra Label = "contra" // unit and item could not both be followed or be true
	Dup    Label = "dup"    // the unit restates the item
	OK     Label = "ok"     // neither
)

// Neighbour is an item near a unit.
type Neighbour struct {
	Item       Item
	Similarity float64 // cosine, -1 … 1
}

// Near is the id of an item near a unit.
type Near struct {
	Item       string
	Similarity float64 // cosine, -1 … 1
	Words      bool    // found by the words it shares, not by its similarity
}

// Verdict is a judge's readable answer.
type Verdict struct {
	Label  Label
	Reason string // one line, cleaned and capped; may be empty
	// Unstable: asked once more with the order of presentation swapped, the judge did not say the same. The first answer counts.
	Unstable bool
}

// Pair is one unit beside one of its neighbours, with what the judge said.
type Pair struct {
	Unit       string // unit id
	Item       string // item id
	ItemTitle  string
	ItemText   string // the item's text when it was judged
	Rank       int    // 1 = nearest
	Similarity float64
	Words      bool   // found by the words it shares with the unit; the embedding had others nearer
	Label      Label  // empty: unjudged
	Note       string // the judge's reason, one line
	Cached     bool   // the verdict came from an earlier run
	Unjudged   string // why there is no label, such as `timeout`; empty when labelled
	UnitHash   []byte // SHA-256 of the unit's judged text
	ItemHash   []byte // SHA-256 of the item's judged text
	Judge      string // model that answered
	Prompt     string // prompt version
	Resolved   bool   // the item goes with this manifest: a clash with it is shown, not flagged, and does not count for the unit's label
	Unstable   bool   // see Verdict
	Hint       string // for the reviewer: differing numbers, a negation on one side; never a label
}

// SiblingPrefix begins the id of another unit of the same manifest where the id of an item stands.
const SiblingPrefix = "manifest:"
