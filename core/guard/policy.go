package guard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"storozh/core"
	"storozh/core/corpus"
	"storozh/core/routing"
)

// loadPolicy reads C3 from darwin's file at HEAD of its repo, like the corpus: what is uncommitted is not yet policy. Where that cannot
// be read the built-in copy serves, and the policy's Source says so. The warning is empty unless the file is there but broken.
func loadPolicy(ctx context.Context, path string, a routing.Aliases) (routing.Policy, string) {
	builtIn := routing.BuiltIn()
	if path == "" {
		return builtIn, ""
	}
	root, inside := splitRepo(path)
	repo := corpus.Open(root)
	text, _, err := repo.HeadFile(ctx, inside)
	if err != nil {
		builtIn.Source = fmt.Sprintf("built-in copy (%s is not readable at HEAD)", path)
		return builtIn, ""
	}
	p, err := routing.ParsePolicy(string(text), a)
	if err != nil {
		builtIn.Source = fmt.Sprintf("built-in copy (%s: %v)", path, err)
		return builtIn, fmt.Sprintf("routing policy: %s is not readable (%v); the built-in copy was used", filepath.Base(path), err)
	}
	p.Source = path
	if commit, err := repo.Head(ctx); err == nil {
		p.Source = fmt.Sprintf("%s at %.12s", path, commit)
	}
	return p, ""
}

// touchesPolicy warns of a manifest that changes the policy file, wherever that is configured to lie.
func (w *work) touchesPolicy() string {
	repo, inside := core.Darwin, routing.PolicyPath
	if w.opt.PolicyPath != "" {
		var root string
		root, inside = splitRepo(w.opt.PolicyPath)
		repo = w.opt.Aliases.Canonical(filepath.Base(root))
	}
	return routing.TouchesPolicy(w.derived, repo, inside)
}

// splitRepo parts the path of a file into the repo around it and the path inside. Outside any repo the folder stands for one, and git will
// say that it is none.
func splitRepo(path string) (root, inside string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			rel, _ := filepath.Rel(dir, path) // both are absolute, and dir is above
			return dir, filepath.ToSlash(rel)
		}
		if dir == filepath.Dir(dir) {
			return filepath.Dir(path), filepath.Base(path)
		}
	}
}

// PolicySource tells where C3 would come from now: a path with its commit, or the built-in copy with the reason.
func (g *Guard) PolicySource(ctx context.Context) string {
	p, _ := loadPolicy(ctx, g.opt.PolicyPath, g.opt.Aliases)
	return p.Source
}
