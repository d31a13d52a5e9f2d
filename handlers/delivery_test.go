package handlers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"storozh/core"
)

func TestDeliveriesAreRecorded(t *testing.T) {
	t.Parallel()
	good := []string{"Authorization", "Bearer " + hookSecret}
	for name, tc := range map[string]struct {
		body    string
		headers []string
		fail    bool
		want    core.DeliveryVerdict
		status  int
	}{
		"accepted":     {`{"sessionId":"s"}`, append(good, "Webhook-Id", "w1"), false, core.DeliveryAccepted, 202},
		"unauthorized": {`{}`, []string{"Authorization", "Bearer wrong"}, false, core.DeliveryUnauthorized, 401},
		"bad encoding": {`{}`, append(good, "Content-Encoding", "br"), false, core.DeliveryBadEncoding, 415},
		"bad gzip":     {`{}`, append(good, "Content-Encoding", "gzip"), false, core.DeliveryBadEncoding, 400},
		"bad JSON":     {`{"a"`, good, false, core.DeliveryBadJSON, 400},
		"bad id":       {`{}`, append(good, "Webhook-Id", "with space"), false, core.DeliveryRefused, 400},
		"no database":  {`{}`, good, true, core.DeliveryFailed, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			if tc.fail {
				h.mem.err = errors.New("pq: connection refused at 10.0.0.7")
			}
			got := h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(tc.body), append(tc.headers, "Cookie", "storozh=a-session", "X-Note", "n")...)
			d := h.mem.last()
			if got.status != tc.status || d.Verdict != tc.want || d.Status != tc.status {
				t.Errorf("answered %d, recorded as %q with %d", got.status, d.Verdict, d.Status)
			}
			if strings.Contains(got.body, "10.0.0.7") {
				t.Errorf("the answer tells internals: %s", got.body)
			}
			if len(h.mem.kept) != 1 || d.Remote != "127.0.0.1" || d.Headers["X-Note"] != "n" || d.Headers["Cookie"] != masked {
				t.Errorf("%d records, the last %+v", len(h.mem.kept), d)
			}
			if all := fmt.Sprint(d); strings.Contains(all, hookSecret) || strings.Contains(all, "wrong") || strings.Contains(all, "a-session") {
				t.Errorf("a secret was kept: %s", all)
			}
		})
	}
}

// Whatever header holds one of our secrets, and whatever its name says of a secret, is masked.
func TestSecretsInHeadersAreMasked(t *testing.T) {
	t.Parallel()
	h := http.Header{"X-Custom": {"see " + hookSecret + " here"}, "X-Api-Key": {"k"}, "Webhook-Signature": {"v1,abc"}, "Authorization": {"bearer t"},
		"Proxy-Authorization": {"Digest x"}, "User-Agent": {"curl/8"}, "Long": {strings.Repeat("я", 400)}}
	got := keptHeaders(h, []string{"", hookSecret})
	want := map[string]string{"X-Custom": masked, "X-Api-Key": masked, "Webhook-Signature": "v1," + masked, "Authorization": "Bearer " + masked,
		"Proxy-Authorization": masked, "User-Agent": "curl/8"}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %q, want %q", name, got[name], value)
		}
	}
	if n := len(got["Long"]); n > headerBytes+3 {
		t.Errorf("a header of %d bytes was kept", n)
	}
	many := http.Header{}
	for i := range 500 {
		many.Set(fmt.Sprint("X-", i), "v")
	}
	if n := len(keptHeaders(many, nil)); n != headerCount {
		t.Errorf("%d headers kept", n)
	}
}

// Strangers can't fill the disk: of theirs only so many are kept, and all are counted.
func TestStrangersAreKeptInModeration(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range keptRefusals + 20 {
		h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader("{}"))
	}
	if n := len(h.mem.kept); n != keptRefusals {
		t.Errorf("%d of %d kept", n, keptRefusals+20)
	}
	got := h.do(h.browser(), http.MethodGet, "/metrics", nil)
	if want := fmt.Sprintf(`storozh_deliveries_total{verdict="unauthorized"} %d`, keptRefusals+20); !strings.Contains(got.body, want) {
		t.Errorf("the metrics lack %s", want)
	}
}

