package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"storozh/core"
)

// memory is a Store and an Identity for these tests alone; the real ones are tested against Postgres elsewhere.
type memory struct {
	mu       sync.Mutex
	records  []core.Record
	units    map[int64][]core.UnitResult
	raw      map[int64][]byte
	arrivals []core.Arrival
	links    map[[32]byte]core.Cosigner
	fresh    []bool
	kept     []core.Delivery
	err      error // returned by every read, if set
	reviews
}

const (
	ownerToken  = "owner-token-of-the-test"
	claudeToken = "claude-token-of-the-test"
	hookSecret  = "hook-secret-of-the-test"
)

var testNow = time.Date(2026, 5, 21, 14, 3, 0, 0, time.UTC)

func (m *memory) Submit(_ context.Context, a core.Arrival) (core.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrivals = append(m.arrivals, a)
	id := int64(len(m.records) + 1)
	m.records = append(m.records, core.Record{ID: id, SessionID: a.SessionID, Timestamp: a.Timestamp, ReceivedAt: testNow,
		Source: a.Source, Run: core.Run{ID: id * 10, ManifestID: id, Status: core.Queued}})
	m.raw[id] = a.Raw
	return core.Receipt{ManifestID: id, RunID: id * 10, New: true, Status: core.Queued}, nil
}

func (m *memory) Records(_ context.Context, q core.RecordQuery) ([]core.Record, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, "", m.err
	}
	var out []core.Record
	skip := q.After != ""
	for _, r := range slices.Backward(m.records) {
		if skip {
			skip = fmt.Sprint(r.ID) != q.After
			continue
		}
		if r.SupersededBy != 0 && !q.IncludeSuperseded || q.Queue != "" && r.Queue(q.For) != q.Queue {
			continue
		}
		if len(out) == q.Limit {
			return out, fmt.Sprint(out[len(out)-1].ID), nil
		}
		out = append(out, r)
	}
	return out, "", nil
}

func (m *memory) Record(_ context.Context, id int64) (core.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return core.Record{}, m.err
	}
	if id > int64(len(m.records)) {
		return core.Record{}, fmt.Errorf("manifest %d: %w", id, core.ErrNotFound)
	}
	return m.records[id-1], nil
}

func (m *memory) Superseded(_ context.Context, ids ...int64) (map[int64][]core.Record, error) {
	out := map[int64][]core.Record{}
	for _, r := range m.records {
		if slices.Contains(ids, r.SupersededBy) {
			out[r.SupersededBy] = append(out[r.SupersededBy], r)
		}
	}
	return out, nil
}

func (m *memory) Units(_ context.Context, run int64) ([]core.UnitResult, error) {
	return m.units[run], nil
}

func (m *memory) Unit(_ context.Context, run int64, id string) (core.UnitResult, error) {
	for _, u := range m.units[run] {
		if u.Unit.ID == id {
			return u, nil
		}
	}
	return core.UnitResult{}, fmt.Errorf("unit: %w", core.ErrNotFound)
}

func (m *memory) AddCommands(context.Context, int64) ([]string, error) {
	return []string{"git -C /eco/shield add -N -- lessons/new.md"}, nil
}

func (m *memory) RawManifest(_ context.Context, id int64) ([]byte, error) { return m.raw[id], nil }

func (m *memory) Rerun(_ context.Context, id int64, fresh bool) (core.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id > int64(len(m.records)) {
		return core.Receipt{}, core.ErrNotFound
	}
	if !m.records[id-1].Run.Status.Finished() {
		return core.Receipt{}, fmt.Errorf("%w: a run of this manifest has not ended", core.ErrConflict)
	}
	m.fresh = append(m.fresh, fresh)
	m.records[id-1].Run = core.Run{ID: id*10 + 1, ManifestID: id, Status: core.Queued}
	return core.Receipt{ManifestID: id, RunID: id*10 + 1, Status: core.Queued}, nil
}

func (m *memory) ByToken(_ context.Context, hash [32]byte) (core.Cosigner, error) {
	switch hash {
	case sha256.Sum256([]byte(ownerToken)):
		return core.Owner, nil
	case sha256.Sum256([]byte(claudeToken)):
		return core.Claude, nil
	}
	return "", core.ErrNotFound
}

func (m *memory) RedeemLink(_ context.Context, hash [32]byte) (core.Cosigner, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	who, ok := m.links[hash]
	if !ok {
		return "", core.ErrNotFound
	}
	delete(m.links, hash)
	return who, nil
}

