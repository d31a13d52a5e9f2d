package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"storozh/core"
	"storozh/core/localllm/llmtest"
)

// listen serves the real server, its time limits included, with the changes of a test.
func listen(t *testing.T, a *App, change func(*http.Server)) string {
	t.Helper()
	web, closeWeb, err := a.webServer()
	if err != nil {
		t.Fatal(err)
	}
	if web.ReadHeaderTimeout <= 0 || web.ReadHeaderTimeout > 10*time.Second || web.ReadTimeout <= 0 || web.ReadTimeout > 30*time.Second ||
		web.WriteTimeout <= 0 || web.IdleTimeout <= 0 || web.MaxHeaderBytes <= 0 || web.MaxHeaderBytes > 64<<10 {
		t.Errorf("a phase has no limit: %v %v %v %v %d", web.ReadHeaderTimeout, web.ReadTimeout, web.WriteTimeout, web.IdleTimeout, web.MaxHeaderBytes)
	}
	if change != nil {
		change(web)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(ln) }()
	t.Cleanup(func() { _ = web.Close(); <-done; closeWeb() })
	return ln.Addr().String()
}

// dribble sends head and then a byte at a time, until the other side hangs up; it tells how long that took.
func dribble(t *testing.T, addr, head string) time.Duration {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	if _, err := io.WriteString(conn, head); err != nil {
		return time.Since(began)
	}
	gone := make(chan struct{})
	go func() { defer close(gone); _, _ = io.Copy(io.Discard, conn) }()
	for time.Since(began) < time.Minute {
		select {
		case <-gone:
			return time.Since(began)
		case <-time.After(20 * time.Millisecond):
			_, _ = io.WriteString(conn, "a") // an error shows as gone, too
		}
	}
	return time.Since(began)
}

// Clients that send a byte now and then are cut off, in the headers and in the body, and meanwhile nobody else waits.
func TestSlowClientsAreCutOff(t *testing.T) {
	a := idleApp(t, nil)
	const limit = 400 * time.Millisecond
	addr := listen(t, a, func(s *http.Server) { s.ReadHeaderTimeout, s.ReadTimeout = limit, 2*limit })
	var wg sync.WaitGroup
	for i := range 60 {
		head := []string{
			"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
			"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 60000\r\n\r\ntoken=",
			"POST /webhooks/mirabilis HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer guess\r\nContent-Length: 60000\r\n\r\n{",
		}[i%3]
		wg.Go(func() {
			if took := dribble(t, addr, head); took > 50*time.Second {
				t.Errorf("held for %s: %.30q", took, head)
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	if r := post(t, "http://"+addr+hookURL, []byte(`{"sessionId":"s"}`), bearerID("quick")...); r.status != http.StatusAccepted {
		t.Errorf("a genuine sender got %d", r.status)
	}
	wg.Wait()
}

func TestHeadersAndFormsHaveALimit(t *testing.T) {
	addr := listen(t, idleApp(t, nil), nil)
	if r := post(t, "http://"+addr+hookURL, []byte(`{}`), append(bearerID("x"), "X-Big", strings.Repeat("h", 64<<10))...); r.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("64 kB of headers: %d", r.status)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}
	if r := post(t, "http://"+addr+"/login", []byte("token="+strings.Repeat("t", 1<<20)), form...); r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 1 MiB: %d", r.status)
	}
}

// A name that a hostile page has pointed at this machine reads nothing; what carries a secret is spared, for containers call us by names of
// their own.
func TestReboundNamesReadNothing(t *testing.T) {
	addr := listen(t, idleApp(t, nil), nil)
	for _, tc := range []struct {
		path, host, bearer string
		want               int
	}{
		{"/", "evil.example", "", 403},
		{"/login", "evil.example:8787", "", 403},
		{"/metrics", "evil.example", "", 403},
		{"/metrics", "evil.example", "a-guess", 401}, // such a page can add a header, and its requests come from this machine
		{"/metrics", "host.docker.internal:8787", "owner-token-of-the-test", 200},
		{"/metrics", "127.0.0.1:8787", "", 200},
		{"/api/manifests", "evil.example", "", 403},
		{"/api/manifests", "evil.example", "a-guess", 401},
		{"/deliveries", "127.0.0.1.evil.example", "", 403},
		{"/api/manifests", "host.docker.internal:8787", "owner-token-of-the-test", 200},
		{"/login", "LOCALHOST:8787", "", 200},
		{"/login", "[::1]:8787", "", 200},
		{"/healthz", "anything.example", "", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tc.host
		if tc.bearer != "" {
			req.Header.Set("Authorization", "Bearer "+tc.bearer)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != tc.want || len(res.Header.Get("X-Request-Id")) < 20 {
			t.Errorf("%s as %s: %d, want %d; request id %q", tc.path, tc.host, res.StatusCode, tc.want, res.Header.Get("X-Request-Id"))
		}
	}
}

// On SIGTERM: not ready at once, while new connections are still taken; who waits is answered; then the door is closed, and what was
// accepted is still queued.
func TestDrain(t *testing.T) {
	e := newEco(t)
	workday(e)
	model := llmtest.Start(t, func(f *llmtest.Faults) { f.Delay = time.Minute })
	a := newApp(t, e, model, func(c *Config) { c.ManifestPath = "" })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, func(addr string) { ready <- addr }) }()
	addr := <-ready
	waiter := make(chan reply, 1)
	go func() {
		waiter <- post(t, "http://"+addr+hookURL+"?wait=60s", e.manifest("s", "2026-05-01T12:00:00Z"), bearerID("drain")...)
	}()
	settled(t, "the waiting sender", func() bool {
		n, err := a.db.Unfinished(t.Context())
		return err == nil && n == 1
	})
	if code := readyz(t, addr); code != http.StatusOK {
		t.Fatalf("before: %d", code)
	}
	stop()
	notReady := 0
	for {
		code := readyz(t, addr)
		if code == 0 {
			break
		}
		if code == http.StatusServiceUnavailable {
			notReady++
		}
		time.Sleep(10 * time.Millisecond)
	}
	if notReady == 0 {
		t.Error("nobody could notice that the process is about to end")
	}
	if r := <-waiter; r.status != http.StatusAccepted || !strings.Contains(r.body, `"status":"queued"`) {
		t.Errorf("the waiting sender got %+v", r)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	list, _, err := a.db.ListDeliveries(t.Context(), "", 1)
	if err != nil || len(list) != 1 || list[0].Status != http.StatusAccepted {
		t.Errorf("%+v %v", list, err)
	}
	if rec, err := a.db.Record(t.Context(), list[0].ManifestID); err != nil || rec.Run.Status == core.Failed {
		t.Errorf("the run is %s (%v)", rec.Run.Status, err)
	}
}

// readyz asks over a new connection; 0: the door is closed.
func readyz(t *testing.T, addr string) int {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", addr)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0 // taken by the kernel, but no longer by us
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// Without a database the process is not ready, and no answer says why in words of the database.
func TestWithoutADatabase(t *testing.T) {
	a := idleApp(t, nil)
	addr := listen(t, a, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.ready(ctx); err == nil {
		t.Error("ready without an answer of the database")
	}
	close(a.drain)
	if code := readyz(t, addr); code != http.StatusServiceUnavailable {
		t.Errorf("draining: %d", code)
	}
}
