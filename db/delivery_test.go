package db_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/db"
	"storozh/db/dbtest"
)

func delivered(id, content string, status int) (core.Arrival, core.Delivery) {
	sum := sha256.Sum256([]byte(content))
	a := core.Arrival{Raw: []byte(content), ContentHash: sum, Source: core.SourceWebhook}
	return a, core.Delivery{DeliveryID: id, ReceivedAt: time.Now(), Remote: "127.0.0.1", Headers: map[string]string{"A": "b\x00c"}, Size: int64(len(content)),
		BodyHash: sum[:], Verdict: core.DeliveryAccepted, Status: status, Duration: 12 * time.Millisecond}
}

func answerOf(r core.Receipt) []byte { return fmt.Appendf(nil, "manifest %d", r.ManifestID) }

func rowsOf(t *testing.T, d *db.DB, table string) int {
	t.Helper()
	var n int
	if err := d.SQL().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A delivery and its manifest are one; its id is taken by the first, also when many come at the same time.
func TestDeliverOnce(t *testing.T) {
	d := dbtest.Open(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	firsts, manifests := 0, map[int64]bool{}
	for range 12 {
		wg.Go(func() {
			a, dl := delivered("same", `{"n":1}`, 202)
			r, id, first, err := d.Deliver(t.Context(), a, dl, answerOf)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				firsts++
				manifests[r.ManifestID] = id != 0
				return
			}
			manifests[first.ManifestID] = true
			if string(first.Answer) != fmt.Sprint("manifest ", first.ManifestID) || first.Status != 202 || string(first.BodyHash) != string(dl.BodyHash) {
				t.Errorf("the first is %+v", first)
			}
		})
	}
	wg.Wait()
	if firsts != 1 || len(manifests) != 1 || rowsOf(t, d, "deliveries") != 1 || rowsOf(t, d, "runs") != 1 {
		t.Errorf("%d firsts, manifests %v", firsts, manifests)
	}
	a, dl := delivered("same", `{"n":2}`, 202)
	if _, _, first, err := d.Deliver(t.Context(), a, dl, answerOf); err != nil || first == nil || string(first.BodyHash) == string(dl.BodyHash) {
		t.Errorf("another body under the id: %+v %v", first, err)
	}
	if n := rowsOf(t, d, "manifests"); n != 1 {
		t.Errorf("%d manifests: what was refused was stored", n)
	}
	for range 2 { // without an id each is its own, of one manifest
		a, dl := delivered("", `{"n":1}`, 202)
		if _, _, first, err := d.Deliver(t.Context(), a, dl, answerOf); err != nil || first != nil {
			t.Errorf("%+v %v", first, err)
		}
	}
	if rowsOf(t, d, "deliveries") != 3 || rowsOf(t, d, "manifests") != 1 {
		t.Error("a delivery without an id was taken for another")
	}
}

func TestFinishDeliveryKeepsTheFirstAnswer(t *testing.T) {
	d := dbtest.Open(t)
	a, dl := delivered("w", `{}`, 0)
	dl.AnswerBy = time.Now().Add(time.Minute)
	_, id, _, err := d.Deliver(t.Context(), a, dl, answerOf)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Delivery(t.Context(), id); err != nil || got.Status != 0 || got.Answer != nil || got.AnswerBy.IsZero() || got.Headers["A"] != "b\uFFFDc" {
		t.Fatalf("%+v %v", got, err)
	}
	for i, answer := range []string{"first", "second"} {
		if err := d.FinishDelivery(t.Context(), id, 200+i, []byte(answer), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := d.Delivery(t.Context(), id); err != nil || got.Status != 200 || string(got.Answer) != "first" || got.Duration != time.Second {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := d.Delivery(t.Context(), 99); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an unknown one gave %v", err)
	}
}

// What is older than 30 days goes, and of what was refused only the newest stay; the rest is listed page by page, without a gap.
func TestDeliveriesAreBoundedAndPaged(t *testing.T) {
	d := dbtest.Open(t)
	a, dl := delivered("old", `{}`, 202)
	dl.ReceivedAt = time.Now().AddDate(0, 0, -31)
	if _, _, _, err := d.Deliver(t.Context(), a, dl, answerOf); err != nil {
		t.Fatal(err)
	}
	a, dl = delivered("kept", `{}`, 202)
	dl.ReceivedAt = time.Now().AddDate(0, 0, -29)
	if _, _, _, err := d.Deliver(t.Context(), a, dl, answerOf); err != nil {
		t.Fatal(err)
	}
	_, err := d.SQL().Exec(`INSERT INTO deliveries (delivery_id, received_at, remote, headers, size, verdict, status, duration_ms)
		SELECT '', now(), '', '{}', 0, 'unauthorized', 401, 0 FROM generate_series(1, 2300)`)
	if err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if err := d.KeepDelivery(t.Context(), core.Delivery{ReceivedAt: time.Now(), Verdict: core.DeliveryBadJSON, Status: 400}); err != nil {
			t.Fatal(err)
		}
	}
	seen, after, pages := map[int64]core.DeliveryVerdict{}, "", 0
	for {
		list, next, err := d.ListDeliveries(t.Context(), after, 150)
		if err != nil {
			t.Fatal(err)
		}
		for _, dl := range list {
			if _, twice := seen[dl.ID]; twice {
				t.Fatalf("delivery %d is on two pages", dl.ID)
			}
			seen[dl.ID] = dl.Verdict
		}
		pages++
		if after = next; next == "" {
			break
		}
	}
	if len(seen) < 2000 || len(seen) > 2000+1+64 || pages < 13 || seen[1] != "" || seen[2] != core.DeliveryAccepted {
		t.Errorf("%d deliveries on %d pages; the old one %q, the kept one %q", len(seen), pages, seen[1], seen[2])
	}
	if _, _, err := d.ListDeliveries(t.Context(), "x", 10); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("a strange page mark gave %v", err)
	}
}

func TestAuditTrail(t *testing.T) {
	d := dbtest.Open(t)
	_, err := d.SQL().Exec("INSERT INTO audit (who, what, detail) SELECT '', 'sign-in failed', '' FROM generate_series(1, 1500)")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Audit(t.Context(), core.AuditEntry{Who: "owner", What: core.AuditSignIn, Detail: "by token"}); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		if err := d.Audit(t.Context(), core.AuditEntry{What: core.AuditSignInFailed}); err != nil {
			t.Fatal(err)
		}
	}
	trail, err := d.AuditTrail(t.Context(), 65)
	if err != nil || len(trail) != 65 || trail[64].Who != "owner" || trail[64].At.IsZero() || trail[0].What != core.AuditSignInFailed {
		t.Fatalf("%d entries (%v)", len(trail), err)
	}
	if n := rowsOf(t, d, "audit"); n > 1000+1+64 {
		t.Errorf("%d entries: failed sign-ins are not bounded", n)
	}
}

