import { describe, expect, test } from '@jest/globals'
import { response } from '../../sdk/support/answers.ts'
import { auditKey } from '../../support/audit-key.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, event, say, sse, USAGE, usageChunk } from '../../support/upstream.ts'
import { ask, eventsIn, HELLO } from './ask.ts'

const { upstream, gateway } = await openBoth()

const STREAM = { ...HELLO, stream: true }
const AT = { path: '/v1/responses' }
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
    const { response: answer, text, row, key, secret } = await gateway.ask({ ...HELLO, stream }, AT)
    const spoken = { endpoint: 'responses', contract: 'responses' }
    const charged = { promptTokens: 10, completionTokens: 5, cost: 20_000n }
    const completed = { model: 'test-model', provider: 'up', stream, outcome: 'completed', httpStatus: 200 }
    expect(row).toMatchObject({ ...spoken, ...completed, ...charged })
    expect(answer.headers.get('x-svc-provider')).toBe('up')
    expect(answer.headers.get('x-svc-attempts')).toBe('up=ok')
    expect(stream ? text.match(/: x-svc-cost (\S+)/)?.[1] : answer.headers.get('x-svc-cost')).toBe('0.00002')
    const told = await (await gateway.get(secret, `/v1/usage/${row.requestId}`)).json()
    expect(told).toMatchObject({ ...spoken, cost: '0.00002' })
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

test('the limits of a key hold for responses', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue({ dailyLimit: 1 })
  expect((await ask(gateway, secret, HELLO)).status).toBe(200)
  const refused = await ask(gateway, secret, HELLO)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ error: { code: 'daily_limit_exceeded' } })
  expect((await gateway.ask(HELLO, { ...AT, credits: '0' })).status).toBe(402)
  expect((await gateway.ask(HELLO, { ...AT, scopes: ['models.read'] })).status).toBe(403)
})

test('a response is held for its longest bill, with the names that namespaces make longer', async () => {
  upstream.reply = (answer) => void answer.destroy()
  const tool = { type: 'function', name: 'f' }
  const hold = async (tools: object[]) => (await gateway.ask({ ...HELLO, tools }, AT)).row.hold
  const plain = { type: 'namespace', name: 'n', tools: [tool] }
  const long = { type: 'namespace', name: 'n'.repeat(50), tools: [tool] }
  // 49 bytes more in the body, and 49 once more in the name that the provider is told.
  expect((await hold([long])) - (await hold([plain]))).toBe(98_000n)
})

describe('upstream faults', () => {
  const said = chunk({ role: 'assistant', content: 'Hel' })

  test('a complaint of an upstream that began its answer tells clients not to try again', async () => {
    upstream.reply = sse([said, event({ error: { message: 'flagged', code: 'content_policy_violation' } })])
    const { text } = await gateway.ask(STREAM, AT)
    expect(eventsIn(text).at(-1)).toMatchObject({ response: { status: 'failed', error: { code: 'invalid_prompt' } } })
  })

  test('an answer of more characters than are kept is cut off and billed', async () => {
    const { gateway: large, upstream: chatty } = await openBoth({ model: { maxOutputTokens: 1_000_000 } })
    const words = chunk({ content: 'x'.repeat(64 * 1024) })
    chatty.reply = sse([...Array(140).fill(words), chunk({}, 'stop'), usageChunk(USAGE), DONE])
    const { text, row } = await large.ask(STREAM, AT)
    expect(text.slice(text.indexOf('event: error'))).toContain('more than 8388608 characters')
    expect(row).toMatchObject({ outcome: 'upstream_error' })
    const whole = response.parse(JSON.parse((await large.ask(HELLO, AT)).text))
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  })
})

function withoutComments(stream: string): string {
  return stream.replaceAll(/^:.*\n\n/gm, '')
}
