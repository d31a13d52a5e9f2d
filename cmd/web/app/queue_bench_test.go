package app

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/manifest"
)

// BenchmarkListBesideAQueue asks for a full page of the list, first with nothing else waiting and then with 1,000 queued runs, and reports the
// ratio of the medians.
func BenchmarkListBesideAQueue(b *testing.B) {
	a := idleApp(b, nil)
	base := serveWeb(b, a)
	n := 0
	submit := func(count int) {
		for range count {
			n++
			arr, _, err := manifest.Arrive(fmt.Appendf(nil, `{"sessionId":"q%d","timestamp":"2026-05-01T12:00:00Z","repos":null}`, n), core.SourceWebhook, "")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := a.Submit(b.Context(), arr); err != nil {
				b.Fatal(err)
			}
		}
	}
	median := func() time.Duration {
		var took []time.Duration
		for range 41 {
			start := time.Now()
			if code := call(b, "GET", base+"/api/manifests", "owner-token-of-the-test", nil, nil); code != http.StatusOK {
				b.Fatalf("status %d", code)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	for b.Loop() {
		submit(60)
		before := median()
		submit(1000)
		b.ReportMetric(float64(median())/float64(before), "x-with-1000-queued")
	}
}
