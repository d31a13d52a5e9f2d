package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/review"
	"storozh/db"
	"storozh/db/dbtest"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

// finding is one unit with what a run found about it, by a short word: misroute, contra, dup, ok, unjudged, misroute+contra.
func finding(repo, path, content, found string) core.UnitResult {
	u := core.UnitResult{
		Unit: core.Unit{ID: repo + "/" + path, Observed: repo, Repo: repo, Path: path, Type: core.Lesson, Action: core.Added,
			Title: "About " + path, Text: content, Normative: content, Replaces: []string{}},
		Flag: core.Flag{Unit: repo + "/" + path, Routing: core.RoutingOK, ObservedRepo: repo, ExpectedRepo: core.Shield, Semantic: core.OK, Against: []string{}},
	}
	if strings.Contains(found, "misroute") {
		u.Flag.Routing = core.Misroute
	}
	for _, l := range []core.Label{core.Contra, core.Dup} {
		if strings.Contains(found, string(l)) {
			u.Flag.Semantic, u.Flag.Against, u.Flag.JudgeNote = l, []string{"shield/invariants#1"}, "by the test"
		}
	}
	if found == "unjudged" {
		u.Flag.Semantic, u.Unjudged = "", true
	}
	label := u.Flag.Semantic
	u.Pairs = []core.Pair{{Unit: u.Unit.ID, Item: "shield/invariants#1", Rank: 1, Similarity: .9, Label: label, UnitHash: []byte{1}, ItemHash: []byte{2}}}
	return u
}

// models is what a run of these tests was judged with.
type models struct{ judge, commit string }

// outcome finishes the next run with these findings.
func outcome(t testing.TB, d *db.DB, m models, demo bool, units ...core.UnitResult) {
	t.Helper()
	run, err := d.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	res := core.Result{
		Units: units, JudgeModel: m.judge, EmbedModel: "emb", PromptVersion: "p1", PolicySource: "built-in copy",
		Block: core.Block{ContraCheck: core.ContraRan, Flags: []core.Flag{}, Corpus: &core.BlockCorpus{Commit: m.commit}},
		Flags: review.Flags(units),
	}
	if err := d.Finish(t.Context(), run, res, demo); err != nil {
		t.Fatal(err)
	}
}

func trends(t testing.TB, d *db.DB, q core.TrendQuery) core.TrendData {
	t.Helper()
	if q.From.IsZero() {
		q.From, q.To = day("2025-01-01"), day("2027-12-31")
	}
	got, err := d.Trends(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func total(rows []core.TrendRow) (sum core.TrendCounts) {
	for _, r := range rows {
		sum = sum.Add(r.TrendCounts)
	}
	return sum
}

func TestALaterStopReplacesWhatWasCounted(t *testing.T) {
	d := dbtest.Open(t)
	m := models{"judge-a", "c1"}
	submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "first"))
	outcome(t, d, m, false, finding("shield", "lessons/a.md", "one", "contra"), finding("shield", "lessons/b.md", "two", "ok"))
	if got := total(trends(t, d, core.TrendQuery{}).Days); got != (core.TrendCounts{Units: 2, Contra: 1, OK: 1, Raised: 1}) {
		t.Fatalf("%+v", got)
	}
	// The next stop, a day later: the same two, one with another label, one edited, and one new.
	r := submit(t, d, arrival("s", "2026-03-02T10:00:00Z", "second"))
	second := []core.UnitResult{
		finding("shield", "lessons/a.md", "one", "ok"), finding("shield", "lessons/b.md", "two, edited", "dup"), finding("mirabilis", "lessons/c.md", "three", "misroute"),
	}
	outcome(t, d, m, false, second...)
	want := []core.TrendRow{
		{Repo: "mirabilis", At: day("2026-03-02"), TrendCounts: core.TrendCounts{Units: 1, Misroute: 1, Raised: 1}},
		{Repo: "shield", At: day("2026-03-01"), TrendCounts: core.TrendCounts{Units: 1, OK: 1, Raised: 1}},
		{Repo: "shield", At: day("2026-03-02"), TrendCounts: core.TrendCounts{Units: 2, OK: 1, Dup: 1, Raised: 1, Resolved: 1}},
	}
	if diff := cmp.Diff(want, trends(t, d, core.TrendQuery{}).Days); diff != "" {
		t.Fatal(diff)
	}
	// Judged again: the same numbers. By the demo model, and as the sample: in none.
	for _, demo := range []bool{false, true} {
		if _, err := d.Rerun(t.Context(), r.ManifestID, true); err != nil {
			t.Fatal(err)
		}
		outcome(t, d, m, demo, second...)
		if diff := cmp.Diff(want, trends(t, d, core.TrendQuery{}).Days); diff != "" {
			t.Fatalf("demo %t: %s", demo, diff)
		}
	}
	a := arrival("", "2026-03-03T10:00:00Z", "sample")
	a.Source = core.SourceSample
	submit(t, d, a)
	outcome(t, d, m, false, finding("shield", "lessons/z.md", "sample", "contra"))
	if diff := cmp.Diff(want, trends(t, d, core.TrendQuery{}).Days); diff != "" {
		t.Fatal(diff)
	}
	if got := total(trends(t, d, core.TrendQuery{Repo: "mirabilis", From: day("2026-03-02"), To: day("2026-03-02")}).Days); got.Units != 1 || got.Misroute != 1 {
		t.Errorf("of one repo and day: %+v", got)
	}
	if repos, err := d.TrendRepos(t.Context()); err != nil || !slices.Equal(repos, []string{"mirabilis", "shield"}) {
		t.Errorf("repos %v %v", repos, err)
	}
}

