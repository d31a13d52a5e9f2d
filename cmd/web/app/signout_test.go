package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"storozh/core"
)

// visitor is a browser on a server; it doesn't follow redirects.
type visitor struct {
	t    *testing.T
	base string
	c    *http.Client
}

// visit opens a browser that is signed in with a token, or not if that is empty.
func visit(t *testing.T, base, token string) visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := visitor{t, base, &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if token == "" {
		return v
	}
	if got := v.submit("/login", url.Values{"token": {token}}); got.status != http.StatusSeeOther {
		t.Fatalf("signing in: %d", got.status)
	}
	return v
}

// submit sends a form as a browser does from our own page.
func (v visitor) submit(path string, form url.Values) reply {
	v.t.Helper()
	return v.do(http.MethodPost, path, strings.NewReader(form.Encode()))
}

func (v visitor) open(path string) reply {
	v.t.Helper()
	return v.do(http.MethodGet, path, nil)
}

func (v visitor) do(method, path string, body io.Reader) reply {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := v.c.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return reply{res.StatusCode, string(b), res.Header}
}

// On the real store: a request is held in its handler, which waits for the rest of a form, while its cosigner signs out everywhere.
func TestSignOutEverywhereIsFinal(t *testing.T) {
	a := idleApp(t, nil)
	base := serveWeb(t, a)
	b, elsewhere := visit(t, base, "owner-token-of-the-test"), visit(t, base, "owner-token-of-the-test")
	claude := visit(t, base, "claude-token-of-the-test")
	u, _ := url.Parse(base)
	cookie := b.c.Jar.Cookies(u)[0]
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	const body = "text=&title="
	_, _ = fmt.Fprintf(conn, "POST /corpus HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nSec-Fetch-Site: same-origin\r\nExpect: 100-continue\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", u.Host, cookie.Name, cookie.Value, len(body))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the handler does not read: %q %v", line, err) // it asks for the body, so it has read the session
	}
	_, _ = answers.ReadString('\n')
	if got := elsewhere.submit("/logout/everywhere", nil); got.status != http.StatusSeeOther {
		t.Fatalf("signing out everywhere: %d", got.status)
	}
	_, _ = io.WriteString(conn, body)
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("the form under way: %d", res.StatusCode)
	}
	for who, tc := range map[string]struct {
		v    visitor
		want int
	}{"the held one": {b, 303}, "the one that signed out": {elsewhere, 303}, "claude": {claude, 200}} {
		if got := tc.v.open("/"); got.status != tc.want {
			t.Errorf("%s: %d, want %d", who, got.status, tc.want)
		}
	}
	var left int
	if err := a.db.SQL().QueryRow("SELECT count(*) FROM sessions").Scan(&left); err != nil || left != 1 {
		t.Errorf("%d sessions are left (%v)", left, err)
	}
}

// Another token ends what the old one had opened; the same one at the next start ends nothing.
func TestAChangedTokenEndsItsSessions(t *testing.T) {
	a := idleApp(t, nil)
	base := serveWeb(t, a)
	owner, claude := visit(t, base, a.cfg.OwnerToken), visit(t, base, a.cfg.ClaudeToken)
	link, err := a.Link(t.Context(), core.Owner)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		token string
		want  int
	}{{a.cfg.OwnerToken, http.StatusOK}, {"another-token-of-the-owner", http.StatusSeeOther}} {
		next := App{cfg: a.cfg, log: a.log, db: a.db}
		next.cfg.OwnerToken = step.token
		if _, err := next.EnsureTokens(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := owner.open("/"); got.status != step.want {
			t.Errorf("owner, started with %q: %d, want %d", step.token, got.status, step.want)
		}
		if got := claude.open("/"); got.status != http.StatusOK {
			t.Errorf("claude, whose token is the same: %d", got.status)
		}
	}
	_, path, _ := strings.Cut(link, "/login/")
	if got := visit(t, base, "").submit("/login/"+path, nil); got.status != http.StatusUnauthorized {
		t.Errorf("a link from before: %d", got.status)
	}
}
