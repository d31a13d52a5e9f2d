package main

import (
	"fmt"
	"strings"
	"testing"

	"storozh/core"
	"storozh/views"
)

// A changeset of 230 flagged units is three pages: links and keys lead from one to the next, and a permalink from elsewhere, which knows no page,
// finds its flag.
func TestPagesOfUnits(t *testing.T) {
	needChrome(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL=demo")...)
	eco := m.ecosystem(map[string]string{"shield/invariants.txt": invariants, "neuro-matrix/hooks/stop.sh": "#!/bin/sh\n"})
	r := m.begin()
	for i := range 230 {
		name := fmt.Sprintf("neuro-matrix/lessons/n%03d.md", i)
		eco.write(name, core.UnitMark(name)+" "+core.UnitMark(name+"b")+" "+core.UnitMark(name+"c")+"\n") // no two have a word in common
	}
	eco.stop("many", "2026-04-01T10:00:00Z")
	w := r.window(t)
	w.signIn(r.link("owner"))
	w.inboxShows("230 units")
	w.follow(get[string](w, `document.querySelector(".entry a").innerText`))
	w.untilSays("Units 1 to 100 of 230")
	manifest := w.path()
	w.follow("Less urgent units")
	w.untilSays("Units 101 to 200 of 230")
	get[bool](w, `(() => { const all = document.querySelectorAll("[data-flag]"); all[all.length - 1].focus(); return true })()`)
	w.leaves("j")
	w.untilSays("Units 201 to 230 of 230")
	w.keys("j")
	w.until("the first flag to have the focus", `document.activeElement === document.querySelector("[data-flag]")`)
	w.leaves("k")
	w.untilSays("Units 101 to 200 of 230")
	last := views.FlagDOM(core.FlagKey{UnitID: "neuro-matrix/lessons/n229.md", Kind: core.FlagRouting})
	w.open("/")
	w.open(manifest + "#" + last)
	w.until("the flag on its page", `document.activeElement?.id === `+quote(last))
	if at := get[string](w, "location.href"); !strings.Contains(at, "at="+core.UnitMark("neuro-matrix/lessons/n229.md")) {
		t.Errorf("the flag was found at %s", at)
	}
	w.untilSays("Units 201 to 230 of 230")
	w.decide("1") // the next open flag is the first of all
	w.until("the first flag of the first page", `document.activeElement?.id === `+quote(views.FlagDOM(core.FlagKey{UnitID: "neuro-matrix/lessons/n000.md", Kind: core.FlagRouting})))
	w.untilSays("Units 1 to 100 of 230")
	w.calm()
}
