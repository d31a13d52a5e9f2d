package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

// sessionFile writes the manifest of a session that left new lessons in a repo.
func (m machine) sessionFile(session, stamp, repo string, lessons int) string {
	m.t.Helper()
	var diff strings.Builder
	for i := range lessons {
		fmt.Fprintf(&diff, "diff --git a/lessons/%[1]d.md b/lessons/%[1]d.md\nnew file mode 100644\n--- /dev/null\n+++ b/lessons/%[1]d.md\n@@ -0,0 +1 @@\n+Наблюдение %[1]d: measure before you cut.\n", i)
	}
	raw, err := json.Marshal(map[string]any{"sessionId": session, "timestamp": stamp, "repos": []any{
		map[string]any{"name": repo, "dir": "/x", "diff": strings.TrimSuffix(diff.String(), "\n"), "files": []string{}},
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	file := filepath.Join(m.home, session+".json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		m.t.Fatal(err)
	}
	return file
}

// The pages over the history, with something in them: as people see them, and followed from a bar to the flags in it.
func TestPagesOverTheHistory(t *testing.T) {
	needChrome(t)
	model := llmtest.Start(t)
	m := newMachine(t, append(databaseFor(t), "STOROZH_LLM_URL="+model.URL, "STOROZH_TZ=Europe/Berlin")...)
	r := m.begin()
	for week := range 4 {
		judge := "judge-a"
		if week > 1 {
			judge = "judge-b"
		}
		model.Set(func(f *llmtest.Faults) { f.Models = []string{localllm.FakeEmbedModel, judge} })
		for repo, n := range map[string]int{"shield": 22 + week, "neuro-matrix": 3 + week} {
			file := m.sessionFile(fmt.Sprintf("%s-%d", repo, week), fmt.Sprintf("2026-05-%02dT10:00:00Z", 4+7*week), repo, n)
			if _, stderr, err := m.web("check", file); err != nil {
				t.Fatal(err, stderr)
			}
		}
	}
	w := r.window(t)
	w.signIn(r.link("owner"))
	w.open("/trends?from=2026-05-01&to=2026-05-31&by=week")
	w.untilSays("What changed")
	w.check("trends")
	w.click("the bar of the second week", `[...document.querySelectorAll("#flags ~ .plot a")].find(a => a.getAttribute("aria-label").includes("from 11 May 2026: 4 misroute of 27 units"))`)
	w.until("the search", `location.pathname === "/search" && document.readyState === "complete"`)
	if n := get[int](w, `document.querySelectorAll(".inbox > li").length`); n != 4 {
		t.Errorf("the bar of 4 leads to %d", n)
	}
	w.check("search")
	w.open("/search?q=" + "наблюдение&label=bad")
	w.untilSays("label must be")
	w.glance("search refused")
	w.calm("400 (Bad Request)")
	w.open("/trends?from=2026-06-01&to=2026-05-01")
	w.untilSays("exchange them")
	w.glance("trends refused")
	w.calm("400 (Bad Request)")
	w.open("/corpus")
	w.untilSays("What would Storozh say?")
	w.check("corpus")
	w.calm()
}
