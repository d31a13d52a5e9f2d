// Package core is the vocabulary of Storozh. It imports nothing of the project, so that every other package can speak in its
// words without importing each other.
//
// The model, from what arrives to what leaves:
//
//   - A [Manifest] (contract C1) lists what an agent session changed in the four repos.
//   - It is split into [Unit]s: one changed protocol artifact each, or one passage where a file holds many.
//   - The corpus is a set of [Item]s: the statements that the shield repo holds at HEAD.
//   - A (unit, item) [Pair] is judged by a model and gets a [Label], or honestly none.
//   - Everything about one unit is a [Flag]; all flags of one [Run] form the [Block] (contract C4) that is appended to the
//     manifest's file.
//   - Two [Cosigner]s read the block and decide.
//
// Invariants that every package keeps: a label is never invented (no label means unjudged); ids of units and items share one
// space, `<canonical repo>/<path>[#anchor]`; nothing here blocks a push.
package core
