// Package guard takes one manifest through Storozh's stages, in order:
//
//	0 derive    diffs → units                        core/units
//	1 route     unit type → repo, lane               core/routing
//	2 retrieve  corpus at HEAD → nearest items       core/corpus, vectors through Store
//	3 judge     (unit, item) pairs → labels          core/judge, core/localllm
//
// and assembles the block. It knows no SQL and no HTTP: what it keeps and finds goes through the small [Store] that it declares, what
// it asks goes to a [localllm.Model].
//
// What always holds: the stages after 1 never fail a run because a model or a corpus is missing, they end in one of the skips of C4;
// an unjudged pair stays unlabelled; verdicts are kept one by one, so that a run that is cut off goes on where it stopped; no
// transaction is open while a model is asked.
package guard
