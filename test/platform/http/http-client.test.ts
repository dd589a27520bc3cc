import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { Exchange } from '../../../layers/gateway/platform/http/exchange.ts'
import { type HttpClient, openHttpClient } from '../../../layers/gateway/platform/http/http-client.ts'
import { HttpError } from '../../../layers/gateway/platform/http/http-error.ts'
import { run } from '../../support/processes.ts'
import { until } from '../../support/wait.ts'
import { ask, HI, listen, type Origin, readAll, startOrigin } from './support/origin.ts'

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const MIB = 1024 * 1024

let origin: Origin
let client: HttpClient
beforeEach(async () => {
  origin = await startOrigin()
  client = openHttpClient(origin.url, 2_000)
})
afterEach(async () => {
  jest.restoreAllMocks()
  await origin[Symbol.asyncDispose]()
})

const send = () => client.post('/', [], '{}')
const failureOf = (exchange: Exchange): Promise<unknown> => exchange.head.then(String, (error: unknown) => error)
const answerWith =
  (...texts: string[]) =>
  (socket: Socket, nth: number) =>
    void socket.write(texts[Math.min(nth, texts.length) - 1] as string)

test('a request goes over the wire exactly as RFC 9112 has it, with its length in bytes', async () => {
  await readAll(client.post('/v1/chat?a=%20b', ['Authorization', 'Bearer a b\tc', 'x-empty', ''], '"é👍\ud800"'))
  const body = Buffer.from('"é👍\ufffd"').toString('latin1')
  expect(origin.requests).toEqual([
    [
      'POST /v1/chat?a=%20b HTTP/1.1',
      `Host: 127.0.0.1:${origin.url.port}`,
      'Authorization: Bearer a b\tc',
      'x-empty: ',
      'Content-Length: 11',
      'Connection: keep-alive',
      '',
      body,
    ].join('\r\n'),
  ])
})

test('an IPv6 address is called, and stands in the Host header in its brackets', async () => {
  const here = await startOrigin('::1').catch(() => undefined)
  if (!here) return console.warn('This machine has no IPv6, so that it is not tried.')
  await using _ = here
  expect(await ask(openHttpClient(here.url, 2_000))).toEqual({ status: 200, text: 'hi' })
  expect(here.requests[0]).toContain(`\r\nHost: [::1]:${here.url.port}\r\n`)
})

test.each([
  ['CR', '\r'],
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['NUL', '\0'],
  ['DEL', '\x7f'],
  ['a vertical tab', '\x0b'],
  ['a letter that is not ASCII', 'é'],
  ['letters whose last bytes are CR and LF', '\u010d\u010a'],
])('a header, a name or a path with %s in it is refused, and nothing of its value is told', async (_, sign) => {
  const odd = `s3cret${sign}Evil: 1`
  const attempts = [
    () => client.post('/', ['Authorization', odd], '{}'),
    () => client.post('/', ['Fine', 'a', 'Authorization', `${odd}`], '{}'),
    () => client.post('/', [`A${sign}B`, 's3cret'], '{}'),
    () => client.post(`/${odd}`, ['Authorization', 's3cret'], '{}'),
  ]
  for (const attempt of attempts) {
    expect(attempt).toThrow(HttpError)
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CHAR', message: expect.not.stringContaining('s3cret') }),
    )
  }
  expect(origin.connections).toEqual([])
})

test.each([
  ['an empty name', '/', ['', 'a']],
  ['a space in a name', '/', ['A B', 'a']],
  ['a colon in a name', '/', ['A:', 'a']],
  ['a space in its path', '/a HTTP/1.1', []],
  ['an empty path', '', []],
  ['a path that is an address', 'http://elsewhere/', []],
])('a request with %s is refused', (_, path, headers) => {
  expect(() => client.post(path, headers, '{}')).toThrow(HttpError)
})

