// The embedded Postgres: one PGlite session behind a unix socket, for one connection at a time.
//
//   node server.mjs serve DATA SOCKET TEMPLATE WAIT   DATA: a folder, or memory://; prints one line `READY {"version": …}`
//   node server.mjs template FILE                     writes a fresh, empty database as a gzipped tar
//
// There is one session inside, so a second connection waits until the first has closed and its traces are gone: what it left open is
// rolled back, and its settings, prepared statements, locks and temporary tables are discarded. Everything runs in one thread: while a
// statement runs nothing else does, so a statement can't be cancelled. The process ends when its stdin closes, which happens however its
// parent ends. A crash inside WebAssembly can't be survived, so it ends the process with status 70 and the reason on stderr.
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'

const STARTUP_LIMIT = 10_000           // bytes, as Postgres has it
const MESSAGE_LIMIT = 512 << 20        // bytes; the whole of WebAssembly has 2 GiB
const NO_COPY = 'COPY is not available in the embedded Postgres; use INSERT, or set DATABASE_URL to a Postgres with pgvector'
const NO_ROOM = 'the embedded Postgres serves one connection at a time and another one is open; close it, or set DATABASE_URL to a Postgres with pgvector'

const SSL_REQUEST = 80877103, GSS_REQUEST = 80877104, CANCEL_REQUEST = 80877102
const T = Object.fromEntries([...'QPBEDCSHFXdcf'].map(c => [c, c.charCodeAt(0)]))
const KNOWN = new Set(Object.values(T))
const ENDS_BATCH = new Set([T.Q, T.S, T.H, T.F])
const COPY_DATA = new Set([T.d, T.c, T.f])

const log = []                         // what Postgres said last, to be told if this is the end
function heard(line) {
  if (!/ (ERROR|LOG|STATEMENT|WARNING): /.test(line)) log.push(line.slice(0, 1000))
  if (log.length > 10) log.shift()
  return false
}

function die(what, err) {
  const text = err instanceof WebAssembly.RuntimeError ? err.stack : err?.message ?? err
  fs.writeSync(2, `${[...log, `${what}: ${text}`].join('\n')}\n`)
  process.exit(70)
}

// ---- protocol pieces

function message(type, ...parts) {
  const body = Buffer.concat(parts.map(p => (typeof p === 'string' ? Buffer.from(p + '\0') : p)))
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const SYNC = message('S')
const COPY_FAIL = message('f', NO_COPY)
const refusal = (code, text) => message('E', 'SFATAL', 'VFATAL', 'C' + code, 'M' + text, Buffer.alloc(1))

// Reader cuts a byte stream into messages. Chunks are joined once per message, so a big message costs linear time.
class Reader {
  chunks = []; size = 0; started = false
  push(chunk) { this.chunks.push(chunk); this.size += chunk.length }
  #join(n) {                           // make the first n bytes one chunk
    if (this.chunks[0].length >= n) return this.chunks[0]
    this.chunks = [Buffer.concat(this.chunks)]
    return this.chunks[0]
  }
  // next returns one whole message, null if more bytes are needed, or throws if the stream is not the protocol.
  next() {
    const head = this.started ? 5 : 4
    if (this.size < head) return null
    const b = this.#join(head)
    const length = b.readInt32BE(head - 4), total = length + head - 4
    if (this.started && !KNOWN.has(b[0])) throw new Error(`unknown message type ${b[0]}`)
    if (length < (this.started ? 4 : 8) || total > (this.started ? MESSAGE_LIMIT : STARTUP_LIMIT)) throw new Error(`message of ${length} bytes`)
    if (this.size < total) return null
    const all = this.#join(total), rest = all.subarray(total)
    if (rest.length) this.chunks[0] = rest; else this.chunks.shift()
    this.size -= total
    return all.subarray(0, total)
  }
}

// ---- the one session

let db

async function open(dir, template) {
  const empty = dir === 'memory://' || !fs.existsSync(dir + '/PG_VERSION')
  db = await PGlite.create(dir, {
    extensions: { vector },
    // Nobody checkpoints in the background, so keep the log small.
    startParams: [...PGlite.defaultStartParams, '-c', 'max_wal_size=64MB', '-c', 'min_wal_size=32MB'],
    onStderr: heard,
    ...(empty && template ? { loadDataDir: new Blob([fs.readFileSync(template)], { type: 'application/x-gzip' }) } : {}),
  })
  // PGlite swallows whatever the main loop throws. 100 is an SQL error on its way; all else is a crash, and going on would be a lie.
  const loop = db.Module._PostgresMainLoopOnce
  db.Module._PostgresMainLoopOnce = () => {
    try { return loop() } catch (e) { if (e?.status !== 100) die('the database crashed', e); throw e }
  }
}

// run sends one message to the session; out gets copies of what it answers (the bytes lie in WebAssembly memory and soon change).
const run = (m, out) => db.execProtocolRawStream(m, { syncToFs: false, onRawData: d => out(copy(d)) })

function copy(bytes) {
  const b = Buffer.allocUnsafe(bytes.length)
  b.set(bytes)
  return b
}

// tidy takes away what the last connection left: half a batch, an open transaction, everything that belongs to a session.
async function tidy() {
  await run(SYNC, () => {})
  await db.exec('ROLLBACK')
  await db.exec('DISCARD ALL')
}

// ---- connections

let current = null                     // the connection being served
let waitLimit = 30_000                 // ms that a second connection waits for the first to close
const waiting = []                     // connections that have said hello, oldest first

