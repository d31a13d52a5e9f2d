package db_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Run(m)) }

func arrival(session, stamp, body string) core.Arrival {
	t, _ := time.Parse(time.RFC3339, stamp)
	raw := []byte(`{"sessionId":"` + session + `","timestamp":"` + stamp + `","x":"` + body + `"}`)
	return core.Arrival{Raw: raw, ContentHash: sha256.Sum256(raw), SessionID: session, Timestamp: t, Source: core.SourceWebhook}
}

func submit(t *testing.T, d *db.DB, a core.Arrival) core.Receipt {
	t.Helper()
	r, err := d.Submit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func claim(t *testing.T, d *db.DB) core.Run {
	t.Helper()
	r, err := d.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheSameContentIsOneManifestWithOneRun(t *testing.T) {
	d := dbtest.Open(t)
	a := arrival("s", "2026-03-01T10:00:00Z", "one")
	first := submit(t, d, a)
	a.Source = core.SourceFile
	again := submit(t, d, a)
	if !first.New || again.New || again.ManifestID != first.ManifestID || again.RunID != first.RunID {
		t.Fatalf("first %+v, again %+v", first, again)
	}
	raw, err := d.RawManifest(t.Context(), first.ManifestID)
	if err != nil || string(raw) != string(a.Raw) {
		t.Fatalf("raw = %q, %v", raw, err)
	}
	claim(t, d)
	if _, err := d.Claim(t.Context()); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("a second run was queued: %v", err)
	}
}

func TestConcurrentSubmitsOfOneContentGiveOneManifest(t *testing.T) {
	d := dbtest.Open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 8 {
		wg.Go(func() {
			r, err := d.Submit(context.Background(), arrival("s", "2026-03-01T10:00:00Z", "same"))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if r.New {
				fresh++
			}
		})
	}
	wg.Wait()
	if n, err := d.Unfinished(t.Context()); fresh != 1 || n != 1 || err != nil {
		t.Fatalf("%d new, %d runs, %v", fresh, n, err)
	}
}

func TestASessionWithTwentyStopsLeavesOneOpenEntry(t *testing.T) {
	d := dbtest.Open(t)
	for i := range 20 {
		submit(t, d, arrival("long", fmt.Sprintf("2026-03-01T10:%02d:00Z", i), fmt.Sprint(i)))
	}
	submit(t, d, arrival("long", "2026-03-01T09:00:00Z", "late: an earlier stop that arrives last"))
	submit(t, d, arrival("", "2026-03-01T11:00:00Z", "no session"))
	submit(t, d, arrival("", "2026-03-01T11:00:00Z", "no session either"))
	open, _, err := d.Records(t.Context(), core.RecordQuery{})
	if err != nil || len(open) != 3 {
		t.Fatalf("%d open entries, want 3 (%v)", len(open), err)
	}
	latest := open[2]
	if got := latest.Timestamp.Format(time.RFC3339); got != "2026-03-01T10:19:00Z" {
		t.Errorf("the open entry is of %s", got)
	}
	folded, err := d.Superseded(t.Context(), latest.ID)
	if err != nil || len(folded[latest.ID]) != 20 {
		t.Errorf("%d folded, %v", len(folded[latest.ID]), err)
	}
	// What is open is run before what is folded away.
	first := claim(t, d)
	if rec, err := d.Record(t.Context(), first.ManifestID); err != nil || rec.SupersededBy != 0 {
		t.Errorf("claimed a superseded manifest first: %+v %v", rec, err)
	}
}

func TestRecordsPage(t *testing.T) {
	d := dbtest.Open(t)
	for i := range 7 {
		submit(t, d, arrival("", "2026-03-01T10:00:00Z", fmt.Sprint(i)))
	}
	seen := 0
	after := ""
	for page := 0; ; page++ {
		recs, next, err := d.Records(t.Context(), core.RecordQuery{After: after, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		seen += len(recs)
		if after = next; next == "" || page > 5 {
			break
		}
	}
	if seen != 7 {
		t.Errorf("the pages hold %d of 7", seen)
	}
	if _, _, err := d.Records(t.Context(), core.RecordQuery{After: "x'"}); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("a foreign page mark gave %v", err)
	}
}

func TestLeaseHeartbeatAndFence(t *testing.T) {
	d := dbtest.Open(t)
	submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	old := claim(t, d)
	if _, err := d.Heartbeat(t.Context(), old, core.Progress{Done: 1, Of: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL().Exec("UPDATE runs SET lease_until = now() - interval '1 second'"); err != nil { // its worker was killed
		t.Fatal(err)
	}
	taken := claim(t, d)
	if taken.ID != old.ID || taken.Fence <= old.Fence || taken.Attempt != 2 {
		t.Fatalf("taken over as %+v from %+v", taken, old)
	}
	if _, err := d.Heartbeat(t.Context(), old, core.Progress{}); !errors.Is(err, db.ErrLeaseLost) {
		t.Errorf("the old worker's heartbeat gave %v", err)
	}
	if err := d.Finish(t.Context(), old, result(), false); !errors.Is(err, db.ErrLeaseLost) {
		t.Errorf("the old worker's result gave %v", err)
	}
	if err := d.Finish(t.Context(), taken, result(), false); err != nil {
		t.Errorf("the new worker's result gave %v", err)
	}
}

func TestRetryThenFailForGood(t *testing.T) {
	d := dbtest.Open(t)
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	for i := 1; i <= db.MaxAttempts; i++ {
		run := claim(t, d)
		if err := d.Retry(t.Context(), run, "no luck", 0); err != nil {
			t.Fatal(err)
		}
	}
	rec, err := d.Record(t.Context(), r.ManifestID)
	if err != nil || rec.Run.Status != core.Failed || rec.Run.Error != "no luck" {
		t.Fatalf("%+v %v", rec.Run, err)
	}
	if _, err := d.Rerun(t.Context(), r.ManifestID, true); err != nil {
		t.Errorf("a failed run cannot be run again: %v", err)
	}
	if _, err := d.Rerun(t.Context(), r.ManifestID, true); !errors.Is(err, core.ErrConflict) {
		t.Errorf("a second run beside the first gave %v", err)
	}
	if _, err := d.Rerun(t.Context(), 9999, true); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a run of nothing gave %v", err)
	}
}

// Someone cancels a run while its worker is about to give it back: it has ended, and nobody takes it up again.
func TestACancelledRunIsNotGivenBack(t *testing.T) {
	for name, giveBack := range map[string]func(*db.DB, context.Context, core.Run) error{
		"to be tried again": func(d *db.DB, ctx context.Context, r core.Run) error {
			return d.Retry(ctx, r, "the model is away", time.Minute)
		},
		"at a shutdown": (*db.DB).Release,
	} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.Open(t)
			r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
			run := claim(t, d)
			if err := d.Cancel(t.Context(), r.ManifestID); err != nil {
				t.Fatal(err)
			}
			if err := giveBack(d, t.Context(), run); err != nil {
				t.Fatal(err)
			}
			rec, err := d.Record(t.Context(), r.ManifestID)
			if err != nil || rec.Run.Status != core.Cancelled || rec.Run.FinishedAt.IsZero() {
				t.Errorf("%+v %v", rec.Run, err)
			}
			if _, err := d.Rerun(t.Context(), r.ManifestID, false); err != nil {
				t.Errorf("judging again: %v", err)
			}
		})
	}
}

