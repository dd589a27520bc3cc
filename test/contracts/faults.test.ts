import { beforeAll, describe, expect, test } from '@jest/globals'
import { expectBooksClosed } from '../robust/support/exchange.ts'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, DONE, event, type Reply, say, sse, status, type Upstream } from '../support/upstream.ts'
import { ask as askMessages, HELLO as MESSAGES_HELLO } from './messages/support/ask.ts'
import { ERROR } from './messages/support/message-schema.ts'
import { readEvents } from './messages/support/read-events.ts'
import { ask as askResponses, eventsIn, HELLO as RESPONSES_HELLO } from './responses/ask.ts'

type Contract = {
  ask(gateway: TestGateway, secret: string, stream: boolean): Promise<Response>
  /** The type or the code of an error in place of an answer. */
  errorIn(body: unknown): string
  readonly types: Readonly<Record<number, string>>
  /** Checks the events with which a broken stream ends, and returns what was said before. */
  broken(text: string): string
}

const CONTRACTS: Readonly<Record<string, Contract>> = {
  messages: {
    ask: (gateway, secret, stream) => askMessages(gateway, secret, { ...MESSAGES_HELLO, stream }),
    errorIn: (body) => ERROR.parse(body).error.type,
    types: { 400: 'invalid_request_error', 413: 'request_too_large', 502: 'api_error', 503: 'overloaded_error' },
    broken(text) {
      const { events } = readEvents(text)
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
      const said = events.map((one) =>
        one.type === 'content_block_delta' && 'text' in one.delta ? one.delta.text : '',
      )
      return said.join('')
    },
  },
  responses: {
    ask: (gateway, secret, stream) => askResponses(gateway, secret, { ...RESPONSES_HELLO, stream }),
    errorIn: (body) => (body as { error: { code: string } }).error.code,
    types: { 400: 'upstream_rejected', 413: 'request_too_large', 502: 'upstream_error', 503: 'upstream_rate_limited' },
    broken(text) {
      const events = eventsIn(text)
      const message = expect.stringContaining('could not')
      expect(events.slice(-2)).toMatchObject([
        { type: 'error', code: 'upstream_error', message },
        { type: 'response.failed', response: { error: { code: 'server_error' } } },
      ])
      return events.map((one) => (one.type === 'response.output_text.delta' ? one.delta : '')).join('')
    },
  },
}

const SAID = chunk({ role: 'assistant', content: 'Hel' })
const breakOff: Reply = async (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  await new Promise((resolve) => response.write(SAID, resolve))
  setTimeout(() => response.destroy(), 20)
}

/** The status, and the words that come before a stream breaks; an upstream that has accepted a request is paid. */
const FAULTS: readonly [name: string, reply: Reply, code: number, isPaid?: boolean, said?: string][] = [
  ['answers 500', status(500, {}), 502],
  ['answers 429', status(429, { error: { message: 'slow' } }), 503],
  ['refuses our key', status(401, {}), 502],
  ['refuses the request', status(400, { error: { message: 'No.' } }), 400],
  ['finds it too large', status(413, { error: { message: 'No.' } }), 413],
  ['reports an error in its stream', sse([event({ error: { message: 'overloaded' } })]), 502],
  ['breaks the connection at once', (answer) => void answer.destroy(), 502],
  ['sends garbage', sse(['data: {]\n\n']), 502, true],
  ['sends a page', status(200, '<html>', { 'Content-Type': 'text/html' }), 502, true],
  ['says nothing', sse([DONE]), 502, true],
  ['ends in the middle', sse([SAID]), 502, true, 'Hel'],
  ['breaks the connection in the middle', breakOff, 502, true, 'Hel'],
  ['reports an error in the middle', sse([SAID, event({ error: { message: 'x' } })]), 502, true, 'Hel'],
  ['sends garbage in the middle', sse([SAID, 'data: {]\n\n']), 502, true, 'Hel'],
  ['never ends', sse([SAID, ...Array(5_000).fill(chunk({ content: '' })), DONE]), 502, true, 'Hel'],
]

let upstream: Upstream
let gateway: TestGateway
let gone: TestGateway
beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
  gone = await openFor(catalogFor('http://127.0.0.1:9/v1'))
})

describe.each(Object.entries(CONTRACTS))('%s', (contract, { ask, errorIn, types, broken }) => {
  test.each(FAULTS)(
    `through ${contract} an upstream that %s is told honestly, and paid if it had accepted`,
    async (...fault) => {
      const [, reply, code, isPaid = false, said] = fault
      upstream.reply = reply
      for (const stream of [false, true]) {
        const { key, secret } = await gateway.issue()
        const response = await ask(gateway, secret, stream)
        const isBroken = stream && said !== undefined
        expect(response.status).toBe(isBroken ? 200 : code)
        if (isBroken) expect(broken(await response.text())).toBe(said)
        else expect(errorIn(await response.json())).toBe(types[code])
        const row = await expectBooksClosed(gateway, key.id)
        expect(row).toMatchObject({ contract, outcome: code < 500 ? 'refused' : 'upstream_error' })
        expect(row.cost > 0n).toBe(isPaid)
      }
    },
  )

  test(`through ${contract} an upstream that cannot be reached is a 502, and one that is well again answers`, async () => {
    const response = await ask(gone, (await gone.issue()).secret, true)
    expect([response.status, errorIn(await response.json())]).toEqual([502, types[502]])
    upstream.reply = say('Hello')
    const { key, secret } = await gateway.issue()
    await (await ask(gateway, secret, true)).text()
    expect(await expectBooksClosed(gateway, key.id)).toMatchObject({ outcome: 'completed', usageSource: 'upstream' })
  })
})