func (m *memory) DropLinks(_ context.Context, who core.Cosigner) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.links, func(_ [32]byte, c core.Cosigner) bool { return c == who })
	return nil
}

// finish ends the run of a manifest with one contradiction.
func (m *memory) finish(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := core.UnitResult{
		Unit: core.Unit{ID: "shield/lessons/tide.md", Observed: "shield", Repo: "shield", Path: "lessons/tide.md",
			Type: core.Lesson, Action: core.Added, Text: "Clocks run on local time."},
		Flag: core.Flag{Unit: "shield/lessons/tide.md", Routing: core.RoutingOK, ObservedRepo: "shield", ExpectedRepo: "shield",
			Semantic: core.Contra, Against: []string{"shield/invariants#2"}, JudgeNote: "UTC against local time"},
		Pairs: []core.Pair{{Unit: "shield/lessons/tide.md", Item: "shield/invariants#2", ItemText: "Clocks run on UTC.",
			Rank: 1, Similarity: 0.91, Label: core.Contra, Note: "UTC against local time"}},
	}
	block := core.Block{RanAt: "2026-05-21T14:03:00Z", K: 5, ContraCheck: core.ContraRan, Flags: []core.Flag{u.Flag},
		Summary: core.Summary{Units: 1, Contra: 1}, NotInDiff: []string{"shield/lessons/new.md"}}
	m.settle(id, block, []core.UnitResult{u})
}

// house is a running server over a memory.
type house struct {
	t         *testing.T
	mem       *memory
	url       string
	echo      *echo.Echo
	log       *strings.Builder
	transport *http.Transport
	wait      func(context.Context, int64) error
}

func newHouse(t *testing.T, change ...func(*Config)) *house {
	t.Helper()
	h := &house{t: t, log: &strings.Builder{}, mem: &memory{
		units: map[int64][]core.UnitResult{}, raw: map[int64][]byte{}, links: map[[32]byte]core.Cosigner{},
	}}
	h.wait = func(ctx context.Context, id int64) error { h.mem.finish(id); return nil }
	cfg := Config{
		Store: h.mem, Identity: h.mem, Deliveries: h.mem, Sessions: scs.New(), SessionStore: newMemorySessions(), WebhookSecrets: func() []string { return []string{"older secret", hookSecret} },
		Wait: func(ctx context.Context, id int64) error { return h.wait(ctx, id) },
		RunSample: func(ctx context.Context) (int64, error) {
			r, err := h.mem.Submit(ctx, core.Arrival{Raw: []byte("{}"), Source: core.SourceSample})
			return r.ManifestID, err
		},
		System: func(context.Context) (core.System, error) {
			return core.System{ManifestPath: "/home/me/manifest.json"}, nil
		},
		Ready:        func(context.Context) error { return nil },
		Now:          func() time.Time { return testNow },
		Log:          slog.New(slog.NewTextHandler(&lockedWriter{b: h.log}, nil)),
		FailedSignIn: rate.NewLimiter(rate.Inf, 1),
	}
	for _, f := range change {
		f(&cfg)
	}
	h.echo = New(cfg)
	srv := httptest.NewServer(h.echo)
	t.Cleanup(srv.Close)
	h.url, h.transport = srv.URL, &http.Transport{} // the default one is closed for all by whichever test ends
	t.Cleanup(h.transport.CloseIdleConnections)
	return h
}

type lockedWriter struct {
	mu sync.Mutex
	b  *strings.Builder
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// put stores a finished manifest and returns its id.
func (h *house) put() int64 {
	r, err := h.mem.Submit(context.Background(), core.Arrival{Raw: []byte(`{"sessionId":"s1"}`), SessionID: "s1", Source: core.SourceFile})
	if err != nil {
		h.t.Fatal(err)
	}
	h.mem.finish(r.ManifestID)
	return r.ManifestID
}

// browser keeps cookies and does not follow redirects.
func (h *house) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &http.Client{Transport: h.transport, Jar: jar, Timeout: 5 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// signedIn is a browser with the session of a cosigner.
func (h *house) signedIn(token string) *http.Client {
	h.t.Helper()
	b := h.browser()
	res := h.do(b, http.MethodPost, "/login", strings.NewReader(url.Values{"token": {token}}.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	if res.status != http.StatusSeeOther {
		h.t.Fatalf("signing in: status %d: %s", res.status, res.body)
	}
	return b
}

type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers come in pairs.
func (h *house) do(b *http.Client, method, path string, body io.Reader, headers ...string) answer {
	h.t.Helper()
	req, err := http.NewRequest(method, h.url+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		h.t.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, body: string(got)}
}
