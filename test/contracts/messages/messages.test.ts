import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from '@jest/globals'
import { messageError } from '../../../layers/gateway/contracts/messages/message-head.ts'
import { ERROR_KINDS, type ErrorKind, GatewayError } from '../../../layers/gateway/domain/basics/gateway-error.ts'
import { ending, message, saying, start, stream, textBlock } from '../../providers/anthropic/anthropic-fixtures.ts'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { auditKey } from '../../support/audit-key.ts'
import { catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { ask, HELLO, openClient } from './support/ask.ts'
import { ERROR } from './support/message-schema.ts'
import { readEvents } from './support/read-events.ts'

const PRICE = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25' }

const upstream = await openUpstream(saying('Hello'))
const gateway = await openFor(catalogFor(upstream.url, { price: PRICE }, { type: 'anthropic' }))

describe('who calls', () => {
  test.each(['x-api-key', 'authorization'])(
    'the Anthropic SDK is let in by its key in the header %s',
    async (header) => {
      const { secret } = await gateway.issue()
      const auth = header === 'x-api-key' ? { apiKey: secret } : { apiKey: null, authToken: secret }
      const { data, response, request_id } = await openClient(gateway, secret, auth)
        .messages.create(HELLO)
        .withResponse()
      expect(data.content).toEqual([{ type: 'text', text: 'Hello', citations: null }])
      expect(request_id).toBe(response.headers.get('x-request-id'))
      expect(request_id?.slice(4)).toBe(data.id.slice(4))
      expect(response.headers.get('x-svc-provider')).toBe('up')
      expect(response.headers.get('x-svc-cost')).toBe('0.000022')
      expect(response.headers.get('ratelimit-limit')).not.toBeNull()
    },
  )

  test.each<[string, Record<string, string>]>([
    ['no anthropic-version', {}],
    ['an old anthropic-version', { 'Anthropic-Version': '2023-01-01' }],
    ['an unknown anthropic-beta', { 'Anthropic-Version': '2023-06-01', 'Anthropic-Beta': 'moon-2031-01-01,sun' }],
  ])('a request with %s is answered, and the upstream gets our own version and no beta', async (_, headers) => {
    upstream.requests.length = 0
    const { secret } = await gateway.issue()
    expect((await ask(gateway, secret, HELLO, { headers })).status).toBe(200)
    expect(upstream.requests[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01' })
    expect(upstream.requests[0]?.headers).not.toHaveProperty('anthropic-beta')
  })
})

describe('errors', () => {
  test('every error of the gateway has a type of Anthropic’s', () => {
    for (const kind of ERROR_KINDS) {
      ERROR.parse(messageError(new GatewayError(kind, 'why'), 'req_01M7FFKA7ZRP1TJ07DM2Z1DT3Z'))
    }
  })

  test.each<[ErrorKind, string]>([
    ['upstream_rejected', 'invalid_request_error'],
    ['request_too_large', 'request_too_large'],
    ['upstream_error', 'api_error'],
    ['upstream_rate_limited', 'overloaded_error'],
    ['upstream_timeout', 'timeout_error'],
  ])('the failure %s of an upstream is of Anthropic’s type %s', (kind, type) => {
    expect(messageError(new GatewayError(kind, 'why'), 'req_1')).toMatchObject({ error: { type } })
  })

  test('a request without a valid key is the SDK’s AuthenticationError', async () => {
    await expect(openClient(gateway, 'svc_live_wrong').messages.create(HELLO)).rejects.toMatchObject({
      constructor: Anthropic.AuthenticationError,
      type: 'authentication_error',
    })
  })

  test.each<[string, () => Promise<string>, object, { new (...a: never[]): Error }, string]>([
    ['a bad request', issued({}), { max_tokens: 0 }, Anthropic.BadRequestError, 'invalid_request_error'],
    ['an unknown model', issued({}), { model: 'moon' }, Anthropic.NotFoundError, 'not_found_error'],
    ['an empty balance', issued({ credits: '0' }), {}, Anthropic.APIError, 'billing_error'],
    ['a lacking scope', issued({ scopes: ['models.read'] }), {}, Anthropic.PermissionDeniedError, 'permission_error'],
  ])('%s is told in the SDK’s own class', async (_, issue, fields, errorClass, type) => {
    const client = openClient(gateway, await issue())
    const error = await client.messages.create({ ...HELLO, ...fields }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(errorClass)
    expect(error).toMatchObject({ type, requestID: expect.stringMatching(/^req_/) })
    ERROR.parse(error.error)
  })

  function issued(settings: Parameters<TestGateway['issue']>[0]) {
    return async () => (await gateway.issue(settings)).secret
  }

  test('a key over its limit gets the SDK’s RateLimitError with Retry-After', async () => {
    const client = openClient(gateway, (await gateway.issue({ rpm: 1 })).secret)
    await client.messages.create(HELLO)
    const error = await client.messages.create(HELLO).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect([error.type, error.headers.get('retry-after')]).toEqual(['rate_limit_error', expect.stringMatching(/^\d+$/)])
  })

  test.each([
    ['POST', '/v1/messages/batches', 404, 'not_found_error'],
    ['POST', '/v1/messages/x', 404, 'not_found_error'],
    ['GET', '/v1/messages', 405, 'invalid_request_error'],
    ['GET', '/v1/messages/count_tokens', 405, 'invalid_request_error'],
  ])('%s %s is refused in Anthropic’s shape, and its row is one of Messages', async (method, path, status, type) => {
    const { key, secret } = await gateway.issue()
    const response = await fetch(`${gateway.baseUrl}${path}`, { method, headers: { 'x-api-key': secret } })
    expect(response.status).toBe(status)
    expect(ERROR.parse(await response.json()).error.type).toBe(type)
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    expect(await expectBooksClosed(gateway, key.id)).toMatchObject({ endpoint: 'messages', outcome: 'refused' })
  })
})

describe('the books', () => {
  const CACHED = { input_tokens: 5, cache_creation_input_tokens: 20, cache_read_input_tokens: 40 }
  const MARKED = {
    ...HELLO,
    system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  }

  test.each([true, false])(
    'tokens through a cache are told beside the input, as Anthropic does, and billed at their own prices (stream: %s)',
    async (streamed) => {
      upstream.requests.length = 0
      upstream.reply = streamed
        ? stream(start({ ...CACHED, output_tokens: 1 }), ...textBlock(0, 'Hi'), ...ending('end_turn'))
        : message([{ type: 'text', text: 'Hi' }], 'end_turn', { ...CACHED, output_tokens: 5 })
      const { key, secret } = await gateway.issue()
      const client = openClient(gateway, secret)
      const request = MARKED as unknown as typeof HELLO
      const { usage } = streamed
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request)
      expect(usage).toMatchObject({ ...CACHED, output_tokens: 5 })
      const row = await expectBooksClosed(gateway, key.id)
      expect(row).toMatchObject({ promptTokens: 65, cachedTokens: 40, cacheWriteTokens: 20, completionTokens: 5 })
      // 5 at 1, 20 at 1.25, 40 at 0.5 and 5 at 2 credits per million.
      expect(row.cost).toBe(60_000n)
      expect(upstream.requests[0]?.body.system).toEqual([
        { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
      ])
      upstream.reply = saying('Hello')
    },
  )

  test.each([true, false])(
    'a retry with the same Idempotency-Key gets the same message again, at no cost (stream: %s)',
    async (streamed) => {
      const { key, secret } = await gateway.issue()
      const headers = { 'Idempotency-Key': 'once' }
      const answers: string[] = []
      for (const replayed of [null, 'true']) {
        const response = await ask(gateway, secret, { ...HELLO, stream: streamed }, { headers })
        expect([response.status, response.headers.get('x-svc-replayed')]).toEqual([200, replayed])
        answers.push(await response.text())
      }
      const [first = '', second = ''] = answers
      if (streamed) {
        expect(readEvents(second).events).toEqual(readEvents(first).events)
        expect(readEvents(second).comments.at(-1)).toBe('x-svc-cost 0')
      } else expect(second).toBe(first)
      expect((await gateway.readKey(key.id)).spent).toBe(22_000n)
    },
  )

  test('an audit of a key that speaks Messages finds nothing wrong', async () => {
    const { key, secret } = await gateway.issue()
    await ask(gateway, secret, HELLO)
    await (await ask(gateway, secret, { ...HELLO, stream: true })).text()
    await ask(gateway, secret, { ...HELLO, max_tokens: 0 })
    await ask(gateway, secret, HELLO, { path: '/v1/messages/count_tokens' })
    const audit = await auditKey(gateway.tables, await gateway.readKey(key.id), Date.now() + 120_000)
    expect(audit).toMatchObject({ ok: true, balances: true, explained: true, rows: 4, findings: [] })
  })
})

test.each([true, false])(
  'the text at which an answer stopped is told, if Anthropic tells it (stream: %s)',
  async (streamed) => {
    upstream.reply = stream(start(), ...textBlock(0, 'Hi'), ...ending('stop_sequence', {}, { stop_sequence: 'END' }))
    const { messages } = openClient(gateway, (await gateway.issue()).secret)
    const answer = streamed ? await messages.stream(HELLO).finalMessage() : await messages.create(HELLO)
    expect(answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
  },
)

test('thoughts and their signatures go from one turn to the next through the Anthropic SDK, in their order', async () => {
  const content = [
    { type: 'thinking', thinking: 'First.', signature: 'c2lnMQ==' },
    { type: 'text', text: 'Let me look.' },
    { type: 'thinking', thinking: '', signature: 'c2lnMg==' },
    { type: 'redacted_thinking', data: 'cmVk' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
  ]
  upstream.reply = message(content, 'tool_use')
  const client = openClient(gateway, (await gateway.issue()).secret)
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }]
  const thinking = { type: 'adaptive' as const }
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is it?' }]
  const answer = await client.messages.stream({ ...HELLO, messages, tools, thinking }).finalMessage()
  messages.push({ role: 'assistant', content: answer.content })
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A stone.' }] })
  upstream.requests.length = 0
  upstream.reply = saying('A stone.')
  await client.messages.create({ ...HELLO, messages, tools, thinking })
  const sent = upstream.requests[0]?.body as { thinking: object; messages: { content: object[] }[] }
  expect(sent.thinking).toEqual({ type: 'adaptive' })
  expect(sent.messages[1]?.content).toMatchObject(content)
  expect(sent.messages[1]?.content).toHaveLength(content.length)
})
