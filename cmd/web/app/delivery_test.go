package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
	"storozh/core/routing"
	"storozh/db/dbtest"
)

var signingSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of the test's sender"))

// idleApp is an App over the test database, with the demo model and without workers: what is accepted stays queued.
func idleApp(t testing.TB, change func(*Config)) *App {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{
		Version: "test", Addr: "127.0.0.1:0", DataDir: t.TempDir(), Ecosystem: dir, ShieldDir: filepath.Join(dir, core.Shield),
		PolicyPath: filepath.Join(dir, "policy.md"), Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases(), Demo: true,
		WebhookSecrets: []string{testSecret, signingSecret}, OwnerToken: "owner-token-of-the-test", ClaudeToken: "claude-token-of-the-test",
	}
	if change != nil {
		change(&cfg)
	}
	return wiredApp(t, cfg, dbtest.Open(t))
}

type reply struct {
	status int
	body   string
	header http.Header
}

// post sends a body to the webhook; headers come in pairs.
func post(t *testing.T, url string, body []byte, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return reply{res.StatusCode, string(b), res.Header}
}

// signedAs are the headers of a signed delivery, made from the scheme's text.
func signedAs(id string, body []byte) []string { return signedAt(time.Now(), id, body) }

func signedAt(t time.Time, id string, body []byte) []string {
	at := t.Unix()
	mac := hmac.New(sha256.New, []byte("a key of the test's sender"))
	_, _ = fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
	return []string{"webhook-id", id, "webhook-timestamp", fmt.Sprint(at), "webhook-signature", "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}
}

const hookURL = "/webhooks/mirabilis"

func bearerID(id string) []string {
	return []string{"Authorization", "Bearer " + testSecret, "webhook-id", id}
}

// The same id and body get the first answer to the byte, whatever has become of the run meanwhile; another body is refused.
func TestReplayGetsTheFirstAnswer(t *testing.T) {
	a := idleApp(t, nil)
	url := serveWeb(t, a) + hookURL
	for name, headers := range map[string]func(id string, body []byte) []string{
		"signed":           signedAs,
		"by bearer secret": func(id string, _ []byte) []string { return bearerID(id) },
	} {
		t.Run(name, func(t *testing.T) {
			body, other, id := []byte(`{"sessionId":"`+name+`"}`), []byte(`{"sessionId":"`+name+`","x":1}`), strings.ReplaceAll(name, " ", "-")
			first := post(t, url, body, headers(id, body)...)
			if first.status != http.StatusAccepted {
				t.Fatalf("%+v", first)
			}
			run, err := a.db.Claim(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := a.db.Finish(t.Context(), run, core.Result{Block: core.Block{Flags: []core.Flag{}, ContraCheck: core.ContraRan}}, true); err != nil {
				t.Fatal(err)
			}
			again := post(t, url+"?wait=5s", body, headers(id, body)...)
			if again.status != first.status || again.body != first.body || again.header.Get("Location") != first.header.Get("Location") {
				t.Errorf("first %+v, again %+v", first, again)
			}
			if got := post(t, url, other, headers(id, other)...); got.status != http.StatusConflict || got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("another body: %+v", got)
			}
			sum := sha256.Sum256(other)
			if _, err := a.db.ManifestByContent(t.Context(), sum); err == nil {
				t.Error("the other body was stored")
			}
			list, _, err := a.db.ListDeliveries(t.Context(), "", 3)
			if err != nil || list[0].Verdict != core.DeliveryConflict || list[1].Verdict != core.DeliveryReplay || list[1].ManifestID != list[2].ManifestID {
				t.Errorf("%+v %v", list, err)
			}
		})
	}
}

// A second delivery of the id waits while the first is still in work, and both get the same answer.
func TestReplayWhileTheFirstIsInWork(t *testing.T) {
	e := newEco(t)
	workday(e)
	gate := make(chan struct{})
	var once sync.Once
	t.Cleanup(func() { once.Do(func() { close(gate) }) })
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(p string) string { <-gate; return rules(workdayRules)(p) }
	}), nil)
	url := serveWeb(t, a) + hookURL + "?wait=60s"
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	replies := make([]reply, 4)
	var wg sync.WaitGroup
	send := func(i int) { wg.Go(func() { replies[i] = post(t, url, raw, bearerID("in-work")...) }) }
	send(0)
	settled(t, "the first delivery", func() bool {
		n, err := a.db.Unfinished(t.Context())
		return err == nil && n == 1
	})
	for i := 1; i < len(replies); i++ {
		send(i)
	}
	time.Sleep(300 * time.Millisecond)
	once.Do(func() { close(gate) })
	wg.Wait()
	for i, r := range replies {
		if r.status != http.StatusOK || r.body != replies[0].body || !strings.Contains(r.body, `"bluf":"5 units: 1 misroute, 2 contra, 1 dup"`) {
			t.Errorf("reply %d: %d %.200s", i, r.status, r.body)
		}
	}
	if n := runs(t, a); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// The process died while the first sender waited: who asks again gets the answer of one who didn't wait, from then on.