func TestChanged(t *testing.T) {
	d := dbtest.Open(t)
	for _, step := range []struct {
		value, before string
		changed       bool
	}{{"a", "", true}, {"a", "a", false}, {"b", "a", true}} {
		before, changed, err := d.Changed(t.Context(), "k", []byte(step.value))
		if err != nil || changed != step.changed || string(before) != step.before {
			t.Errorf("%+v: %q %v %v", step, before, changed, err)
		}
	}
}

func TestStats(t *testing.T) {
	d := dbtest.Open(t)
	for i := range 3 {
		a, dl := delivered("", fmt.Sprintf(`{"n":%d}`, i), 202)
		if _, _, _, err := d.Deliver(t.Context(), a, dl, answerOf); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.SQL().Exec(`UPDATE runs SET queued_at = now() - interval '10 seconds' WHERE id = 1;
		UPDATE runs SET status = 'done', write_state = 'written', queued_at = now() - interval '1 hour' WHERE id = 2`)
	if err != nil {
		t.Fatal(err)
	}
	st, err := d.Stats(t.Context())
	if err != nil || st.Runs[core.Queued] != 2 || st.Runs[core.Done] != 1 || st.WriteBacks[core.Written] != 1 || st.QueueAge < 10*time.Second || st.QueueAge > time.Minute {
		t.Errorf("%+v %v", st, err)
	}
}
