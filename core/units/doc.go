// Package units turns a manifest's diffs into units (design §4, "Manifests, units, routing").
//
// The model, in two layers. [ParseDiff] reads the text of one `git diff HEAD` into [File]s with their [Hunk]s; it knows what git
// prints under every user setting (contract C1) and nothing of units. [Derive] takes the files of all repos, gives each a type,
// puts the old and the new text beside each other, splits both with the splitter that the corpus uses too, and keeps the passages
// that differ.
//
// Invariants:
//   - a unit never comes from text that the diff does not contain: a passage without a changed line is no unit;
//   - a section that cannot be read costs itself and a warning that names the repo and the section, nothing else;
//   - a path is never invented: a header that a cut-off capture may have shortened is not believed;
//   - unit ids are unique within a derivation; everything is pure, linear in the text, and never panics;
//   - texts are substrings of the manifest wherever that is possible, because a manifest may have 64 MiB.
package units
