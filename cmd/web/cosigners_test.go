package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"storozh/core"
	"storozh/core/blocktest"
	"storozh/core/localllm/llmtest"
	"storozh/core/manifest"
)

const (
	threeFlags = "4 units: 1 misroute, 1 contra, 1 dup"
	reason     = "До выпуска α ≤ β, because the export needs it."
)

// flagged is a dashboard with one manifest that holds one flag of each kind, and a window for each cosigner. The model answers like the
// demo model, but through a server, so that the file is written.
func flagged(t *testing.T, scripts bool, env ...string) (r *running, eco ecosystem, owner, claude *window) {
	t.Helper()
	needChrome(t)
	model := llmtest.Start(t)
	m := newMachine(t, append(append(databaseFor(t), "STOROZH_LLM_URL="+model.URL), env...)...)
	eco = m.ecosystem(map[string]string{"shield/invariants.txt": invariants, "neuro-matrix/hooks/stop.sh": "#!/bin/sh\n"})
	r = m.begin()
	eco.write("shield/lessons/zones.md", "Never store timestamps in UTC: store all timestamps in the zone of the reader.\n")
	eco.write("shield/lessons/merging.md", "Tests run before every merge.\n")
	eco.write("neuro-matrix/lessons/tea.md", "Green tea is steeped for two minutes.\n")
	eco.write("neuro-matrix/hooks/stop.sh", "#!/bin/sh\necho stopped\n")
	eco.stop("first", "2026-04-01T10:00:00Z")
	owner, claude = r.window(t), r.window(t)
	if !scripts {
		owner.noScripts()
		claude.noScripts()
	}
	owner.signIn(r.link("owner"))
	claude.signIn(r.link("claude"))
	return r, eco, owner, claude
}

// inboxShows reloads the inbox until its first entry begins with a line.
func (w *window) inboxShows(line string) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(lookAgain) {
		w.open("/")
		if get[bool](w, `!!document.querySelector(".entry .bluf")?.innerText.startsWith(`+quote(line)+`)`) {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("the inbox never showed %q: %s", line, w.says())
		}
	}
}

// enter goes from the inbox to the manifest with a line, by the keyboard.
func (w *window) enter(line string) {
	w.t.Helper()
	w.inboxShows(line)
	w.tabTo(line)
	w.leaves("\r")
	w.untilSays(line)
}

// leaves types keys that lead to another page, and waits for it.
func (w *window) leaves(keys string, modifiers ...chromedp.Modifier) {
	w.t.Helper()
	get[bool](w, `(window.leaving = true)`)
	w.keys(keys, modifiers...)
	w.until("the next page", `!window.leaving && document.readyState === "complete"`)
}

// decide decides the flag that has the focus with one key; an accepted one gets its reason typed.
func (w *window) decide(key string) {
	w.t.Helper()
	w.until("a flag to have the focus", `document.activeElement.closest("[data-flag]")`)
	if key == "3" {
		w.keys(key)
		w.until("the field for the reason to have the focus", `document.activeElement.tagName === "TEXTAREA"`)
		w.keys(reason)
		w.leaves("\r", chromedp.ModifierCtrl)
	} else {
		w.leaves(key)
	}
	w.untilSays("Decided: ")
}

// reviewsIn reads who decided what from the manifest file; nothing while the file holds no reviews.
func (e ecosystem) reviewsIn() map[core.Cosigner][]string {
	e.t.Helper()
	raw, err := os.ReadFile(e.manifestFile())
	if err != nil {
		e.t.Fatal(err)
	}
	text, ok := manifest.Extract(raw)
	if !ok {
		return nil
	}
	blocktest.ValidateManifest(e.t, raw)
	var b core.Block
	if err := json.Unmarshal(text, &b); err != nil {
		e.t.Fatal(err)
	}
	out := map[core.Cosigner][]string{}
	for _, r := range b.Reviews {
		for _, d := range r.Decisions {
			line := strings.Join([]string{d.Unit, string(d.Flag), string(d.Decision), d.Rationale}, " ")
			out[r.By] = append(out[r.By], strings.TrimSpace(line))
		}
	}
	return out
}

func (e ecosystem) untilReviewed(want []string) {
	e.t.Helper()
	wanted := map[core.Cosigner][]string{core.Owner: want, core.Claude: want}
	var got map[core.Cosigner][]string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(lookAgain) {
		if got = e.reviewsIn(); cmp.Equal(wanted, got) {
			return
		}
	}
	e.t.Errorf("reviews in the file (-want +got):\n%s", cmp.Diff(wanted, got))
}

