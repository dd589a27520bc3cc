import { describe, expect, test } from '@jest/globals'
import OpenAI, { type APIError } from 'openai'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { expectBooksClosed } from '../robust/support/exchange.ts'
import { actAt } from '../support/act.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, type Reply, say, status } from '../support/upstream.ts'
import { heldBack } from './support/held-back.ts'
import { watchedClient } from './support/watched-client.ts'

const upstream = await openUpstream()
const { providers, models } = catalogFor(upstream.url)
const route = { provider: 'up', model: 'upstream-model', firstByteTimeoutMs: 100 }
const hasty = catalogFor(upstream.url, { id: 'hasty-model', routes: [route] })
const gateway = await openFor({ providers, models: [...models, ...hasty.models] })

const HELLO = { model: 'test-model', messages: [{ role: 'user' as const, content: 'Hello' }] }
const hang: Reply = () => {}

type Case = {
  readonly settings?: Partial<KeySettings> & { credits?: string }
  readonly secret?: string
  /** A call that is made before, and uses up a limit. */
  readonly before?: true
  readonly reply?: Reply
  /** Fields of the request beside or in place of those of HELLO. */
  readonly request?: object
}

/** The SDK's class for each status; it has none of its own for the others. */
const CLASSES: Readonly<Record<number, unknown>> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
  504: OpenAI.InternalServerError,
}
/** OpenAI's type of an error of each status. */
const TYPES: Readonly<Record<number, string>> = {
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
}
const typeOf = (code: number) => TYPES[code] ?? (code >= 500 ? 'server_error' : 'invalid_request_error')

const TOO_LONG = { message: 'Too long.', code: 'context_length_exceeded', param: 'messages' }
const ELSEWHERE = ['192.0.2.0/24']
const MUCH = 'x'.repeat(4 * 1024 * 1024)

const CASES: readonly [name: string, code: number, says: string, param: string | null, by: Case][] = [
  ['a field out of range', 400, 'invalid_value', 'temperature', { request: { temperature: 3 } }],
  ['no messages', 400, 'invalid_value', 'messages', { request: { messages: [] } }],
  ['a refusal of the upstream', 400, TOO_LONG.code, TOO_LONG.param, { reply: status(400, { error: TOO_LONG }) }],
  ['a malformed key', 401, 'invalid_api_key', null, { secret: 'sk-nonsense' }],
  ['an unknown key', 401, 'invalid_api_key', null, { secret: `svc_live_${'0'.repeat(43)}` }],
  ['too few credits', 402, 'credit_balance_exhausted', null, { settings: { credits: '0' } }],
  ['a lacking scope', 403, 'insufficient_scope', null, { settings: { scopes: ['models.read'] } }],
  ['an address that is not on the allowlist', 403, 'ip_not_allowed', null, { settings: { allowlist: ELSEWHERE } }],
  ['an unknown model', 404, 'model_not_found', 'model', { request: { model: 'nothing' } }],
  ['a large body', 413, 'request_too_large', null, { request: { user: MUCH } }],
  ['too many in a minute', 429, 'rate_limit_exceeded', null, { settings: { rpm: 1 }, before: true }],
  ['too many in a day', 429, 'daily_limit_exceeded', null, { settings: { dailyLimit: 1 }, before: true }],
  ['an upstream that fails', 502, 'upstream_error', null, { reply: status(500, { error: {} }) }],
  ['an upstream that refuses the operator’s key', 502, 'upstream_error', null, { reply: status(401, { error: {} }) }],
  ['a busy upstream', 503, 'upstream_rate_limited', null, { reply: status(429, { error: {} }) }],
  ['a silent upstream', 504, 'upstream_timeout', null, { reply: hang, request: { model: 'hasty-model' } }],
]

