package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

func find(t testing.TB, d *db.DB, q core.FoundQuery) []string {
	t.Helper()
	found, _, err := d.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	var ids []string
	for _, f := range found {
		ids = append(ids, f.UnitID)
	}
	return ids
}

func TestFindByEveryFilter(t *testing.T) {
	d := dbtest.Open(t)
	m := models{"judge-a", "c1"}
	units := []core.UnitResult{
		finding("shield", "lessons/ветки.md", "Имена веток пишутся ЛАТИНИЦЕЙ, ёлка", "contra"),
		finding("shield", "lessons/cache.md", "A warm cache_key halves the build", "dup"),
		finding("darwin", "lessons/deploy.md", "Deploys on a Friday; see notes/friday.md", "misroute"),
		finding("darwin", "skills/quiet.md", "Nothing to see", "ok"),
		finding("mirabilis", "lessons/late.md", "No label here", "unjudged"),
	}
	units[3].Unit.Type = core.Skill
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "first"))
	outcome(t, d, m, false, units...)
	all := []string{"mirabilis/lessons/late.md", "darwin/skills/quiet.md", "darwin/lessons/deploy.md", "shield/lessons/cache.md", "shield/lessons/ветки.md"}
	rec := record(t, d, r.ManifestID)
	flags := review.Flags(units)
	for _, dec := range []struct {
		by core.Cosigner
		f  int
		c  core.Choice
	}{{core.Owner, 0, core.Fix}, {core.Claude, 0, core.Land}, {core.Owner, 1, core.DropAsDup}} {
		if err := decide(t, d, rec, dec.by, flags[dec.f], dec.c, 0); err != nil {
			t.Fatal(err)
		}
	}
	march := core.FoundQuery{From: day("2026-03-01"), To: day("2026-03-02")}
	tests := []struct {
		q    core.FoundQuery
		want []string
	}{
		{core.FoundQuery{}, all},
		{core.FoundQuery{Repo: "darwin"}, all[1:3]},
		{core.FoundQuery{Repo: "unknown"}, nil},
		{core.FoundQuery{Label: "contra"}, all[4:]},
		{core.FoundQuery{Label: "dup"}, all[3:4]},
		{core.FoundQuery{Label: "misroute"}, all[2:3]},
		{core.FoundQuery{Label: "unjudged"}, all[:1]},
		{core.FoundQuery{Label: "ok"}, all[1:2]},
		{core.FoundQuery{Label: "flagged"}, all[2:]},
		{core.FoundQuery{Type: core.Skill}, all[1:2]},
		{core.FoundQuery{Text: "латиницей"}, all[4:]},
		{core.FoundQuery{Text: "имен елка"}, all[4:]},
		{core.FoundQuery{Text: "ВЕТКИ.md"}, all[4:]},
		{core.FoundQuery{Text: "key"}, all[3:4]},
		{core.FoundQuery{Text: "friday.md deploy"}, all[2:3]},
		{core.FoundQuery{Text: "a"}, all[2:4]},
		{core.FoundQuery{Text: "warm friday"}, nil},
		{core.FoundQuery{Text: "' | 'x & ! <->"}, nil},
		{core.FoundQuery{Decision: core.Fix, Reader: core.Owner}, all[4:]},
		{core.FoundQuery{Decision: core.Fix, Reader: core.Claude}, nil},
		{core.FoundQuery{State: core.FoundOpen, Reader: core.Owner}, all[2:3]},
		{core.FoundQuery{State: core.FoundOpen, Reader: core.Claude}, all[2:4]},
		{core.FoundQuery{State: core.FoundDecided, Reader: core.Claude}, all[4:]},
		{core.FoundQuery{State: core.FoundDisagree, Reader: core.Claude}, all[4:]},
		{march, all},
		{core.FoundQuery{From: day("2026-03-02")}, nil},
		{core.FoundQuery{To: day("2026-03-01")}, nil},
		{core.FoundQuery{From: march.From, To: march.To, Went: core.FoundRaised}, all[2:]},
		{core.FoundQuery{From: march.From, To: march.To, Went: core.FoundResolved}, nil},
		{core.FoundQuery{Text: "deploy", Repo: "darwin", Label: "misroute", Type: core.Lesson, From: march.From, To: march.To}, all[2:3]},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(t, d, tt.q)); diff != "" {
			t.Errorf("%+v: %s", tt.q, diff)
		}
	}
	for _, q := range []core.FoundQuery{
		{Label: "bad"}, {Decision: "maybe", Reader: core.Owner}, {State: "somehow", Reader: core.Owner}, {Decision: core.Fix}, {After: "1.2"},
		{After: "1.2.3.4"}, {After: "x'"}, {Text: "?!"}, {Went: "lost", From: march.From, To: march.To}, {Went: core.FoundRaised},
	} {
		if _, _, err := d.Find(t.Context(), q); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%+v gave %v", q, err)
		}
	}
	// The next stop has them unchanged but for the contradiction, which is gone: each is still found once, the old content too.
	submit(t, d, arrival("s", "2026-03-02T10:00:00Z", "second"))
	outcome(t, d, m, false, append([]core.UnitResult{finding("shield", "lessons/ветки.md", "Имена веток на любом языке", "ok")}, units[1:]...)...)
	if got := find(t, d, core.FoundQuery{}); len(got) != 6 {
		t.Errorf("%v", got)
	}
	if got := find(t, d, core.FoundQuery{From: day("2026-03-02"), To: day("2026-03-03"), Went: core.FoundResolved}); !slices.Equal(got, all[4:]) {
		t.Errorf("resolved: %v", got)
	}
}