class Connection {
  reader = new Reader(); batch = []; batches = []; busy = false; closed = false; copies = false; timer = null
  constructor(sock) {
    this.sock = sock
    sock.on('error', () => {})         // a reset is followed by close
    sock.on('close', () => this.gone())
    sock.on('data', chunk => { this.reader.push(chunk); this.read() })
  }

  read() {
    try {
      for (let m; !this.closed && (m = this.reader.next()) !== null;) {
        if (!this.reader.started) { if (!this.hello(m)) return } else if (!this.take(m)) return
      }
    } catch (e) { this.refuse('08P01', e.message) }
  }

  // hello handles a message before the session starts; false: nothing more is to be read now.
  hello(m) {
    const code = m.readInt32BE(4)
    if (code === SSL_REQUEST || code === GSS_REQUEST) { this.sock.write('N'); return true }
    if (code === CANCEL_REQUEST) { this.sock.destroy(); return false }
    if (code >> 16 !== 3) { this.refuse('0A000', `protocol ${code >> 16} is not supported`); return false }
    this.reader.started = true
    this.batches.push([m])
    this.sock.pause()
    waiting.push(this)
    // The second look gives a closing first connection its turn, should the thread have been busy all the while.
    this.timer = setTimeout(() => { this.timer = setTimeout(() => this.refuse('53300', NO_ROOM), 200) }, waitLimit)
    serveNext()
    return false
  }

  // take collects messages into batches, which run as a whole; false: nothing more is to be read now.
  take(m) {
    if (m[0] === T.X) { this.sock.destroy(); return false }
    if (COPY_DATA.has(m[0])) return true // left over from a refused COPY
    this.batch.push(m)
    if (!ENDS_BATCH.has(m[0])) return true
    this.batches.push(this.batch)
    this.batch = []
    this.work()
    return true
  }

  // work runs the batches one after the other, no faster than the client reads the answers.
  async work() {
    if (this.busy || current !== this) return
    this.busy = true
    this.sock.pause()
    while (this.batches.length && !this.closed) {
      const batch = this.batches.shift()
      this.sock.cork()
      try {
        for (const m of batch) await run(this.guarded(m), d => this.closed || this.sock.write(d))
      } catch (e) {                    // a startup packet that Postgres doesn't want; SQL errors are answers, not exceptions
        if (e instanceof WebAssembly.RuntimeError) die('the database crashed', e)
        this.refuse('08P01', e.message)
      }
      this.sock.uncork()
      if (this.sock.writableNeedDrain) await new Promise(r => { this.sock.once('drain', r); this.sock.once('close', r) })
    }
    this.busy = false
    if (this.closed) await free(); else this.sock.resume()
  }

  // guarded adds a CopyFail behind whatever might begin a COPY FROM STDIN: it would wait for bytes that can't come while it runs.
  // Outside of a COPY the server ignores it.
  guarded(m) {
    if (m[0] === T.Q || m[0] === T.P) {
      const copy = /copy/i.test(m.latin1Slice(5, Math.min(m.length, 1 << 20)))
      if (m[0] === T.P) this.copies ||= copy
      return m[0] === T.Q && copy ? Buffer.concat([m, COPY_FAIL]) : m
    }
    return m[0] === T.E && this.copies ? Buffer.concat([m, COPY_FAIL]) : m
  }

  refuse(code, text) {
    clearTimeout(this.timer)
    this.sock.end(refusal(code, text))
    setTimeout(() => this.sock.destroy(), 1000).unref()
    this.gone()
  }

  gone() {
    if (this.closed) return
    this.closed = true
    clearTimeout(this.timer)
    const i = waiting.indexOf(this)
    if (i >= 0) waiting.splice(i, 1)
    if (current === this && !this.busy) free()
  }
}

// free ends the service of the current connection and turns to the next.
async function free() {
  await tidy()
  current = null
  serveNext()
}

function serveNext() {
  if (current || !waiting.length) return
  current = waiting.shift()
  clearTimeout(current.timer)
  current.work()
  current.read()
}

// ---- the process

async function serve(dir, socket, template, wait) {
  process.on('exit', () => {           // also when the parent was killed and can't tidy up
    try { fs.rmSync(socket, { force: true }); fs.rmdirSync(path.dirname(socket)) } catch {}
  })
  waitLimit = Number(wait) || waitLimit
  await open(dir, template)
  const version = (await db.query('SHOW server_version')).rows[0].server_version
  const server = net.createServer(sock => new Connection(sock))
  server.on('error', e => die('listening on ' + socket, e))
  await new Promise(r => server.listen(socket, r))
  fs.chmodSync(socket, 0o600)
  console.log('READY ' + JSON.stringify({ version }))
}

async function writeTemplate(file) {
  await open('memory://')
  await db.exec('CHECKPOINT')
  const dump = await db.dumpDataDir('gzip')
  fs.writeFileSync(file, Buffer.from(await dump.arrayBuffer()))
  process.exit(0)
}

let stopping = false
async function stop() {
  if (stopping) return
  stopping = true
  try { if (db?.ready) await db.close() } catch (e) { die('closing the database', e) }
  process.exit(0)
}

process.umask(0o077)
process.on('uncaughtException', e => die('unexpected', e))
process.on('unhandledRejection', e => die('unexpected', e))
process.on('SIGTERM', stop)
process.on('SIGINT', () => {})         // Ctrl-C is for the parent, which then closes stdin
process.stdin.on('end', stop).on('close', stop).on('error', stop).resume()

const [mode, ...args] = process.argv.slice(2)
if (mode === 'serve') await serve(...args)
else if (mode === 'template') await writeTemplate(...args)
else die('usage', 'server.mjs serve DATA SOCKET TEMPLATE WAIT | template FILE')
