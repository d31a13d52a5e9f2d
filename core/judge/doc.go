// Package judge puts a pair of texts before a model and reads what it says. It is pure: no request, no clock, no storage.
//
// The model: [Build] turns an item and a unit into a [Prompt]; [Read] turns an answer into a verdict, or into an honest error;
// [Strongest] turns the labels of a unit's pairs into the unit's own (contract C4); [Key] names a verdict in the cache.
//
// Invariants:
//
//   - Texts are data. Each stands on one line, quoted as JSON, behind a code that is an HMAC of the pair: stable, so that the same
//     pair has the same prompt, and unguessable, so that no text can pretend to be a pair.
//   - What is fixed comes first, to the byte, so that a server can reuse the prefix of its cache.
//   - A rule is never separated from its `Counter:`.
//   - No label by default: an answer that is unreadable, cut off, contradictory or only thought is an error.
//   - What only looks like a verdict (letters of another script, blanks of no width) is none, but makes the answer doubtful, and so does
//     a verdict that a repeated mark of thinking would have cut off: a text can cost a label, never change it.
//   - [PromptVersion] changes whenever the wording does; a test holds the two together.
package judge