// Those who only look like a sender, until their signature is checked, are strangers, too: their bodies that are too long or break off.
func TestSeemingSendersAreKeptInModeration(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range keptRefusals + 20 {
		req := httptest.NewRequest(http.MethodPost, hookPath, http.NoBody)
		req.ContentLength = manifestLimit + 1
		headers := signedHeaders("whsec_"+base64.StdEncoding.EncodeToString([]byte("a secret of nobody's")), fmt.Sprint(i), testNow, nil)
		for j := 0; j < len(headers); j += 2 {
			req.Header.Set(headers[j], headers[j+1])
		}
		rec := httptest.NewRecorder()
		h.echo.ServeHTTP(rec, req)
		if rec.Code != http.StatusRequestEntityTooLarge {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
	if n := len(h.mem.kept); n != keptRefusals {
		t.Errorf("%d of %d kept", n, keptRefusals+20)
	}
}

func TestDeliveriesPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	post := func(body string, headers ...string) {
		h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(body), append(headers, "Authorization", "Bearer "+hookSecret)...)
	}
	post(`{"sessionId":"s"}`, "Webhook-Id", "w-first", "User-Agent", "hook <b>1</b>")
	h.mem.finish(1)
	post(`{"a":`)
	b := h.signedIn(ownerToken)
	page := h.do(b, http.MethodGet, "/deliveries", nil)
	for _, want := range []string{"w-first", "accepted", "bad JSON", "202 Accepted after", "400 Bad Request after", `href="/manifests/1"`, `action="/deliveries/1/again"`, "Bearer •••", "hook &lt;b&gt;"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page.body, hookSecret) || strings.Contains(page.body, `action="/deliveries/2/again"`) {
		t.Error("the page shows a secret, or offers to deliver nothing")
	}
	got := h.do(b, http.MethodPost, "/deliveries/1/again", nil, "Sec-Fetch-Site", "same-origin")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/manifests/1" || len(h.mem.fresh) != 1 {
		t.Errorf("deliver again: %d to %q, %d runs", got.status, got.header.Get("Location"), len(h.mem.fresh))
	}
	if got := h.do(b, http.MethodPost, "/deliveries/2/again", nil, "Sec-Fetch-Site", "same-origin"); got.status != http.StatusConflict {
		t.Errorf("deliver nothing again: %d", got.status)
	}
	for i := range pageSize {
		post(fmt.Sprintf(`{"n":%d}`, i))
	}
	first := h.do(b, http.MethodGet, "/deliveries", nil)
	_, rest, _ := strings.Cut(first.body, `href="/deliveries?after=`)
	after, _, _ := strings.Cut(rest, `"`)
	second := h.do(b, http.MethodGet, "/deliveries?after="+after, nil)
	if strings.Contains(first.body, "w-first") || !strings.Contains(second.body, "w-first") || strings.Contains(second.body, "Older deliveries") {
		t.Errorf("paging by %q lost or repeated entries", after)
	}
}

func TestMetricsAreForThisMachineAndCosigners(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) {
		c.Stats = func(context.Context) (core.Stats, error) {
			return core.Stats{Runs: map[core.Status]int{core.Queued: 3}, WriteBacks: map[core.WriteState]int{core.Written: 2}}, nil
		}
	})
	for name, tc := range map[string]struct {
		headers []string
		want    int
	}{
		"this machine":              {nil, 200},
		"through a proxy":           {[]string{"X-Forwarded-For", "203.0.113.9"}, 401},
		"through a proxy, cosigner": {[]string{"X-Forwarded-For", "203.0.113.9", "Authorization", "Bearer " + claudeToken}, 200},
		"a rebound name":            {[]string{"Host", "evil.example"}, 403},
		"a scraper in a container":  {[]string{"Host", "host.docker.internal:8787", "X-Forwarded-For", "203.0.113.9", "Authorization", "Bearer " + ownerToken}, 200},
		"the webhook's secret":      {[]string{"X-Forwarded-For", "203.0.113.9", "Authorization", "Bearer " + hookSecret}, 401},
	} {
		if got := h.do(h.browser(), http.MethodGet, "/metrics", nil, tc.headers...); got.status != tc.want {
			t.Errorf("%s: status %d, want %d", name, got.status, tc.want)
		}
	}
	h.do(h.browser(), http.MethodGet, "/login/one-time-secret", nil)
	got := h.do(h.browser(), http.MethodGet, "/metrics", nil)
	for _, want := range []string{`storozh_runs{status="queued"} 3`, `storozh_write_backs{state="written"} 2`, "storozh_database_up 1",
		`storozh_http_requests_total{method="GET",route="/metrics",status="401"} 2`, `route="/login/:link",status="200"} 1`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(got.body, "one-time-secret") {
		t.Error("the metrics tell a path")
	}
}

