package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/db/dbtest"
)

// What BenchmarkLoad does: reviewers at once, for a while, with a pause between two looks that is short for a person.
const (
	loadReviewers = 5
	loadTime      = 20 * time.Second
	loadPause     = 150 * time.Millisecond
)

// BenchmarkLoad has five reviewers walk through all pages over real HTTP, over a history of 100,000 flags
// (STOROZH_BENCH_SMALL: 10,000, for half the time) and one manifest of 500 units. It reports the percentiles of each page in ms, the worst of all, and how the medians stand to bare bytes
// of the same size that the same server sends in between ("x-bytes").
func BenchmarkLoad(b *testing.B) {
	TuneMemory()
	flags, long := 100_000, loadTime
	if os.Getenv("STOROZH_BENCH_SMALL") != "" {
		flags, long = 10_000, loadTime/2
	}
	a := seededApp(b, flags, 10)
	big := bigManifest(b, a, 500)
	base := serveBeside(b, a)
	clients := make([]*http.Client, loadReviewers)
	for i := range clients {
		clients[i] = signedIn(b, base, []string{"owner-token-of-the-test", "claude-token-of-the-test"}[i%2])
	}
	for b.Loop() {
		l := &load{b: b, base: base, manifests: flags / 10, big: big, took: map[string][]time.Duration{}, bare: map[string][]time.Duration{}}
		until := time.Now().Add(long)
		var wg sync.WaitGroup
		for i, c := range clients {
			wg.Go(func() { l.walk(c, rand.New(rand.NewPCG(uint64(i), 1)), until) })
		}
		wg.Wait()
		l.report()
	}
}

// seededApp is an App without workers over a seeded history.
func seededApp(b *testing.B, flags, perRun int) *App {
	b.Helper()
	zone, err := time.LoadLocation(dbtest.SeedZone)
	if err != nil {
		b.Fatal(err)
	}
	a := idleApp(b, func(c *Config) { c.ShieldDir, c.Zone = "/shield", zone })
	a.log = slog.New(slog.DiscardHandler)
	dbtest.Seed(b, a.db, flags, perRun)
	return a
}

// serveBeside serves the App, and beside it, on the same server, bare bytes.
func serveBeside(b *testing.B, a *App) string {
	b.Helper()
	web, closeWeb, err := a.webServer()
	if err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler)
	page := bytes.Repeat([]byte("<p>bytes</p>\n"), 100_000)
	mux.HandleFunc("/bare/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		w.Header().Set("Content-Length", strconv.Itoa(min(n, len(page))))
		_, _ = w.Write(page[:min(n, len(page))])
	})
	s := httptest.NewServer(mux)
	b.Cleanup(func() { s.Close(); closeWeb() })
	return s.URL
}

type load struct {
	b         *testing.B
	base      string
	manifests int
	big       int64
	mu        sync.Mutex
	took      map[string][]time.Duration // by page
	bare      map[string][]time.Duration // of bytes of the same size
}

// walk goes through the pages again and again, each time to another manifest, search and corner.
func (l *load) walk(c *http.Client, r *rand.Rand, until time.Time) {
	for time.Now().Before(until) {
		id := 1 + r.IntN(l.manifests)
		unit := fmt.Sprintf("shield/lessons/%03d.md", r.IntN(500))
		for _, p := range [][2]string{
			{"inbox", "/"}, {"inbox", "/?queue=yours"}, {"review", fmt.Sprintf("/manifests/%d", id)}, {"review-500-units", fmt.Sprintf("/manifests/%d", l.big)},
			{"permalink", fmt.Sprintf("/manifests/%d?at=%s", l.big, core.UnitMark(unit))},
			{"search", fmt.Sprintf("/search?q=слово%d", r.IntN(5000))}, {"search", "/search?label=contra&repo=darwin"}, {"search", "/search?q=about"},
			{"trends", "/trends"}, {"trends", "/trends?from=2023-06-01&to=2026-05-31&by=week"}, {"corpus", "/corpus"},
			{"item", "/items/shield/invariants%23" + strconv.Itoa(r.IntN(2000))}, {"deliveries", "/deliveries"}, {"status", "/status"},
		} {
			start := time.Now()
			size := fetch(l.b, c, l.base+p[1], http.StatusOK)
			page := time.Since(start)
			start = time.Now()
			fetch(l.b, c, fmt.Sprintf("%s/bare/%d", l.base, size), 0)
			l.mu.Lock()
			l.took[p[0]], l.bare[p[0]] = append(l.took[p[0]], page), append(l.bare[p[0]], time.Since(start))
			l.mu.Unlock()
			time.Sleep(loadPause)
		}
	}
}

func (l *load) report() {
	var all []time.Duration
	var lines []string
	for page, took := range l.took {
		slices.Sort(took)
		slices.Sort(l.bare[page])
		all = append(all, took...)
		lines = append(lines, fmt.Sprintf("%-17s n=%d p50=%.1f p95=%.1f p99=%.1f ms, %.0f x bytes", page, len(took), inMS(at(took, .5)), inMS(at(took, .95)), inMS(at(took, .99)),
			float64(at(took, .5))/float64(at(l.bare[page], .5))))
		l.b.ReportMetric(inMS(at(took, .95)), page+"-p95-ms")
		l.b.ReportMetric(float64(at(took, .5))/float64(at(l.bare[page], .5)), page+"-x-bytes")
	}
	slices.Sort(all)
	slices.Sort(lines)
	l.b.Log(strings.Join(lines, "\n")) // ten lines: the tool shows no more
	l.b.ReportMetric(inMS(at(all, .5)), "all-p50-ms")
	l.b.ReportMetric(inMS(at(all, .95)), "all-p95-ms")
	l.b.ReportMetric(inMS(at(all, .99)), "all-p99-ms")
	l.b.ReportMetric(0, "ns/op")
}

// at is a percentile of sorted durations.
func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
