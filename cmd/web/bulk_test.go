package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// alike is a dashboard with one manifest of three identical misroutes and a contradiction, and a window for each cosigner: the owner's
// without scripts, claude's with them.
func alike(t *testing.T) (owner, claude *window) {
	t.Helper()
	needChrome(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=demo")...)
	eco := m.ecosystem(map[string]string{"shield/invariants.txt": invariants, "neuro-matrix/hooks/stop.sh": "#!/bin/sh\n"})
	r := m.begin()
	for i, text := range []string{"Green tea is steeped.", "Windows face south.", "Paper burns quickly."} {
		eco.write(fmt.Sprintf("neuro-matrix/lessons/n%d.md", i), text+"\n")
	}
	eco.write("shield/lessons/zones.md", "Never store timestamps in UTC: store all timestamps in the zone of the reader.\n")
	eco.stop("alike", "2026-04-01T10:00:00Z")
	owner, claude = r.window(t), r.window(t)
	owner.noScripts()
	owner.signIn(r.link("owner"))
	claude.signIn(r.link("claude"))
	for _, w := range []*window{owner, claude} {
		w.inboxShows("4 units: 3 misroute, 1 contra")
		w.follow(get[string](w, `document.querySelector(".entry a").innerText`))
		w.untilSays("4 of 4 flags to decide")
	}
	return owner, claude
}

// panel is the decision panel of the misroute of a lesson, as an expression.
func panel(lesson string) string {
	return `[...document.querySelectorAll(".unit")].find(u => u.querySelector("h3").innerText.includes(` + quote(lesson) + `)).querySelector("[data-flag]")`
}

// chooses presses a button of a lesson's panel and waits for the page behind it.
func (w *window) chooses(lesson, choice string) {
	w.t.Helper()
	get[bool](w, `(window.leaving = true)`)
	w.click(choice+" of "+lesson, panel(lesson)+`.querySelector('button[value="`+choice+`"]')`)
	w.until("the answer", `!window.leaving && document.readyState === "complete"`)
}

// One decision serves the identical flags when its box is ticked, leaves out what was decided otherwise and says so; and one flag alone is
// opened to the other cosigner who asks.
func TestBulkDecisionsAndRevealInTheBrowser(t *testing.T) {
	owner, claude := alike(t)
	owner.click("the box for the identical flags", panel("lessons/n1.md")+`.querySelector('input[name="same"]')`)
	owner.chooses("lessons/n1.md", "fix")
	owner.untilSays("3 flags decided: fix.")
	owner.untilSays("1 of 4 flags to decide; claude has decided 0 of 4.")
	owner.calm()

	claude.open(claude.path())
	claude.untilSays("owner has decided 3 of 4.")
	if strings.Contains(get[string](claude, `document.querySelector("main").innerHTML`), "owner: <strong>") {
		t.Error("the owner's decisions stand on the page before anybody asked")
	}
	get[bool](claude, `(window.leaving = true)`)
	claude.click("Show it now", panel("lessons/n0.md")+`.querySelector("form.ask button")`)
	claude.until("the page with the decision", `!window.leaving && document.readyState === "complete"`)
	claude.until("the owner's decision", panel("lessons/n0.md")+`.innerText.includes("owner: fix")`)
	if n := get[int](claude, `[...document.querySelectorAll(".said")].length`); n != 1 {
		t.Errorf("%d decisions are open, one was asked for", n)
	}
	claude.glance("review with one revealed")

	claude.chooses("lessons/n0.md", "land")
	claude.untilSays("Decided: land.")
	claude.click("the box for the identical flag", panel("lessons/n2.md")+`.querySelector('input[name="same"]')`)
	claude.chooses("lessons/n2.md", "fix")
	claude.untilSays("2 flags decided: fix. Left out 1: neuro-matrix/lessons/n0.md (you had decided land).")
	claude.untilSays("1 of 4 flags to decide; owner has decided 3 of 4.")
	claude.calm()

	claude.open("/status")
	claude.untilSays("routing flag of neuro-matrix/lessons/n0.md")
	owner.open("/status")
	if text := owner.says(); strings.Contains(text, "land on") || strings.Contains(text, "fix on 2") {
		t.Errorf("the audit tells the owner what claude decided: %s", text)
	}
}

// A reason of 100 kB, pasted, is refused with all of it still in the field; shortened there, it is stored.
func TestAVeryLongReasonInTheBrowser(t *testing.T) {
	for name, pick := range map[string]func(owner, claude *window) *window{
		"without scripts": func(owner, _ *window) *window { return owner }, "with scripts": func(_, claude *window) *window { return claude },
	} {
		t.Run(name, func(t *testing.T) {
			w := pick(alike(t))
			long := strings.Repeat("Ещё одна причина. ", 3200) // 102,400 bytes
			w.click("the field for the reason", panel("lessons/n1.md")+`.querySelector("textarea")`)
			call(w, input.InsertText, input.InsertTextParams{Text: long})
			w.chooses("lessons/n1.md", "accept")
			w.untilSays("The rationale is longer than 10,000 bytes; shorten it.")
			if kept := get[string](w, `document.querySelector("[data-flag] textarea").value`); kept != long {
				t.Errorf("%d bytes of %d are kept", len(kept), len(long))
			}
			if name == "with scripts" { // the checker is a script, too
				w.glance("long reason refused")
			}
			w.calm("422 (Unprocessable Entity)")

			get[bool](w, `(document.querySelector("[data-flag] textarea").select(), true)`)
			call(w, input.InsertText, input.InsertTextParams{Text: reason})
			get[bool](w, `(window.leaving = true)`)
			w.click("accept", `document.querySelector('[data-flag] button[value="accept"]')`)
			w.until("the answer", `!window.leaving && document.readyState === "complete"`)
			w.untilSays("Decided: accept.")
			w.untilSays(reason)
			w.calm()
		})
	}
}