func TestAuditHoldsSignInsAndNoSecrets(t *testing.T) {
	t.Parallel()
	var trail []core.AuditEntry
	h := newHouse(t, func(c *Config) {
		c.Audit = func(_ context.Context, e core.AuditEntry) { trail = append([]core.AuditEntry{e}, trail...) }
		c.AuditTrail = func(context.Context, int) ([]core.AuditEntry, error) { return trail, nil }
	})
	id := h.put()
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}
	h.do(h.browser(), http.MethodPost, "/login", strings.NewReader("token=a-wrong-token"), form...)
	h.do(h.browser(), http.MethodGet, "/api/manifests", nil, "Authorization", "Bearer another-wrong-token")
	b := h.signedIn(claudeToken)
	h.do(b, http.MethodPost, fmt.Sprintf("/manifests/%d/runs", id), nil, form...)
	trail = append([]core.AuditEntry{{Who: "owner", What: core.AuditDecision, Detail: "land, because of the tide"},
		{Who: "claude", What: core.AuditDecision, Detail: "fix, my own"}}, trail...)
	page := h.do(b, http.MethodGet, "/status", nil)
	h.do(b, http.MethodPost, "/logout", nil, form...)
	var said []string
	for _, e := range trail {
		said = append(said, e.Who+": "+string(e.What)+" "+e.Detail)
	}
	want := "claude: sign-out  | owner: decision land, because of the tide | claude: decision fix, my own | claude: run again manifest 1 | " +
		"claude: sign-in by token, from 127.0.0.1 | : sign-in failed by API token, from 127.0.0.1 | : sign-in failed in the browser, from 127.0.0.1"
	if got := strings.Join(said, " | "); got != want {
		t.Errorf("audit:\n%s\nwant:\n%s", got, want)
	}
	if !strings.Contains(page.body, "a stranger") || !strings.Contains(page.body, "fix, my own") || strings.Contains(page.body, "the tide") {
		t.Error("the status page lacks an entry, or tells one cosigner what the other decided")
	}
}

// The log names routes and numbers: no secret, no address of a one-time link, no text of a manifest.
func TestLogsHoldNoSecretsAndNoText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.mem.links = map[[32]byte]core.Cosigner{}
	h.do(h.browser(), http.MethodPost, hookPath+"?wait=1s&note=in-the-query", strings.NewReader(`{"sessionId":"text-of-the-manifest"}`), "Authorization", "Bearer "+hookSecret)
	h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(`{"text-of-a-bad-manifest`), "Authorization", "Bearer "+hookSecret)
	h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(`{}`), "Authorization", "Bearer a-wrong-secret")
	h.do(h.browser(), http.MethodGet, "/login/one-time-secret", nil)
	h.do(h.browser(), http.MethodGet, "/api/manifests", nil, "Authorization", "Bearer "+ownerToken)
	b := h.signedIn(claudeToken)
	h.do(b, http.MethodGet, "/no-such-page/with-a-secret", nil)
	log := h.log.String()
	if !strings.Contains(log, "route=/webhooks/mirabilis") {
		t.Fatalf("nothing is logged: %s", log)
	}
	for _, secret := range []string{hookSecret, "a-wrong-secret", "one-time-secret", ownerToken, claudeToken, "text-of", "in-the-query", "with-a-secret"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
