package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core/routing"
	"storozh/db/dbtest"
)

// acceptClients send at the same time, in both halves of the measure.
const acceptClients = 8

// BenchmarkAcceptance compares the webhook's rate, from the request to the answer, with that of the bare INSERT of the same manifest rows on
// the same database; "ratio" is the first by the second, and the design asks for a third. It means something only on a native Postgres with
// fsync on:
//
//	STOROZH_TEST_DATABASE_URL=… go test ./cmd/web/app -run '^$' -bench Acceptance -benchtime 3000x
func BenchmarkAcceptance(b *testing.B) {
	d := dbtest.Open(b)
	dir := b.TempDir()
	a := &App{cfg: Config{Version: "test", DataDir: dir, Ecosystem: dir, ShieldDir: dir, Demo: true, Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases(),
		WebhookSecrets: []string{testSecret}}, log: slog.New(slog.DiscardHandler), say: func(string) {}, db: d, wake: newSignal(), ended: newSignal()}
	if err := a.wire(b.Context()); err != nil {
		b.Fatal(err)
	}
	web, closeWeb, err := a.webServer()
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(web.Handler)
	defer func() { s.Close(); closeWeb() }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: acceptClients}}
	accept := func(i int) error {
		req, err := http.NewRequest(http.MethodPost, s.URL+hookURL, bytes.NewReader(benchManifest(i)))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+testSecret)
		req.Header.Set("webhook-id", fmt.Sprint("bench", i))
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if res.StatusCode != http.StatusAccepted {
			return fmt.Errorf("status %d", res.StatusCode)
		}
		return res.Body.Close()
	}
	insert := func(i int) error {
		raw := benchManifest(i)
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestSpeed)
		_, _ = w.Write(raw)
		_ = w.Close()
		sum := sha256.Sum256(raw)
		_, err := d.SQL().ExecContext(context.Background(), `INSERT INTO manifests (content_hash, session_id, stamped_at, source, target, raw)
			VALUES ($1, $2, now(), 'webhook', '', $3)`, sum[:], fmt.Sprint("s", i), z.Bytes())
		return err
	}
	together(b, 1<<30, acceptClients*4, insert) // connections and caches
	together(b, 1<<29, acceptClients*4, accept)
	b.ResetTimer()
	bare := together(b, 0, b.N, insert)
	full := together(b, b.N, b.N, accept)
	b.ReportMetric(float64(b.N)/bare.Seconds(), "inserts/s")
	b.ReportMetric(float64(b.N)/full.Seconds(), "accepted/s")
	b.ReportMetric(bare.Seconds()/full.Seconds(), "ratio")
}

// benchManifest is a manifest of 20 kB, another one for each i.
func benchManifest(i int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	var diff strings.Builder
	for diff.Len() < 19_500 {
		_, _ = fmt.Fprintf(&diff, "+line %x of a changed lesson\\n", r.Uint32())
	}
	return fmt.Appendf(nil, `{"sessionId":"s%d","timestamp":"2026-05-01T12:00:00Z","repos":[{"name":"shield","dir":"/e/shield","diff":"%s","files":[]}]}`, i, diff.String())
}

// together does n things, numbered from from, by acceptClients at a time.
func together(b *testing.B, from, n int, do func(int) error) time.Duration {
	b.Helper()
	var wg sync.WaitGroup
	began := time.Now()
	for c := range acceptClients {
		wg.Go(func() {
			for i := from + c; i < from+n; i += acceptClients {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}
