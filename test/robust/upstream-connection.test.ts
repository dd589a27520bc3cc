import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import { post, targetOf } from '../../layers/gateway/providers/http/post.ts'
import { catalogFor, openGateway, type TestGateway } from '../support/gateway.ts'
import {
  chunk,
  DONE,
  type Reply,
  say,
  sse,
  startUpstream,
  status,
  type Upstream,
  USAGE,
  usageChunk,
} from '../support/upstream.ts'
import { type Exchange, exchange, expectBooksClosed, expectError } from './support/exchange.ts'
import { type RawUpstream, startRawUpstream, whole } from './support/raw-upstream.ts'
import { type Way, waysInTurn } from './support/ways.ts'

const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
}

/** A 502 that costs nothing, unless an upstream has accepted the request. */
async function expectFree(gateway: TestGateway, asked: Exchange, isPaid = false): Promise<void> {
  expect(asked.status).toBe(502)
  expectError(asked, 502, 'upstream_error')
  const { contract } = asked
  const row = await expectBooksClosed(gateway, asked.key.id)
  expect(row).toMatchObject({ contract, outcome: 'upstream_error' })
  expect(row.cost > 0n).toBe(isPaid)
}

describe('kept connections', () => {
  let upstream: Upstream
  let gateway: TestGateway

  beforeAll(async () => {
    upstream = await startUpstream()
    gateway = await openGateway(catalogFor(upstream.url))
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  test.each<[string, Reply, boolean]>([
    ['an answer that is not streamed', say('Hello'), false],
    ['a streamed answer', say('Hello'), true],
    [
      'an answer with bytes after [DONE]',
      sse([chunk({ content: 'Hello' }, 'stop'), usageChunk(USAGE), DONE, ': bye\n\n'.repeat(500)]),
      true,
    ],
    ['an upstream’s answer in JSON', status(200, ANSWER), false],
    ['a refusal', status(400, { error: { message: 'no' } }), false],
    ['a failure', status(500, { error: { message: 'no' } }), true],
    ['a failure in HTML', status(503, '<html>'.repeat(5_000), { 'Content-Type': 'text/html' }), false],
  ])('a connection to an upstream is used again after %s', async (_, reply, stream) => {
    upstream.reply = reply
    await exchange(gateway, { stream })
    upstream.reply = say('Hello')
    for (const streamed of [true, false, true])
      expect((await exchange(gateway, { stream: streamed })).text).toBe('Hello')
    const connections = upstream.requests.slice(-4).map(({ connection }) => connection)
    expect(new Set(connections).size).toBe(1)
  })

  test('a connection to an upstream is used again after an answer whose end comes a while after [DONE]', async () => {
    await using slow = await startUpstream()
    await using patient = await openGateway(catalogFor(slow.url))
    let end = async () => {}
    slow.reply = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(chunk({ content: 'Hello' }, 'stop') + usageChunk(USAGE) + DONE)
      end = () => new Promise((resolve) => response.end(resolve))
    }
    const asked = await exchange(patient, { stream: true })
    expect([asked.text, asked.done]).toEqual(['Hello', true])
    await expectBooksClosed(patient, asked.key.id)
    await end()
    slow.reply = say('Hello')
    await exchange(patient)
    expect(slow.requests[1]?.connection).toBe(slow.requests[0]?.connection)
  })
})

describe('broken connections', () => {
  let upstream: RawUpstream
  let gateway: TestGateway

  beforeAll(async () => {
    upstream = await startRawUpstream()
    gateway = await openGateway(catalogFor(upstream.url))
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    upstream.answer = (socket) => socket.write(whole(200, ANSWER))
  })

  async function expectAnswered({ contract, stream }: Way): Promise<void> {
    const asked = await exchange(gateway, { stream }, contract)
    expect([asked.status, asked.text, asked.done]).toEqual([200, 'Hello', true])
    await expectBooksClosed(gateway, asked.key.id)
  }

  /** Leaves this many idle connections in the gateway's hands. */
  async function keepConnections(count: number): Promise<void> {
    const waiting: Socket[] = []
    upstream.answer = (socket) => {
      waiting.push(socket)
      if (waiting.length === count) for (const each of waiting) each.write(whole(200, ANSWER))
    }
    await Promise.all(Array.from({ length: count }, () => exchange(gateway)))
    expect(new Set(upstream.requests.slice(-count)).size).toBe(count)
  }

  const ENDS: [string, (socket: Socket) => void][] = [
    ['closed', (socket) => void socket.destroy()],
    ['reset', (socket) => void socket.resetAndDestroy()],
  ]

  describe.each(ENDS)('%s connections', (how, end) => {
    test.each([1, 3])(
      `a kept connection that the upstream has ${how} does not fail the next request (%i kept)`,
      async (count) => {
        for (const way of waysInTurn()) {
          await keepConnections(count)
          const kept = new Set(upstream.requests.slice(-count))
          // The upstream gave them up just before this request reached it.
          upstream.answer = (socket) => (kept.has(socket) ? end(socket) : void socket.write(whole(200, ANSWER)))
          await expectAnswered(way)
          await expectAnswered(way)
        }
      },
    )

    test(`an idle connection that the upstream has ${how} is noticed before it is used`, async () => {
      await keepConnections(2)
      const before = upstream.requests.length
      for (const socket of upstream.requests.slice(-2)) end(socket)
      upstream.answer = (socket) => void socket.write(whole(200, ANSWER))
      await expectAnswered({ contract: 'chat', stream: false })
      expect(upstream.requests.length).toBe(before + 1)
    })
  })

  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const inChunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

  test.each<[string, (socket: Socket) => void]>([
    ['closes without a word', (socket) => void socket.destroy()],
    ['resets without a word', (socket) => void socket.resetAndDestroy()],
    ['speaks another protocol', (socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
    ['sends headers of 1 MB', (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`)],
    ['breaks off in its headers', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Ty')],
    ['breaks off after its headers', (socket) => void socket.end(head)],
    ['sends a chunk without a length', (socket) => void socket.write(`${head}zz\r\n`)],
    [
      'sends two Content-Length headers',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'),
    ],
  ])('an upstream that %s is asked only once, and the request is a 502', async (what, answer) => {
    for (const { contract, stream } of waysInTurn()) {
      // On connections of their own: a first request is never sent twice.
      for (const socket of upstream.requests) socket.destroy()
      const before = upstream.requests.length
      upstream.answer = answer
      const asked = await exchange(gateway, { stream }, contract)
      await expectFree(gateway, asked, what === 'breaks off after its headers' || what.includes('chunk'))
      expect(upstream.requests.length).toBe(before + 1)
      upstream.answer = (socket) => void socket.write(whole(200, ANSWER))
      await expectAnswered({ contract, stream })
    }
  })

  test('a request on a kept connection that breaks after the answer began is not sent again', async () => {
    await keepConnections(1)
    const before = upstream.requests.length
    upstream.answer = (socket) => void socket.write(head + inChunk(': thinking\n\n'), () => socket.destroy())
    const asked = await exchange(gateway)
    expect([asked.status, upstream.requests.length]).toEqual([502, before + 1])
    await expectBooksClosed(gateway, asked.key.id)
  })

  // Without a gateway, in which a hang would last as long as a function may.
  test('an upstream that switches protocols fails at once and does not hang', async () => {
    upstream.answer = (socket) =>
      void socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')
    const call = post({
      target: targetOf(upstream.url),
      headers: [],
      body: '{}',
      idleTimeoutMs: 1_000,
      signal: new AbortController().signal,
    })
    const ending = call.then(
      () => 'an answer',
      (error) => error,
    )
    expect(await Promise.race([ending, sleep(2_000, 'nothing', { ref: false })])).toBeInstanceOf(UpstreamFailure)
  })

  test('an early hint (103) from an upstream is not taken for its answer', async () => {
    upstream.answer = (socket) =>
      void socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${whole(200, ANSWER)}`)
    await expectAnswered({ contract: 'chat', stream: false })
  })
})

test('a request to an upstream that is not there is a 502 and free', async () => {
  const gone = await startRawUpstream()
  await gone[Symbol.asyncDispose]()
  await using gateway = await openGateway(catalogFor(gone.url))
  for (const { contract, stream } of waysInTurn()) {
    const asked = await exchange(gateway, { stream }, contract)
    await expectFree(gateway, asked)
    expect(asked.error?.message).toContain('ECONNREFUSED')
  }
})

test.each(['line\nbreak', 'cédille—dash'])(
  'a request with a provider’s key that no header can carry is a 502 that never reveals the key: %j',
  async (key) => {
    await using upstream = await startUpstream()
    process.env.ROBUST_ODD_KEY = `marker-of-the-key-${key}`
    await using gateway = await openGateway(catalogFor(upstream.url, {}, { apiKey: 'env:ROBUST_ODD_KEY' }))
    const asked = await exchange(gateway)
    expect([asked.status, asked.error?.code]).toEqual([502, 'upstream_error'])
    expect(await expectBooksClosed(gateway, asked.key.id)).toMatchObject({ cost: 0n, outcome: 'upstream_error' })
    expect(asked.body + gateway.logLines.join()).not.toContain('marker-of-the-key')
  },
)

test('a request whose provider’s key is missing is a 502 that names the variable to the operator only', async () => {
  await using upstream = await startUpstream()
  await using gateway = await openGateway(catalogFor(upstream.url, {}, { apiKey: 'env:ROBUST_NO_SUCH_KEY' }))
  const asked = await exchange(gateway)
  expect([asked.status, asked.error?.code]).toEqual([502, 'upstream_error'])
  expect(gateway.logLines.join()).toContain('ROBUST_NO_SUCH_KEY')
  expect(asked.body).not.toContain('ROBUST_NO_SUCH_KEY')
  expect(upstream.requests).toEqual([])
})