test.each<[string, string]>([
  ['an answer with a length', HI],
  ['an answer in chunks', `${CHUNKED}2\r\nhi\r\n0\r\nA: b\r\n\r\n`],
  ['an answer without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['an answer of no bytes', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['an interim answer and its answer', `HTTP/1.1 103 Early Hints\r\n\r\n${HI}`],
  ['an answer of HTTP/1.0 that keeps it', HI.replace('1.1', '1.0').replace('\r\n', '\r\nConnection: Keep-Alive\r\n')],
])('a connection is used again after %s', async (_, answer) => {
  origin.answer = answerWith(answer)
  for (let i = 0; i < 3; i++) await ask(client)
  expect([origin.connections.length, origin.requests.length]).toEqual([1, 3])
})

test.each<[string, string]>([
  ['an answer with Connection: close', HI.replace('\r\n', '\r\nConnection: close\r\n')],
  ['an answer of HTTP/1.0', HI.replace('1.1', '1.0')],
  ['an answer that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\nhi'],
  ['an answer with bytes behind it', `${HI}\r\n`],
  ['an answer with another one behind it', HI + HI],
])('a connection is not used again after %s', async (_, answer) => {
  const endsWithConnection = !/Content-Length/.test(answer)
  origin.answer = (socket) => void (endsWithConnection ? socket.end(answer) : socket.write(answer))
  for (let i = 0; i < 2; i++) expect(await ask(client)).toEqual({ status: 200, text: 'hi' })
  expect(origin.connections).toHaveLength(2)
  await until(() => origin.connections.every(({ destroyed }) => destroyed))
})

test('a connection is not used again after an answer that came before the request was wholly sent', async () => {
  const closed: boolean[] = []
  await using early = await listen((socket) => {
    // It does not read.
    socket
      .pause()
      .on('error', () => {})
      .on('close', () => closed.push(true))
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
  })
  const hasty = openHttpClient(early.url, 2_000)
  const exchange = hasty.post('/', [], 'x'.repeat(32 * MIB))
  expect((await exchange.head).status).toBe(413)
  expect(String(await readAll(exchange))).toBe('no')
  await hasty.post('/', [], '{}').head
  expect(early.connections).toHaveLength(2)
  early.connections[0]?.resume()
  await until(() => closed.length === 1)
})

test.each([
  ['whose server announces its end is not used again in its last second', 'timeout=5, max=9', 3_999, [4_000]],
  ['that was idle for ten seconds is not, as after a freeze', 'for ever', 9_999, [10_000, 3_600_000, -60_000]],
])('a connection %s', async (_, keepAlive, soonMs, tooLateMs) => {
  let nowMs = Date.now()
  jest.spyOn(Date, 'now').mockImplementation(() => nowMs)
  origin.answer = answerWith(HI.replace('\r\n', `\r\nKeep-Alive: ${keepAlive}\r\n`))
  await ask(client)
  nowMs += soonMs
  await ask(client)
  expect(origin.connections).toHaveLength(1)
  for (const ms of tooLateMs) {
    nowMs += ms
    await ask(client)
  }
  expect(origin.connections).toHaveLength(1 + tooLateMs.length)
  // The old one is not only left alone, but ended.
  expect(await until(() => origin.connections[0]?.destroyed)).toBe(true)
})

/** Leaves this many idle connections, of which the last was used last. */
async function keepConnections(count: number): Promise<Socket[]> {
  const before = origin.connections.length
  const waiting: Socket[] = []
  origin.answer = (socket) => void waiting.push(socket)
  const asked = Array.from({ length: count }, () => send())
  await until(() => waiting.length === count)
  const inOrder = origin.connections.slice(before)
  for (const [i, socket] of inOrder.entries()) {
    socket.write(HI)
    await readAll(asked[i] as Exchange)
  }
  origin.answer = (socket) => void socket.write(HI)
  return inOrder
}

test('the connection that was used last is used first', async () => {
  const [, , last] = await keepConnections(3)
  const used: Socket[] = []
  origin.answer = (socket) => {
    used.push(socket)
    socket.write(HI)
  }
  for (let i = 0; i < 3; i++) await ask(client)
  expect(used.map((socket) => socket === last)).toEqual([true, true, true])
})

test('no more than 64 idle connections are kept', async () => {
  const all = await keepConnections(70)
  await until(() => all.filter(({ destroyed }) => destroyed).length === 6)
  await keepConnections(64)
  expect(origin.connections).toHaveLength(70)
})

test.each<[string, (socket: Socket) => void]>([
  ['closed', (socket) => void socket.end()],
  ['reset', (socket) => void socket.resetAndDestroy()],
  ['spoken on out of turn', (socket) => void socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n')],
  ['spoken on with a single byte', (socket) => void socket.write('\n')],
])('an idle connection that is %s by the other side is dropped', async (_, end) => {
  const [, kept] = await keepConnections(2)
  end(kept as Socket)
  await until(() => kept?.destroyed)
  await sleep(20)
  expect(await ask(client)).toEqual({ status: 200, text: 'hi' })
  expect(origin.connections).toHaveLength(2)
})

test('idle connections keep no process alive', async () => {
  const args = [origin.url.href, '1']
  const { code, stdout, stderr } = await run('test/platform/http/fixtures/ask-securely.ts', args, tmpdir()).ended
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '["200 hi"]\n', stderr: '' })
})

