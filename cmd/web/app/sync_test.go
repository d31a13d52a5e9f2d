package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/corpus"
)

// spoil changes the stored text of an item behind Storozh's back: what is read again is put right.
func spoil(t *testing.T, a *App, id string) (spoilt func() bool) {
	t.Helper()
	if _, err := a.db.SQL().Exec("UPDATE items SET text = 'spoilt' WHERE item = $1", id); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		t.Helper()
		it, _, err := a.db.Item(t.Context(), a.cfg.ShieldDir, id)
		if err != nil {
			t.Fatal(err)
		}
		return it.Text == "spoilt"
	}
}

func syncApp(t *testing.T, a *App) core.CorpusState {
	t.Helper()
	s, err := a.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnlyWhatChangedInTheCorpusIsRead(t *testing.T) {
	e := newEco(t)
	a := newApp(t, e, nil, nil)
	first := syncApp(t, a)
	const cache, logs = "shield/claims/claims.ttl#ex:cache", "shield/lessons/logs.md"
	old, same := spoil(t, a, cache), spoil(t, a, logs)
	if s := syncApp(t, a); s.Items != first.Items || s.Commit != first.Commit || !old() || !same() {
		t.Errorf("the same commit was read again: %+v", s)
	}
	e.write("shield/claims/claims.ttl", atHead["shield/claims/claims.ttl"]+"ex:more ex:text \"More is known.\" .\n")
	e.git("shield", "rm", "-q", "memory/names.ru.md")
	e.commit("shield")
	if s := syncApp(t, a); s.Items != first.Items || s.Commit == first.Commit || old() || !same() {
		t.Errorf("a changed file was not read, or another one was: %+v", s)
	}
	if _, _, err := a.db.Item(t.Context(), a.cfg.ShieldDir, "shield/memory/names.ru.md"); err == nil {
		t.Error("an item outlived its file")
	}
	if _, err := a.db.SQL().Exec("UPDATE corpora SET splitter = $1", corpus.Splitter-1); err != nil {
		t.Fatal(err)
	}
	if syncApp(t, a); same() {
		t.Error("what an older version had split was not read again")
	}
}

func TestFaultsStayOnTheListUntilTheyAreMended(t *testing.T) {
	e := newEco(t)
	e.write("shield/claims/bad.ttl", "@prefix ex: <http://example.org/c#> .\nex:a ex:text \"not closed .\n")
	e.commit("shield")
	a := newApp(t, e, nil, nil)
	for range 2 {
		if s := syncApp(t, a); len(s.Faults) != 1 || s.Faults[0].Path != "claims/bad.ttl" {
			t.Errorf("faults %v", s.Faults)
		}
	}
	e.git("shield", "rm", "-q", "claims/bad.ttl")
	e.commit("shield")
	if s := syncApp(t, a); len(s.Faults) != 0 {
		t.Errorf("faults %v", s.Faults)
	}
}

// A corpus that was stale is current again at the commit it was last read at.
func TestACorpusComesBack(t *testing.T) {
	e := newEco(t)
	a := newApp(t, e, nil, nil)
	first := syncApp(t, a)
	git := filepath.Join(a.cfg.ShieldDir, ".git")
	if err := os.Rename(git, git+"-away"); err != nil {
		t.Fatal(err)
	}
	if s := syncApp(t, a); !s.Stale || s.Items != first.Items || !strings.Contains(s.Reason, a.cfg.ShieldDir) {
		t.Errorf("%+v", s)
	}
	if err := os.Rename(git+"-away", git); err != nil {
		t.Fatal(err)
	}
	if s := syncApp(t, a); s.Stale || s.Reason != "" || s.Items != first.Items || s.Commit != first.Commit {
		t.Errorf("%+v", s)
	}
}
