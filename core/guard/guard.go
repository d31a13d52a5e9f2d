package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"storozh/core"
	"storozh/core/corpus"
	"storozh/core/judge"
	"storozh/core/localllm"
	"storozh/core/routing"
	"storozh/core/units"
)

// Options are what a guard is set up with.
type Options struct {
	K           int    // neighbours per unit; 0: 5
	Concurrency int    // judge requests at once; 0: 4
	NoSwap      bool   // do not ask once more, in swapped order, about a pair that is flagged
	NoWords     bool   // no further neighbour by the words it shares
	Secret      []byte // key of the prompt's fence markers
	Ecosystem   string // folder of the repos, for the text at HEAD; empty: not readable
	ShieldDir   string // the shield checkout
	PolicyPath  string // darwin's registry file; read at HEAD of its repo
	Rules       routing.Rules
	Aliases     routing.Aliases
}

// Guard runs manifests. Safe for concurrent use.
type Guard struct {
	store Store
	model localllm.Model
	opt   Options
}

// New makes a guard.
func New(store Store, model localllm.Model, opt Options) *Guard {
	if opt.K <= 0 {
		opt.K = 5
	}
	if opt.Concurrency <= 0 {
		opt.Concurrency = 4
	}
	return &Guard{store: store, model: model, opt: opt}
}

// Job is one manifest to run.
type Job struct {
	Manifest core.Manifest
	Fresh    bool                // ask the judge anew, whatever is kept
	RanAt    time.Time           // becomes the block's ranAt
	Progress func(core.Progress) // called as pairs are judged, from several goroutines; may be nil
}

// work is a run in progress: what the stages hand on to each other.
type work struct {
	*Guard
	job      Job
	policy   routing.Policy
	units    []core.UnitResult // in the manifest's order until assembled
	derived  core.Derivation
	head     core.CorpusHead
	corpus   core.CorpusState
	items    []core.Item // those in the files that the manifest changes
	patient  bool        // waits for the configured embedding model, however much it has to embed
	repos    map[string]*corpus.Repo
	fromHead map[string]bool // files, `<canonical repo>/<path>`, whose text at HEAD is the one that the diff begins with
	models   localllm.Models
	read     map[string]judge.Text // item id → what the judge reads of it
	check    string                // contra-check
	resolved []core.Resolved
	warnings []string
}

// Run takes a manifest through all stages. It fails only when ctx ends or the store does; everything else is said in the block.
func (g *Guard) Run(ctx context.Context, job Job) (core.Result, error) {
	if job.Progress == nil {
		job.Progress = func(core.Progress) {}
	}
	w := &work{Guard: g, job: job}
	w.derive(ctx)
	if err := w.contraCheck(ctx); err != nil {
		return core.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return core.Result{}, fmt.Errorf("run cut off: %w", err)
	}
	return w.result(), nil
}

// derive does stages 0 and 1.
func (w *work) derive(ctx context.Context) {
	w.fromHead = map[string]bool{}
	policy, warning := loadPolicy(ctx, w.opt.PolicyPath, w.opt.Aliases)
	w.policy = policy
	w.derived = units.Derive(w.job.Manifest, units.Options{
		Canonical: w.opt.Aliases.Canonical,
		Classify:  w.opt.Rules.Classify,
		Ahead: func(repo string, paths, blobs []string) {
			if dir, ok := w.repoDir(repo); ok {
				w.repo(dir).Ahead(ctx, paths, blobs)
			}
		},
		Unborn: func(repo string) bool {
			dir, ok := w.repoDir(repo)
			if !ok {
				return false
			}
			_, err := w.repo(dir).Head(ctx)
			return errors.Is(err, corpus.ErrNoCommits)
		},
		Head: func(repo, path, blob string) (string, bool) {
			dir, ok := w.repoDir(repo)
			if !ok {
				return "", false
			}
			text, ok := w.repo(dir).Text(ctx, path, blob)
			if ok && blob != "" {
				w.fromHead[w.opt.Aliases.Canonical(repo)+"/"+path] = true
			}
			return text, ok
		},
	})
	w.warnings = append(w.warnings, w.job.Manifest.Warnings...)
	w.warnings = append(w.warnings, w.derived.Warnings...)
	for _, s := range []string{warning, w.touchesPolicy()} {
		if s != "" {
			w.warnings = append(w.warnings, s)
		}
	}
	for _, u := range w.derived.Units {
		c := policy.Check(u)
		w.units = append(w.units, core.UnitResult{Unit: u, Flag: core.Flag{
			Unit: u.ID, Routing: c.Routing, ObservedRepo: u.Observed, ExpectedRepo: c.Expected, Severity: c.Severity, Against: []string{},
		}})
	}
}

// repo opens each repo once per run: it reads the tree at its first question.
func (w *work) repo(dir string) *corpus.Repo {
	if w.repos == nil {
		w.repos = map[string]*corpus.Repo{}
	}
	r := w.repos[dir]
	if r == nil {
		r = corpus.Open(dir)
		w.repos[dir] = r
	}
	return r
}

// repoDir is where a repo of the manifest lies on this machine. The manifest's own `dir` is not used: it comes from outside and may be
// any path.
func (w *work) repoDir(name string) (string, bool) {
	if w.opt.Aliases.Canonical(name) == core.Shield && w.opt.ShieldDir != "" {
		return w.opt.ShieldDir, true
	}
	if w.opt.Ecosystem == "" || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return "", false
	}
	return filepath.Join(w.opt.Ecosystem, name), true
}

func textOfUnit(u core.Unit) judge.Text { return judge.Text{Title: u.Title, Statement: u.Normative} }

func textOfItem(i core.Item) judge.Text { return judge.Text{Title: i.Title, Statement: i.Normative} }
