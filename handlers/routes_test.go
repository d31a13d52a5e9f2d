package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// caller is one of those who may knock.
type caller string

const (
	signedOut   caller = "signed out"
	ownerPage   caller = "owner's session"
	claudePage  caller = "claude's session"
	ownerToken_ caller = "owner's token"
	hook        caller = "webhook's secret"
)

// Every route, and what each caller gets there. A route that is missing here fails TestEveryRouteIsInTheTable.
var routeTable = []struct {
	method, path string
	want         map[caller]int
}{
	{"GET", "/healthz", all(200)},
	{"HEAD", "/healthz", all(200)},
	{"GET", "/readyz", all(200)},
	{"HEAD", "/readyz", all(200)},
	{"GET", "/metrics", all(200)}, // from this machine
	{"HEAD", "/metrics", all(200)},
	{"GET", "/static/*", all(404)}, // the name without its hash
	{"HEAD", "/static/*", all(404)},
	{"GET", "/login", all(200)},
	{"POST", "/login", all(401)}, // an empty form
	{"GET", "/login/:link", all(200)},
	{"POST", "/login/:link", all(401)},
	{"POST", "/logout", all(303)},
	{"POST", "/webhooks/mirabilis", map[caller]int{signedOut: 401, ownerPage: 401, claudePage: 401, ownerToken_: 401, hook: 202}},
	{"GET", "/api/manifests", api(200)},
	{"GET", "/api/manifests/:id", api(200)},
	{"GET", "/api/manifests/:id/manifest", api(200)},
	{"POST", "/api/manifests/:id/runs", api(202)},
	{"GET", "/", page(200)},
	{"GET", "/status", page(200)},
	{"GET", "/deliveries", page(200)},
	{"POST", "/deliveries/:id/again", page(404)}, // there is none
	{"GET", "/manifests/:id", page(200)},
	{"GET", "/manifests/:id/progress", page(200)},
	{"GET", "/manifests/:id/events", page(200)}, // the run has ended, and so does the stream
	{"POST", "/manifests/:id/cancel", page(303)},
	{"POST", "/manifests/:id/decisions", page(422)}, // no flag is named
	{"POST", "/manifests/:id/reveal", page(422)},
	{"POST", "/api/manifests/:id/decisions", api(422)},
	{"POST", "/api/manifests/:id/reveal", api(422)},
	{"GET", "/trends", page(404)},     // needs what this house does not wire
	{"GET", "/trends.csv", page(404)}, // needs what this house does not wire
	{"GET", "/api/trends", api(404)},
	{"GET", "/corpus", page(404)}, // needs what this house does not wire
	{"POST", "/corpus", page(404)},
	{"GET", "/search", page(404)},               // needs what this house does not wire
	{"GET", "/manifests/:id/missed", page(404)}, // needs what this house does not wire
	{"POST", "/manifests/:id/missed", page(404)},
	{"POST", "/api/manifests/:id/missed", api(404)},
	{"GET", "/whatif", page(404)},
	{"GET", "/eval", page(200)},
	{"GET", "/api/evaluations", api(200)},
	{"GET", "/account", page(200)},
	{"GET", "/keys", page(200)},
	{"POST", "/logout/everywhere", page(303)},
	{"GET", "/manifests/:id/text", page(404)}, // no unit is named
	{"GET", "/manifests/:id/transcript", page(200)},
	{"GET", "/items/*", page(404)}, // no such item
	{"POST", "/manifests/:id/runs", page(303)},
	{"POST", "/sample", page(303)},
}

func all(status int) map[caller]int {
	return map[caller]int{signedOut: status, ownerPage: status, claudePage: status, ownerToken_: status, hook: status}
}

func api(status int) map[caller]int {
	return map[caller]int{signedOut: 401, ownerPage: status, claudePage: status, ownerToken_: status, hook: 401}
}

