package db_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

// near is a unit with these pairs, each `label similarity`; an empty label is unjudged.
func near(path, content, found string, pairs ...core.Pair) core.UnitResult {
	u := finding("shield", path, content, found)
	u.Pairs, u.Flag.Against = pairs, []string{}
	for i := range u.Pairs {
		p := &u.Pairs[i]
		p.Unit, p.Item, p.Rank, p.Judge = u.Unit.ID, fmt.Sprintf("shield/invariants#%d", i), i+1, "j"
		p.UnitHash, p.ItemHash = []byte{1}, []byte{byte(i)}
		if p.Label == u.Flag.Semantic && p.Label != core.OK && !p.Resolved {
			u.Flag.Against = append(u.Flag.Against, p.Item)
		}
	}
	return u
}

func whatIf(t *testing.T, d *db.DB, model string) core.WhatIfData {
	t.Helper()
	got, err := d.WhatIf(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWhatIfCountsFlagsByTheirNearestItem(t *testing.T) {
	d := dbtest.Open(t)
	if got := whatIf(t, d, ""); got.Model != "" || got.Models != nil || got.Pairs != nil || got.Flags != nil {
		t.Errorf("of nothing: %+v", got)
	}
	// The nearer pairs do not carry the flag: ok, a dup beside a contra, and a clash that is resolved here.
	first := near("lessons/a.md", "a", "contra", core.Pair{Similarity: .95, Label: core.OK}, core.Pair{Similarity: .9, Label: core.Contra, Resolved: true},
		core.Pair{Similarity: .85, Label: core.Dup}, core.Pair{Similarity: .57, Label: core.Contra}, core.Pair{Similarity: .219, Label: core.Contra})
	second := near("lessons/b.md", "b", "dup", core.Pair{Similarity: .8, Label: core.Dup}, core.Pair{Similarity: -.2, Label: ""})
	same := near("lessons/c.md", "c", "dup", core.Pair{Similarity: 1, Label: core.Dup})
	same.Pairs[0].Judge = "" // word for word the same: no judge was asked
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	outcome(t, d, models{"j", "c"}, false, first, second, same)
	for _, by := range []core.Cosigner{core.Owner, core.Claude} {
		choice := map[core.Cosigner]core.Choice{core.Owner: core.Fix, core.Claude: core.Land}[by]
		if err := decide(t, d, record(t, d, r.ManifestID), by, review.Flags([]core.UnitResult{first})[0], choice, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := decide(t, d, record(t, d, r.ManifestID), core.Owner, review.Flags([]core.UnitResult{second})[0], core.DropAsDup, 0); err != nil {
		t.Fatal(err)
	}
	want := core.WhatIfData{
		Model: "emb", Models: []string{"emb"},
		Pairs: []core.PairsAt{{Percent: -20, Pairs: 1}, {Percent: 21, Pairs: 1}, {Percent: 57, Pairs: 1}, {Percent: 80, Pairs: 1}, {Percent: 85, Pairs: 1}, {Percent: 90, Pairs: 1}, {Percent: 95, Pairs: 1}},
		Flags: []core.FlagsAt{{Percent: 57, Label: core.Contra, Owner: core.Fix, Claude: core.Land, Flags: 1}, {Percent: 80, Label: core.Dup, Flags: 1}, {Percent: 100, Label: core.Dup, Flags: 1}},
	}
	if diff := cmp.Diff(want, whatIf(t, d, "")); diff != "" {
		t.Error(diff)
	}
	list, err := d.WhatIfFlags(t.Context(), "emb", 81, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	byUnit := map[string]core.WhatIfFlag{list[0].UnitID: list[0], list[1].UnitID: list[1]}
	if f := byUnit[first.Unit.ID]; f.ManifestID != r.ManifestID || f.Percent != 57 || f.Owner != core.Fix || f.Claude != core.Land || f.At.IsZero() {
		t.Errorf("%+v", f)
	}
	if f := byUnit[second.Unit.ID]; f.Owner != "" || f.Claude != "" {
		t.Errorf("what only one has decided shows: %+v", f)
	}
	if list, err := d.WhatIfFlags(t.Context(), "another", 100, 10); err != nil || len(list) != 0 {
		t.Errorf("another model: %+v, %v", list, err)
	}

	// A later Stop of the session replaces what was counted; a run of the demo model is not counted at all.
	submit(t, d, arrival("s", "2026-03-01T11:00:00Z", "two"))
	calm := near("lessons/a.md", "a", "ok", core.Pair{Similarity: .5, Label: core.OK})
	outcome(t, d, models{"j", "c"}, false, calm)
	submit(t, d, arrival("demo", "2026-03-02T11:00:00Z", "three"))
	outcome(t, d, models{"demo", "c"}, true, second)
	want.Pairs = []core.PairsAt{{Percent: -20, Pairs: 1}, {Percent: 50, Pairs: 1}, {Percent: 80, Pairs: 1}}
	want.Flags = want.Flags[1:]
	if diff := cmp.Diff(want, whatIf(t, d, "emb")); diff != "" {
		t.Error(diff)
	}
}

// plainWhatIf counts the same from the tables as they stand.
func plainWhatIf(t *testing.T, d *db.DB) (pairs, flags map[int]int) {
	t.Helper()
	pairs, flags = map[int]int{}, map[int]int{}
	for into, query := range map[*map[int]int]string{
		&pairs: `SELECT floor(p.similarity * 100 + 1e-9), count(*) FROM counted_units c JOIN pairs p USING (run_id, ord)
			WHERE NOT c.demo AND p.judge <> '' GROUP BY 1`,
		&flags: `SELECT best, count(*) FROM (
				SELECT floor(max(p.similarity) * 100 + 1e-9) AS best FROM counted_units c JOIN pairs p USING (run_id, ord) JOIN units u USING (run_id, ord)
				WHERE NOT c.demo AND p.label = u.semantic AND u.semantic IN ('contra', 'dup') AND NOT p.resolved GROUP BY c.key) x GROUP BY 1`,
	} {
		rows, err := d.SQL().Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var at, n int
			if err := rows.Scan(&at, &n); err != nil {
				t.Fatal(err)
			}
			(*into)[at] = n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
	return pairs, flags
}

func TestWhatIfEqualsAPlainCount(t *testing.T) {
	d := dbtest.Open(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	var manifests []int64
	for i := range 40 {
		if len(manifests) > 3 && rnd.IntN(4) == 0 {
			if _, err := d.Rerun(t.Context(), manifests[rnd.IntN(len(manifests))], false); err != nil {
				t.Fatal(err)
			}
		} else {
			r := submit(t, d, arrival(fmt.Sprint("session ", rnd.IntN(6)), fmt.Sprintf("2026-03-01T10:%02d:00Z", rnd.IntN(60)), fmt.Sprint(i)))
			manifests = append(manifests, r.ManifestID)
		}
		var units []core.UnitResult
		for u := range rnd.IntN(5) {
			found := []core.Label{core.OK, core.Contra, core.Dup}[rnd.IntN(3)]
			var pairs []core.Pair
			for range 1 + rnd.IntN(4) {
				pairs = append(pairs, core.Pair{Similarity: rnd.Float64(), Label: found, Resolved: rnd.IntN(9) == 0})
			}
			units = append(units, near(fmt.Sprintf("lessons/%d.md", u), fmt.Sprint("text ", rnd.IntN(3)), string(found), pairs...))
		}
		outcome(t, d, models{"j", "c"}, rnd.IntN(10) == 0, units...)
	}
	wantPairs, wantFlags := plainWhatIf(t, d)
	got, pairs, flags := whatIf(t, d, "emb"), map[int]int{}, map[int]int{}
	for _, p := range got.Pairs {
		pairs[p.Percent] += p.Pairs
	}
	for _, f := range got.Flags {
		flags[f.Percent] += f.Flags
	}
	if diff := cmp.Diff(wantPairs, pairs); diff != "" || len(pairs) < 10 {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantFlags, flags); diff != "" || len(flags) < 5 {
		t.Error(diff)
	}
}

// What migration 00009 brings in of an older version is what runs would have left.
func TestWhatIfOfAnOlderVersionIsBroughtIn(t *testing.T) {
	d := dbtest.Open(t)
	for i := range 6 {
		submit(t, d, arrival(fmt.Sprint("session ", i%4), fmt.Sprintf("2026-03-01T10:%02d:00Z", i), fmt.Sprint(i)))
		outcome(t, d, models{"j", "c"}, i == 5,
			near("lessons/é.md", fmt.Sprint("text ", i), "contra", core.Pair{Similarity: .29, Label: core.Contra}, core.Pair{Similarity: .9, Label: core.OK}),
			near("lessons/b.md", fmt.Sprint("text ", i%2), "dup", core.Pair{Similarity: .7 + float64(i)/100, Label: core.Dup}))
	}
	state := func() (out []string) {
		t.Helper()
		err := d.SQL().QueryRow(`
			SELECT array_agg(r ORDER BY r) FROM (
				SELECT s::text AS r FROM similarities s WHERE pairs > 0 UNION ALL SELECT n::text FROM flag_nearest n) x`).Scan((*pq.StringArray)(&out))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := state()
	text, err := os.ReadFile("migrations/00009_whatif.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, fill, ok := strings.Cut(string(text), "\nINSERT INTO similarities")
	if !ok {
		t.Fatal("the migration brings nothing in")
	}
	for _, s := range append([]string{"TRUNCATE similarities, flag_nearest"}, strings.Split("INSERT INTO similarities"+strings.TrimSpace(fill), ";\n")...) {
		if _, err := d.SQL().Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, state()); diff != "" || len(want) < 8 {
		t.Error(diff)
	}
	var kept int
	if err := d.SQL().QueryRow("SELECT count(*) FROM flag_nearest n JOIN flag_history h ON h.key = n.flag").Scan(&kept); err != nil || kept < 5 {
		t.Errorf("%d flags have a history, %v", kept, err)
	}
}
