package main

import (
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func call[P, R any](w *window, cmd cdp.Command[P, R], params P) R {
	w.t.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	res, err := chromedp.Call(ctx, cmd, params)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// look sets the size of the window in CSS pixels, how many device pixels make one of them, and the theme.
func (w *window) look(width, height int64, scale float64, dark bool) {
	w.t.Helper()
	theme := "light"
	if dark {
		theme = "dark"
	}
	call(w, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale})
	call(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// noScripts switches the page's own scripts off for good.
func (w *window) noScripts() {
	w.t.Helper()
	call(w, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// place is where a click on a thing would land.
type place struct {
	X, Y  float64
	Found bool
	Hit   bool // nothing lies over it
}

// spot finds an element by an expression and scrolls it into view.
const spot = `(() => {
	const el = %s;
	if (!el) return {Found: false};
	el.scrollIntoView({block: "center", behavior: "instant"});
	const r = el.getClientRects()[0];
	if (!r) return {Found: false};
	const x = r.left + r.width / 2, y = r.top + r.height / 2, hit = document.elementFromPoint(x, y);
	return {Found: true, X: x, Y: y, Hit: !!hit && (el === hit || el.contains(hit) || hit.contains(el))};
})()`

// click clicks with the mouse on the element that an expression gives, as soon as it is there and nothing covers it.
func (w *window) click(what, element string) {
	w.t.Helper()
	w.until(what+" to click on", `document.readyState === "complete" && (p => p.Found && p.Hit)(`+fmt.Sprintf(spot, element)+`)`)
	p := get[place](w, fmt.Sprintf(spot, element))
	w.do("click on "+what, chromedp.MouseClickXY(p.X, p.Y))
}

// press clicks on the button or link with a text.
func (w *window) press(text string) {
	w.t.Helper()
	w.click(text, named(text))
}

// follow presses a button or link and waits for the page that it leads to.
func (w *window) follow(text string) {
	w.t.Helper()
	get[bool](w, `(window.leaving = true)`)
	w.press(text)
	w.until("the page behind "+text, `!window.leaving && document.readyState === "complete"`)
}

// named is the expression for the button, link or summary that has a text.
func named(text string) string {
	return `[...document.querySelectorAll("button, a, summary")].find(e => e.checkVisibility() && e.innerText?.replace(/\s+/g, " ").trim() === ` + quote(text) + `)`
}

// keys types, as a person without a mouse does.
func (w *window) keys(keys string, modifiers ...chromedp.Modifier) {
	w.t.Helper()
	for _, r := range keys {
		for _, k := range strokes(r) {
			for _, m := range modifiers {
				k.Modifiers |= int64(m)
				k.Text = "" // a shortcut types nothing
			}
			call(w, input.DispatchKeyEvent, k)
		}
	}
}

// strokes are the two events of one key, the text in the first, as from a keyboard: a key that the page takes for itself then types
// nothing, which is not so when the text comes as an event of its own.
func strokes(r rune) []input.DispatchKeyEventParams {
	all := kb.Encode(r)
	down, up := *all[0], *all[len(all)-1]
	if len(all) > 2 {
		down.Text, down.UnmodifiedText = all[1].Text, all[1].UnmodifiedText
	}
	return []input.DispatchKeyEventParams{down, up}
}

// focus is what has the keyboard, and whether a person can see that it has.
type focus struct {
	Text    string
	Tag     string
	HTML    string
	Outline bool
	Seen    bool // inside the window and not covered
}

const focused = `(() => {
	const el = document.activeElement, s = getComputedStyle(el);
	const r = [...el.getClientRects()].find(r => r.width > 0 && r.height > 0) || {left: -1, top: -1, width: 0, height: 0};
	const x = Math.max(r.left, 0) + Math.min(r.width, 8) / 2, y = Math.max(r.top, 0) + Math.min(r.height, 8) / 2, hit = document.elementFromPoint(x, y);
	return {
		Text: el.innerText?.replace(/\s+/g, " ").trim() || el.value || el.getAttribute("aria-label") || "",
		Tag: el.tagName, HTML: el.outerHTML.slice(0, 200),
		Outline: el.matches(":focus-visible") && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2,
		Seen: r.left + r.width > 0 && r.top + r.height > 0 && r.left < innerWidth && r.top < innerHeight &&
			!!hit && (el === hit || el.contains(hit) || hit.contains(el)),
	};
})()`

// tab presses the Tab key once and checks that the focus can be seen where it went.
func (w *window) tab() focus {
	w.t.Helper()
	w.keys("\t")
	f := get[focus](w, focused)
	if f.Tag != "BODY" && (!f.Outline || !f.Seen) {
		w.t.Errorf("the focus cannot be seen (outline %t, in sight %t) on %s", f.Outline, f.Seen, f.HTML)
	}
	return f
}

// tabTo presses Tab until something has the focus.
func (w *window) tabTo(text string) {
	w.t.Helper()
	var seen []string
	for range 150 {
		f := w.tab()
		if f.Text == text {
			return
		}
		seen = append(seen, f.Text)
	}
	w.t.Fatalf("Tab never came to %q, but to %q", text, seen)
}
