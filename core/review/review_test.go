package review_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/review"
)

func unit(id string, label core.Label, misroute bool, items ...string) core.UnitResult {
	u := core.UnitResult{
		Unit: core.Unit{ID: id, Type: core.Lesson, Normative: "text of " + id},
		Flag: core.Flag{Unit: id, Routing: core.RoutingOK, ObservedRepo: "neuro-matrix", ExpectedRepo: "shield", Semantic: label},
	}
	if misroute {
		u.Flag.Routing = core.Misroute
	}
	for _, it := range items {
		u.Flag.Against = append(u.Flag.Against, it)
		u.Pairs = append(u.Pairs, core.Pair{Item: it, Label: label, ItemHash: []byte("hash of " + it)})
	}
	u.Pairs = append(u.Pairs, core.Pair{Item: "shield/other.md", Label: core.OK, ItemHash: []byte("x")})
	return u
}

// decisions gives each cosigner's decision on a flag, with rising ids.
type log struct{ all []core.Decision }

func (l *log) add(by core.Cosigner, f core.FlagBasis, c core.Choice) {
	l.all = append(l.all, core.Decision{
		ID: int64(len(l.all) + 1), By: by, UnitID: f.UnitID, Basis: f.Basis, Choice: c, Rationale: string(by),
		At: time.Date(2026, 1, 1, 0, len(l.all), 0, 0, time.UTC),
	})
}

