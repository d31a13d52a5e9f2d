package main

import "testing"

// The whole first hour without a mouse: every stop of the Tab key can be seen.
func TestWithTheKeyboardAlone(t *testing.T) {
	r := demo(t)
	w := r.window(t)
	w.open(r.link("owner"))
	w.tabTo("Sign in with this link")
	w.keys("\r")
	w.untilSays("No manifest yet")
	if f := w.tab(); f.Text != "Skip to the content" {
		t.Errorf("the first stop of Tab is %s", f.HTML)
	}
	w.keys("\r")
	w.until("the main part to have the focus", `document.activeElement.id === "main"`)
	if f := w.tab(); !get[bool](w, `document.querySelector("main").contains(document.activeElement)`) {
		t.Errorf("the first stop after the skip link is %s", f.HTML)
	}
	w.tabTo("Run the sample")
	w.keys("\r")
	w.untilSays(sampleLine)
	stops := 0
	for f := w.tab(); f.Tag != "BODY" && stops < 150; f = w.tab() {
		stops++
	}
	if stops < 20 {
		t.Errorf("Tab stops at only %d places of the review page", stops)
	}
	w.open("/")
	w.tabTo("Sign out")
	w.keys("\r")
	w.until("the sign-in page", `location.pathname === "/login"`)
	w.calm()
}

// The same with scripts switched off: links and forms alone lead from the sign-in to the result.
func TestWithoutScripts(t *testing.T) {
	r := demo(t)
	w := r.window(t)
	w.noScripts()
	w.signIn(r.link("owner"))
	w.follow("Run the sample")
	for n := 0; !get[bool](w, `document.querySelector("h1").innerText.includes(`+quote(sampleLine)+`)`); n++ {
		if n > 500 {
			t.Fatalf("the result never came: %s", w.says())
		}
		w.follow("Refresh")
	}
	w.click("a folded neighbour", `document.querySelector("details.pair > summary")`)
	w.until("its text", `document.querySelector("details.pair").open`)
	w.press("Sign out")
	w.until("the sign-in page", `location.pathname === "/login"`)
	w.calm()
}