// One manifest from "your turn" to "done" by two people who use nothing but the keyboard, and the same clash once more afterwards.
func TestTwoCosignersDecideWithTheKeyboard(t *testing.T) {
	_, eco, owner, claude := flagged(t, true)
	owner.enter(threeFlags)
	owner.check("review open")
	owner.keys("j")
	for _, key := range []string{"2", "3", "4"} {
		owner.decide(key)
	}
	owner.untilSays("You have decided all; claude has decided 0 of 3.")
	owner.glance("review decided by one")
	if got := eco.reviewsIn(); len(got) > 0 {
		t.Errorf("the file tells a decision before both are done: %v", got)
	}

	claude.enter(threeFlags)
	claude.untilSays("3 of 3 flags to decide; owner has decided 3 of 3.")
	if strings.Contains(get[string](claude, "document.documentElement.outerHTML"), reason) {
		t.Error("the page gives the owner's reason away before claude has decided")
	}
	claude.keys("j")
	for _, key := range []string{"2", "2", "4"} {
		claude.decide(key)
	}
	claude.untilSays("differ on 1 flag")
	claude.untilSays(reason)
	claude.glance("review in disagreement")
	claude.changeTheContra()
	claude.untilSays("Both have decided, and agree.")
	claude.check("review decided")
	want := []string{
		"neuro-matrix/lessons/tea.md routing fix",
		"shield/lessons/merging.md semantic drop-as-dup",
		"shield/lessons/zones.md semantic accept " + reason,
	}
	eco.untilReviewed(want)

	eco.write("neuro-matrix/hooks/stop.sh", "#!/bin/sh\necho stopped again\n")
	eco.stop("second", "2026-04-02T10:00:00Z")
	for _, w := range []*window{owner, claude} {
		w.enterUndecided()
		if n := get[int](w, `[...document.querySelectorAll("[data-flag] summary")].filter(s => s.innerText.startsWith("Decided before")).length`); n != 3 {
			t.Errorf("%d flags of 3 were decided before: %s", n, w.says())
		}
		if w == owner {
			w.glance("review decided before")
		}
		w.keys("j")
		for range 3 {
			w.decide("c")
		}
	}
	claude.untilSays("Both have decided, and agree.")
	eco.untilReviewed(want)
	owner.calm()
	claude.calm()
}

// changeTheContra goes back to the contradiction and decides it anew: the first press unfolds, the second decides.
func (w *window) changeTheContra() {
	w.t.Helper()
	for range 4 {
		if get[bool](w, `!!document.activeElement.closest("[data-flag]")?.querySelector(".badge.b-contra")`) {
			break
		}
		w.keys("j")
	}
	w.keys("3")
	w.until("the form to change", `document.activeElement.closest("[data-flag]")?.querySelector("details.change").open`)
	w.decide("3")
}

// enterUndecided opens the newest manifest once it is one that waits for this reader.
func (w *window) enterUndecided() {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(lookAgain) {
		w.open("/")
		if get[bool](w, `!!document.querySelector(".entry")?.innerText.includes("your turn")`) {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("no manifest waits for this reader: %s", w.says())
		}
	}
	w.tabTo(threeFlags)
	w.leaves("\r")
}

// The same with scripts off: forms and links carry both from the first flag to the written file.
func TestTwoCosignersDecideWithoutScripts(t *testing.T) {
	_, eco, owner, claude := flagged(t, false)
	for _, w := range []*window{owner, claude} {
		w.inboxShows(threeFlags)
		w.click("the manifest", `document.querySelector(".entry .bluf")`)
		w.untilSays("3 of 3 flags to decide")
		for range 3 {
			get[bool](w, `(window.leaving = true)`)
			w.click("fix", `document.querySelector('[data-flag] > form.choose button[value="fix"]')`)
			w.until("the next flag", `!window.leaving && document.readyState === "complete"`)
			w.untilSays("Decided: fix.")
		}
	}
	claude.untilSays("Both have decided, and agree.")
	claude.calm()
	owner.calm()
	eco.untilReviewed([]string{
		"neuro-matrix/lessons/tea.md routing fix", "shield/lessons/merging.md semantic fix", "shield/lessons/zones.md semantic fix",
	})
}