func TestFlagsRaisedDecidedAndResolved(t *testing.T) {
	d := dbtest.Open(t)
	m := models{"judge-a", "c1"}
	units := []core.UnitResult{
		finding("shield", "lessons/a.md", "one", "contra"), finding("shield", "lessons/b.md", "two", "dup"), finding("darwin", "lessons/c.md", "three", "misroute"),
	}
	flags := review.Flags(units)
	rec := record(t, d, submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "first")).ManifestID)
	outcome(t, d, m, false, units...)
	rec = record(t, d, rec.ID)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(decide(t, d, rec, core.Owner, flags[0], core.Fix, 0))
	if got := trends(t, d, core.TrendQuery{}); got.Reviews.By != ([2][4]int{}) || got.Reviews.Confirmed["contra"] != 0 || total(got.Days).Resolved != 0 {
		t.Fatalf("one cosigner's decision shows: %+v", got.Reviews)
	}
	must(decide(t, d, rec, core.Claude, flags[0], core.DropAsDup, 0))
	must(decide(t, d, rec, core.Owner, flags[1], core.Accept, 0))
	must(decide(t, d, rec, core.Claude, flags[1], core.Accept, 0))
	got := trends(t, d, core.TrendQuery{})
	want := core.ReviewCounts{
		Agreed: 1, By: [2][4]int{{0, 1, 1, 0}, {0, 0, 1, 1}}, Confirmed: map[string]int{"misroute": 0, "contra": 2, "dup": 0},
		Refuted: map[string]int{"misroute": 0, "contra": 0, "dup": 2}, Waited: [7]int{2},
	}
	if diff := cmp.Diff(want, got.Reviews); diff != "" {
		t.Fatal(diff)
	}
	if sum := total(got.Days); sum.Raised != 3 || sum.Resolved != 1 {
		t.Fatalf("%+v", sum)
	}
	// A change of mind replaces what was counted, and the flag stands again.
	all, err := d.Decisions(t.Context(), rec.ID)
	must(err)
	must(decide(t, d, rec, core.Claude, flags[0], core.Land, all[1].ID))
	got = trends(t, d, core.TrendQuery{})
	if got.Reviews.By != ([2][4]int{{0, 1, 1, 0}, {1, 0, 1, 0}}) || total(got.Days).Resolved != 0 {
		t.Fatalf("%+v %+v", got.Reviews, total(got.Days))
	}
	// The next stop lacks one of them: gone. It comes back: it stands again, and was raised once.
	submit(t, d, arrival("s", "2026-03-02T10:00:00Z", "second"))
	outcome(t, d, m, false, units[1:]...)
	if sum := total(trends(t, d, core.TrendQuery{}).Days); sum.Raised != 3 || sum.Resolved != 1 {
		t.Fatalf("gone: %+v", sum)
	}
	submit(t, d, arrival("s", "2026-03-03T10:00:00Z", "third"))
	outcome(t, d, m, false, units...)
	if sum := total(trends(t, d, core.TrendQuery{}).Days); sum.Raised != 3 || sum.Resolved != 0 {
		t.Fatalf("back: %+v", sum)
	}
	// An earlier stop that comes in late changes nothing about what stands.
	submit(t, d, arrival("s", "2026-02-27T10:00:00Z", "late"))
	outcome(t, d, m, false)
	if sum := total(trends(t, d, core.TrendQuery{}).Days); sum.Resolved != 0 {
		t.Fatalf("late: %+v", sum)
	}
}

