import type { Socket } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { startOrigin } from '../platform/http/support/origin.ts'
import { catalogFor } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, sse, status, USAGE, usageChunk } from '../support/upstream.ts'
import { exchange, expectBooksClosed, expectFailed } from './support/exchange.ts'
import { type Way, waysInTurn } from './support/ways.ts'

const ANSWER = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
}

const { upstream, gateway } = await openBoth()
const origin = await startOrigin()
afterAll(async () => void (await origin[Symbol.asyncDispose]()))
const raw = await openFor(catalogFor(`${origin.url.href}v1`))
/** A complete answer that leaves the connection open. */
const HELLO_ANSWER = `HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: ${JSON.stringify(ANSWER).length}\r\n\r\n${JSON.stringify(ANSWER)}`

describe('kept connections', () => {
  test.each<[string, Reply, boolean]>([
    [
      'an answer with bytes after [DONE]',
      sse([chunk({ content: 'Hello' }, 'stop'), usageChunk(USAGE), DONE, ': bye\n\n'.repeat(500)]),
      true,
    ],
    ['an answer in JSON', status(200, ANSWER), false],
    ['a refusal', status(400, { error: { message: 'no' } }), false],
    ['a failure in HTML', status(503, '<html>'.repeat(5_000), { 'Content-Type': 'text/html' }), true],
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
    const { upstream: slow, gateway: patient } = await openBoth()
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
  beforeEach(() => {
    origin.answer = (socket) => socket.write(HELLO_ANSWER)
  })

  async function expectAnswered({ contract, stream }: Way): Promise<void> {
    const asked = await exchange(raw, { stream }, contract)
    expect([asked.status, asked.text, asked.done]).toEqual([200, 'Hello', true])
    await expectBooksClosed(raw, asked.key.id)
  }

  /** Leaves this many idle connections in the gateway's hands. */
  async function keepConnections(count: number): Promise<void> {
    const waiting: Socket[] = []
    origin.answer = (socket) => {
      waiting.push(socket)
      if (waiting.length === count) for (const each of waiting) each.write(HELLO_ANSWER)
    }
    await Promise.all(Array.from({ length: count }, () => exchange(raw)))
    expect(new Set(origin.asked.slice(-count)).size).toBe(count)
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
          const kept = new Set(origin.asked.slice(-count))
          // The upstream gave them up just before this request reached it.
          origin.answer = (socket) => (kept.has(socket) ? end(socket) : void socket.write(HELLO_ANSWER))
          await expectAnswered(way)
          await expectAnswered(way)
        }
      },
    )
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
      for (const socket of origin.asked) socket.destroy()
      const before = origin.asked.length
      origin.answer = answer
      const asked = await exchange(raw, { stream }, contract)
      const isPaid = what === 'breaks off after its headers' || what.includes('chunk')
      await expectFailed(raw, asked, 502, 'upstream_error', isPaid)
      expect(origin.asked.length).toBe(before + 1)
      origin.answer = (socket) => void socket.write(HELLO_ANSWER)
      await expectAnswered({ contract, stream })
    }
  })

  test('a request on a kept connection that breaks after the answer began is not sent again', async () => {
    await keepConnections(1)
    const before = origin.asked.length
    origin.answer = (socket) => void socket.write(head + inChunk(': thinking\n\n'), () => socket.destroy())
    const asked = await exchange(raw)
    expect([asked.status, origin.asked.length]).toEqual([502, before + 1])
    await expectBooksClosed(raw, asked.key.id)
  })
})

test('a request to an upstream that is not there is a 502 and free', async () => {
  const nowhere = await openFor(catalogFor('http://127.0.0.1:1/v1'))
  for (const { contract, stream } of waysInTurn()) {
    const asked = await exchange(nowhere, { stream }, contract)
    await expectFailed(nowhere, asked, 502, 'upstream_error')
    expect(asked.error?.message).toContain('ECONNREFUSED')
  }
})

test.each(['line\nbreak', 'cédille—dash'])(
  'a request with a provider’s key that no header can carry is a 502 that never reveals the key: %j',
  async (key) => {
    process.env.ROBUST_ODD_KEY = `marker-of-the-key-${key}`
    const odd = await openFor(catalogFor(upstream.url, {}, { apiKey: 'env:ROBUST_ODD_KEY' }))
    const { status: code, text, row } = await odd.ask()
    expect([code, row]).toMatchObject([502, { cost: 0n, outcome: 'upstream_error', errorCode: 'upstream_error' }])
    expect(text + odd.logLines.join()).not.toContain('marker-of-the-key')
  },
)

test('a request whose provider’s key is missing is a 502 that names the variable to the operator only', async () => {
  const { upstream: unasked, gateway: keyless } = await openBoth({ provider: { apiKey: 'env:ROBUST_NO_SUCH_KEY' } })
  const { status: code, text, row } = await keyless.ask()
  expect([code, row.errorCode]).toEqual([502, 'upstream_error'])
  expect(keyless.logLines.join()).toContain('ROBUST_NO_SUCH_KEY')
  expect(text).not.toContain('ROBUST_NO_SUCH_KEY')
  expect(unasked.requests).toEqual([])
})
