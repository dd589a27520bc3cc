import { beforeAll, describe, expect, test } from '@jest/globals'
import { response } from '../../sdk/support/answers.ts'
import { auditKey } from '../../support/audit-key.ts'
import { HELLO as CHAT_HELLO, catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openBoth, openFor } from '../../support/stack.ts'
import {
  chunk,
  DONE,
  event,
  type Reply,
  say,
  sse,
  status,
  type Upstream,
  USAGE,
  usageChunk,
} from '../../support/upstream.ts'
import { ask, eventsIn, HELLO } from './ask.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

const STREAM = { ...HELLO, stream: true }
const named = (name: string) => ({ 'Idempotency-Key': name })

async function expectCleanBooks(keyId: string, spent: bigint): Promise<void> {
  const key = await gateway.readKey(keyId)
  expect(key).toMatchObject({ spent, holds: {} })
  expect(await auditKey(gateway.tables, key, Date.now() + 120_000)).toMatchObject({ ok: true, findings: [] })
}

test.each([false, true])(
  'a response leaves the row, the headers and the charge of a chat (stream: %s)',
  async (stream) => {
    upstream.reply = say('Hello')
    const { key, secret } = await gateway.issue()
    const answer = await ask(gateway, secret, { ...HELLO, stream })
    const body = await answer.text()
    const requestId = answer.headers.get('x-request-id')
    expect(await gateway.readRow(requestId)).toMatchObject({
      endpoint: 'responses',
      contract: 'responses',
      model: 'test-model',
      provider: 'up',
      stream,
      outcome: 'completed',
      httpStatus: 200,
      promptTokens: 10,
      completionTokens: 5,
      cost: 20_000n,
    })
    expect(answer.headers.get('x-svc-provider')).toBe('up')
    expect(answer.headers.get('x-svc-attempts')).toBe('up=ok')
    expect(stream ? body.match(/: x-svc-cost (\S+)/)?.[1] : answer.headers.get('x-svc-cost')).toBe('0.00002')
    expect(await (await gateway.get(secret, `/v1/usage/${requestId}`)).json()).toMatchObject({
      endpoint: 'responses',
      contract: 'responses',
      cost: '0.00002',
    })
    await expectCleanBooks(key.id, 20_000n)
  },
)

test.each([HELLO, STREAM])(
  'a response repeated with its Idempotency-Key is the same to the byte and free (%j)',
  async (body) => {
    upstream.reply = say('Hello 🌍')
    upstream.requests.length = 0
    const { key, secret } = await gateway.issue()
    const first = await (await ask(gateway, secret, body, named('a'))).text()
    const again = await ask(gateway, secret, body, named('a'))
    const text = await again.text()
    expect(again.headers.get('x-svc-replayed')).toBe('true')
    expect(withoutComments(text)).toBe(withoutComments(first))
    if (body === STREAM) expect(eventsIn(text).at(-1)?.type).toBe('response.completed')
    else response.parse(JSON.parse(text))
    expect(upstream.requests).toHaveLength(1)
    await expectCleanBooks(key.id, 20_000n)
  },
)

test('an Idempotency-Key of a response is not one of a chat with the same body', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  const both = { ...CHAT_HELLO, input: 'Hello' }
  await gateway.post(secret, CHAT_HELLO, named('b'))
  expect((await ask(gateway, secret, both, named('b'))).status).toBe(400)
  expect((await ask(gateway, secret, HELLO, named('b'))).status).toBe(422)
})

test('the limits of a key hold for responses', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue({ dailyLimit: 1 })
  expect((await ask(gateway, secret, HELLO)).status).toBe(200)
  const refused = await ask(gateway, secret, HELLO)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ error: { code: 'daily_limit_exceeded' } })
  const poor = await gateway.issue({ credits: '0' })
  expect((await ask(gateway, poor.secret, HELLO)).status).toBe(402)
  const reader = await gateway.issue({ scopes: ['models.read'] })
  expect((await ask(gateway, reader.secret, HELLO)).status).toBe(403)
})

test('a response is held for its longest bill, with the names that namespaces make longer', async () => {
  upstream.reply = (answer) => void answer.destroy()
  const { secret } = await gateway.issue()
  const tool = { type: 'function', name: 'f' }
  const hold = async (tools: object[]) => {
    const answer = await ask(gateway, secret, { ...HELLO, tools })
    return (await gateway.readRow(answer.headers.get('x-request-id'))).hold
  }
  const plain = { type: 'namespace', name: 'n', tools: [tool] }
  const long = { type: 'namespace', name: 'n'.repeat(50), tools: [tool] }
  // 49 bytes more in the body, and 49 once more in the name that the provider is told.
  expect((await hold([long])) - (await hold([plain]))).toBe(98_000n)
})