// page answers a session; everyone else is sent to sign in.
func page(status int) map[caller]int {
	return map[caller]int{signedOut: 303, ownerPage: status, claudePage: status, ownerToken_: 303, hook: 303}
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	for _, route := range routeTable {
		for who, want := range route.want {
			t.Run(fmt.Sprintf("%s %s as %s", route.method, route.path, who), func(t *testing.T) {
				t.Parallel()
				h := newHouse(t)
				path := strings.NewReplacer(":id", fmt.Sprint(h.put()), ":link", "no-such-link", "*", "app.css").Replace(route.path)
				b, headers := h.browser(), []string{"Sec-Fetch-Site", "same-origin"}
				switch who {
				case ownerPage:
					b = h.signedIn(ownerToken)
				case claudePage:
					b = h.signedIn(claudeToken)
				case ownerToken_:
					headers = append(headers, "Authorization", "Bearer "+ownerToken)
				case hook:
					headers = append(headers, "Authorization", "Bearer "+hookSecret)
				}
				body := ""
				if strings.HasPrefix(path, "/webhooks/") || strings.HasPrefix(path, "/api/") {
					body = `{}`
				}
				got := h.do(b, route.method, path, strings.NewReader(body), headers...)
				if got.status != want {
					t.Errorf("status %d, want %d: %s", got.status, want, got.body)
				}
				session := who == ownerPage || who == claudePage
				if at := got.header.Get("Location"); want == http.StatusSeeOther && strings.HasPrefix(at, "/login?next=") == session && path != "/logout" {
					t.Errorf("sent to %q", at)
				}
			})
		}
	}
}

func TestEveryRouteIsInTheTable(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range routeTable {
		known[r.method+" "+r.path] = true
	}
	for _, r := range newHouse(t).echo.Routes() {
		if !known[r.Method+" "+r.Path] {
			t.Errorf("%s %s has no row that says who may call it", r.Method, r.Path)
		}
	}
}

// A change that rides on a session needs a proof that it comes from our own pages.
func TestFormsFromElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.put()
	path := fmt.Sprintf("/manifests/%d/runs", id)
	b := h.signedIn(ownerToken)
	for name, tc := range map[string]struct {
		headers []string
		want    int
	}{
		"no word about where from":     {nil, http.StatusForbidden},
		"another site":                 {[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"another port of this machine": {[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, http.StatusForbidden},
		"another origin":               {[]string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"a hidden origin":              {[]string{"Origin", "null"}, http.StatusForbidden},
	} {
		for _, at := range []string{path, "/sample", "/logout", "/login", "/api" + path} {
			if got := h.do(b, http.MethodPost, at, nil, tc.headers...); got.status != tc.want {
				t.Errorf("%s at %s: status %d, want %d", name, at, got.status, tc.want)
			}
		}
	}
	if len(h.mem.fresh) != 0 {
		t.Error("a run was queued all the same")
	}
}

func TestFormsFromOurPagesAreTaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"same-origin", "origin", "hidden field"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			id := h.put()
			b := h.signedIn(ownerToken)
			form, headers := "fresh=1", []string{"Content-Type", "application/x-www-form-urlencoded"}
			switch name {
			case "same-origin":
				headers = append(headers, "Sec-Fetch-Site", "same-origin")
			case "origin":
				headers = append(headers, "Origin", h.url)
			case "hidden field":
				form += "&_csrf=" + hiddenField(t, h.do(b, http.MethodGet, "/", nil).body)
			}
			got := h.do(b, http.MethodPost, fmt.Sprintf("/manifests/%d/runs", id), strings.NewReader(form), headers...)
			if got.status != http.StatusSeeOther || len(h.mem.fresh) != 1 || !h.mem.fresh[0] {
				t.Errorf("status %d, runs %v: %s", got.status, h.mem.fresh, got.body)
			}
		})
	}
}

// hiddenField finds the value of _csrf in a page.
func hiddenField(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `name="_csrf" value="`)
	if !ok {
		t.Fatal("the page has no hidden field")
	}
	value, _, _ := strings.Cut(rest, `"`)
	if value == "" {
		t.Fatal("the hidden field is empty")
	}
	return value
}