test('exchanges that end or fail while nobody listens do not end the process', async () => {
  const gone = await startOrigin()
  await gone[Symbol.asyncDispose]()
  origin.answer = (socket) => void socket.write(HI.slice(0, -1))
  const args = [origin.url.href, gone.url.href]
  const { code, stdout, stderr } = await run('test/platform/http/fixtures/end-unheard.ts', args, tmpdir()).ended
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'still here\n', stderr: '' })
})

const ENDINGS: [string, (socket: Socket) => void][] = [
  ['closes', (socket) => void socket.destroy()],
  ['ends', (socket) => void socket.end()],
  ['resets', (socket) => void socket.resetAndDestroy()],
]

test.each(ENDINGS)(
  'a request on a used connection that the other side %s before a byte came is stale',
  async (_, end) => {
    await ask(client)
    origin.answer = end
    const failure = await failureOf(send())
    expect(failure).toBeInstanceOf(HttpError)
    expect(failure).toMatchObject({
      isStale: true,
      message: expect.stringMatching(/./),
      code: expect.stringMatching(/ECONN|EPIPE/),
    })
    expect(origin.requests).toHaveLength(2)
  },
)

test.each(ENDINGS)('a request on a new connection that the other side %s is not stale', async (_, end) => {
  origin.answer = end
  expect(await failureOf(send())).toMatchObject({ isStale: false, code: 'ECONNRESET' })
  await expect(ask(client)).rejects.toThrow(HttpError)
})

test('a request that asks for a connection of its own is never stale', async () => {
  await keepConnections(2)
  origin.answer = (socket) => void socket.destroy()
  expect(await failureOf(client.post('/', [], '{}', true))).toMatchObject({ isStale: false })
  expect(origin.connections).toHaveLength(3)
})

test.each(['H', 'HTTP/1.1 100 Continue\r\n\r\n', HI.slice(0, -1)])(
  'a request on a used connection that broke after %j is not stale',
  async (text) => {
    await ask(client)
    origin.answer = (socket) => void socket.end(text)
    const exchange = send()
    const failure = await readAll(exchange).catch((error) => error)
    expect(failure).toBeInstanceOf(HttpError)
    expect(failure).toMatchObject({ isStale: false })
  },
)

test('what came before a connection broke can still be read, and then the break', async () => {
  origin.answer = (socket) => void socket.write(`${CHUNKED}2\r\nhi\r\n`, () => socket.resetAndDestroy())
  const exchange = send()
  await exchange.head
  await until(() => origin.connections[0]?.destroyed)
  await sleep(20)
  expect(String(await exchange.read())).toBe('hi')
  await expect(exchange.read()).rejects.toMatchObject({ code: 'ECONNRESET', isStale: false })
  await expect(exchange.read()).rejects.toThrow(HttpError)
})

