package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"storozh/core"
	"storozh/views"
)

// counted counts the calls that a page makes to the store. Only the methods of the review page are counted; a page that calls another one
// would be caught by its own test.
type counted struct {
	*memory
	calls atomic.Int64
}

func (c *counted) Record(ctx context.Context, id int64) (core.Record, error) {
	c.calls.Add(1)
	return c.memory.Record(ctx, id)
}

func (c *counted) Units(ctx context.Context, run int64) ([]core.UnitResult, error) {
	c.calls.Add(2) // two queries
	return c.memory.Units(ctx, run)
}

func (c *counted) UnitPage(ctx context.Context, q core.UnitQuery) (core.UnitPage, error) {
	c.calls.Add(3) // three queries
	return c.memory.UnitPage(ctx, q)
}

func (c *counted) Unit(ctx context.Context, run int64, unit string) (core.UnitResult, error) {
	c.calls.Add(2)
	return c.memory.Unit(ctx, run, unit)
}

func (c *counted) Reviewing(ctx context.Context, id, run int64, who core.Cosigner) (core.Reviewing, error) {
	c.calls.Add(1)
	return c.memory.Reviewing(ctx, id, run, who)
}

func (c *counted) Superseded(ctx context.Context, ids ...int64) (map[int64][]core.Record, error) {
	c.calls.Add(1)
	return c.memory.Superseded(ctx, ids...)
}

func (c *counted) Records(ctx context.Context, q core.RecordQuery) ([]core.Record, string, error) {
	c.calls.Add(1)
	return c.memory.Records(ctx, q)
}

func (c *counted) AddCommands(ctx context.Context, run int64) ([]string, error) {
	c.calls.Add(1)
	return c.memory.AddCommands(ctx, run)
}

// big is a manifest of 500 units with three neighbours each, all of them flagged.
func big() []core.UnitResult {
	var out []core.UnitResult
	text := strings.Repeat("Every service keeps its clock on UTC & writes <ISO> stamps. ", 6)
	for i := range 500 {
		repo := []string{"shield", "neuro-matrix"}[i%2]
		out = append(out, clash(fmt.Sprintf("%s/lessons/group-%02d/lesson-%03d.md", repo, i%17, i), text+fmt.Sprint(i),
			"shield/invariants/core.txt#1", "shield/invariants/core.txt#2", fmt.Sprintf("shield/lessons/old-%d.md", i)))
	}
	return out
}

// A permalink opens the page that holds its flag, whichever filter it is under, and the pages lead to each other.
func TestPagesOfABigManifest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	units := big()
	id := h.putUnits(units...)
	b := h.signedIn(ownerToken)
	last := units[len(units)-1].Unit.ID
	for path, want := range map[string]string{
		"?at=" + core.UnitMark(last):               "Units 401 to 500 of 500",
		"?show=open&at=" + core.UnitMark(last):     "Units 401 to 500 of 500",
		"?show=misroute&at=" + core.UnitMark(last): "Units 201 to 250 of 250",
		"?at=none":  "Units 1 to 100 of 500",
		"?from=100": `from=200" rel="next"`,
		"?from=x":   "Units 1 to 100 of 500",
	} {
		page := h.do(b, http.MethodGet, fmt.Sprintf("/manifests/%d%s", id, path), nil)
		if page.status != 200 || !strings.Contains(page.body, want) {
			t.Errorf("%s: status %d, lacks %q", path, page.status, want)
		}
		if strings.Contains(path, core.UnitMark(last)) != strings.Contains(page.body, `id="`+views.FlagDOM(core.FlagKey{UnitID: last, Kind: core.FlagSemantic})+`"`) {
			t.Errorf("%s: the page holds the last unit's flag, or does not", path)
		}
	}
	if page := h.do(b, http.MethodGet, fmt.Sprintf("/manifests/%d?from=9999", id), nil); page.status != 200 || !strings.Contains(page.body, "Show all units") {
		t.Errorf("behind the end: status %d", page.status)
	}
}

func TestTheReviewPageOfABigManifest(t *testing.T) {
	t.Parallel()
	store := &counted{}
	h := newHouse(t, func(c *Config) {
		store.memory = c.Store.(*memory)
		c.Store = store
	})
	h.putUnits(clash("shield/lessons/a.md", "a", "shield/x"))
	id := h.putUnits(big()...)
	owner, claude := h.signedIn(ownerToken), h.signedIn(claudeToken)
	for i := range 150 { // what both have decided takes room too
		unit := h.mem.units[id*10][i].Unit.ID
		body := fmt.Sprintf(`{"unit":%q,"flag":"semantic","decision":"accept","rationale":%q}`, unit, strings.Repeat("since the team agreed on it ", 20))
		for _, token := range []string{ownerToken, claudeToken}[i%2:] {
			if got := h.do(h.browser(), http.MethodPost, fmt.Sprintf("/api/manifests/%d/decisions", id), strings.NewReader(body), "Authorization", "Bearer "+token); got.status != 201 {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
		}
	}
	few, many := int64(0), int64(0)
	for path, calls := range map[string]*int64{"/manifests/1": &few, fmt.Sprintf("/manifests/%d", id): &many} {
		store.calls.Store(0)
		h.do(owner, http.MethodGet, path, nil)
		*calls = store.calls.Load()
	}
	if many > 6 || // and two for the session: eight in all
		few > many {
		t.Errorf("%d queries for 500 units, %d for one", many, few)
	}
	began := time.Now()
	for _, path := range []string{"", "?show=open", "?show=flagged", "?q=lesson"} {
		page := h.do(claude, http.MethodGet, fmt.Sprintf("/manifests/%d%s", id, path), nil)
		if page.status != 200 || len(page.body) > 1_000_000 {
			t.Errorf("%s: status %d, %d bytes", path, page.status, len(page.body))
		}
		if n := strings.Count(page.body, `class="choose"`); n < 50 {
			t.Errorf("%s: only %d flags can be decided on it", path, n)
		}
		t.Logf("%s: %d bytes, %d forms, %s", path, len(page.body), strings.Count(page.body, `class="choose"`), time.Since(began).Round(time.Millisecond))
	}
}
