package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"storozh/core"
)

func TestWhatWasDecidedBeforeIsConfirmedWithOnePress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	k := semantic("shield/lessons/a.md")
	owner, claude := h.signedIn(ownerToken), h.signedIn(claudeToken)
	h.decide(owner, h.putUnits(clash(k.UnitID, "a", "shield/x")), k, core.Accept, "agreed in May")
	second := h.putUnits(clash(k.UnitID, "a", "shield/x"))
	page := h.do(owner, http.MethodGet, "/manifests/2", nil).body
	for _, want := range []string{"Decided before: accept", "agreed in May", `href="/manifests/1?at=` + core.UnitMark(k.UnitID) + `#flag-`, "Confirm accept", "1 of 1 flag to decide"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Claude had not decided then, so nothing of the owner's is open to Claude now.
	if page := h.do(claude, http.MethodGet, "/manifests/2", nil).body; strings.Contains(page, "agreed in May") || strings.Contains(page, "Decided before") {
		t.Error("the owner's earlier decision is given away")
	}
	v := decisionFields(t, page, k)
	v.Set("carried", "1")
	if got := h.post(claude, "/manifests/2/decisions", v); got.status != http.StatusConflict {
		t.Errorf("claude confirms what is hidden from claude: status %d", got.status)
	}
	if got := h.post(owner, "/manifests/2/decisions", v); got.status != http.StatusSeeOther {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	d := h.mem.decisions[1]
	if d.ManifestID != second || d.Choice != core.Accept || d.Rationale != "agreed in May" || d.CarriedID != 1 || d.By != core.Owner {
		t.Errorf("stored: %+v", d)
	}
	if got := h.seenBy(ownerToken); got.Queue != core.QueueOther {
		t.Errorf("queue %q", got.Queue)
	}
}

func TestTheOthersEarlierDecisionIsShownWhereBothHadDecided(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	k := semantic("shield/lessons/a.md")
	owner, claude := h.signedIn(ownerToken), h.signedIn(claudeToken)
	first := h.putUnits(clash(k.UnitID, "a", "shield/x"))
	h.decide(owner, first, k, core.Land, "owner then")
	h.decide(claude, first, k, core.Fix, "claude then")
	h.putUnits(clash(k.UnitID, "a", "shield/x"))
	page := h.do(claude, http.MethodGet, "/manifests/2", nil).body
	if !strings.Contains(page, "Confirm fix") || !strings.Contains(page, "claude then") || !strings.Contains(page, "owner then") {
		t.Error("claude's own decision does not come first, with the owner's beside it")
	}
}

// A manifest that is judged again may be flagged against less than before: what was decided then covers it, and is offered as from another
// manifest; what is flagged against more is decided anew. The other's stays closed to who had not decided.
func TestWhatWasDecidedBeforeAFurtherRunIsOffered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	k := semantic("shield/lessons/a.md")
	owner, claude := h.signedIn(ownerToken), h.signedIn(claudeToken)
	id := h.putUnits(clash(k.UnitID, "a", "shield/x", "shield/y"), clash("shield/lessons/twin.md", "a", "shield/x", "shield/y"))
	h.decide(owner, id, k, core.Accept, "agreed about both")
	if page := h.do(owner, http.MethodGet, "/manifests/1", nil).body; strings.Contains(page, "Decided before") {
		t.Error("a decision that holds for one flag is offered for another of its own manifest")
	}
	h.mem.judge(id, []core.UnitResult{clash(k.UnitID, "a", "shield/y")})
	if page := h.do(claude, http.MethodGet, "/manifests/1", nil).body; strings.Contains(page, "agreed about both") || strings.Contains(page, "Decided before") {
		t.Error("the owner's decision is given away")
	}
	page := h.do(owner, http.MethodGet, "/manifests/1", nil).body
	if !strings.Contains(page, "Decided before: accept") || !strings.Contains(page, "1 of 1 flag to decide") {
		t.Fatalf("what was decided about more is not offered: %s", page)
	}
	v := decisionFields(t, page, k)
	v.Set("carried", "1")
	if got := h.post(owner, "/manifests/1/decisions", v); got.status != http.StatusSeeOther || h.mem.decisions[1].CarriedID != 1 || h.mem.decisions[1].Rationale != "agreed about both" {
		t.Errorf("status %d: %+v", got.status, h.mem.decisions)
	}
	h.mem.judge(id, []core.UnitResult{clash(k.UnitID, "a", "shield/y", "shield/z")})
	if page := h.do(owner, http.MethodGet, "/manifests/1", nil).body; strings.Contains(page, "Decided before") {
		t.Error("a new contradiction is offered an old decision")
	}
}

func TestCarryOverLapses(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]core.UnitResult{
		"another text":  clash("shield/lessons/a.md", "reworded", "shield/x"),
		"a further one": clash("shield/lessons/a.md", "a", "shield/x", "shield/y"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			k := semantic("shield/lessons/a.md")
			b := h.signedIn(ownerToken)
			h.decide(b, h.putUnits(clash(k.UnitID, "a", "shield/x")), k, core.Land, "")
			h.putUnits(now)
			page := h.do(b, http.MethodGet, "/manifests/2", nil).body
			if strings.Contains(page, "Decided before") {
				t.Error("it is still offered")
			}
			v := decisionFields(t, page, k)
			v.Set("carried", "1")
			if got := h.post(b, "/manifests/2/decisions", v); got.status != http.StatusConflict || len(h.mem.decisions) != 1 {
				t.Errorf("status %d", got.status)
			}
		})
	}
}

func TestQueuesOfTheInbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	k := semantic("shield/lessons/tide.md")
	owner, claude := h.signedIn(ownerToken), h.signedIn(claudeToken)
	for range 4 {
		h.put()
	}
	h.decide(owner, 2, k, core.Land, "")
	for id, c := range map[int64]core.Choice{3: core.Fix, 4: core.Land} {
		h.decide(owner, id, k, core.Land, "")
		h.decide(claude, id, k, c, "")
	}
	page := h.do(owner, http.MethodGet, "/", nil).body
	for _, want := range []string{"<title>(1) Storozh</title>", `href="/?queue=yours"`, "waiting for the other", "disagree"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for queue, want := range map[string]string{"yours": "/manifests/1", "other": "/manifests/2", "disagree": "/manifests/3", "done": "/manifests/4"} {
		page := h.do(owner, http.MethodGet, "/?queue="+queue, nil).body
		if strings.Count(page, `class="entry"`) != 1 || !strings.Contains(page, `href="`+want+`"`) || strings.Count(page, `aria-current="true"`) != 1 {
			t.Errorf("queue %s does not hold %s alone", queue, want)
		}
	}
	for query, want := range map[string]string{"?queue=yours": `"queue":"your turn"`, "?queue=" + url.QueryEscape("waiting for the other"): `"queue":"waiting for the other"`} {
		if got := h.do(h.browser(), http.MethodGet, "/api/manifests"+query, nil, byOwner...).body; strings.Count(got, `"queue"`) != 1 || !strings.Contains(got, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := h.do(h.browser(), http.MethodGet, "/api/manifests?queue=mine", nil, byOwner...); got.status != 400 {
		t.Errorf("no such queue: status %d", got.status)
	}
	if page := h.do(claude, http.MethodGet, "/?queue=other", nil).body; !strings.Contains(page, "Nothing here") {
		t.Error("an empty queue says nothing")
	}
}
