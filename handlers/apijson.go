package handlers

import (
	"time"

	"storozh/core"
	"storozh/views"
)

// The JSON of the API (design §7): camelCase, ids as numbers, lists never null, times in RFC 3339 UTC or null. Inside
// `storozh` the spelling is C4's.

type listJSON struct {
	Manifests []headJSON `json:"manifests"`
	Next      string     `json:"next"` // cursor for ?after=; empty: none
}

type headJSON struct {
	ID         int64       `json:"id"`
	SessionID  string      `json:"sessionId"`
	Timestamp  *time.Time  `json:"timestamp"`
	ReceivedAt *time.Time  `json:"receivedAt"`
	Source     core.Source `json:"source"`
	Status     core.Status `json:"status"`
	BLUF       string      `json:"bluf"`
	Queue      core.Queue  `json:"queue"` // whose turn it is, for the reader; empty before there is a judged run
}

type manifestJSON struct {
	headJSON
	Run          int64           `json:"run"` // the judged run that units and block are of; 0: none yet
	Progress     core.Progress   `json:"progress"`
	Storozh      *core.Block     `json:"storozh,omitempty"`
	WriteBack    writeBackJSON   `json:"writeBack"`
	Units        []unitJSON      `json:"units"`
	NotInDiff    []string        `json:"notInDiff"`
	Unclassified []string        `json:"unclassified"`
	Resolved     []core.Resolved `json:"resolved"`
	Warnings     []string        `json:"warnings"`
}

type writeBackJSON struct {
	State  core.WriteState `json:"state"`
	Path   string          `json:"path"`
	At     *time.Time      `json:"at"`
	Detail string          `json:"detail"`
}

type unitJSON struct {
	Unit         string         `json:"unit"`
	Repo         string         `json:"repo"`
	Path         string         `json:"path"`
	Type         core.UnitType  `json:"type"`
	Action       core.Action    `json:"action"`
	Text         string         `json:"text"`
	Routing      core.Routing   `json:"routing"`
	ExpectedRepo string         `json:"expectedRepo"`
	Severity     string         `json:"severity"` // "cross-lane" or empty
	Semantic     core.Label     `json:"semantic"` // empty: no label
	Reason       string         `json:"reason"`   // the judge's note, or why the unit is unjudged
	Pairs        []pairJSON     `json:"pairs"`
	Decisions    []decisionJSON `json:"decisions"`        // the reader's own that hold, the other's where it is open to the reader
	Missed       []missedJSON   `json:"missed,omitempty"` // clashes that cosigners name, for cosigners only
}

type pairJSON struct {
	Item       string     `json:"item"`
	Similarity float64    `json:"similarity"`
	Words      bool       `json:"words,omitempty"` // found by shared words, beside the nearest
	Label      core.Label `json:"label"`           // empty: unjudged, and note says why
	Note       string     `json:"note"`
	Cached     bool       `json:"cached"`
	Text       string     `json:"text"`
}

func newHead(r core.Record, who core.Cosigner) headJSON {
	out := headJSON{
		ID: r.ID, SessionID: r.SessionID, Timestamp: when(r.Timestamp), ReceivedAt: when(r.ReceivedAt),
		Source: r.Source, Status: r.Run.Status, BLUF: views.Line(r),
	}
	if who.Valid() {
		out.Queue = r.Queue(who)
	}
	return out
}

// block is the judged run's block as it belongs in the file: with both reviews once both cosigners are done, without a word of either
// before. Nil: there is none.
func (st standing) block() *core.Block {
	if st.record.Judged == nil || st.record.Judged.Block == nil {
		return nil
	}
	b := *st.record.Judged.Block
	b.Reviews = st.reviews()
	return &b
}

func newManifest(st standing, units []core.UnitResult) manifestJSON {
	r, block := st.record, st.block()
	out := manifestJSON{headJSON: newHead(r, st.who), Progress: r.Run.Progress, Storozh: block, WriteBack: newWriteBack(r),
		Units: make([]unitJSON, 0, len(units))}
	for _, u := range units {
		j := newUnit(u, block)
		j.Decisions = newDecisions(st.seen(u.Unit.ID))
		out.Units = append(out.Units, j)
	}
	if r.Judged != nil {
		out.Run = r.Judged.ID
	}
	var b core.Block
	if block != nil {
		b = *block
	}
	out.NotInDiff, out.Unclassified = list(b.NotInDiff), list(b.Unclassified)
	out.Resolved, out.Warnings = list(b.Resolved), list(b.Warnings)
	return out
}

func newUnit(u core.UnitResult, b *core.Block) unitJSON {
	out := unitJSON{
		Unit: u.Unit.ID, Repo: u.Unit.Observed, Path: u.Unit.Path, Type: u.Unit.Type, Action: u.Unit.Action, Text: u.Unit.Text,
		Routing: u.Flag.Routing, ExpectedRepo: u.Flag.ExpectedRepo, Severity: u.Flag.Severity, Semantic: u.Flag.Semantic,
		Reason: views.Reason(u, b), Pairs: make([]pairJSON, 0, len(u.Pairs)),
	}
	for _, p := range u.Pairs {
		note := p.Note
		if p.Label == "" {
			note = p.Unjudged
		}
		out.Pairs = append(out.Pairs, pairJSON{Item: p.Item, Similarity: p.Similarity, Words: p.Words, Label: p.Label, Note: note, Cached: p.Cached, Text: p.ItemText})
	}
	return out
}

// newWriteBack fills in what a run that has not ended does not know yet.
func newWriteBack(r core.Record) writeBackJSON {
	w := r.Run.WriteBack
	if r.Judged != nil {
		w = r.Judged.WriteBack
	}
	out := writeBackJSON{State: w.State, Path: w.Path, At: when(w.At), Detail: w.Detail}
	if out.State == "" {
		out.State = core.WritePend
		if r.Target == "" {
			out.State = core.WriteOff
		}
	}
	if out.Path == "" {
		out.Path = r.Target
	}
	return out
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
