// Package eval measures a judge and an embedding model on labelled sets of the project's own. It is pure but for the model that it
// asks: no clock (the caller brings one), no storage, no files but the embedded sets.
//
// The model: [Load] gives a [Set] of labelled [Pair]s, a dev part to work with and a test part to look at rarely; [Judge] puts each
// pair before a model in the very prompts of core/judge and scores the answers; [Clashes] and [Recall] do the same for retrieval, with a
// search by words measured beside it, which no run uses.
//
// Invariants:
//
//   - Every label has a third of the pairs of each part, and every kind of pair stands in both parts, with more than one label: a
//     judge that goes by the kind alone is wrong often.
//   - No default: an unreadable answer is unjudged, counts against the recall of its label and has its own column.
//   - A share is never shown without its Wilson interval; the sets are small, and differences inside the intervals are none.
//   - A set is named by the hash of its content. Figures over different hashes are not compared.
package eval
