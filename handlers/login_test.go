package handlers

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"storozh/core"
)

func form(pairs ...string) *strings.Reader {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return strings.NewReader(v.Encode())
}

var formHeaders = []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}

func TestSignInGoesBackOnlyToOurOwnPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for next, want := range map[string]string{
		"/manifests/7?show=dup":         "/manifests/7?show=dup",
		"":                              "/",
		"https://evil.example/":         "/",
		"//evil.example/":               "/",
		"/\\evil.example":               "/",
		"/\t/evil.example":              "/",
		"javascript:alert(1)":           "/",
		"manifests/7":                   "/",
		"/login?next=/login":            "/",
		"http:/manifests":               "/",
		"/" + strings.Repeat("x", 3000): "/",
	} {
		got := h.do(h.browser(), http.MethodPost, "/login", form("token", " "+ownerToken+"\n", "next", next), formHeaders...)
		if got.status != http.StatusSeeOther || got.header.Get("Location") != want {
			t.Errorf("next %q: status %d to %q, want %q", next, got.status, got.header.Get("Location"), want)
		}
	}
}

func TestSignInOutAndBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser()
	away := h.do(b, http.MethodGet, "/manifests/3?show=contra", nil)
	if at := away.header.Get("Location"); at != "/login?next=%2Fmanifests%2F3%3Fshow%3Dcontra" {
		t.Errorf("sent to %q", at)
	}
	for from, back := range map[string]string{
		"/deliveries/7/again": "/deliveries", // its number is no manifest's
		"/manifests/3/cancel": "/manifests/3", "/manifests/3/reveal": "/manifests/3", "/corpus": "/corpus", "/sample": "/",
	} {
		got := h.do(b, http.MethodPost, from, nil, formHeaders...)
		if at := got.header.Get("Location"); at != "/login?next="+url.QueryEscape(back) {
			t.Errorf("the form of %s is sent to %q", from, at)
		}
	}
	page := h.do(b, http.MethodGet, away.header.Get("Location"), nil)
	if !strings.Contains(page.body, `value="/manifests/3?show=contra"`) {
		t.Error("the form forgets where the reader came from")
	}
	b = h.signedIn(claudeToken)
	if got := h.do(b, http.MethodGet, "/", nil); got.status != 200 || !strings.Contains(got.body, "<strong>claude</strong>") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	h.do(b, http.MethodPost, "/logout", nil, formHeaders...)
	if got := h.do(b, http.MethodGet, "/", nil); got.status != http.StatusSeeOther {
		t.Errorf("after signing out: status %d", got.status)
	}
}

func TestOneTimeLinkIsUsedUpByThePressAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const link = "one-time-secret-of-the-test"
	h.mem.links[sha256.Sum256([]byte(link))] = core.Owner
	for range 3 { // whoever only looks at links
		got := h.do(h.browser(), http.MethodGet, "/login/"+link, nil)
		if got.status != 200 || !strings.Contains(got.body, "Sign in with this link") || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
	}
	b := h.browser()
	if got := h.do(b, http.MethodPost, "/login/"+link, nil, formHeaders...); got.status != http.StatusSeeOther || got.header.Get("Location") != "/" {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if got := h.do(b, http.MethodGet, "/", nil); got.status != 200 {
		t.Errorf("not signed in: status %d", got.status)
	}
	if got := h.do(h.browser(), http.MethodPost, "/login/"+link, nil, formHeaders...); got.status != http.StatusUnauthorized || !strings.Contains(got.body, "has been used") {
		t.Errorf("second use: status %d: %s", got.status, got.body)
	}
	if strings.Contains(h.log.String(), link) || !strings.Contains(h.log.String(), "route=/login/:link") {
		t.Errorf("the log gives the link away, or lacks the route:\n%s", h.log)
	}
}

func TestFailedSignInsAreSlowedAndGenuineOnesAreNot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *Config) { c.FailedSignIn = rate.NewLimiter(rate.Every(150*time.Millisecond), 1) })
	began := time.Now()
	for _, token := range []string{"a", "b", "c"} {
		if got := h.do(h.browser(), http.MethodPost, "/login", form("token", token), formHeaders...); got.status != http.StatusUnauthorized {
			t.Fatalf("status %d", got.status)
		}
	}
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("three failures took only %s", took)
	}
	// The next failure would have to wait for an hour; a genuine sender does not.
	slow := newHouse(t, func(c *Config) { c.FailedSignIn = rate.NewLimiter(rate.Every(time.Hour), 1) })
	slow.do(slow.browser(), http.MethodPost, hookPath, strings.NewReader("{}"), "Authorization", "Bearer x")
	if got := slow.do(slow.browser(), http.MethodPost, hookPath, strings.NewReader("{}"), "Authorization", "Bearer x"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("status %d", got.status)
	}
	if got := slow.do(slow.browser(), http.MethodPost, hookPath, strings.NewReader("{}"), "Authorization", "Bearer "+hookSecret); got.status != http.StatusAccepted {
		t.Errorf("genuine: status %d", got.status)
	}
	slow.signedIn(ownerToken)
}

func TestSessionIdChangesAtSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.signedIn(ownerToken)
	u, _ := url.Parse(h.url)
	before := sessionOf(b.Jar.Cookies(u))
	h.do(b, http.MethodPost, "/login", form("token", claudeToken), formHeaders...)
	if after := sessionOf(b.Jar.Cookies(u)); after == "" || after == before {
		t.Errorf("session id %q after %q", after, before)
	}
}

func sessionOf(cookies []*http.Cookie) string {
	for _, c := range cookies {
		if c.Name == "session" {
			return c.Value
		}
	}
	return ""
}