describe.each(CASES)('errors', (name, code, says, param, { settings, secret, before, reply, request }) => {
  test.each([false, true])(
    `the openai SDK throws a complete error of its class for ${name} (stream: %s)`,
    async (stream) => {
      upstream.reply = say('Hello')
      const issued = await gateway.issue(settings)
      const { client } = watchedClient(gateway, secret ?? issued.secret, { maxRetries: 0 })
      if (before) await client.chat.completions.create(HELLO)
      upstream.reply = reply ?? say('Hello')
      const error = await failureOf(client.chat.completions.create({ ...HELLO, ...request, stream }))
      expect(error.constructor).toBe(CLASSES[code] ?? OpenAI.APIError)
      const body = { type: typeOf(code), code: says, param }
      expect(error).toMatchObject({ ...body, status: code })
      expect(error.error).toEqual({ ...body, message: expect.any(String) })
      if (secret) return
      const row = await gateway.readRow(error.requestID)
      expect(row).toMatchObject({ httpStatus: code, outcome: expect.any(String), cost: 0n })
    },
  )
})

test.each<[string, (client: OpenAI) => Promise<unknown>, string]>([
  ['an unknown model', (client) => client.models.retrieve('vendor/nothing'), 'model_not_found'],
  ['an endpoint that does not exist', (client) => client.files.list(), 'not_found'],
  ['an endpoint beneath one that exists', (client) => client.chat.completions.retrieve('x'), 'not_found'],
])('the openai SDK throws a NotFoundError for %s', async (_, call, code) => {
  const { client } = watchedClient(gateway, (await gateway.issue()).secret)
  const error = await failureOf(call(client))
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect(error).toMatchObject({ type: 'invalid_request_error', code })
})

test('the openai SDK asks once with a suspended key, and throws a PermissionDeniedError that says whom to ask', async () => {
  const { key, secret } = await gateway.issue()
  await suspendKey(gateway.tables)(key.id, actAt(Date.now()))
  const { client, sent } = watchedClient(gateway, secret)
  const error = await failureOf(client.chat.completions.create(HELLO))
  expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError)
  expect([error.code, error.message]).toEqual([
    'key_suspended',
    expect.stringContaining('Ask the operator to resume it'),
  ])
  expect(sent).toHaveLength(1)
})

test('the openai SDK throws midway for an upstream that breaks the connection, and only the delivered part is billed', async () => {
  const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hello' })], 'broken')
  upstream.reply = reply
  const { key, secret } = await gateway.issue()
  const { client } = watchedClient(gateway, secret)
  const stream = await client.chat.completions.create({ ...HELLO, stream: true })
  let received = ''
  const read = async () => {
    for await (const { choices } of stream) {
      received += choices[0]?.delta.content ?? ''
      answer()
    }
  }
  const error = await failureOf(read())
  expect(received).toBe('Hello')
  expect(error).toMatchObject({ type: 'server_error', code: 'upstream_error', param: null })
  const row = await expectBooksClosed(gateway, key.id)
  expect(row).toMatchObject({ requestId: error.requestID, outcome: 'upstream_error', completionTokens: 1 })
})

test.each([
  ['that the balance does not cover', { credits: '0' }, [402]],
  ['beyond the daily limit', { dailyLimit: 1 }, [200, 429]],
])('the openai SDK sends a call %s only once', async (_, settings, statuses) => {
  upstream.reply = say('Hello')
  const { client, sent } = watchedClient(gateway, (await gateway.issue(settings)).secret)
  for (const _ of statuses) await client.chat.completions.create(HELLO).catch((error) => error)
  expect(sent.map(({ response }) => response.status)).toEqual(statuses)
})

test('the openai SDK waits out the Retry-After of the limit per minute, and is then answered', async () => {
  upstream.reply = say('Hello')
  let aheadMs = 0
  const later = await openFor(catalogFor(upstream.url), { clock: () => Date.now() + aheadMs })
  const { client, sent } = watchedClient(later, (await later.issue({ rpm: 1 })).secret)
  await client.chat.completions.create(HELLO)
  aheadMs = 59_000
  await client.chat.completions.create(HELLO)
  expect(sent.map(({ response }) => response.status)).toEqual([200, 429, 200])
  expect(sent[1]?.response.headers.get('retry-after')).toBe('1')
  expect((sent[2]?.sentAtMs ?? 0) - (sent[1]?.answeredAtMs ?? 0)).toBeGreaterThan(990)
})

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error: unknown = await call.catch((reason) => reason)
  if (!(error instanceof OpenAI.APIError)) throw new Error('The SDK did not throw an APIError.', { cause: error })
  return error
}