func TestEventsMarkWhatChanged(t *testing.T) {
	d := dbtest.Open(t)
	stop := func(i int, m models) {
		stamp := day("2026-03-01").Add(time.Duration(i)*7*time.Hour + time.Hour).Format(time.RFC3339)
		submit(t, d, arrival(fmt.Sprint("s", i), stamp, fmt.Sprint(i)))
		outcome(t, d, m, false, finding("shield", "lessons/a.md", fmt.Sprint(i), "ok"))
	}
	for i := range 8 {
		m := models{"judge-a", "c1"}
		if i >= 4 {
			m.judge = "judge-b"
		}
		stop(i, m)
	}
	want := []core.TrendEvent{{At: day("2026-03-02").Add(5 * time.Hour), Kind: "judge-model", Before: "judge-a", After: "judge-b"}}
	if diff := cmp.Diff(want, trends(t, d, core.TrendQuery{}).Events); diff != "" {
		t.Fatal(diff)
	}
	// The value before the stretch is known, and what lies outside is not told.
	if got := trends(t, d, core.TrendQuery{From: day("2026-03-02"), To: day("2026-03-02")}).Events; len(got) != 1 {
		t.Errorf("on the day: %+v", got)
	}
	if got := trends(t, d, core.TrendQuery{From: day("2026-03-03"), To: day("2026-03-09")}).Events; len(got) != 0 {
		t.Errorf("after it: %+v", got)
	}
	// A corpus that moves with every run leaves a bounded number of marks per day.
	for i := range 40 {
		stamp := day("2026-04-01").Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		submit(t, d, arrival(fmt.Sprint("c", i), stamp, fmt.Sprint("c", i)))
		outcome(t, d, models{"judge-b", fmt.Sprint("commit", i)}, false, finding("shield", "lessons/a.md", fmt.Sprint("c", i), "ok"))
	}
	if n := len(trends(t, d, core.TrendQuery{From: day("2026-04-01"), To: day("2026-04-02")}).Events); n < 2 || n > 8 {
		t.Errorf("%d marks on one day", n)
	}
}

// plainCount is design §4's rule straight from the records, without any sum: the oracle.
const plainCount = `
	SELECT x.repo, to_char(x.stamped AT TIME ZONE $1, 'YYYY-MM-DD'), count(*), count(*) FILTER (WHERE routing = 'misroute'), count(*) FILTER (WHERE semantic = 'contra'),
		count(*) FILTER (WHERE semantic = 'dup'), count(*) FILTER (WHERE routing = 'ok' AND NOT unjudged AND semantic IN ('', 'ok')), count(*) FILTER (WHERE unjudged)
	FROM (
		SELECT DISTINCT ON (coalesce(nullif(m.session_id, ''), 'm' || m.id), u.unit, u.title, u.normative)
			u.*, coalesce(m.stamped_at, m.received_at) AS stamped
		FROM units u JOIN runs r ON r.id = u.run_id JOIN manifests m ON m.id = r.manifest_id
		WHERE r.status = 'done' AND NOT r.demo AND m.source <> 'sample'
		ORDER BY coalesce(nullif(m.session_id, ''), 'm' || m.id), u.unit, u.title, u.normative, r.finished_at DESC, r.id DESC) x
	GROUP BY 1, 2 ORDER BY 1, 2`

