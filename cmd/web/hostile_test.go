package main

import (
	"strings"
	"testing"

	"storozh/core/localllm/llmtest"
)

const (
	attack     = `<script>window.__pwned=1</script><img src=x onerror=window.__pwned=1><style>*{display:none!important}</style>`
	attackPath = `lessons/<img src=x onerror=window.__pwned=1>.md`
	reordered  = "if role != \"admin\u202e \u2066// check\u2069\" {"
)

// hostileLesson is cases V1 and V2 in one text, with Russian and Greek around them.
const hostileLesson = "# Урок о проверке " + attack + "\n\nПлан α ≤ β: проверять роль. " + attack + "\n\n" +
	"[fix](javascript&#58;alert(1)) [too](javascript:window.__pwned=1) [data](data:text/html,x) ![pic](http://example.org/x.png)\n\n" + reordered + "\n"

// What other people wrote is shown and never runs: texts, paths, repos, sessions, notes of the judge, on every page that a review leads to.
func TestHostileTextIsOnlyShown(t *testing.T) {
	needChrome(t)
	model := llmtest.Start(t, func(f *llmtest.Faults) {
		f.Answer = func(string) string {
			return `{"reason":"не то \u202e <img src=x onerror=window.__pwned=1>","label":"contra"}`
		}
	})
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL="+model.URL)...)
	eco := m.ecosystem(map[string]string{
		"shield/lessons/<b>old.md": hostileLesson, "shield/lessons/имена.ru.md": "Имена веток пишутся латиницей, ёлка и ѣ тоже текст.\n",
		"x<img src=x onerror=window.__pwned=1>/a.txt": "a\n",
	})
	r := m.begin()
	w := r.window(t)
	w.signIn(r.link("owner"))
	eco.write("shield/"+attackPath, hostileLesson)
	eco.write("shield/lessons/русский.md", "Имена веток пишутся латиницей: так договорились, и ёж согласен.\n")
	eco.write("x<img src=x onerror=window.__pwned=1>/lessons/b.md", "Rest is work too.\n")
	eco.stop(attack, "2026-03-02T10:00:00Z")
	w.openNewest()
	w.untilSays("3 units: 1 misroute, 3 contra")
	get[bool](w, unfoldAll)
	for _, want := range []string{attack, attackPath, "javascript", "Урок о проверке", "Имена веток пишутся латиницей: так договорились, и ёж согласен.", "U+202E", "U+2066", "U+2069"} {
		if !strings.Contains(w.says(), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if n := get[int](w, `[...document.querySelectorAll(".badge")].filter(b => b.innerText.includes("hidden characters")).length`); n == 0 {
		t.Error("no badge tells of hidden characters")
	}
	if got := get[string](w, `[...document.querySelectorAll(".cp")].map(e => e.innerText).filter(s => !/^U\+(202E|2066|2069)$/.test(s)).join(" ")`); got != "" {
		t.Errorf("marks on harmless characters: %s", got)
	}
	review := w.path()
	w.harmless()
	pages := get[[]string](w, pagesFromHere)
	if len(pages) == 0 {
		t.Error("the review leads nowhere")
	}
	for _, p := range append(pages, "/", "/status") {
		w.open(p)
		w.harmless()
	}
	w.open(review)
	w.glance("review hostile")
	w.calm()
}

// pagesFromHere lists the pages that this one links to, one of each route and query shape, downloads and data left out.
const pagesFromHere = `(async () => {
	const out = [], seen = new Set([location.pathname]);
	for (const a of document.querySelectorAll("main a[href]")) {
		const u = new URL(a.href), key = u.pathname.split("/").slice(0, 4).join("/") + "?" + [...u.searchParams.keys()].join("&") + u.searchParams.get("part");
		if (u.origin !== location.origin || seen.has(key)) continue;
		seen.add(key);
		const r = await fetch(u, {credentials: "same-origin"});
		if (r.ok && !r.headers.get("content-disposition") && r.headers.get("content-type").startsWith("text/")) out.push(u.pathname + u.search);
	}
	return out;
})()`

// harmless checks that nothing of what others wrote has become a part of the page.
func (w *window) harmless() {
	w.t.Helper()
	where := get[string](w, "location.href")
	if get[bool](w, `"__pwned" in window`) {
		w.t.Errorf("%s: a foreign script ran", where)
	}
	bad := get[[]string](w, `[...document.querySelectorAll("main *")].filter(e =>
		["SCRIPT", "IMG", "STYLE", "IFRAME", "OBJECT", "EMBED", "LINK", "BASE", "META"].includes(e.tagName) ||
		[...e.attributes].some(a => a.name.startsWith("on") || a.name === "style" || a.name === "srcdoc") ||
		["href", "action", "formaction", "src"].some(n => e.hasAttribute(n) && !/^(https?:|#|\/)/.test(e.getAttribute(n)))
	).map(e => e.outerHTML.slice(0, 200))`)
	if len(bad) > 0 {
		w.t.Errorf("%s: foreign markup: %s", where, strings.Join(bad, "\n  "))
	}
}
