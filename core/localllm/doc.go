// Package localllm talks to the local model of contract C5: an OpenAI-compatible server such as LM Studio, llama.cpp, Ollama or
// vLLM, which embeds texts and completes the judge's prompt.
//
// The model: a [Model] embeds ([Model.Embeddings], [Model.EmbedBatch]), completes ([Model.Complete]) and says which models it
// would use ([Model.Resolve]). [Client] does so over HTTP; [Fake] is the deterministic demo model, for newcomers without a server
// and for tests.
//
// Invariants:
//
//   - An answer is real or an [Error] with a [Kind]; there is no third. An `error` member is looked at before anything else, a
//     reasoning field is never an answer, a vector that is null, zero, not finite, of another length or not paired is refused.
//   - Every wait ends: each request has a time limit, retries are counted and back off, a server that is down is left alone for a
//     while by a breaker, and a cancelled context aborts the request in flight.
//   - What a server sends is untrusted: bodies are capped, error details are one short line, and neither the key nor the
//     credentials of the URL appear in an error.
//   - A first request carries what every server of the kind knows, and on /chat/completions the answer's schema. Whatever a server
//     refuses of it is left out from then on, see manners.go; an answer is never trusted more because a schema was asked for.
package localllm
