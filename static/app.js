// The pages work without this script. It does one thing: while a run is queued or running it asks how far it is, keeps the
// status line up to date, and reloads the page when the run has ended.
(function () {
  "use strict";
  var live = document.querySelector("[data-progress]");
  if (!live) return;
  var line = document.querySelector("[data-progress-line]");
  var bar = document.querySelector("[data-progress-bar]");
  var began = live.getAttribute("data-run");
  var pause = 1000;

  function again() { setTimeout(ask, pause); }

  function ask() {
    if (document.hidden) { again(); return; }
    fetch(live.getAttribute("data-progress"), { headers: { Accept: "application/json" }, credentials: "same-origin" })
      .then(function (r) {
        if (!r.ok) throw new Error("status " + r.status);
        return r.json();
      })
      .then(function (p) {
        if (p.finished || String(p.run) !== began) { location.reload(); return; }
        pause = 1000;
        if (line && line.textContent !== p.line) line.textContent = p.line;
        if (bar && p.of > 0) { bar.max = p.of; bar.value = p.done; bar.hidden = false; }
        again();
      })
      .catch(function () {
        // The server may be restarting, or the session has ended: ask less and less often, never give up noisily.
        pause = Math.min(pause * 2, 30000);
        again();
      });
  }
  again();
})();