func result() core.Result {
	unit := core.Unit{
		ID: "shield/lessons/x.md", Observed: "shield", Repo: "shield", Path: "lessons/x.md", Type: core.Lesson, Action: core.Added,
		Title: "T", Text: "step\x00done", Normative: "step\x00done", Replaces: []string{}, StartLine: 1, EndLine: 2,
	}
	flag := core.Flag{Unit: unit.ID, Routing: core.RoutingOK, ObservedRepo: "shield", ExpectedRepo: "shield", Semantic: core.Dup,
		Against: []string{"shield/lessons/y.md"}, JudgeNote: "says the same"}
	return core.Result{
		Block: core.Block{RanAt: "2026-03-01T10:00:01Z", K: 5, ContraCheck: core.ContraRan, Flags: []core.Flag{flag},
			Summary: core.Summary{Units: 1, Dup: 1}},
		AddCommands: []string{"git -C /x add -N -- y"}, JudgeModel: "j", EmbedModel: "e", PromptVersion: "1", PolicySource: "built-in copy",
		Units: []core.UnitResult{{Unit: unit, Flag: flag, Pairs: []core.Pair{{
			Unit: unit.ID, Item: "shield/lessons/y.md", ItemText: "bad \xff utf-8", Rank: 1, Similarity: .75, Label: core.Dup,
			Note: "says the same", UnitHash: []byte{1}, ItemHash: []byte{2}, Judge: "j", Prompt: "1",
		}}}},
	}
}

