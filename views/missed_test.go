package views

import (
	"fmt"
	"strings"
	"testing"

	"storozh/core"
)

// A page of units stays below 1 MB however much is named of them, and units without a text have nothing to name.
func TestMissedMarksAreBounded(t *testing.T) {
	t.Parallel()
	in := manyUnits(300, strings.Repeat("A rule. ", 40), core.OK)
	in.CanName, in.Missed = true, map[string][]core.Missed{}
	for i := range in.Units {
		u := &in.Units[i].Unit
		if u.Normative = u.Text; i == 0 {
			u.Normative = ""
		}
		for n := range 40 {
			in.Missed[u.ID] = append(in.Missed[u.ID], core.Missed{
				Item: fmt.Sprintf("shield/%s/%d.md", strings.Repeat("я", 150), n), Label: core.Contra, By: core.Owner, Note: strings.Repeat("<", 2000)})
		}
	}
	page := review(t, in)
	if len(page) > 1_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if n := strings.Count(page, "name a missed clash"); n == 0 || n >= 300 {
		t.Errorf("%d units lead to the page", n)
	}
	has(t, page, []string{"40 missed", "30 more", "missed, named by owner", "the retrieval did not bring it"}, []string{"<<<<"})
}

func TestMissedHow(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]core.Missed{
		"the retrieval did not bring it":   {},
		"it was brought and not judged":    {Rank: 2},
		"it was brought and judged contra": {Rank: 2, Said: core.Contra},
	} {
		if got := missedHow(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestInUseRate(t *testing.T) {
	t.Parallel()
	r := InUseRate(core.InUse{Found: 9, NotBrought: 2, OtherLabel: 1})
	if r.N != 9 || r.Of != 12 || r.Value != 0.75 || r.Low < 0.46 || r.Low > 0.47 || r.High < 0.91 || r.High > 0.92 {
		t.Errorf("%+v", r)
	}
	if r := InUseRate(core.InUse{}); r.Of != 0 || r.Low != 0 || r.High != 1 {
		t.Errorf("of nothing: %+v", r)
	}
}
