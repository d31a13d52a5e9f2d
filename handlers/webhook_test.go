package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const hookPath = "/webhooks/mirabilis"

// zipped is a gzip of n bytes of zeros inside a JSON string, made without holding them.
func zipped(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(z, `{"a":"`)
	if _, err := io.CopyN(z, ones{}, int64(n)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(z, `"}`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ones reads as an endless text of the digit 1, quickly.
type ones struct{}

var manyOnes = bytes.Repeat([]byte("1"), 64<<10)

func (ones) Read(p []byte) (int, error) {
	return copy(p, manyOnes), nil
}

// The order of checks: who, size, encoding, JSON. Each row fails at its own check and at all that come after it.
func TestWebhookChecksInOrder(t *testing.T) {
	t.Parallel()
	good := []string{"Authorization", "Bearer " + hookSecret}
	const over = manifestLimit + 1<<20
	for name, tc := range map[string]struct {
		body    func() io.Reader
		headers []string
		want    int
		says    string
	}{
		"no secret, too long, odd encoding, no JSON": {func() io.Reader { return io.LimitReader(ones{}, 1<<20) }, []string{"Content-Encoding", "br"}, 401, "secret"},
		"wrong secret":                         {text("{}"), []string{"Authorization", "Bearer hook-secret"}, 401, ""},
		"secret of another scheme":             {text("{}"), []string{"Authorization", "Basic " + hookSecret}, 401, ""},
		"a cosigner's token is no secret":      {text("{}"), []string{"Authorization", "Bearer " + ownerToken}, 401, ""},
		"chunked, one MiB over, odd encoding":  {func() io.Reader { return io.LimitReader(ones{}, over) }, append(good, "Content-Encoding", "br"), 413, "64 MiB"},
		"a small archive of too much, no JSON": {func() io.Reader { return bytes.NewReader(zipped(t, over)) }, append(good, "Content-Encoding", "gzip"), 413, "64 MiB"},
		"odd encoding, no JSON":                {text("not json"), append(good, "Content-Encoding", "br"), 415, "gzip"},
		"twice encoded":                        {text("not json"), append(good, "Content-Encoding", "gzip, gzip"), 415, ""},
		"promised gzip":                        {text("{}"), append(good, "Content-Encoding", "gzip"), 400, "gzip"},
		"half an archive":                      {func() io.Reader { z := zipped(t, 9999); return bytes.NewReader(z[:len(z)-9]) }, append(good, "Content-Encoding", "gzip"), 400, "gzip"},
		"no JSON":                              {text("{\n  \"a\": nope}"), good, 400, "line 2, column 9"},
		"nothing":                              {text(""), good, 400, "found the end"},
		"good":                                 {text(`{"sessionId":"s"}`), good, 202, ""},
		"good by the other secret":             {text(`{"sessionId":"s"}`), []string{"Authorization", "bearer older secret"}, 202, ""},
		"good in gzip":                         {func() io.Reader { return bytes.NewReader(zipped(t, 100)) }, append(good, "Content-Encoding", "GZIP"), 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			got := h.do(h.browser(), http.MethodPost, hookPath, tc.body(), tc.headers...)
			if got.status != tc.want || !strings.Contains(got.body, tc.says) {
				t.Errorf("status %d, want %d with %q: %s", got.status, tc.want, tc.says, got.body)
			}
			if stored := len(h.mem.arrivals); (stored == 1) != (tc.want == 202) {
				t.Errorf("%d manifests stored", stored)
			}
			if kind := got.header.Get("Content-Type"); tc.want >= 400 && kind != "application/problem+json" {
				t.Errorf("content type %q", kind)
			}
		})
	}
}

func text(s string) func() io.Reader { return func() io.Reader { return strings.NewReader(s) } }

// A body that announces its length is refused before it is sent; one with a false small length can't be.
func TestWebhookRefusesAnnouncedLengthUnread(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	req, err := http.NewRequest(http.MethodPost, h.url+hookPath, io.LimitReader(ones{}, manifestLimit+1))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = manifestLimit + 1
	req.Header.Set("Authorization", "Bearer "+hookSecret)
	req.Header.Set("Expect", "100-continue") // so that the client waits for the answer instead of sending
	b := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 10 * time.Second}}
	res, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestWebhookKeepsTheBytes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const body = "{\"b\": 1.0,  \"a\":\"\\u0416\",\"z\":9007199254740993}"
	got := h.do(h.browser(), http.MethodPost, hookPath, strings.NewReader(body), "Authorization", "Bearer "+hookSecret)
	var receipt struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
		URL    string `json:"url"`
	}
	if err := json.Unmarshal([]byte(got.body), &receipt); err != nil {
		t.Fatal(err)
	}
	if receipt.ID != 1 || receipt.Status != "queued" || receipt.URL != "/manifests/1" || got.header.Get("Location") != "/api/manifests/1" {
		t.Errorf("receipt %+v, location %q", receipt, got.header.Get("Location"))
	}
	if string(h.mem.arrivals[0].Raw) != body || h.mem.arrivals[0].Source != "webhook" || h.mem.arrivals[0].Target != "" {
		t.Errorf("stored %+v", h.mem.arrivals[0])
	}
}

func TestWebhookWaits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wait string
		end  func(h *house) func(context.Context, int64) error
		want int
		says string
	}{
		"the run ends in time": {"60s", func(h *house) func(context.Context, int64) error {
			return func(_ context.Context, id int64) error { h.mem.finish(id); return nil }
		}, 200, `"bluf":"1 unit: 1 contra; 1 file not in the diff"`},
		"the run takes longer": {"50ms", func(*house) func(context.Context, int64) error {
			return func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }
		}, 202, `"status":"queued"`},
		"longer than allowed is cut": {"99h", func(h *house) func(context.Context, int64) error {
			return func(ctx context.Context, id int64) error {
				if end, ok := ctx.Deadline(); !ok || time.Until(end) > waitLimit {
					t.Error("the wait has no limit")
				}
				h.mem.finish(id)
				return nil
			}
		}, 200, `"storozh":{`},
		"a bare number is seconds": {"60", func(h *house) func(context.Context, int64) error {
			return func(_ context.Context, id int64) error { h.mem.finish(id); return nil }
		}, 200, ""},
		"no time":      {"soon", nil, 400, "60s"},
		"back in time": {"-1s", nil, 400, "60s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			if tc.end != nil {
				h.wait = tc.end(h)
			}
			got := h.do(h.browser(), http.MethodPost, hookPath+"?wait="+tc.wait, strings.NewReader(`{"sessionId":"s"}`), "Authorization", "Bearer "+hookSecret)
			if got.status != tc.want || !strings.Contains(got.body, tc.says) {
				t.Errorf("status %d, want %d with %q: %s", got.status, tc.want, tc.says, got.body)
			}
			if tc.want == 400 && len(h.mem.arrivals) > 0 {
				t.Error("stored before the question was understood")
			}
		})
	}
}
