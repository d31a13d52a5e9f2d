package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

var updateScreenshot = flag.Bool("update-screenshot", false, "write docs/screenshot.png anew")

// Where pictures go: the README's own, and those that the gate keeps for people to look at.
const (
	readmePicture  = "../../docs/screenshot.png"
	pictureFolder  = "../../.ci/out"
	pictureAtMost  = 200_000 // bytes of the README's picture
	folds          = `[...document.querySelectorAll("details")].map(d => d.open)`
	unfoldAll      = `(document.querySelectorAll("details").forEach(d => d.open = true), true)`
	widerThanPlace = `(() => {
		const root = document.documentElement;
		if (root.scrollWidth <= root.clientWidth) return [];
		const clipped = e => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) if (getComputedStyle(p).overflowX !== "visible") return true; return false; };
		const wide = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > root.clientWidth + 0.5 && !clipped(e));
		return ["page " + root.scrollWidth + " in " + root.clientWidth].concat(wide.slice(0, 5).map(e => e.outerHTML.slice(0, 160)));
	})()`
)

// sight is a way to look at a page.
type sight struct {
	width int64
	theme string
}

// brokenWords are the one-word links and buttons that take more than one line.
const brokenWords = `[...document.querySelectorAll("a, button, .badge")].filter(e => e.checkVisibility() && /^\w{2,14}$/.test((e.innerText || "").trim()) &&
	e.getBoundingClientRect().height > 44).map(e => e.innerText.trim())`

// check looks at one state of a page in both themes, wide and narrow, as it came and with everything unfolded, and at 200 % zoom: nothing
// inaccessible, nothing to scroll sideways. It leaves the window as it was.
func (w *window) check(state string) {
	w.t.Helper()
	w.accessible(state + ", folded") // once is enough: what is folded has no colour and no width
	w.see(state, sight{1400, "light"}, sight{1400, "dark"}, sight{360, "light"}, sight{360, "dark"})
}

// glance is check with half the looks, for states that differ little from others.
func (w *window) glance(state string) {
	w.t.Helper()
	w.see(state, sight{1400, "light"}, sight{360, "dark"})
}

func (w *window) see(state string, sights ...sight) {
	w.t.Helper()
	opened := get[[]bool](w, folds)
	for _, s := range sights {
		name := fmt.Sprintf("%s, %s, %d px", state, s.theme, s.width)
		w.look(s.width, 900, 1, s.theme == "dark")
		w.fits(name)
		w.picture(fmt.Sprintf("%s-%s-%d", strings.ReplaceAll(state, " ", "-"), s.theme, s.width))
		get[bool](w, unfoldAll)
		w.accessible(name + ", unfolded")
		w.fits(name + ", unfolded")
		get[bool](w, refold(opened))
	}
	w.look(640, 450, 2, false)
	w.fits(state + ", 200 % zoom")
	w.look(1400, 900, 1, false)
}

// refold gives every details element back the state that it had.
func refold(opened []bool) string {
	return fmt.Sprintf(`(s => (document.querySelectorAll("details").forEach((d, i) => d.open = s[i]), true))(%s)`, strings.ReplaceAll(fmt.Sprint(opened), " ", ","))
}

// fits checks that nothing makes the page wider than the window, and that no short word had to be broken for it.
func (w *window) fits(state string) {
	w.t.Helper()
	if wide := get[[]string](w, widerThanPlace); len(wide) > 0 {
		w.faultOnce(state, "the page scrolls sideways", strings.Join(wide, "\n  "))
	}
	if broken := get[[]string](w, brokenWords); len(broken) > 0 {
		w.faultOnce(state, "words are broken over lines", strings.Join(broken, ", "))
	}
}

// faultOnce fails the test. A fault that shows in many states is told in full the first time and then only counted.
func (w *window) faultOnce(state, fault, where string) {
	w.t.Helper()
	if w.told == nil {
		w.told = map[string]bool{}
	}
	if w.told[fault] {
		w.t.Errorf("%s: %s, again", state, fault)
		return
	}
	w.told[fault] = true
	w.t.Errorf("%s: %s\n  %s", state, fault, where)
}

// picture keeps the page's look for people, when the gate runs.
func (w *window) picture(name string) {
	w.t.Helper()
	if os.Getenv("STOROZH_CI") != "1" {
		return
	}
	if err := os.MkdirAll(pictureFolder, 0o755); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := w.limited()
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(pictureFolder, name+".png"), png, 0o644)
	}
	if err != nil {
		w.t.Fatalf("picture %s: %v", name, err)
	}
}

// readmeShot makes the README's picture if there is none yet, or anew if asked to.
func (w *window) readmeShot(home string) {
	w.t.Helper()
	_, err := os.Stat(readmePicture)
	if err == nil && !*updateScreenshot {
		return
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	w.look(1400, 900, 1, false)
	w.rename(home, "/home/owner")
	ctx, cancel := w.limited()
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		w.t.Fatal(err)
	}
	if len(png) > pictureAtMost {
		w.t.Fatalf("the README's picture has %d bytes, more than %d", len(png), pictureAtMost)
	}
	if err := os.WriteFile(readmePicture, png, 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.rename("/home/owner", home)
}

// rename shows another folder in place of the test's own, which would tell a reader nothing.
func (w *window) rename(from, to string) {
	w.t.Helper()
	get[bool](w, fmt.Sprintf(`((from, to) => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
		return true;
	})(%s, %s)`, quote(from), quote(to)))
}
