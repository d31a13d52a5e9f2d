package handlers

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"storozh/core"
)

// A request that began before its session was ended, and ends after it, does not bring the session back: whichever way it was ended.
func TestARequestUnderWayDoesNotReviveItsSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *house, same, elsewhere *http.Client) answer{
		"signed out everywhere, from elsewhere": func(h *house, _, elsewhere *http.Client) answer {
			return h.post(elsewhere, "/logout/everywhere", url.Values{})
		},
		"signed out everywhere, from here": func(h *house, same, _ *http.Client) answer {
			return h.post(same, "/logout/everywhere", url.Values{})
		},
		"signed out here": func(h *house, same, _ *http.Client) answer { return h.post(same, "/logout", url.Values{}) },
		"signed in as new": func(h *house, same, _ *http.Client) answer {
			return h.post(same, "/login", url.Values{"token": {ownerToken}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held, release := make(chan struct{}), make(chan struct{})
			h := newHouse(t, func(c *Config) {
				c.Sessions.IdleTimeout = time.Hour // so that each request saves its session
				c.System = func(context.Context) (core.System, error) {
					close(held)
					<-release
					return core.System{}, nil
				}
			})
			b, elsewhere := h.signedIn(ownerToken), h.signedIn(ownerToken)
			u, _ := url.Parse(h.url)
			old, _ := cookiejar.New(nil)
			old.SetCookies(u, b.Jar.Cookies(u))
			slow := &http.Client{Transport: h.transport, Jar: old, Timeout: b.Timeout, CheckRedirect: b.CheckRedirect}
			done := make(chan answer)
			go func() { done <- h.do(slow, http.MethodGet, "/status", nil) }()
			<-held
			if got := end(h, b, elsewhere); got.status != http.StatusSeeOther {
				t.Errorf("ending the session: status %d", got.status)
			}
			close(release)
			if got := <-done; got.status != http.StatusOK {
				t.Errorf("the request under way: status %d", got.status)
			}
			if got := h.do(slow, http.MethodGet, "/", nil); got.status != http.StatusSeeOther {
				t.Errorf("its cookie opens the inbox: status %d", got.status)
			}
		})
	}
}

// Signing out everywhere also ends what could open another session without a token, and what is being shown.
func TestSignOutEverywhereEndsLinksAndStreams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.put()
	h.mem.records[0].Run = core.Run{ID: 11, ManifestID: 1, Status: core.Running}
	mine, theirs := sha256.Sum256([]byte("mine")), sha256.Sum256([]byte("theirs"))
	h.mem.links[mine], h.mem.links[theirs] = core.Owner, core.Claude
	events := h.stream(h.signedIn(ownerToken), 1)
	claudes := h.stream(h.signedIn(claudeToken), 1)
	next(t, events)
	next(t, claudes)
	h.post(h.signedIn(ownerToken), "/logout/everywhere", url.Values{})
	if _, more := next(t, events); more {
		t.Error("the stream goes on")
	}
	h.mem.mu.Lock()
	h.mem.records[0].Run.Progress.Done++
	h.mem.mu.Unlock()
	if _, more := next(t, claudes); !more {
		t.Error("the other cosigner's stream has ended, too")
	}
	for link, want := range map[string]int{"mine": http.StatusUnauthorized, "theirs": http.StatusSeeOther} {
		if got := h.do(h.browser(), http.MethodPost, "/login/"+link, nil, formHeaders...); got.status != want {
			t.Errorf("the link %s: status %d, want %d", link, got.status, want)
		}
	}
}

// The database goes away between the reading of a session and its saving: the page is whole all the same, nobody seems to be signed in who is
// not, and the session is there when the database is back.
func TestASessionThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	store := newMemorySessions()
	h := newHouse(t, func(c *Config) { c.SessionStore, c.Sessions.IdleTimeout = store, time.Hour })
	b := h.signedIn(ownerToken)
	whole := h.do(b, http.MethodGet, "/keys", nil)
	store.failWith(core.ErrNoDatabase)
	if got := h.do(b, http.MethodGet, "/keys", nil); got.status != http.StatusOK || len(got.body) != len(whole.body) || got.header.Get("Set-Cookie") != "" {
		t.Errorf("a page: status %d, %d bytes instead of %d, cookie %q", got.status, len(got.body), len(whole.body), got.header.Get("Set-Cookie"))
	}
	for _, path := range []string{"/login", "/logout", "/logout/everywhere"} {
		if got := h.post(b, path, url.Values{"token": {ownerToken}}); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
	store.failWith(nil)
	if got := h.do(b, http.MethodGet, "/", nil); got.status != http.StatusOK {
		t.Errorf("afterwards: status %d", got.status)
	}
}