describe('upstream faults', () => {
  const said = chunk({ role: 'assistant', content: 'Hel' })
  const silence = Array.from({ length: 5_000 }, () => chunk({ content: '' }))
  type Fault = {
    readonly reply: Reply
    readonly whole: number
    readonly streamed: number | 'failed'
    readonly isPaid?: true
  }
  const FAULTS: Readonly<Record<string, Fault>> = {
    'fails with 500': { reply: status(500, 'broken'), whole: 502, streamed: 502 },
    'asks to be left alone with 429': { reply: status(429, { error: { message: 'slow' } }), whole: 503, streamed: 503 },
    'refuses the operator’s key': { reply: status(401, { error: { message: 'no' } }), whole: 502, streamed: 502 },
    'refuses the request': { reply: status(400, { error: { message: 'Too long.' } }), whole: 400, streamed: 400 },
    'breaks the connection at once': { reply: (answer) => void answer.destroy(), whole: 502, streamed: 502 },
    'sends garbage': { reply: sse(['data: {nonsense\n\n']), whole: 502, streamed: 502, isPaid: true },
    'says nothing': { reply: sse([DONE]), whole: 502, streamed: 502, isPaid: true },
    'is cut in the middle': { reply: sse([said]), whole: 502, streamed: 'failed', isPaid: true },
    'reports an error in the middle': {
      reply: sse([said, event({ error: { message: 'overloaded' } })]),
      whole: 502,
      streamed: 'failed',
      isPaid: true,
    },
    'sends garbage in the middle': { reply: sse([said, 'data: [1\n\n']), whole: 502, streamed: 'failed', isPaid: true },
    'never ends': { reply: sse([said, ...silence, DONE]), whole: 502, streamed: 'failed', isPaid: true },
  }

  test.each(Object.entries(FAULTS))(
    'an upstream that %s is told by the right status or event, and billed by what came once it was accepted',
    async (_, fault) => {
      upstream.reply = fault.reply
      const { key, secret } = await gateway.issue()
      const whole = await ask(gateway, secret, HELLO)
      expect(whole.status).toBe(fault.whole)
      const first = (await gateway.readRow(whole.headers.get('x-request-id'))).cost
      expect(first > 0n).toBe(fault.isPaid === true)
      await expectCleanBooks(key.id, first)

      const streamed = await ask(gateway, secret, STREAM)
      const text = await streamed.text()
      expect(streamed.status).toBe(fault.streamed === 'failed' ? 200 : fault.streamed)
      const { cost, outcome } = await gateway.readRow(streamed.headers.get('x-request-id'))
      if (fault.streamed === 'failed') {
        const [error, failed] = eventsIn(text).slice(-2)
        expect(error).toMatchObject({
          type: 'error',
          code: 'upstream_error',
          message: expect.stringContaining('could not'),
        })
        expect(failed).toMatchObject({ type: 'response.failed', response: { error: { code: 'server_error' } } })
        expect(outcome).toBe('upstream_error')
      }
      expect(cost > 0n).toBe(fault.isPaid === true)
      await expectCleanBooks(key.id, first + cost)
    },
  )

  test('an upstream that cannot be reached is a 502', async () => {
    const nobody = await openFor(catalogFor('http://127.0.0.1:9/v1'))
    const { secret } = await nobody.issue()
    const answer = await ask(nobody, secret, HELLO)
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ error: { code: 'upstream_error', param: null } })
  })

  test('a complaint of an upstream that began its answer tells clients not to try again', async () => {
    upstream.reply = sse([said, event({ error: { message: 'flagged', code: 'content_policy_violation' } })])
    const { secret } = await gateway.issue()
    const events = eventsIn(await (await ask(gateway, secret, STREAM)).text())
    expect(events.at(-1)).toMatchObject({ response: { status: 'failed', error: { code: 'invalid_prompt' } } })
  })

  test('an answer of more characters than are kept is cut off and billed', async () => {
    const { gateway: large, upstream: chatty } = await openBoth({ model: { maxOutputTokens: 1_000_000 } })
    const words = chunk({ content: 'x'.repeat(64 * 1024) })
    chatty.reply = sse([...Array(140).fill(words), chunk({}, 'stop'), usageChunk(USAGE), DONE])
    const { secret } = await large.issue()
    const streamed = await ask(large, secret, STREAM)
    const text = await streamed.text()
    expect(text.slice(text.indexOf('event: error'))).toContain('more than 8388608 characters')
    expect(await large.readRow(streamed.headers.get('x-request-id'))).toMatchObject({ outcome: 'upstream_error' })
    const whole = response.parse(await (await ask(large, secret, HELLO)).json())
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  })
})

function withoutComments(stream: string): string {
  return stream.replaceAll(/^:.*\n\n/gm, '')
}
