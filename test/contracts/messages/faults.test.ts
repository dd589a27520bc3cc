import { beforeAll, describe, expect, test } from '@jest/globals'
import { error, frames, saying, start, stream, textBlock } from '../../providers/anthropic/anthropic-fixtures.ts'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { writeOn } from '../../robust/support/write-apart.ts'
import { catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { chunk, event, type Reply, say, sse, status, type Upstream } from '../../support/upstream.ts'
import { ask, HELLO } from './support/ask.ts'
import { ERROR } from './support/message-schema.ts'
import { readEvents } from './support/read-events.ts'

type Words = {
  readonly fine: Reply
  /** The first words of a stream. */
  readonly begin: readonly string[]
  /** A piece that can be said on and on. */
  readonly more: string
  readonly errorInStream: Reply
  /** An answer that goes on with a tool call after other words. */
  readonly backToCall?: Reply
}

const UPSTREAMS: Readonly<Record<string, Words>> = {
  openai: {
    fine: say('Hello'),
    begin: [chunk({ role: 'assistant', content: 'Hel' })],
    more: chunk({ content: 'lo ' }),
    errorInStream: sse([event({ error: { message: 'overloaded' } })]),
    backToCall: sse([
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a' } }] }),
      chunk({ content: 'Hm.' }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
      chunk({}, 'tool_calls'),
    ]),
  },
  anthropic: {
    fine: saying('Hello'),
    begin: frames(start(), ...textBlock(0, 'Hel').slice(0, 2)),
    more: frames(...textBlock(0, 'lo ').slice(1, 2)).join(''),
    errorInStream: stream(start(), error('overloaded_error', 'Overloaded')),
  },
}

describe.each(Object.entries(UPSTREAMS))('an upstream of the dialect %s', (type, words) => {
  let upstream: Upstream
  let gateway: TestGateway
  let gone: TestGateway

  beforeAll(async () => {
    upstream = await openUpstream(words.fine)
    gateway = await openFor(catalogFor(upstream.url, {}, { type }))
    gone = await openFor(catalogFor('http://127.0.0.1:9/v1', {}, { type }))
  })

  /** An honest status, in Anthropic's shape, and no charge, unless the upstream has accepted the request. */
  async function expectFailed(at: TestGateway, httpStatus: number, errorType: string, isPaid = false): Promise<void> {
    for (const streamed of [true, false]) {
      const { key, secret } = await at.issue()
      const response = await ask(at, secret, { ...HELLO, stream: streamed })
      expect(response.status).toBe(httpStatus)
      expect(ERROR.parse(await response.json()).error.type).toBe(errorType)
      const outcome = httpStatus < 500 ? 'refused' : 'upstream_error'
      const row = await expectBooksClosed(at, key.id)
      expect(row).toMatchObject({ endpoint: 'messages', outcome })
      expect(row.cost > 0n).toBe(isPaid)
    }
  }

  /** The 200 was out: one error event at the end, and a bill for what was delivered. */
  async function expectCut(reply: Reply, delivered: string | RegExp): Promise<void> {
    upstream.reply = reply
    const { key, secret } = await gateway.issue()
    const response = await ask(gateway, secret, { ...HELLO, stream: true })
    expect(response.status).toBe(200)
    const { events } = readEvents(await response.text())
    const said = events.flatMap((one) =>
      one.type === 'content_block_delta' && 'text' in one.delta ? [one.delta.text] : [],
    )
    expect(said.join('')).toMatch(delivered)
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    const row = await expectBooksClosed(gateway, key.id)
    expect(row).toMatchObject({ outcome: 'upstream_error', errorCode: 'upstream_error', usageSource: 'estimate' })
    expect(row.cost).toBeGreaterThan(0n)
  }

  test(`a ${type} upstream that cannot be reached is a 502 api_error and free`, async () => {
    await expectFailed(gone, 502, 'api_error')
  })

  test.each<[string, Reply, number, string]>([
    ['answers 500', status(500, {}), 502, 'api_error'],
    ['answers 429', status(429, {}), 503, 'overloaded_error'],
    ['refuses our key', status(401, {}), 502, 'api_error'],
    ['refuses the request', status(400, { error: { message: 'No.' } }), 400, 'invalid_request_error'],
    ['finds it too large', status(413, { error: { message: 'No.' } }), 413, 'request_too_large'],
    ['reports an error in its stream', words.errorInStream, 502, 'api_error'],
  ])(`a ${type} upstream that %s is told with an honest status, and is free`, async (_, reply, code, errorType) => {
    upstream.reply = reply
    await expectFailed(gateway, code, errorType)
  })

  test.each<[string, Reply]>([
    ['sends garbage', sse(['data: {]\n\n'])],
    ['sends a page', status(200, '<html>', { 'Content-Type': 'text/html' })],
    ['says nothing', sse([])],
  ])(`a ${type} upstream that accepts a request and %s is a 502 api_error, and paid`, async (_, reply) => {
    upstream.reply = reply
    await expectFailed(gateway, 502, 'api_error', true)
  })

  test.each<[string, Reply]>([
    ['ends in the middle', sse(words.begin)],
    [
      'breaks the connection',
      async (response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        await new Promise((resolve) => response.write(words.begin.join(''), resolve))
        setTimeout(() => response.destroy(), 20)
      },
    ],
    ['sends garbage in the middle', sse([...words.begin, 'data: {]\n\n'])],
  ])(`a ${type} upstream that %s is told in an error event, and what it said is billed`, async (_, reply) => {
    await expectCut(reply, 'Hel')
  })

  test(`a ${type} upstream that goes on for ever is cut at its cap, and left`, async () => {
    function* forever() {
      yield* words.begin
      for (;;) yield words.more
    }
    upstream.reply = async (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      await writeOn(response, forever())
      response.end()
    }
    const { key, secret } = await gateway.issue()
    const response = await ask(gateway, secret, { ...HELLO, stream: true })
    const { events } = readEvents(await response.text())
    expect(events.slice(-2)).toMatchObject([
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
      { type: 'message_stop' },
    ])
    const row = await expectBooksClosed(gateway, key.id)
    expect(row).toMatchObject({ outcome: 'completed', completionTokens: HELLO.max_tokens })
  })

  if (words.backToCall) {
    const { backToCall } = words
    test(`a ${type} upstream that goes back to a tool call that has ended is told in an error event`, async () => {
      await expectCut(backToCall, 'Hm.')
    })
  }

  test(`a ${type} upstream that is well again is answered from as if nothing had been`, async () => {
    upstream.reply = words.fine
    const { key, secret } = await gateway.issue()
    const response = await ask(gateway, secret, { ...HELLO, stream: true })
    expect(readEvents(await response.text()).events.at(-1)).toEqual({ type: 'message_stop' })
    expect(await expectBooksClosed(gateway, key.id)).toMatchObject({ outcome: 'completed', usageSource: 'upstream' })
  })
})
