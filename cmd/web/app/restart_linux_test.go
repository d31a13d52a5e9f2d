package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core/localllm/llmtest"
	"storozh/db"
)

// served is a whole process's worth of Storozh on a database of its own, behind its real server.
type served struct {
	a     *App
	base  string
	log   *lockedLog
	leave func() error // ends it as a signal does
}

type lockedLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func serveOn(t *testing.T, dsn string, e eco, model *llmtest.Server) served {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	s := served{log: &lockedLog{}}
	cfg := newConfig(t, e, model)
	cfg.PolicyPath, cfg.Concurrency = "", 1
	s.a = wiredApp(t, cfg, d, func(a *App) {
		a.log = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), s.log), nil))
	})
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.a.Serve(ctx, func(addr string) { ready <- addr }) }()
	s.leave = sync.OnceValue(func() error {
		stop()
		err := <-ended
		_ = d.Close()
		return err
	})
	t.Cleanup(func() { _ = s.leave() })
	select {
	case addr := <-ready:
		s.base = "http://" + addr
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return s
}

// Postgres crashes in mid-run and comes back: Storozh says so meanwhile, and then goes on by itself with what was judged.
func TestPostgresRestartsInMidRun(t *testing.T) {
	server := newServer(t)
	e := newEco(t)
	workday(e)
	asked := &tally{n: map[string]int{}}
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = 100 * time.Millisecond; f.Answer = asked.count(rules(workdayRules)) })
	before := goroutines(t)
	s := serveOn(t, server.dsn(), e, model)
	raw, later := e.manifest("s", "2026-05-01T12:00:00Z"), []byte(`{"sessionId":"later","repos":null}`)
	owner := visit(t, s.base, "owner-token-of-the-test")

	writeFile(t, s.a.cfg.ManifestPath, raw)
	waiter := make(chan reply, 1)
	go func() { waiter <- post(t, s.base+hookURL+"?wait=60s", raw, bearerID("first")...) }()
	settled(t, "a run in work", func() bool { return model.Counts().Completions > 3 })
	server.stop()
	withoutDatabase(t, s, owner, later)
	time.Sleep(time.Second)
	server.start()

	settled(t, "readiness", func() bool { return owner.open("/readyz").status == http.StatusOK })
	if r := owner.open("/"); r.status != http.StatusOK {
		t.Errorf("the session did not survive: %d", r.status)
	}
	if r := <-waiter; r.status != http.StatusOK || !strings.Contains(r.body, `"contra-check":"ran"`) {
		t.Errorf("who waited for the run all the time got %+v", r)
	}
	rec := theOnlyRun(t, s.a)
	if rec.BLUF != "5 units: 1 misroute, 2 contra, 1 dup" {
		t.Error(rec.BLUF)
	}
	oneBlock(t, s.a.cfg.ManifestPath, raw, rec.Run.WriteBack)
	all, twice, more := asked.repeated()
	t.Logf("%d questions, %d of them asked twice", all, twice)
	if more > 0 || 3*twice > all { // those in flight, and those answered but not yet kept
		t.Errorf("of %d questions %d were asked twice, %d more often", all, twice, more)
	}
	if r := post(t, s.base+hookURL, later, bearerID("later")...); r.status != http.StatusAccepted {
		t.Errorf("the delivery that was refused, once more: %+v", r)
	}
	if err := s.leave(); err != nil {
		t.Error(err)
	}
	if strings.Contains(s.log.String(), "panic") {
		t.Error("something panicked")
	}
	leftBehind(t, before)
}

// withoutDatabase looks at Storozh from outside while its database is down.
func withoutDatabase(t *testing.T, s served, owner visitor, body []byte) {
	t.Helper()
	if r := owner.open("/healthz"); r.status != http.StatusOK {
		t.Errorf("/healthz: %d", r.status)
	}
	if r := owner.open("/readyz"); r.status != http.StatusServiceUnavailable || r.body != "not ready: the database does not answer\n" {
		t.Errorf("/readyz: %d %q", r.status, r.body)
	}
	answers := map[string]reply{
		"the inbox":          owner.open("/"),
		"the sign-in":        visit(t, s.base, "").submit("/login", map[string][]string{"token": {"owner-token-of-the-test"}}),
		"a form":             owner.submit("/manifests/1/runs", nil),
		"signing out":        owner.submit("/logout/everywhere", nil),
		"the API":            owner.open("/api/manifests"),
		"a delivery":         post(t, s.base+hookURL, body, bearerID("later")...),
		"one that will wait": post(t, s.base+hookURL+"?wait=5s", body, bearerID("later")...),
	}
	for what, r := range answers {
		if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" || !strings.Contains(r.body, "The database does not answer") {
			t.Errorf("%s: %d %q %s", what, r.status, r.header.Get("Retry-After"), r.body)
		}
		for _, inside := range []string{"pq:", "refused", "127.0.0.1:", "goroutine", "SELECT"} {
			if strings.Contains(r.body, inside) {
				t.Errorf("%s says %q: %s", what, inside, r.body)
			}
		}
	}
}

// goroutines gives the stack of each goroutine that lives now, by its number.
func goroutines(t *testing.T) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 2); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, g := range strings.Split(b.String(), "\n\n") {
		number, _, _ := strings.Cut(g, " [")
		out[number] = g
	}
	return out
}

// leftBehind waits until no goroutine of the product is left but those that lived before.
func leftBehind(t *testing.T, before map[string]string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		left = nil
		for number, stack := range goroutines(t) {
			_, old := before[number]
			for _, pkg := range []string{"app.(*App)", "storozh/handlers", "storozh/db", "storozh/core/guard", "database/sql", "lib/pq"} {
				if !old && strings.Contains(stack, pkg) {
					left = append(left, stack)
					break
				}
			}
		}
		if left == nil {
			return
		}
	}
	t.Errorf("left behind:\n%s", strings.Join(left, "\n\n"))
}
