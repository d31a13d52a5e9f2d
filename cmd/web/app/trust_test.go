package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core"
)

// A manifest names repos and folders; whatever it names, only repos of the ecosystem are read.
func TestRepoNamesStayInsideTheEcosystem(t *testing.T) {
	e := newEco(t)
	const secret = "the words that only HEAD holds"
	changed := func(repo string) string {
		if err := os.MkdirAll(filepath.Join(e.dir, repo), 0o755); err != nil {
			t.Fatal(err)
		}
		e.git(repo, "init", "-q", "-b", "main")
		before := "# Tides\n\n" + secret + "\n" + strings.Repeat("\nplain line\n", 12) + "\nlast line\n"
		e.write(repo+"/lessons/tides.md", before)
		e.commit(repo)
		e.write(repo+"/lessons/tides.md", strings.Replace(before, "last line", "another last line", 1))
		return e.git(repo, "diff", "HEAD")
	}
	inside, outside := changed("inside"), changed("../outside")
	if strings.Contains(outside, secret) {
		t.Fatal("the diff itself holds the words: the test proves nothing")
	}
	a := newApp(t, e, nil, nil)
	for name, tc := range map[string]struct {
		repo core.Repo
		want bool
	}{
		"inside":                 {core.Repo{Name: "inside", Dir: "/anywhere", Diff: inside}, true},
		"a path as a name":       {core.Repo{Name: "../outside", Dir: "/anywhere", Diff: outside}, false},
		"a folder that it names": {core.Repo{Name: "outside", Dir: filepath.Join(filepath.Dir(e.dir), "outside"), Diff: outside}, false},
	} {
		raw, err := json.Marshal(map[string]any{"sessionId": name, "repos": []map[string]any{{"name": tc.repo.Name, "dir": tc.repo.Dir, "diff": tc.repo.Diff,
			"files": []string{"lessons/tides.md"}}}})
		if err != nil {
			t.Fatal(err)
		}
		id, err := a.Check(t.Context(), raw, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		rec, err := a.db.Record(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		units, err := a.db.Units(t.Context(), rec.Run.ID)
		if err != nil || len(units) == 0 {
			t.Fatalf("%s: %d units (%v)", name, len(units), err)
		}
		seen := ""
		for _, u := range units {
			seen += u.Unit.Text + u.Unit.Normative + u.Unit.Diff
		}
		if got := strings.Contains(seen, secret); got != tc.want {
			t.Errorf("%s: HEAD was read: %v", name, got)
		}
	}
}

// The secret that is made at the first start is for the user alone, and serves both ways of sending.
func TestWebhookSecretIsForTheUserAlone(t *testing.T) {
	a := idleApp(t, func(c *Config) { c.WebhookSecrets = nil })
	first, made, err := a.webhookSecrets()
	if err != nil || !made || len(first) != 1 || !strings.HasPrefix(first[0], "whsec_") {
		t.Fatalf("%d secrets, made %v, %v", len(first), made, err)
	}
	again, made, err := a.webhookSecrets()
	if err != nil || made || again[0] != first[0] {
		t.Errorf("the next start has another secret (made %v, %v)", made, err)
	}
	if st, err := os.Stat(a.webhookSecretFile()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v %v", st.Mode(), err)
	}
}
