package app

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// growth reports times at several sizes as the exponent between the first and the last: 1 is linear, 0 does not grow at all.
func growth(b *testing.B, what string, sizes []int, took []time.Duration) {
	b.Helper()
	last := len(sizes) - 1
	for i, n := range sizes {
		b.ReportMetric(inMS(took[i]), fmt.Sprintf("%s-ms-at-%d", what, n))
	}
	b.ReportMetric(math.Log(float64(took[last])/float64(took[0]))/math.Log(float64(sizes[last])/float64(sizes[0])), what+"-exponent")
	b.ReportMetric(0, "ns/op")
}

// middle fetches a page some times and gives the median.
func middle(b *testing.B, c *http.Client, page string) time.Duration {
	b.Helper()
	var all []time.Duration
	for range 9 {
		start := time.Now()
		if size := fetch(b, c, page, http.StatusOK); size > 1_000_000 {
			b.Errorf("%s: %d bytes", page, size)
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkReviewGrowth asks for the review page of manifests with more and more units.
func BenchmarkReviewGrowth(b *testing.B) {
	sizes := []int{200, 2_000, 20_000}
	a := idleApp(b, nil)
	a.log = slog.New(slog.DiscardHandler)
	base := serveWeb(b, a)
	c := signedIn(b, base, "owner-token-of-the-test")
	for b.Loop() {
		var took []time.Duration
		for _, n := range sizes {
			took = append(took, middle(b, c, fmt.Sprintf("%s/manifests/%d", base, bigManifest(b, a, n))))
		}
		growth(b, "review", sizes, took)
	}
}

// BenchmarkHistoryGrowth asks for inbox, trends and search over more and more stored runs of one unit each (STOROZH_BENCH_SMALL: up to
// 20,000).
func BenchmarkHistoryGrowth(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	if os.Getenv("STOROZH_BENCH_SMALL") != "" {
		sizes = []int{1_000, 20_000}
	}
	pages := map[string]string{"inbox": "/", "queue": "/?queue=yours", "trends": "/trends?from=2023-06-01&to=2026-05-31&by=week", "search": "/search?q=about&label=contra", "deliveries": "/deliveries"}
	for b.Loop() {
		took := map[string][]time.Duration{}
		for _, n := range sizes {
			a := seededApp(b, n, 1)
			base := serveWeb(b, a)
			c := signedIn(b, base, "owner-token-of-the-test")
			for name, page := range pages {
				took[name] = append(took[name], middle(b, c, base+page))
			}
		}
		for name, t := range took {
			growth(b, name, sizes, t)
		}
	}
}
