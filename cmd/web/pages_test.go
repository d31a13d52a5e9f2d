package main

import (
	"strings"
	"testing"
)

const sampleLine = "5 units: 1 misroute, 2 contra, 1 dup"

// demo starts a newcomer's dashboard with the demo model and ends it with the test.
func demo(t *testing.T) *running {
	t.Helper()
	needChrome(t)
	return newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=demo")...).begin()
}

// begin is start with its end.
func (m machine) begin() *running {
	m.t.Helper()
	r := m.start()
	m.t.Cleanup(r.interrupt)
	return r
}

func (w *window) signIn(link string) {
	w.t.Helper()
	w.open(link)
	w.press("Sign in with this link")
	w.until("the inbox", `location.pathname === "/" && document.readyState === "complete"`)
}

// Every page that a newcomer meets, in the order in which they meet them.
func TestPagesFromTheFirstLinkToTheResult(t *testing.T) {
	r := demo(t)
	w := r.window(t)
	w.open("/")
	if p := w.path(); p != "/login" {
		t.Errorf("without signing in the inbox leads to %s", p)
	}
	w.check("sign-in")
	w.open(r.link("owner"))
	w.glance("sign-in by link")
	w.signIn(r.link("owner"))
	w.untilSays("No manifest yet")
	w.check("inbox empty")

	w.press("Run the sample")
	w.untilSays(sampleLine)
	w.check("review done")
	w.readmeShot(r.home)
	reviewOfTheSample(w)

	w.open("/")
	w.untilSays(sampleLine)
	w.check("inbox filled")
	w.look(320, 256, 4, false) // a window of 1280 pixels at 400 % zoom
	if !get[bool](w, `document.querySelector('a[href="/account"]').checkVisibility() && document.querySelector(".who").innerText.includes("signed in as owner")`) {
		t.Error("a narrow page does not say who is signed in")
	}
	w.fits("inbox at 400 % zoom")
	w.look(1400, 900, 1, false)
	w.press("Status")
	w.untilSays("Shield corpus")
	w.check("status")
	for _, p := range get[[]string](w, `[...document.querySelectorAll("header nav a, footer a, header .who a")].map(a => a.getAttribute("href"))`) {
		if p != "/" && p != "/status" {
			w.open(p)
			w.glance("page " + strings.ReplaceAll(strings.Trim(p, "/"), "/", " "))
		}
	}
	w.calm()

	w.open("/manifests/987654")
	w.untilSays("To the inbox")
	w.check("not found")
	w.calm("404 (Not Found)")

	w.press("Sign out")
	w.until("the sign-in page", `location.pathname === "/login"`)
	w.open("/status")
	if p := w.path(); p != "/login" {
		t.Errorf("after signing out the status page is at %s", p)
	}
	w.calm()
	w.open(r.link("owner"))
	w.press("Sign in with this link")
	w.untilSays("has been used or has expired")
	w.glance("sign-in refused")
	w.calm("401 (Unauthorized)")
}

// reviewOfTheSample checks what stands on the page and in which order.
func reviewOfTheSample(w *window) {
	t := w.t
	t.Helper()
	if text := strings.ToLower(w.says()); !strings.Contains(text, "demo model") {
		t.Error("the page does not say that the demo model judged")
	}
	kinds := get[[]string](w, `[...document.querySelectorAll(".cards .unit")].map(u =>
		u.querySelector(".badge.b-misroute, .badge.b-contra") ? "urgent" : u.querySelector(".badge.b-dup") ? "dup" : "quiet")`)
	if got := strings.Join(kinds, " "); got != "urgent urgent dup quiet quiet" {
		t.Errorf("flagged units do not come first: %s", got)
	}
	near := get[[]string](w, `[...document.querySelectorAll(".pair .sim")].map(s => s.innerText.trim() + " " + s.querySelector("meter").value)`)
	if len(near) == 0 {
		t.Error("no neighbour with its similarity")
	}
	for _, s := range near[:min(len(near), 1)] {
		if !strings.Contains(s, "0.") && !strings.Contains(s, "1.0") {
			t.Errorf("the similarity reads %q", s)
		}
	}
	page := w.path()
	w.click("the filter of contradictions", `[...document.querySelectorAll(".filters a")].find(a => a.innerText.includes("contra"))`)
	w.until("two contradictions", `document.querySelectorAll(".cards .unit").length === 2 && location.search !== ""`)
	w.check("review filtered")
	w.click("one unit", `[...document.querySelectorAll(".cards a")].find(a => a.innerText.trim() === "show alone")`)
	w.until("that unit alone", `document.querySelectorAll(".cards .unit").length === 1`)
	w.check("review of one unit")
	w.click("the first neighbour", `document.querySelector('.pair a[href^="/items/"]')`)
	w.until("its page", `location.pathname.startsWith("/items/") && document.readyState === "complete"`)
	w.check("item")
	w.open(page)
	w.click("what the session said", named("what the session said"))
	w.until("the transcript", `location.pathname.endsWith("/transcript") && document.readyState === "complete"`)
	w.glance("transcript")
}