test('what is not HTTP ends its connection at once, and says so', async () => {
  origin.answer = (socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')
  expect(await failureOf(send())).toMatchObject({ code: 'BAD_RESPONSE', isStale: false })
  await until(() => origin.connections[0]?.destroyed)
})

test('a reader that does not read makes the other side wait, and then gets every byte', async () => {
  const size = 50 * MIB
  const [sent, received] = [createHash('sha1'), createHash('sha1')]
  let sentBytes = 0
  origin.answer = async (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
    for (let i = 0; sentBytes < size; i++) {
      const piece = Buffer.alloc(MIB / 4, `${i},`)
      sent.update(piece)
      sentBytes += piece.length
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
    }
  }
  const exchange = send()
  await exchange.head
  await untilStill(() => sentBytes)
  // The bytes that the two ends of the connection hold, and a little of ours.
  expect(sentBytes).toBeLessThan(20 * MIB)
  let receivedBytes = 0
  for (let piece = await exchange.read(); piece; piece = await exchange.read()) {
    received.update(piece)
    receivedBytes += piece.length
  }
  expect(receivedBytes).toBe(size)
  expect(received.digest('hex')).toBe(sent.digest('hex'))
  origin.answer = answerWith(HI)
  await ask(client)
  expect(origin.connections).toHaveLength(1)
})

/** Waits for a number to stand still. */
async function untilStill(look: () => number): Promise<void> {
  for (let last = -1; last !== look() || last === 0; ) {
    last = look()
    await sleep(150)
  }
}

test('an answer that is left early leaves its connection for the next, if the rest comes soon', async () => {
  origin.answer = answerWith(`${CHUNKED}2\r\nhi\r\n`)
  const exchange = send()
  expect(String(await exchange.read())).toBe('hi')
  exchange.leave()
  exchange.leave()
  const rest = 'x'.repeat(60 * 1024)
  origin.connections[0]?.write(`${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`)
  await expect(exchange.read()).resolves.toBeUndefined()
  origin.answer = answerWith(HI)
  expect(await ask(client)).toEqual({ status: 200, text: 'hi' })
  expect(origin.connections).toHaveLength(1)
})

test('an answer that is left before it begins leaves its connection for the next, if it comes soon', async () => {
  origin.answer = () => {}
  const exchange = send()
  await until(() => origin.requests.length === 1)
  exchange.leave()
  origin.connections[0]?.write(HI)
  expect((await exchange.head).status).toBe(200)
  await expect(exchange.read()).resolves.toBeUndefined()
  origin.answer = answerWith(HI)
  await ask(client)
  expect(origin.connections).toHaveLength(1)
})

test('an answer that is left early ends its connection, if more than 64 KiB are to come', async () => {
  const rest = 'x'.repeat(70 * 1024)
  origin.answer = answerWith(`HTTP/1.1 200 OK\r\nContent-Length: ${rest.length}\r\n\r\n`)
  const exchange = send()
  await exchange.head
  exchange.leave()
  origin.connections[0]?.write(rest)
  await expect(exchange.read()).rejects.toMatchObject({ code: 'ECONNABORTED', isStale: false })
  await until(() => origin.connections[0]?.destroyed)
})

test('an answer that is left early ends its connection, if it does not end in a moment', async () => {
  origin.answer = answerWith(`${CHUNKED}2\r\nhi\r\n`)
  const [begun, silent] = [send(), send()]
  await begun.head
  begun.leave()
  silent.leave()
  await until(() => origin.connections.length === 2 && origin.connections.every(({ destroyed }) => destroyed))
  await expect(begun.read()).rejects.toMatchObject({ code: 'ECONNABORTED' })
})

test('an exchange that is ended before its head has the error that it was ended with, and no connection', async () => {
  origin.answer = () => {}
  const exchange = send()
  const [head, read] = [failureOf(exchange), exchange.read().catch((thrown) => thrown)]
  await until(() => origin.requests.length === 1)
  const error = new Error('enough')
  exchange.end(error)
  exchange.end(new Error('too late'))
  expect(await head).toBe(error)
  expect(await read).toBe(error)
  await expect(exchange.read()).rejects.toBe(error)
  await until(() => origin.connections[0]?.destroyed)
})

test('an exchange that is ended after its head loses what was not read, and has the error that it was ended with', async () => {
  origin.answer = answerWith(`${CHUNKED}2\r\nhi\r\n`)
  const exchange = send()
  expect((await exchange.head).status).toBe(200)
  const error = new Error('enough')
  exchange.end(error)
  await expect(exchange.read()).rejects.toBe(error)
  expect((await exchange.head).status).toBe(200)
  await until(() => origin.connections[0]?.destroyed)
})

test('an exchange that is ended after its last byte is not, and its connection is kept', async () => {
  const exchange = send()
  await exchange.head
  exchange.end(new Error('too late'))
  exchange.leave()
  expect(String(await readAll(exchange))).toBe('hi')
  await ask(client)
  expect(origin.connections).toHaveLength(1)
})

test('an exchange that is ended while it connects has the error that it was ended with', async () => {
  const exchange = send()
  const error = new Error('enough')
  exchange.end(error)
  expect(await failureOf(exchange)).toBe(error)
  expect(await ask(client)).toEqual({ status: 200, text: 'hi' })
})

test('a host that takes no connections is given up with CONNECT_TIMEOUT', async () => {
  const deaf = await startDeaf()
  try {
    const hasty = openHttpClient(new URL(`http://127.0.0.1:${deaf.port}`), 200)
    // A few are held for it by the system.
    const failures = await Promise.all(Array.from({ length: 8 }, () => endAfter(hasty.post('/', [], '{}'), 600)))
    expect(failures).toContainEqual(
      expect.objectContaining({ code: 'CONNECT_TIMEOUT', message: 'No connection within 200 ms.', isStale: false }),
    )
  } finally {
    await deaf.worker.terminate()
  }
})

test('a host that takes a connection and never says a word of TLS is given up with CONNECT_TIMEOUT', async () => {
  await using silent = await listen((socket) => void socket.on('error', () => {}).resume())
  const exchange = openHttpClient(new URL(`https://127.0.0.1:${silent.url.port}`), 100).post('/', [], '{}')
  expect(await failureOf(exchange)).toMatchObject({ code: 'CONNECT_TIMEOUT', isStale: false })
  await until(() => silent.connections[0]?.destroyed)
})

test.each([
  ['is not there', '127.0.0.1'],
  ['is not there, at one or more addresses', 'localhost'],
])('a host that %s is an HttpError that says why', async (_, host) => {
  await origin[Symbol.asyncDispose]()
  const failure = await failureOf(
    openHttpClient(new URL(`http://${host}:${origin.url.port}`), 2_000).post('/', [], '{}'),
  )
  expect(failure).toBeInstanceOf(HttpError)
  expect(failure).toMatchObject({
    code: 'ECONNREFUSED',
    isStale: false,
    message: expect.stringMatching(/connect ECONNREFUSED/),
  })
})

async function endAfter(exchange: Exchange, ms: number): Promise<unknown> {
  const timer = setTimeout(() => exchange.end(new Error('It was connected.')), ms)
  const failure = await failureOf(exchange)
  clearTimeout(timer)
  return failure
}

const DEAF = `
const { parentPort } = require('node:worker_threads')
const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
})`

/** A server that listens, and never takes a connection: what the system holds for it is soon full. */
async function startDeaf(): Promise<{ readonly worker: Worker; readonly port: number }> {
  const worker = new Worker(DEAF, { eval: true })
  const port = await new Promise<number>((resolve, reject) => worker.once('message', resolve).once('error', reject))
  await sleep(50)
  return { worker, port }
}
