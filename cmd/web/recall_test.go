package main

import (
	"strings"
	"testing"

	"storozh/core/localllm/llmtest"
)

// A clash that the run did not bring is named in the browser, stands on the unit for the other cosigner, and counts on the evaluation
// page; the page about floors follows a flag to its permalink.
func TestMissedAndWhatIfInTheBrowser(t *testing.T) {
	needChrome(t)
	model := llmtest.Start(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL="+model.URL, "STOROZH_K=1")...)
	e := m.ecosystem(map[string]string{"shield/invariants/core.txt": invariants})
	r := m.begin()
	e.write("shield/lessons/tests.md", "# Tests\n\nTests never run before a merge; timestamps are stored in local time.\n")
	e.stop("s1", "2026-05-04T10:00:00Z")

	w := r.window(t)
	w.signIn(r.link("owner"))
	w.until("the manifest", `document.querySelector(".inbox .bluf") || (location.reload(), false)`)
	w.open("/manifests/1")
	w.until("the result", `document.querySelector(".cards .unit")`)
	get[bool](w, unfoldAll)
	w.click("the way to the page", named("name a missed clash"))
	w.untilSays("Name a missed clash")
	w.check("missed")
	w.fill(`main input[name="q"]`, "timestamps")
	w.press("Search the corpus")
	w.until("one candidate", `document.querySelectorAll('input[name="pick"]').length === 2 && document.querySelector('input[name="pick"]').value.endsWith("core.txt#3")`)
	w.press("This one was missed") // the browser itself asks for the label
	w.click("the item", `document.querySelector('input[name="pick"][value$="core.txt#3"]')`)
	w.click("the label", `document.querySelector('input[name="label"][value="contra"]')`)
	w.press("This one was missed")
	w.untilSays("missed, named by owner")
	w.check("review with a missed clash")

	other := r.window(t)
	other.signIn(r.link("claude"))
	other.open("/manifests/1")
	other.untilSays("missed, named by owner")
	if text := other.says(); strings.Contains(text, "Take it back") {
		t.Error("claude could take the owner's word back")
	}
	other.calm()

	get[bool](w, unfoldAll)
	w.click("the page again", named("name a missed clash"))
	w.untilSays("Take it back")
	w.check("missed with one named")
	w.open("/eval")
	w.untilSays("0 of 1 known clashes")
	w.check("evaluation with recall in use")
	w.click("the floors", named("What a similarity floor would cut off"))
	w.untilSays("No floor is applied anywhere")
	w.fill(`main input[name="floor"]`, "1")
	w.press("Show")
	w.untilSays("Flags below 1.00")
	w.check("what-if")
	w.open("/whatif?floor=9")
	w.untilSays("from 0 to 1")
	w.glance("what-if refused")
	w.calm("400 (Bad Request)")
}

// fill types into a field.
func (w *window) fill(field, text string) {
	w.t.Helper()
	w.click(field, "document.querySelector("+quote(field)+")")
	w.keys(text)
}