func TestFlagsOfAUnit(t *testing.T) {
	t.Parallel()
	flags := review.Flags([]core.UnitResult{
		unit("a", core.Contra, true, "i2", "i1"), unit("b", core.OK, false), unit("c", "", false), unit("d", "", true),
	})
	var got []string
	for _, f := range flags {
		got = append(got, f.UnitID+" "+f.Basis.Label+" "+strings.Join(f.Basis.Covers, ","))
	}
	want := []string{
		"a misroute neuro-matrix>shield",
		"a contra 68617368206f66206931:contra,68617368206f66206932:contra",
		"d misroute neuro-matrix>shield",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQueuesFromTurnToDone(t *testing.T) {
	t.Parallel()
	flags := review.Flags([]core.UnitResult{unit("a", core.Dup, true, "i")})
	var l log
	expect := func(owner, claude core.Queue) {
		t.Helper()
		s := review.Of(flags, l.all)
		if s.Queue(core.Owner) != owner || s.Queue(core.Claude) != claude {
			t.Errorf("queues: %s, %s; want %s, %s", s.Queue(core.Owner), s.Queue(core.Claude), owner, claude)
		}
		if (s.Reviews() != nil) != s.BothDone() {
			t.Error("reviews are given before both are done")
		}
	}
	expect(core.QueueYours, core.QueueYours)
	l.add(core.Owner, flags[0], core.Fix)
	expect(core.QueueYours, core.QueueYours)
	l.add(core.Owner, flags[1], core.Land)
	expect(core.QueueOther, core.QueueYours)
	l.add(core.Claude, flags[0], core.Fix)
	l.add(core.Claude, flags[1], core.DropAsDup)
	expect(core.QueueDisagree, core.QueueDisagree)
	l.add(core.Owner, flags[1], core.DropAsDup) // a change of mind is a later decision
	expect(core.QueueDone, core.QueueDone)

	got := review.Of(flags, l.all).Reviews()
	want := []core.Review{
		{By: core.Owner, DoneAt: "2026-01-01T00:04:00Z", Decisions: []core.ReviewDecision{
			{Unit: "a", Flag: core.FlagRouting, Decision: core.Fix, Rationale: "owner"}, {Unit: "a", Flag: core.FlagSemantic, Decision: core.DropAsDup, Rationale: "owner"}}},
		{By: core.Claude, DoneAt: "2026-01-01T00:03:00Z", Decisions: []core.ReviewDecision{
			{Unit: "a", Flag: core.FlagRouting, Decision: core.Fix, Rationale: "claude"}, {Unit: "a", Flag: core.FlagSemantic, Decision: core.DropAsDup, Rationale: "claude"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestADecisionLapsesWithItsBasis(t *testing.T) {
	t.Parallel()
	base := unit("a", core.Contra, false, "i")
	flags := review.Flags([]core.UnitResult{base})
	var l log
	l.add(core.Owner, flags[0], core.Land)
	other := map[string]core.UnitResult{}
	text := base
	text.Unit.Normative = "another text"
	other["the unit's text"] = text
	other["the label"] = unit("a", core.Dup, false, "i")
	other["a further item"] = unit("a", core.Contra, false, "i", "j")
	for what, u := range other {
		if s := review.Of(review.Flags([]core.UnitResult{u}), l.all); s.Done(core.Owner) {
			t.Errorf("the decision outlived a change of %s", what)
		}
	}
	if s := review.Of(flags, l.all); !s.Done(core.Owner) || s.Done(core.Claude) {
		t.Error("the decision does not hold for its own flag")
	}
}

func TestTheOthersDecisionOpensAfterBothOrOnRequest(t *testing.T) {
	t.Parallel()
	flags := review.Flags([]core.UnitResult{unit("a", core.Dup, false, "i")})
	k := flags[0].Key()
	var l log
	l.add(core.Claude, flags[0], core.Land)
	s := review.Of(flags, l.all)
	if s.Visible(k, core.Owner, false) || !s.Visible(k, core.Owner, true) || s.Visible(k, core.Claude, true) {
		t.Error("with one decision only the asker may see the other's")
	}
	l.add(core.Owner, flags[0], core.Land)
	if s := review.Of(flags, l.all); !s.Visible(k, core.Owner, false) || !s.Visible(k, core.Claude, false) {
		t.Error("with both decisions each sees the other's")
	}
}

// Design §9: a decision is carried only if it covered every item that the flag is held against now.
func TestCarryOver(t *testing.T) {
	t.Parallel()
	flag := func(label core.Label, items ...string) core.FlagBasis {
		return review.Flags([]core.UnitResult{unit("a", label, false, items...)})[0]
	}
	var l log
	l.add(core.Owner, flag(core.Contra, "i", "j"), core.Accept)
	l.add(core.Owner, flag(core.Contra, "j", "i"), core.Fix)
	for _, tt := range []struct {
		name string
		now  core.FlagBasis
		want int64
	}{
		{"the same clash: the later decision", flag(core.Contra, "i", "j"), 2},
		{"fewer items", flag(core.Contra, "j"), 2},
		{"a new item is a new contradiction", flag(core.Contra, "i", "k"), 0},
		{"another label", flag(core.Dup, "i", "j"), 0},
	} {
		d, ok := review.Carry(tt.now, l.all)
		if d.ID != tt.want || ok != (tt.want != 0) {
			t.Errorf("%s: carried %d, want %d", tt.name, d.ID, tt.want)
		}
	}
	changed := unit("a", core.Contra, false, "i", "j")
	changed.Unit.Normative = "reworded"
	if _, ok := review.Carry(review.Flags([]core.UnitResult{changed})[0], l.all); ok {
		t.Error("a decision outlived a change of the unit")
	}
	neighbour := unit("a", core.Contra, false, "i")
	neighbour.Pairs[0].ItemHash = []byte("the item was rewritten")
	if _, ok := review.Carry(review.Flags([]core.UnitResult{neighbour})[0], l.all); ok {
		t.Error("a decision outlived a change of the neighbour")
	}
	moved := unit("a", "", true)
	var r log
	r.add(core.Owner, review.Flags([]core.UnitResult{moved})[0], core.Land)
	if _, ok := review.Carry(review.Flags([]core.UnitResult{moved})[0], r.all); !ok {
		t.Error("a misroute is not carried")
	}
	moved.Flag.ObservedRepo = "mirabilis"
	if _, ok := review.Carry(review.Flags([]core.UnitResult{moved})[0], r.all); ok {
		t.Error("a misroute from another repo is carried")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c    core.Choice
		k    core.FlagKind
		why  string
		good bool
	}{
		{core.Land, core.FlagRouting, "", true},
		{core.Accept, core.FlagSemantic, "because", true},
		{core.Accept, core.FlagSemantic, " \n", false},
		{core.Accept, core.FlagSemantic, "\u200b\u202e\u00a0\x00", false}, // nothing to read
		{core.Accept, core.FlagSemantic, "ё\u0301", true},
		{"approve", core.FlagSemantic, "", false},
		{core.Fix, "style", "", false},
		{core.Fix, core.FlagRouting, strings.Repeat("x", review.MaxRationale+1), false},
	} {
		if got := review.Check(tt.c, tt.k, tt.why); (got == "") != tt.good {
			t.Errorf("%s/%s/%.10q: %q", tt.c, tt.k, tt.why, got)
		}
	}
}