// Case P2: NUL and invalid UTF-8 reach text columns only as U+FFFD; the raw manifest keeps them.
func TestFinishKeepsEverything(t *testing.T) {
	d := dbtest.Open(t)
	r := submit(t, d, arrival("s\x00", "2026-03-01T10:00:00Z", "one"))
	want := result()
	if err := d.Finish(t.Context(), claim(t, d), want, true); err != nil {
		t.Fatal(err)
	}
	rec, err := d.Record(t.Context(), r.ManifestID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want.Block, rec.Run.Block); diff != "" {
		t.Error(diff)
	}
	if rec.Run.Status != core.Done || rec.Run.WriteBack.State != core.WritePend || rec.BLUF != "1 unit: 1 dup; demo model" {
		t.Errorf("%+v %q", rec.Run, rec.BLUF)
	}
	got, err := d.Units(t.Context(), rec.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	w := want.Units[0]
	w.Unit.Text, w.Unit.Normative, w.Pairs[0].ItemText = "step\uFFFDdone", "step\uFFFDdone", "bad \uFFFD utf-8"
	if diff := cmp.Diff([]core.UnitResult{w}, got); diff != "" {
		t.Error(diff)
	}
	one, err := d.Unit(t.Context(), rec.Run.ID, w.Unit.ID)
	if err != nil || !cmp.Equal(one, w) {
		t.Errorf("Unit: %v %s", err, cmp.Diff(w, one))
	}
	if cmds, err := d.AddCommands(t.Context(), rec.Run.ID); err != nil || len(cmds) != 1 {
		t.Errorf("AddCommands: %q %v", cmds, err)
	}
	pending, err := d.PendingWrites(t.Context())
	if err != nil || len(pending) != 1 {
		t.Fatalf("pending: %d %v", len(pending), err)
	}
	if err := d.SetWriteBack(t.Context(), pending[0].ID, core.WriteBack{State: core.Written, Path: "/f"}); err != nil {
		t.Fatal(err)
	}
	if pending, _ := d.PendingWrites(t.Context()); len(pending) != 0 {
		t.Error("still pending")
	}
}

// Case P2, in the block: a name, a note or a warning can hold NUL, and so can text that only looks like its escape.
func TestFinishTakesNULInTheBlock(t *testing.T) {
	d := dbtest.Open(t)
	r := submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	res := result()
	res.Block.Flags[0].ObservedRepo, res.Block.Flags[0].JudgeNote = "neuro\x00matrix", "a\x00b"
	res.Block.Warnings = []string{`the words \u0000 and \\u0000 are none`, "but \x00\x00 are"}
	if err := d.Finish(t.Context(), claim(t, d), res, false); err != nil {
		t.Fatal(err)
	}
	rec, err := d.Record(t.Context(), r.ManifestID)
	if err != nil {
		t.Fatal(err)
	}
	b := rec.Run.Block
	if b.Flags[0].ObservedRepo != "neuro\uFFFDmatrix" || b.Flags[0].JudgeNote != "a\uFFFDb" ||
		!cmp.Equal(b.Warnings, []string{`the words \u0000 and \\u0000 are none`, "but \uFFFD\uFFFD are"}) {
		t.Errorf("%+v", b)
	}
	if recs, _, err := d.Records(t.Context(), core.RecordQuery{}); err != nil || len(recs) != 1 {
		t.Errorf("%d records (%v)", len(recs), err)
	}
}

// A session id longer than an index takes is no reason to lose a manifest; two such sessions stay two.
func TestLongSessionIDs(t *testing.T) {
	d := dbtest.Open(t)
	var long strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&long, "%x-ж", i*i)
	}
	for _, a := range []core.Arrival{
		arrival(long.String()+"1", "2026-03-01T10:00:00Z", "one"), arrival(long.String()+"2", "2026-03-01T10:00:00Z", "two"),
		arrival(long.String()+"2", "2026-03-01T10:05:00Z", "three"),
	} {
		submit(t, d, a)
		res := result()
		if err := d.Finish(t.Context(), claim(t, d), res, false); err != nil {
			t.Fatal(err)
		}
	}
	recs, _, err := d.Records(t.Context(), core.RecordQuery{})
	if err != nil || len(recs) != 2 || recs[0].SessionID == recs[1].SessionID || len(recs[0].SessionID) > 500 || !utf8.ValidString(recs[0].SessionID) {
		t.Errorf("%d open manifests of two sessions (%v)", len(recs), err)
	}
}

