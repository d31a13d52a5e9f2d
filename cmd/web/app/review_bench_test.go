package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/manifest"
	"storozh/core/review"
)

// BenchmarkReviewPage asks for the review page of 500 units and 1,500 pairs over real HTTP and the real database, five reviewers at once: with
// half a second between two looks, as a quick reader makes them, and with none, which keeps every core busy. It reports the median time of
// an answer and the page's size.
func BenchmarkReviewPage(b *testing.B) {
	TuneMemory()
	a := idleApp(b, nil)
	page := serveWeb(b, a) + fmt.Sprintf("/manifests/%d", bigManifest(b, a, 500))
	for _, pause := range []time.Duration{500 * time.Millisecond, 0} {
		b.Run(fmt.Sprint("pause=", pause), func(b *testing.B) { reviewers(b, page, pause) })
	}
}

func reviewers(b *testing.B, page string, pause time.Duration) {
	const reviewers, rounds = 5, 6
	clients := make([]*http.Client, reviewers)
	for i := range clients {
		clients[i] = signedIn(b, page, "owner-token-of-the-test")
	}
	var mu sync.Mutex
	var took []time.Duration
	size := 0
	for b.Loop() {
		var wg sync.WaitGroup
		for i, c := range clients {
			wg.Go(func() {
				time.Sleep(pause / reviewers * time.Duration(i))
				for range rounds {
					start := time.Now()
					n := fetch(b, c, page, http.StatusOK)
					mu.Lock()
					took, size = append(took, time.Since(start)), n
					mu.Unlock()
					time.Sleep(pause)
				}
			})
		}
		wg.Wait()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(size)/1000, "kB")
}

// fetch gives the size of an answer; want is its status, 0 for one that is no page.
func fetch(b *testing.B, c *http.Client, page string, want int) int {
	res, err := c.Get(page)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || want != 0 && res.StatusCode != want || want == http.StatusOK && !strings.HasSuffix(strings.TrimSpace(string(body)), "</html>") {
		b.Errorf("status %d, %d bytes, %v", res.StatusCode, len(body), err)
	}
	return len(body)
}

func signedIn(b *testing.B, page, token string) *http.Client {
	b.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	u, err := url.Parse(page)
	if err != nil {
		b.Fatal(err)
	}
	u.Path = "/login"
	req, err := http.NewRequest(http.MethodPost, u.String(), strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := c.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("sign in: %v %v", res, err)
	}
	_ = res.Body.Close()
	return c
}

// bigManifest stores a finished run of n units with three pairs each, every fifth of them flagged.
func bigManifest(b *testing.B, a *App, n int) int64 {
	b.Helper()
	arr, _, err := manifest.Arrive(fmt.Appendf(nil, `{"sessionId":"big%d","timestamp":"2026-05-01T12:00:00Z","repos":null}`, n), core.SourceWebhook, "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := a.db.Submit(b.Context(), arr); err != nil {
		b.Fatal(err)
	}
	run, err := a.db.Claim(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	res := core.Result{Block: core.Block{RanAt: "2026-05-01T12:00:01Z", K: 3, ContraCheck: core.ContraRan, Flags: []core.Flag{}, Summary: core.Summary{Units: n, Contra: n / 5, OK: n - n/5}}}
	text := strings.Repeat("Каждый урок говорит, что было и чему это учит. ", 6)
	for i := range n {
		u := core.UnitResult{Unit: core.Unit{
			ID: fmt.Sprintf("shield/lessons/%03d.md", i), Observed: "shield", Repo: "shield", Path: fmt.Sprintf("lessons/%03d.md", i), Type: core.Lesson,
			Action: core.Added, Title: fmt.Sprint("Урок ", i), Text: text, Normative: text + fmt.Sprint(i), Diff: "@@ -0,0 +1 @@\n+" + text,
		}}
		label := core.OK
		if i%5 == 0 {
			label = core.Contra
		}
		for p := range 3 {
			u.Pairs = append(u.Pairs, core.Pair{
				Unit: u.Unit.ID, Item: fmt.Sprintf("shield/lessons/old-%d.md", i+p), ItemText: text + "и ещё", Rank: p + 1, Similarity: .9 - float64(p)/10, Label: label,
				Note: "denies it", UnitHash: []byte{byte(i)}, ItemHash: []byte{byte(p)}, Judge: "j", Prompt: "1",
			})
		}
		u.Flag = core.Flag{Unit: u.Unit.ID, Routing: core.RoutingOK, ObservedRepo: "shield", ExpectedRepo: "shield", Semantic: label, Against: []string{u.Pairs[0].Item}, JudgeNote: "denies it"}
		res.Units, res.Block.Flags = append(res.Units, u), append(res.Block.Flags, u.Flag)
	}
	res.Flags = review.Flags(res.Units)
	if err := a.db.Finish(b.Context(), run, res, false); err != nil {
		b.Fatal(err)
	}
	return run.ManifestID
}