func TestFindPages(t *testing.T) {
	d := dbtest.Open(t)
	for i := range 4 {
		submit(t, d, arrival("", "2026-03-01T10:00:00Z", fmt.Sprint(i))) // all at the same time
		var units []core.UnitResult
		for k := range 5 {
			units = append(units, finding("shield", fmt.Sprintf("lessons/%d-%d.md", i, k), "text", "ok"))
		}
		outcome(t, d, models{"j", "c"}, false, units...)
	}
	seen := map[string]bool{}
	after, pages := "", 0
	for {
		found, next, err := d.Find(t.Context(), core.FoundQuery{Text: "text", After: after, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, f := range found {
			if seen[f.UnitID] {
				t.Errorf("%s twice", f.UnitID)
			}
			seen[f.UnitID] = true
		}
		if after = next; next == "" || pages > 10 {
			break
		}
	}
	if len(seen) != 20 || pages != 7 {
		t.Errorf("%d units on %d pages", len(seen), pages)
	}
}

// What is hostile in size must not make a run fail for good.
func TestHugeTextsAndNamesAreCounted(t *testing.T) {
	d := dbtest.Open(t)
	var huge strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&huge, "слово%d ", i)
	}
	long := string(make([]byte, 20_000)) // NULs, too
	submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "first"))
	outcome(t, d, models{"j", "c"}, false, finding("shield", "lessons/huge.md", huge.String(), "contra"), finding("repo"+long, "lessons/"+long, long, "misroute"))
	if got := find(t, d, core.FoundQuery{Text: "слово7"}); len(got) != 1 {
		t.Errorf("%d found", len(got))
	}
	if got := total(trends(t, d, core.TrendQuery{}).Days); got.Units != 2 || got.Raised != 2 {
		t.Errorf("%+v", got)
	}
}

// What a reader can put into an address and no text of the database can hold finds nothing, and is no fault of ours.
func TestQuestionsThatNoTextCanHold(t *testing.T) {
	d := dbtest.Open(t)
	run := finished(t, d, lane("a", core.RoutingOK, "", core.Contra, false))
	for _, bad := range []string{"\x00", "a\x00", "\xff\xfe"} {
		if _, err := d.Unit(t.Context(), run.ID, bad); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Unit %q: %v", bad, err)
		}
		if found, _, err := d.Find(t.Context(), core.FoundQuery{Type: core.UnitType(bad), Repo: bad, Reader: core.Owner}); len(found) != 0 || err != nil {
			t.Errorf("Find %q: %v %v", bad, found, err)
		}
		if items, _, err := d.ListItems(t.Context(), "/shield", core.ItemQuery{Kind: core.Kind(bad), Text: bad, After: bad}); len(items) != 0 || err != nil {
			t.Errorf("ListItems %q: %v %v", bad, items, err)
		}
		if p, err := d.UnitPage(t.Context(), core.UnitQuery{RunID: run.ID, Find: bad, Show: bad, At: "x", Limit: 5}); len(p.Units) != 0 || err != nil {
			t.Errorf("UnitPage %q: %v %v", bad, p, err)
		}
	}
}
