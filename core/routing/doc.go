// Package routing answers one question: did a unit land in the repo that the policy names for its type?
//
// The model: [Rules] give a changed path its type (design §4, "Type"), [Policy] gives a type its home repo and a repo its lane
// (contract C3), [Aliases] give a checkout its canonical name, and [Policy.Check] puts them together.
//
// Invariants: everything here is pure and declarative, so a type is read from what a file declares and where it lies, never
// guessed from its content; repo names inside a Policy are canonical; text that cannot be read is an error and never half a
// policy, because the built-in copy is better than a guess.
package routing
