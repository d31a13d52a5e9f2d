// The pages work without this script. It adds two things: a run under way is followed without reloading, and the keys of the sheet.
(function () {
  "use strict";
  var doc = document;
  function one(sel, from) { return (from || doc).querySelector(sel); }
  function all(sel, from) { return Array.prototype.slice.call((from || doc).querySelectorAll(sel)); }

  // Live progress. The stream first; where it fails, asking now and then. A page that shows a result, or that its reader has begun to use,
  // never changes under them: the link to the new result appears instead.
  function follow(live) {
    var line = one("[data-progress-line]"), bar = one("[data-progress-bar]"), link = one("[data-result]", live);
    var began = live.getAttribute("data-run"), used = live.hasAttribute("data-over"), ended = false, pause = 1000, stream;
    // A drag, a wheel or a key: what a reader does, not what the browser does when it restores a page.
    ["wheel", "touchmove", "keydown", "input"].forEach(function (what) {
      addEventListener(what, function () { used = true; }, { passive: true, once: true });
    });

    function end(p) {
      if (ended) return;
      ended = true;
      if (stream) stream.close();
      if (!used && scrollY < 50) { location.reload(); return; }
      if (line) line.textContent = p.status === "failed" || p.status === "cancelled" ? p.line : "Done.";
      if (bar) bar.hidden = true;
      if (link) link.textContent = "Show the result";
      all("form", live).forEach(function (f) { f.hidden = true; });
    }

    function show(p) {
      if (p.finished || String(p.run) !== began) { end(p); return; }
      if (line) {
        var text = (live.hasAttribute("data-over") ? "A new run: " : "") + p.line;
        if (line.textContent.trim() !== text) line.textContent = text;
      }
      if (bar && p.of > 0) { bar.max = p.of; bar.value = p.done; }
    }

    function poll() {
      if (ended) return;
      if (doc.hidden) { setTimeout(poll, pause); return; }
      fetch(live.getAttribute("data-progress"), { headers: { Accept: "application/json" }, credentials: "same-origin" })
        .then(function (r) {
          if (!r.ok) throw new Error("status " + r.status);
          return r.json();
        })
        .then(function (p) { pause = 1000; show(p); setTimeout(poll, pause); })
        .catch(function () {
          // The server may be restarting, or the session has ended: ask less and less often, never give up noisily.
          pause = Math.min(pause * 2, 30000);
          setTimeout(poll, pause);
        });
    }

    if (!window.EventSource) { poll(); return; }
    stream = new EventSource(live.getAttribute("data-events"));
    stream.onmessage = function (e) { show(JSON.parse(e.data)); };
    stream.onerror = function () { stream.close(); stream = null; if (!ended) setTimeout(poll, pause); };
  }

  // Keys. Off is remembered; typing, and any key with Ctrl, Alt or Meta, is never touched.
  var store = { get: function () { try { return localStorage.getItem("storozh.keys"); } catch (e) { return null; } },
    set: function (v) { try { localStorage.setItem("storozh.keys", v); } catch (e) { /* private window: for this page only */ } } };
  var on = store.get() !== "off";

  function mark() { doc.documentElement.classList.toggle("k", on); }

  function flags() { return all("[data-flag]"); }

  // The flag that keys are about: the one with the focus, else the one of the address, else the last one gone to, else the first open one.
  var last = null;
  function current() {
    var at = doc.activeElement && doc.activeElement.closest("[data-flag]");
    if (!at && location.hash) at = flags().filter(function (f) { return "#" + f.id === location.hash; })[0];
    return at || last || null;
  }

  function go(el) {
    if (!el) return;
    for (var d = el.closest("details"); d; d = d.parentElement && d.parentElement.closest("details")) d.open = true;
    el.focus({ preventScroll: true });
    // A panel that stands beside its evidence comes into view with it.
    var beside = el.closest(".decisions"), unit = unitOf(el);
    if (beside && getComputedStyle(beside).position === "sticky") {
      unit.scrollIntoView({ block: "start" });
      beside.scrollTop = el.offsetTop - beside.offsetTop;
    } else el.scrollIntoView({ block: "start" });
  }

  // The page of units before or behind this one, at its ends.
  function page(rel) {
    var link = one('.pages a[rel="' + rel + '"]');
    if (link) link.click();
    return link;
  }

  function step(list, from, by) {
    var i = list.indexOf(from);
    if (i >= 0 && !list[i + by] && by && page(by > 0 ? "next" : "prev")) return null;
    if (i < 0) {
      // Nothing was chosen yet: the first that is not above the middle of the window.
      for (i = 0; i < list.length - 1 && list[i].getBoundingClientRect().bottom < innerHeight / 2 && scrollY > 50; i++) { /* look on */ }
      return list[i];
    }
    return list[Math.min(Math.max(i + by, 0), list.length - 1)];
  }

  function flagBy(by) {
    var list = flags(), at = current();
    var next = at ? step(list, at, by) : list.filter(function (f) { return one(".choose", f) && !one(".change .choose", f); })[0] || list[0];
    if (!next) return;
    last = next;
    history.replaceState(null, "", "#" + last.id);
    go(last);
  }

  function unitOf(el) { return el && el.closest(".unit"); }

  function unitBy(by) {
    var next = step(all(".unit"), unitOf(doc.activeElement) || unitOf(last), by);
    if (!next) return;
    last = one("[data-flag]", next) || last;
    next.scrollIntoView({ block: "start" });
    var to = one("summary, .perma, h3 a", next);
    if (to) to.focus({ preventScroll: true });
  }

  function press(key) {
    var f = current();
    if (!f) { flagBy(0); return; }
    var b = one('[data-key="' + key + '"]', f);
    if (!b) return;
    var fold = b.closest("details");
    if (fold && !fold.open) { fold.open = true; go(f); return; } // decided already: a second press changes it
    var why = one("textarea", b.form);
    if (b.value === "accept" && why && !why.value.trim()) { why.focus(); why.scrollIntoView({ block: "nearest" }); return; }
    b.click();
  }

  function neighbours() {
    var u = unitOf(doc.activeElement) || unitOf(current()) || one(".unit.flagged") || one(".unit");
    var folds = u ? all("details.pair", u) : [];
    var open = folds.some(function (d) { return !d.open; });
    folds.forEach(function (d) { d.open = open; });
  }

  function mode() {
    var u = unitOf(doc.activeElement) || unitOf(current());
    var link = (u && one("[data-diff-mode]", u)) || one("[data-diff-mode]");
    if (link) link.click();
  }

  function sheet() {
    var d = one("#keys");
    if (!d) { location.href = "/keys"; return; }
    if (d.open) d.close(); else d.showModal();
  }

  var acts = {
    j: function () { flagBy(1); }, k: function () { flagBy(-1); }, J: function () { unitBy(1); }, K: function () { unitBy(-1); },
    1: function () { press("1"); }, 2: function () { press("2"); }, 3: function () { press("3"); }, 4: function () { press("4"); },
    c: function () { press("c"); }, e: neighbours, m: mode, "?": sheet,
    "/": function () { var s = one("[data-search]"); if (s) { s.focus(); s.select(); } }
  };

  function typing(el) { return el && (/^(input|textarea|select)$/i.test(el.tagName) || el.isContentEditable); }

  // The letter of a key: by its place where the layout is not Latin, so that the sheet holds in Russian too.
  function letter(e) {
    var m = /^Key([A-Z])$/.exec(e.code || "");
    if (m && e.key.length === 1 && e.key.charCodeAt(0) > 127) return e.shiftKey ? m[1] : m[1].toLowerCase();
    return e.key;
  }

  function inField(e) {
    if (e.key === "Escape") e.target.blur();
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && e.target.tagName === "TEXTAREA" && e.target.form) {
      var b = one('[value="accept"]', e.target.form);
      if (b) { e.preventDefault(); b.click(); }
    }
  }

  doc.addEventListener("keydown", function (e) {
    if (e.defaultPrevented || e.isComposing) return;
    if (typing(e.target)) { inField(e); return; }
    if (!on || e.ctrlKey || e.altKey || e.metaKey) return;
    var d = one("dialog[open]"), key = letter(e), act = Object.prototype.hasOwnProperty.call(acts, key) && acts[key];
    if (!act || (d && key !== "?") || (e.repeat && !/[jk]/i.test(key))) return;
    e.preventDefault();
    act();
  });

  all("[data-keys]").forEach(function (a) {
    a.addEventListener("click", function (e) { if (one("#keys")) { e.preventDefault(); sheet(); } });
  });
  all("[data-keys-switch]").forEach(function (p) {
    var box = one("input", p);
    p.hidden = false;
    box.checked = on;
    box.addEventListener("change", function () { on = box.checked; store.set(on ? "on" : "off"); mark(); });
  });
  // A form that was sent once is not sent twice; a page that comes back from the browser's memory works again.
  doc.addEventListener("submit", function (e) {
    if (e.target.method !== "post") return;
    if (e.target.hasAttribute("data-sent")) e.preventDefault();
    e.target.setAttribute("data-sent", "");
  });
  addEventListener("pageshow", function () { all("[data-sent]").forEach(function (f) { f.removeAttribute("data-sent"); }); });

  mark();
  // An old link to a unit that stands on another page now: its page is found by the unit's mark.
  var pages = one("[data-at]"), to = /^#(?:unit|flag)-([0-9a-f]{12})/.exec(location.hash);
  if (pages && to && !doc.getElementById(location.hash.slice(1)) && !/[?&]at=/.test(location.search)) location.replace(pages.getAttribute("data-at") + to[1] + location.hash);
  if (location.hash) { var at = current(); if (at) { last = at; at.focus({ preventScroll: true }); } }
  var live = one("[data-progress]");
  if (live) follow(live);
})();