func TestAnInconclusiveRunIsTriedAgainButNotByTheFileWatch(t *testing.T) {
	d := dbtest.Open(t)
	a := arrival("s", "2026-03-01T10:00:00Z", "one")
	submit(t, d, a)
	res := result()
	res.Block.ContraCheck = core.SkippedUnreachable
	if err := d.Finish(t.Context(), claim(t, d), res, false); err != nil {
		t.Fatal(err)
	}
	a.Source = core.SourceFile
	if r := submit(t, d, a); r.Status != core.Done {
		t.Errorf("the file watch made it %s", r.Status)
	}
	a.Source = core.SourceWebhook
	if r := submit(t, d, a); r.Status != core.Queued || r.New {
		t.Errorf("the webhook made it %+v", r)
	}
}

func TestManyUnitsInOneRun(t *testing.T) {
	d := dbtest.Open(t)
	submit(t, d, arrival("s", "2026-03-01T10:00:00Z", "one"))
	res := result()
	one := res.Units[0]
	res.Units = nil
	for i := range 2500 {
		u := one
		u.Unit.ID = fmt.Sprintf("shield/lessons/%d.md", i)
		u.Flag.Unit = u.Unit.ID
		res.Units = append(res.Units, u)
	}
	run := claim(t, d)
	if err := d.Finish(t.Context(), run, res, false); err != nil {
		t.Fatal(err)
	}
	got, err := d.Units(t.Context(), run.ID)
	if err != nil || len(got) != 2500 || len(got[2499].Pairs) != 1 || got[2499].Unit.ID != "shield/lessons/2499.md" {
		t.Fatalf("%d units, %v", len(got), err)
	}
}

func TestLinksWorkOnceAndTokensByHash(t *testing.T) {
	d := dbtest.Open(t)
	h := sha256.Sum256([]byte("link"))
	if err := d.AddLink(t.Context(), core.Claude, h, time.Hour); err != nil {
		t.Fatal(err)
	}
	if c, err := d.RedeemLink(t.Context(), h); c != core.Claude || err != nil {
		t.Fatalf("%q %v", c, err)
	}
	if _, err := d.RedeemLink(t.Context(), h); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a second use gave %v", err)
	}
	late := sha256.Sum256([]byte("late"))
	if err := d.AddLink(t.Context(), core.Owner, late, -time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := d.RedeemLink(t.Context(), late); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an expired link gave %v", err)
	}
	if has, err := d.HasToken(t.Context(), core.Owner); has || err != nil {
		t.Errorf("HasToken: %v %v", has, err)
	}
	for _, token := range []string{"first", "second"} {
		if err := d.SetToken(t.Context(), core.Owner, sha256.Sum256([]byte(token))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.ByToken(t.Context(), sha256.Sum256([]byte("first"))); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the replaced token gave %v", err)
	}
	if c, err := d.ByToken(t.Context(), sha256.Sum256([]byte("second"))); c != core.Owner || err != nil {
		t.Errorf("%q %v", c, err)
	}
}

func TestSecretIsMadeOnce(t *testing.T) {
	d := dbtest.Open(t)
	first, err := d.Secret(t.Context(), "k", func() []byte { return []byte("a") })
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Secret(t.Context(), "k", func() []byte { return []byte("b") })
	if err != nil || string(first) != "a" || string(again) != "a" {
		t.Errorf("%q %q %v", first, again, err)
	}
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	d := dbtest.Open(t)
	if _, err := d.SQL().Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := d.SQL().Exec("DELETE FROM goose_db_version WHERE version_id = 99999"); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.Migrate(t.Context(), slog.New(slog.DiscardHandler)); !errors.Is(err, db.ErrNewerSchema) {
		t.Errorf("got %v", err)
	}
}

func TestOpenNamesNoPassword(t *testing.T) {
	_, err := db.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable&connect_timeout=1", false)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
