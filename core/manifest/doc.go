// Package manifest reads changeset manifests (contract C1) and puts the storozh block (contract C4) into them.
//
// The model: a manifest is one JSON object whose bytes belong to its producer. This package never re-encodes it. One scanner
// validates the text and yields the byte ranges of its top-level members; reading decodes the wanted ranges, splicing replaces
// or appends one range, and the write-back puts the spliced bytes where the old ones were.
//
// Invariants:
//
//   - All bytes outside the top-level `storozh` value stay identical: numbers, escapes, duplicate keys, BOM, indentation.
//   - Names are matched after decoding their escapes and by exact letter case; of a name given twice the last one counts.
//   - Strip(Splice(x, b)) is x when x has no block, and Splice(Splice(x, a), b) is Splice(x, b).
//   - Text that is no JSON object is an error with a position; anything else that can't be read costs one value and a warning.
//   - A file is written only while it still holds, without its block, what was judged; a writer that comes in between wins.
package manifest
