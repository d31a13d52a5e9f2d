package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"storozh/core"
	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
	"storozh/core/routing"
	"storozh/db"
	"storozh/db/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Run(m)) }

// eco is a folder of four real git repos with something at HEAD.
type eco struct {
	t   testing.TB
	dir string
}

const testSecret = "a-secret-of-the-test-sender"

var atHead = map[string]string{
	"shield/invariants/core.txt": "#1 [critical] [F] deploy on a Friday | Why: nobody is there on Saturday | Counter: security fixes\n" +
		"#2 [important] [O] tests run before every merge | Why: red main\n" +
		"#3 [important] [O] times are stored in UTC | Counter: the export screen shows local time\n",
	"shield/claims/claims.ttl": "@prefix ex: <http://example.org/c#> .\n" +
		"ex:cache ex:text \"A warm cache halves the build.\" .\n",
	"shield/lessons/logs.md":        "---\nsummary: Logs are read by machines\n---\n# Logs are read by machines\n\nWrite one JSON object per line of a log.\n",
	"shield/memory/names.ru.md":     "Имена веток пишутся латиницей.\n",
	"neuro-matrix/hooks/stop.sh":    "#!/bin/sh\necho stop\n",
	"mirabilis/cmd/run/main.go":     "package main\n\nfunc main() {}\n",
	"darwin/genome/registry-new.md": "# Registry\n\n```\n" + policyText + "```\n",
}

const policyText = `routing-policy   unit-type → repo (allele)
  lesson | invariant            → SolitaryEquilibriumShield (α_S)   [knowledge units]
  skill  | agent | hook         → neuro-matrix (α_N)               [behaviour units]
  sandbox-mechanism | state     → mirabilis (α_M)                  [mechanism units]
  genome | meta                 → darwin (α_Γ)                     [heredity units]

lane-map         repo → lane
  mirabilis, neuro-matrix       = code-lane        (tests)
  darwin, shield                = knowledge-lane   (reading)
`

func newEco(t testing.TB) eco {
	t.Helper()
	e := eco{t: t, dir: filepath.Join(t.TempDir(), "ecosystem")}
	for _, repo := range []string{core.Shield, core.NeuroMatrix, core.Mirabilis, core.Darwin} {
		if err := os.MkdirAll(filepath.Join(e.dir, repo), 0o755); err != nil {
			t.Fatal(err)
		}
		e.git(repo, "init", "-q", "-b", "main")
	}
	for name, text := range atHead {
		e.write(name, text)
	}
	for _, repo := range []string{core.Shield, core.NeuroMatrix, core.Mirabilis, core.Darwin} {
		e.commit(repo)
	}
	return e
}

func (e eco) git(repo string, args ...string) string {
	e.t.Helper()
	out, err := git(e.t.Context(), filepath.Join(e.dir, repo), args...)
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

func (e eco) commit(repo string) {
	e.t.Helper()
	e.git(repo, "add", "-A")
	e.git(repo, "commit", "-q", "-m", "state")
}

// write puts text into a file, untracked.
func (e eco) write(name, text string) {
	e.t.Helper()
	p := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// change writes a file and makes `git diff HEAD` see it.
func (e eco) change(name, text string) {
	e.t.Helper()
	e.write(name, text)
	repo, path, _ := strings.Cut(name, "/")
	e.git(repo, "add", "-N", "--", path)
}

// manifest harvests the folder as mirabilis does.
func (e eco) manifest(session, stamp string) []byte {
	e.t.Helper()
	raw, err := harvest(e.t.Context(), e.dir, session, stamp)
	if err != nil {
		e.t.Fatal(err)
	}
	return raw
}

// rules is a judge for tests that goes by words of the unit: `denies N` contradicts the item that holds N, `repeats N` repeats it.
func rules(rule map[string]core.Label) func(prompt string) string {
	return func(prompt string) string {
		at := strings.LastIndex(prompt, "\nITEM ")
		item, unit, _ := strings.Cut(prompt[at:], "\nUNIT ")
		for words, label := range rule {
			u, i, _ := strings.Cut(words, " | ")
			if strings.Contains(unit, u) && strings.Contains(item, i) {
				return `{"reason":"by the rule of the test","label":"` + string(label) + `"}`
			}
		}
		return `{"reason":"another subject","label":"ok"}`
	}
}

// newApp wires an App over the test database, a model server and an ecosystem, and starts its workers.
func newApp(t *testing.T, e eco, model *llmtest.Server, change func(*Config)) *App {
	t.Helper()
	cfg := newConfig(t, e, model)
	if change != nil {
		change(&cfg)
	}
	if len(working) > 0 {
		t.Fatal("the workers of another App are still at this database and would take this one's runs: stopApp it, or use t.Run")
	}
	return startApp(t, cfg, dbtest.Open(t))
}

func newConfig(t *testing.T, e eco, model *llmtest.Server) Config {
	t.Helper()
	cfg := Config{
		Version: "test", Addr: "127.0.0.1:0", DataDir: t.TempDir(), Ecosystem: e.dir, ShieldDir: filepath.Join(e.dir, core.Shield),
		PolicyPath: filepath.Join(e.dir, "darwin", "genome", "registry-new.md"), Rules: routing.DefaultRules(), Aliases: routing.DefaultAliases(),
		WebhookSecrets: []string{testSecret}, OwnerToken: "owner-token-of-the-test", ClaudeToken: "claude-token-of-the-test",
		ManifestPath: filepath.Join(t.TempDir(), "changeset-manifest.json"),
	}
	if model != nil {
		cfg.LLM = localllm.Config{BaseURL: model.URL, MaxRetries: -1}
	} else {
		cfg.Demo = true
	}
	return cfg
}

// again starts the same App once more on the same database, as after a restart.
func again(t *testing.T, a *App) *App {
	t.Helper()
	stopApp(a)
	return startApp(t, a.cfg, a.db)
}

func startApp(t *testing.T, cfg Config, d *db.DB, change ...func(*App)) *App {
	t.Helper()
	a := wiredApp(t, cfg, d, change...)
	ctx, stop := context.WithCancel(context.Background())
	wait := a.Work(ctx)
	working[a] = func() { stop(); wait() }
	t.Cleanup(func() { stopApp(a) })
	return a
}

// working holds what ends the workers of each App that has some. Tests here do not run beside each other.
var working = map[*App]func(){}

// stopApp ends an App's workers and waits for them; without workers it does nothing.
func stopApp(a *App) {
	if stop, ok := working[a]; ok {
		stop()
		delete(working, a)
	}
}

// wiredApp wires an App over a database, without workers.
func wiredApp(t testing.TB, cfg Config, d *db.DB, change ...func(*App)) *App {
	t.Helper()
	a := &App{
		cfg: cfg, log: slog.New(slog.NewTextHandler(t.Output(), nil)), say: func(string) {}, db: d, version: "test",
		wake: newSignal(), ended: newSignal(),
	}
	for _, f := range change {
		f(a)
	}
	if err := a.wire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.EnsureTokens(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}
