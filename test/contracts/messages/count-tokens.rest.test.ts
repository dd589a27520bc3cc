import { afterAll, expect, test } from '@jest/globals'
import { openTokenizerThread } from '../../../local/tokenizer-thread.ts'
import { saying } from '../../providers/anthropic/anthropic-fixtures.ts'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { catalogFor } from '../../support/gateway.ts'
import { openBoth, openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, say, status } from '../../support/upstream.ts'
import { until } from '../../support/wait.ts'
import { ask, HELLO, openClient } from './support/ask.ts'
import { ERROR } from './support/message-schema.ts'

const PATH = { path: '/v1/messages/count_tokens' }
const { max_tokens: _, ...PROMPT } = HELLO

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const upstream = await openUpstream(saying('Hello'))
const anthropic = await openFor(catalogFor(upstream.url, {}, { type: 'anthropic' }))

test('the tokens of a request to Anthropic are those that Anthropic counts, free of charge', async () => {
  upstream.reply = status(200, { input_tokens: 1234 })
  upstream.requests.length = 0
  const { key, secret } = await anthropic.issue({ credits: '0' })
  const tools = [{ name: 'f', input_schema: { type: 'object' as const } }]
  const count = await openClient(anthropic, secret).messages.countTokens({ ...PROMPT, system: 'Be kind.', tools })
  expect(count).toEqual({ input_tokens: 1234 })
  expect(upstream.requests[0]?.body).toEqual({
    model: 'upstream-model',
    messages: PROMPT.messages,
    system: 'Be kind.',
    tools,
  })
  const row = await expectBooksClosed(anthropic, key.id)
  expect(row).toMatchObject({ endpoint: 'messages.count_tokens', contract: 'messages', model: 'test-model' })
  expect(row).toMatchObject({ outcome: 'completed', cost: 0n, hold: 0n, usageSource: 'none', promptTokens: 0 })
})

test.each<[string, Reply]>([
  ['fails', status(500, {})],
  ['does not know how', status(404, {})],
  ['answers with no count', status(200, { input_tokens: 'many' })],
  ['refuses our key', status(401, {})],
  ['breaks off', (response) => void response.destroy()],
])('an upstream that %s is not waited for: our tokenizer counts', async (_, reply) => {
  upstream.reply = reply
  const client = openClient(anthropic, (await anthropic.issue()).secret)
  // Three for the role and the text, four for the message and three for the answer.
  expect(await client.messages.countTokens(PROMPT)).toEqual({ input_tokens: 10 })
})

test('a request that Anthropic refuses to count is refused in its words', async () => {
  upstream.reply = status(400, { type: 'error', error: { type: 'invalid_request_error', message: 'messages: no.' } })
  const response = await ask(anthropic, (await anthropic.issue()).secret, PROMPT, PATH)
  expect([response.status, ERROR.parse(await response.json()).error.message]).toEqual([400, 'messages: no.'])
})

test('the tokens of a request to another provider are counted by our tokenizer: texts, tools and images', async () => {
  const { gateway, upstream: other } = await openBoth()
  const { key, secret } = await gateway.issue()
  const { messages } = openClient(gateway, secret)
  const count = async (fields: object) => (await messages.countTokens({ ...PROMPT, ...fields })).input_tokens
  const plain = await count({})
  expect(plain).toBe(10)
  expect(await count({ system: 'Hello' })).toBeGreaterThan(plain + 5)
  expect(await count({ tools: [{ name: 'f', input_schema: { type: 'object' } }] })).toBeGreaterThan(plain + 10)
  const image = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }
  expect(await count({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, image] }] })).toBe(
    plain + 1600,
  )
  expect(other.requests).toEqual([])
  expect((await gateway.readKey(key.id)).spent).toBe(0n)
})

test('a count passes the same gates as a request: key, scope, limits, body and model', async () => {
  const { secret } = await anthropic.issue({ scopes: ['models.read'] })
  expect((await ask(anthropic, 'svc_live_wrong', PROMPT, PATH)).status).toBe(401)
  expect((await ask(anthropic, secret, PROMPT, PATH)).status).toBe(403)
  upstream.reply = status(200, { input_tokens: 1 })
  const limited = await anthropic.issue({ rpm: 3 })
  expect((await ask(anthropic, limited.secret, { ...PROMPT, messages: [] }, PATH)).status).toBe(400)
  expect((await ask(anthropic, limited.secret, { ...PROMPT, model: 'moon' }, PATH)).status).toBe(404)
  expect((await ask(anthropic, limited.secret, PROMPT, PATH)).status).toBe(200)
  expect((await ask(anthropic, limited.secret, PROMPT, PATH)).status).toBe(429)
})

test('a count that is asked for again with the same Idempotency-Key is the same', async () => {
  const { secret } = await anthropic.issue()
  for (const tokens of [7, 9]) {
    upstream.reply = status(200, { input_tokens: tokens })
    const response = await ask(anthropic, secret, PROMPT, { ...PATH, headers: { 'Idempotency-Key': 'a' } })
    expect(await response.json()).toEqual({ input_tokens: 7 })
  }
})

test('200 counts at once of one key get a few answers and 429s, and bills beside them are counted by the tokenizer', async () => {
  const { countTokens } = opened.use(openTokenizerThread())
  const { gateway, upstream: other } = await openBoth({ countTokens })
  other.reply = say('Hello there', null)
  const [counter, payer] = [await gateway.issue({ rpm: 60_000 }), await gateway.issue({ rpm: 60_000 })]
  const long = { ...PROMPT, messages: [{ role: 'user', content: 'A few words to be counted. '.repeat(2_000) }] }
  const counts = Array.from({ length: 200 }, () => ask(gateway, counter.secret, long, PATH))
  const bills = Array.from({ length: 20 }, () => gateway.post(payer.secret, PROMPT))
  for (const response of await Promise.all(bills)) {
    expect(response.status).toBe(200)
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ usageSource: 'estimate', completionTokens: 2 })
    expect(row.estimatedBy).toBeUndefined()
  }
  const told = await Promise.all(counts)
  const refused = told.filter(({ status: code }) => code === 429)
  expect(told.filter(({ status: code }) => code === 200).length).toBeGreaterThan(0)
  expect(refused.length).toBeGreaterThan(100)
  for (const response of refused) {
    expect(response.headers.get('retry-after')).toBe('1')
    expect(ERROR.parse(await response.json()).error.type).toBe('rate_limit_error')
  }
  expect(await gateway.readKey(counter.key.id)).toMatchObject({ spent: 0n, holds: {} })
})

test('an upstream that counts for free is asked for four counts of a key at once', async () => {
  const held = Promise.withResolvers<void>()
  upstream.reply = async (...reply) => {
    await held.promise
    return status(200, { input_tokens: 5 })(...reply)
  }
  upstream.requests.length = 0
  const { secret } = await anthropic.issue({ rpm: 60_000 })
  const four = Array.from({ length: 4 }, () => ask(anthropic, secret, PROMPT, PATH))
  await until(() => upstream.requests.length === 4)
  expect((await ask(anthropic, secret, PROMPT, PATH)).status).toBe(429)
  const another = ask(anthropic, (await anthropic.issue()).secret, PROMPT, PATH)
  await until(() => upstream.requests.length === 5)
  held.resolve()
  for (const response of await Promise.all([...four, another])) expect(response.status).toBe(200)
  expect((await ask(anthropic, secret, PROMPT, PATH)).status).toBe(200)
})