func plain(t testing.TB, d *db.DB, zone string) []core.TrendRow {
	t.Helper()
	rows, err := d.SQL().QueryContext(context.Background(), plainCount, zone)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []core.TrendRow
	for rows.Next() {
		var r core.TrendRow
		var date string
		if err := rows.Scan(&r.Repo, &date, &r.Units, &r.Misroute, &r.Contra, &r.Dup, &r.OK, &r.Unjudged); err != nil {
			t.Fatal(err)
		}
		r.At = day(date)
		out = append(out, r)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

// randomHistory runs sessions with several stops, edits, reruns, demo runs and runs that end out of order.
func randomHistory(t testing.TB, d *db.DB, rnd *rand.Rand, from time.Time, runs int) {
	t.Helper()
	found := []string{"ok", "ok", "ok", "misroute", "contra", "dup", "unjudged", "misroute+contra", "misroute+dup"}
	repos := []string{"shield", "darwin", "mirabilis", "neuro-matrix"}
	var manifests []int64
	for i := range runs {
		if len(manifests) > 3 && rnd.IntN(5) == 0 {
			if _, err := d.Rerun(t.Context(), manifests[rnd.IntN(len(manifests))], rnd.IntN(2) == 0); err != nil {
				t.Fatal(err)
			}
		} else {
			session := ""
			if rnd.IntN(4) > 0 {
				session = fmt.Sprint("session ", rnd.IntN(1+runs/6))
			}
			stamp := from.Add(time.Duration(rnd.IntN(40*24*60)) * time.Minute).Format(time.RFC3339)
			r, err := d.Submit(t.Context(), arrival(session, stamp, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			manifests = append(manifests, r.ManifestID)
		}
		var units []core.UnitResult
		taken := map[string]bool{}
		for range rnd.IntN(6) {
			repo, path := repos[rnd.IntN(4)], fmt.Sprintf("lessons/%d.md", rnd.IntN(4))
			if !taken[repo+path] {
				taken[repo+path] = true
				units = append(units, finding(repo, path, fmt.Sprint("text ", rnd.IntN(3)), found[rnd.IntN(len(found))]))
			}
		}
		m := models{"judge-a", "c1"}
		if i > runs/2 {
			m.judge = "judge-b"
		}
		outcome(t, d, m, rnd.IntN(12) == 0, units...)
	}
}

func TestSumsEqualAPlainCount(t *testing.T) {
	d := dbtest.Open(t)
	// Over the end of summer time in Berlin and on Lord Howe Island, where clocks move by half an hour.
	for i, name := range []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo"} {
		if err := d.SetTrendZone(t.Context(), zone(t, name)); err != nil {
			t.Fatal(err)
		}
		randomHistory(t, d, rand.New(rand.NewPCG(7, uint64(i))), day("2026-03-10"), 30)
		got := trends(t, d, core.TrendQuery{Zone: zone(t, name)}).Days
		raised := total(got)
		for i := range got {
			got[i].Raised, got[i].Resolved = 0, 0
		}
		got = slices.DeleteFunc(got, func(r core.TrendRow) bool { return r.TrendCounts == core.TrendCounts{} })
		if diff := cmp.Diff(plain(t, d, name), got); diff != "" {
			t.Fatalf("%s: %s", name, diff)
		}
		var flags, gone int
		if err := d.SQL().QueryRow("SELECT count(*), count(resolved) FROM flag_history").Scan(&flags, &gone); err != nil {
			t.Fatal(err)
		}
		if raised.Raised != flags || raised.Resolved != gone || flags == 0 {
			t.Errorf("%s: raised %d, resolved %d; the history has %d and %d", name, raised.Raised, raised.Resolved, flags, gone)
		}
	}
	// Summed up by week or month, nothing is lost.
	days := trends(t, d, core.TrendQuery{Zone: zone(t, "America/Sao_Paulo")}).Days
	for _, by := range []string{"week", "month"} {
		got := trends(t, d, core.TrendQuery{Zone: zone(t, "America/Sao_Paulo"), By: by}).Days
		if total(got) != total(days) || len(got) >= len(days) {
			t.Errorf("by %s: %d rows of %+v", by, len(got), total(got))
		}
		for _, r := range got {
			if by == "week" && r.At.Weekday() != time.Monday || by == "month" && r.At.Day() != 1 {
				t.Errorf("a %s begins on %s", by, r.At)
			}
		}
	}
	// Asked in a zone that the days are not kept in, the quarters give the same.
	other := trends(t, d, core.TrendQuery{Zone: zone(t, "Asia/Kathmandu")})
	if err := d.SetTrendZone(t.Context(), zone(t, "Asia/Kathmandu")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trends(t, d, core.TrendQuery{Zone: zone(t, "Asia/Kathmandu")}), other); diff != "" {
		t.Error(diff)
	}
}

func TestRunsOfAnOlderVersionAreBroughtIn(t *testing.T) {
	d := dbtest.Open(t)
	randomHistory(t, d, rand.New(rand.NewPCG(1, 2)), day("2026-03-10"), 25)
	want := trends(t, d, core.TrendQuery{})
	for _, q := range []string{"TRUNCATE counted_units, trend_quarters, trend_days, trend_settings, flag_history, item_tallies, similarities, flag_nearest", "UPDATE runs SET counted = false"} {
		if _, err := d.SQL().Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	n, err := d.CountRuns(t.Context())
	if err != nil || n != 25 {
		t.Fatalf("%d runs, %v", n, err)
	}
	got := trends(t, d, core.TrendQuery{})
	for _, x := range []*core.TrendData{&want, &got} {
		for i := range x.Days { // when a flag was first raised depends on the order in which runs came
			x.Days[i].Raised, x.Days[i].Resolved = 0, 0
		}
		x.Days = slices.DeleteFunc(x.Days, func(r core.TrendRow) bool { return r.TrendCounts == core.TrendCounts{} })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestATimeThatCannotBeIsReplaced(t *testing.T) {
	d := dbtest.Open(t)
	for i, stamp := range []string{"0001-01-02T03:04:05Z", "9999-12-31T23:59:59Z", ""} {
		submit(t, d, arrival("", stamp, fmt.Sprint(i)))
		outcome(t, d, models{"j", "c"}, false, finding("shield", "lessons/a.md", "x", "ok"))
	}
	now := time.Now().UTC()
	got := trends(t, d, core.TrendQuery{From: core.Day(now.AddDate(0, 0, -1), time.UTC), To: core.Day(now, time.UTC)})
	if total(got.Days).Units != 3 {
		t.Errorf("%+v", got.Days)
	}
}

// Runs that end at the same time, of the same sessions and units, with decisions between them: none is lost, none blocks another.
func TestRunsThatEndTogetherAddUp(t *testing.T) {
	d := dbtest.Open(t)
	const runs = 60
	for i := range runs {
		stamp := day("2026-03-01").Add(time.Duration(i%7) * 5 * time.Hour).Format(time.RFC3339)
		submit(t, d, arrival(fmt.Sprint("session ", i%4), stamp, fmt.Sprint(i)))
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(9, uint64(w)))
			for {
				run, err := d.Claim(context.Background())
				if errors.Is(err, core.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				var units []core.UnitResult
				for k := range 5 {
					units = append(units, finding("shield", fmt.Sprintf("lessons/%d.md", k), fmt.Sprint("text ", rnd.IntN(2)), []string{"ok", "contra", "misroute"}[rnd.IntN(3)]))
				}
				res := core.Result{
					Units: units, JudgeModel: fmt.Sprint("judge ", rnd.IntN(3)), PromptVersion: "p", Flags: review.Flags(units),
					Block: core.Block{Flags: []core.Flag{}, Corpus: &core.BlockCorpus{Commit: fmt.Sprint(rnd.IntN(4))}},
				}
				if err := d.Finish(context.Background(), run, res, false); err != nil {
					t.Error(err)
				}
				rec, err := d.Record(context.Background(), run.ManifestID)
				if err != nil || len(res.Flags) == 0 {
					continue
				}
				f := res.Flags[0]
				err = d.Decide(context.Background(), []core.Decision{{ManifestID: rec.ID, RunID: rec.Judged.ID, By: core.Owner, UnitID: f.UnitID, Basis: f.Basis, Choice: core.Fix}}, nil)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := trends(t, d, core.TrendQuery{}).Days
	for i := range got {
		got[i].Raised, got[i].Resolved = 0, 0
	}
	got = slices.DeleteFunc(got, func(r core.TrendRow) bool { return r.TrendCounts == core.TrendCounts{} })
	var n int
	if err := d.SQL().QueryRow("SELECT count(*) FROM counted_units").Scan(&n); err != nil || n != total(got).Units || n == 0 {
		t.Errorf("%d units counted, %d in the sums, %v", n, total(got).Units, err)
	}
	var differ int
	err := d.SQL().QueryRow(`SELECT count(*) FROM (
		SELECT repo, sum(units) AS u, sum(contra) AS c, sum(misroute) AS m FROM trend_quarters GROUP BY 1) q
		FULL JOIN (SELECT repo, count(*) AS u, count(*) FILTER (WHERE contra) AS c, count(*) FILTER (WHERE misroute) AS m FROM counted_units GROUP BY 1) p
		USING (repo) WHERE (q.u, q.c, q.m) IS DISTINCT FROM (p.u, p.c, p.m)`).Scan(&differ)
	if err != nil || differ != 0 {
		t.Errorf("the sums of %d repos differ, %v", differ, err)
	}
}
