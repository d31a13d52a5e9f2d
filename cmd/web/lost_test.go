package main

import (
	"strings"
	"testing"
)

const ownerToken = "the-owner's-token-of-this-test"

// What was typed survives a decision made elsewhere meanwhile, and the end of the session.
func TestTypedTextIsNotLost(t *testing.T) {
	r, _, w, _ := flagged(t, true, "STOROZH_OWNER_TOKEN="+ownerToken)
	link, errs, err := r.web("login", "owner")
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	elsewhere := r.window(t)
	elsewhere.signIn(strings.TrimSpace(link))
	w.enter(threeFlags)
	elsewhere.enter(threeFlags)

	w.keys("j")
	w.typeReason()
	elsewhere.keys("j")
	elsewhere.decide("1")
	w.acceptTyped()
	w.untilSays("What is stored")
	w.keepsReason()
	w.glance("stale form")
	w.calm("409 (Conflict)")
	w.acceptTyped()
	w.untilSays("Decided: accept.")

	w.typeReason()
	elsewhere.open("/account")
	elsewhere.follow("Sign out everywhere")
	w.acceptTyped()
	w.untilSays("your text is kept")
	w.keepsReason()
	w.glance("signed out in mid-typing")
	w.calm("401 (Unauthorized)")
	w.click("the token's field", `document.querySelector("#token")`)
	w.keys(ownerToken)
	w.leaves("\r")
	w.untilSays("Nothing was stored yet")
	w.keepsReason()
	w.glance("decision resumed")
	w.acceptTyped()
	w.untilSays("Decided: accept.")
	w.calm()
}

// The same of the form about a missed clash.
func TestATypedMissedClashIsNotLost(t *testing.T) {
	_, _, w, _ := flagged(t, true, "STOROZH_OWNER_TOKEN="+ownerToken)
	w.enter(threeFlags)
	get[bool](w, unfoldAll)
	w.follow("name a missed clash")
	w.untilSays("Which item?")
	w.fill(`input[name="item"]`, "shield/invariants.txt#1")
	w.click("the label", `document.querySelector('input[name="label"][value="dup"]')`)
	w.click("the note", `document.querySelector('textarea[name="note"]')`)
	w.keys(reason)
	get[bool](w, `fetch("/logout", {method: "POST"}).then(() => true)`) // as if in another tab
	w.follow("This one was missed")
	w.untilSays("your text is kept")
	w.keepsReason()
	w.check("signed out while naming a missed clash")
	w.calm("401 (Unauthorized)")
	w.click("the token's field", `document.querySelector("#token")`)
	w.keys(ownerToken)
	w.leaves("\r")
	w.untilSays("Nothing was stored yet")
	w.keepsReason()
	if !get[bool](w, `document.querySelector('input[name="item"]').value === "shield/invariants.txt#1" && document.querySelector('input[name="label"][value="dup"]').checked`) {
		t.Errorf("what was chosen is lost: %s", w.says())
	}
	w.glance("missed clash resumed")
	w.follow("This one was missed")
	w.untilSays("missed, named by owner")
	w.untilSays(reason)
	w.calm()
}

// typeReason begins to accept the flag that has the focus.
func (w *window) typeReason() {
	w.t.Helper()
	w.until("a flag to have the focus", `document.activeElement.closest("[data-flag]")`)
	w.keys("3")
	w.until("the field for the reason to have the focus", `document.activeElement.tagName === "TEXTAREA"`)
	w.keys(reason)
}

// acceptTyped presses the accept button beside the field with the reason.
func (w *window) acceptTyped() {
	w.t.Helper()
	get[bool](w, `(window.leaving = true)`)
	w.click("accept", `[...document.querySelectorAll('button[value="accept"]')].find(b => b.checkVisibility() && b.form.querySelector("textarea").value === `+quote(reason)+`)`)
	w.until("the answer", `!window.leaving && document.readyState === "complete"`)
}

func (w *window) keepsReason() {
	w.t.Helper()
	if !get[bool](w, `[...document.querySelectorAll("textarea")].some(t => t.value === `+quote(reason)+`)`) {
		w.t.Errorf("%s: the typed text is lost: %s", w.path(), w.says())
	}
}
