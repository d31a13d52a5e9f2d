package routing

import (
	"slices"

	"storozh/core"
)

// TouchesPolicy returns a warning when a manifest changes the policy file itself (design §4), else "". repo is canonical, path is
// inside it: core.Darwin and [PolicyPath] unless configured otherwise. Routing is checked by the policy at HEAD, so a
// change on its way in does not count yet, and the reader has to know.
func TouchesPolicy(d core.Derivation, repo, path string) string {
	id := repo + "/" + path
	touched := slices.Contains(d.Unclassified, id) || slices.Contains(d.NotInDiff, id) ||
		slices.ContainsFunc(d.Units, func(u core.Unit) bool {
			return u.Repo == repo && (u.Path == path || u.OldPath == path)
		}) ||
		slices.ContainsFunc(d.Replaced, func(s core.Span) bool { return s.Repo == repo && s.Path == path })
	if !touched {
		return ""
	}
	return id + ": this manifest changes the routing policy; routing was checked by the version at HEAD"
}