func TestReplayAfterTheFirstDied(t *testing.T) {
	a := idleApp(t, nil)
	url := serveWeb(t, a) + hookURL
	body := []byte(`{"sessionId":"s"}`)
	sum := sha256.Sum256(body)
	_, _, _, err := a.db.Deliver(t.Context(), core.Arrival{Raw: body, ContentHash: sum, Source: core.SourceWebhook}, core.Delivery{
		DeliveryID: "died", ReceivedAt: time.Now().Add(-time.Hour), BodyHash: sum[:], Verdict: core.DeliveryAccepted, AnswerBy: time.Now().Add(-time.Hour),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := post(t, url, body, bearerID("died")...)
	again := post(t, url, body, bearerID("died")...)
	if first.status != http.StatusAccepted || !strings.Contains(first.body, `"status":"queued"`) || again.body != first.body {
		t.Errorf("%+v, again %+v", first, again)
	}
}

// A thousand senders at once: each manifest is stored once, with one run and one delivery, and each sender is told so.
func TestAThousandPostsAtOnce(t *testing.T) {
	a := idleApp(t, nil)
	url := serveWeb(t, a) + hookURL
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: -1}, Timeout: 2 * time.Minute}
	n := 1000
	if !dbtest.Native() {
		n = 300 // one connection serves them one after the other
	}
	start := make(chan struct{})
	locations := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body := fmt.Sprintf(`{"sessionId":"s%d","pad":%q}`, i, strings.Repeat("x", 500))
			<-start
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			h := bearerID(fmt.Sprint("d", i))
			if i%2 == 0 {
				h = signedAs(fmt.Sprint("d", i), []byte(body))
			}
			for j := 0; j < len(h); j += 2 {
				req.Header.Set(h[j], h[j+1])
			}
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusAccepted {
				t.Errorf("post %d: %d", i, res.StatusCode)
			}
			locations[i] = res.Header.Get("Location")
		})
	}
	began := time.Now()
	close(start)
	wg.Wait()
	t.Logf("%d posts in %s", n, time.Since(began))
	distinct := map[string]bool{}
	for _, l := range locations {
		distinct[l] = true
	}
	if len(distinct) != n {
		t.Errorf("%d distinct manifests were promised", len(distinct))
	}
	for _, table := range []string{"manifests", "runs", "deliveries"} {
		var got int
		if err := a.db.SQL().QueryRow("SELECT count(*) FROM " + table).Scan(&got); err != nil || got != n {
			t.Errorf("%d %s (%v)", got, table, err)
		}
	}
}

// A change of configuration is in the audit, without a secret; the same configuration again is not.
func TestConfigurationChangesAreAudited(t *testing.T) {
	a := idleApp(t, nil)
	a.cfg.K = 5
	details := func() string {
		if err := a.AuditConfig(t.Context()); err != nil {
			t.Fatal(err)
		}
		trail, err := a.db.AuditTrail(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range trail {
			out = append(out, string(e.What)+" "+e.Detail)
		}
		return strings.Join(out, " | ")
	}
	if got := details(); got != "configuration first start" {
		t.Errorf("%s", got)
	}
	if got := details(); got != "configuration first start" {
		t.Errorf("unchanged: %s", got)
	}
	a.cfg.K, a.cfg.AllowedHosts = 7, []string{"storozh.example"}
	a.cfg.OwnerToken = "another-token-of-the-owner"
	got := details()
	if !strings.HasPrefix(got, "configuration allowed hosts: none → storozh.example; k: 5 → 7; secrets exchanged | ") {
		t.Errorf("%s", got)
	}
	var stored string
	if err := a.db.SQL().QueryRow("SELECT convert_from(value, 'UTF8') FROM settings WHERE key = 'configuration'").Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{a.cfg.OwnerToken, testSecret, signingSecret} {
		if strings.Contains(stored, secret) || strings.Contains(got, secret) {
			t.Error("a secret was kept")
		}
	}
}

// What a run leaves in metrics and audit.
func TestMetricsAndAuditOfARun(t *testing.T) {
	e := newEco(t)
	workday(e)
	a := newApp(t, e, llmtest.Start(t, func(f *llmtest.Faults) { f.Answer = rules(workdayRules) }), nil)
	base := serveWeb(t, a)
	raw := e.manifest("s", "2026-05-01T12:00:00Z")
	writeFile(t, a.cfg.ManifestPath, raw)
	if r := post(t, base+hookURL+"?wait=60s", raw, bearerID("m")...); r.status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	list, _, err := a.db.ListDeliveries(t.Context(), "", 1)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := a.WaitWritten(t.Context(), list[0].ManifestID); err != nil {
		t.Fatal(err)
	}
	var page string
	settled(t, "the metrics", func() bool {
		res, err := http.Get(base + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, _ := io.ReadAll(res.Body)
		page = string(b)
		return strings.Contains(page, `storozh_write_backs_total{state="written"} 1`)
	})
	for _, want := range []string{`storozh_runs{status="done"} 1`, `storozh_write_backs{state="written"} 1`, `storozh_deliveries_total{verdict="accepted"} 1`,
		`storozh_pairs_total{label="dup"} 1`, `storozh_pairs_total{label="unjudged"} 0`, `storozh_model_seconds_count{call="complete",outcome="ok"}`,
		`storozh_model_seconds_count{call="embed",outcome="ok"}`, "storozh_queue_age_seconds 0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, secret := range []string{testSecret, signingSecret, a.cfg.OwnerToken, "shield/"} {
		if strings.Contains(page, secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
	settled(t, "the audit entry", func() bool {
		trail, err := a.db.AuditTrail(context.Background(), 5)
		return err == nil && len(trail) == 1 && trail[0].What == core.AuditWriteBack && strings.Contains(trail[0].Detail, "written")
	})
}
