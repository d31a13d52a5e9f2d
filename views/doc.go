// Package views turns what is known about manifests into HTML.
//
// Each page is one typed model, one pure constructor that builds it from the vocabulary of core, and one `.templ` file that
// prints it. Nothing here queries, reads the clock or the environment: the time comes in with [Page]. Rules kept by all:
//
//   - Every untrusted text (a unit, an item, a path, a note) is printed through the component `marked`, which shows bidi and
//     invisible characters as their code points, and long texts are cut with a link to the whole ([Excerpt]).
//   - A label is always an icon, a word and a colour, the same everywhere ([Badge]).
//   - A page stays below 1 MB: texts draw on a budget, flagged units first; what no longer fits is one click away.
//   - No inline script, no inline style: the content security policy forbids both.
package views
