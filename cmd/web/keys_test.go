package main

import (
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// The single keys of the sheet that decide nothing: they move, unfold and search, never while somebody types, and can be switched off.
func TestKeysOfTheSheet(t *testing.T) {
	r := demo(t)
	w := r.window(t)
	w.signIn(r.link("owner"))
	w.press("Run the sample")
	w.untilSays(sampleLine)

	w.keys("?")
	w.until("the sheet", `document.querySelector("dialog#keys").open`)
	w.glance("sheet of keys")
	w.keys("\x1b")
	w.until("the sheet to close", `!document.querySelector("dialog#keys").open`)

	w.keys("j")
	w.until("the first flag", onFlag(0))
	w.keys("j")
	w.until("the second flag", onFlag(1))
	w.keys("k")
	w.until("the first flag again", onFlag(0))
	w.russian("о", "KeyJ")
	w.until("the second flag by a Russian layout", onFlag(1))
	w.keys("J")
	w.until("the next unit", `document.activeElement.closest(".unit") === document.querySelectorAll(".unit")[1]`)

	folded := get[int](w, `document.querySelectorAll("details.pair:not([open])").length`)
	w.keys("e")
	w.until("the neighbours to unfold", `document.querySelectorAll("details.pair:not([open])").length < `+strconv.Itoa(folded))
	w.leaves("m")
	w.until("the diff in two columns", `location.search.includes("diff=split")`)
	w.glance("review diff split")

	w.keys("/")
	w.until("the search field", `document.activeElement.matches("[data-search]")`)
	w.keys("j1?")
	w.until("the keys to be typed", `document.activeElement.value === "j1?"`)
	w.keys("\x1b")
	w.until("the field to be left", `document.activeElement === document.body`)

	w.keys("?")
	w.click("the switch", `document.querySelector("dialog [data-keys-switch] input")`)
	w.press("Close")
	w.keys("j?")
	if get[bool](w, `document.querySelector("dialog#keys").open || !!document.activeElement.closest("[data-flag]")`) {
		t.Error("the keys work although they are switched off")
	}
	w.open(w.path())
	w.keys("j")
	if get[bool](w, `!!document.activeElement.closest("[data-flag]")`) {
		t.Error("that the keys are off is forgotten")
	}
	w.calm()
}

// onFlag is the condition that the n-th flag of the page has the focus.
func onFlag(n int) string {
	return `document.activeElement === document.querySelectorAll("[data-flag]")[` + strconv.Itoa(n) + `]`
}

// russian presses a key as a keyboard with the Russian layout sends it.
func (w *window) russian(letter, code string) {
	w.t.Helper()
	down := input.DispatchKeyEventParams{Type: kb.KeyDown, Key: letter, Code: code, Text: letter}
	up := down
	up.Type, up.Text = kb.KeyUp, ""
	call(w, input.DispatchKeyEvent, down)
	call(w, input.DispatchKeyEvent, up)
}
