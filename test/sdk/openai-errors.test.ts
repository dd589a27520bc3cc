import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import OpenAI, { type APIError } from 'openai'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { queryUsageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openGateway, type TestGateway } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { chunk, event, type Reply, say, startUpstream, status, type Upstream } from '../support/upstream.ts'
import { eventually } from './support/eventually.ts'
import { heldBack } from './support/held-back.ts'
import { inTurn } from './support/in-turn.ts'
import { type Sent, watchedClient } from './support/watched-client.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const route = { provider: 'up', model: 'upstream-model', firstByteTimeoutMs: 100 }
  const catalog = catalogFor(upstream.url)
  const hasty = catalogFor(upstream.url, { id: 'hasty-model', routes: [route] })
  gateway = await openGateway({ ...catalog, models: [...catalog.models, ...hasty.models] })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

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
type Says = { status: number; type: string; code: string; param: string | null }
type ErrorClass = new (...args: never[]) => APIError

const invalid = (status: number, code: string, param: string | null = null): Says => ({
  status,
  type: 'invalid_request_error',
  code,
  param,
})
const server = (status: number, code: string): Says => ({ status, type: 'server_error', code, param: null })
const tooMany = (code: string): Says => ({ status: 429, type: 'rate_limit_error', code, param: null })
const forbidden = (code: string): Says => ({ status: 403, type: 'permission_error', code, param: null })
const NO_CREDITS: Says = { status: 402, type: 'insufficient_quota', code: 'credit_balance_exhausted', param: null }
const WRONG_KEY = invalid(401, 'invalid_api_key')
const TOO_LONG = { message: 'Too long.', code: 'context_length_exceeded', param: 'messages' }

const {
  APIError: AnyError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} = OpenAI

const CASES: readonly [name: string, is: ErrorClass, says: Says, by: Case][] = [
  [
    'a field out of range',
    BadRequestError,
    invalid(400, 'invalid_value', 'temperature'),
    { request: { temperature: 3 } },
  ],
  ['no messages', BadRequestError, invalid(400, 'invalid_value', 'messages'), { request: { messages: [] } }],
  [
    'a request that the upstream refuses',
    BadRequestError,
    invalid(400, 'context_length_exceeded', 'messages'),
    { reply: status(400, { error: TOO_LONG }) },
  ],
  ['a malformed key', AuthenticationError, WRONG_KEY, { secret: 'sk-nonsense' }],
  ['an unknown key', AuthenticationError, WRONG_KEY, { secret: `svc_live_${'0'.repeat(43)}` }],
  ['too few credits', AnyError, NO_CREDITS, { settings: { credits: '0' } }],
  [
    'a lacking scope',
    PermissionDeniedError,
    forbidden('insufficient_scope'),
    { settings: { scopes: ['models.read'] } },
  ],
  [
    'an address that is not on the allowlist',
    PermissionDeniedError,
    forbidden('ip_not_allowed'),
    { settings: { allowlist: ['192.0.2.0/24'] } },
  ],
  ['an unknown model', NotFoundError, invalid(404, 'model_not_found', 'model'), { request: { model: 'nothing' } }],
  ['a large body', AnyError, invalid(413, 'request_too_large'), { request: { user: 'x'.repeat(4 * 1024 * 1024) } }],
  [
    'too many requests in a minute',
    RateLimitError,
    tooMany('rate_limit_exceeded'),
    { settings: { rpm: 1 }, before: true },
  ],
  ['too many in a day', RateLimitError, tooMany('daily_limit_exceeded'), { settings: { dailyLimit: 1 }, before: true }],
  ['an upstream that fails', InternalServerError, server(502, 'upstream_error'), { reply: status(500, { error: {} }) }],
  [
    'an upstream that refuses the operator’s key',
    InternalServerError,
    server(502, 'upstream_error'),
    { reply: status(401, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }) },
  ],
  ['a busy upstream', InternalServerError, server(503, 'upstream_rate_limited'), { reply: status(429, { error: {} }) }],
  [
    'an upstream that does not answer in time',
    InternalServerError,
    server(504, 'upstream_timeout'),
    { reply: hang, request: { model: 'hasty-model' } },
  ],
]

describe.each(CASES)('errors', (name, is, says, { settings, secret, before, reply, request }) => {
  test.each([false, true])(`the openai SDK throws a complete ${is.name} for ${name} (stream: %s)`, async (stream) => {
    upstream.reply = say('Hello')
    const issued = await gateway.issue(settings)
    const { client } = watchedClient(gateway, secret ?? issued.secret, { maxRetries: 0 })
    if (before) await client.chat.completions.create(HELLO)
    upstream.reply = reply ?? say('Hello')
    const error = await failureOf(client.chat.completions.create({ ...HELLO, ...request, stream }))
    expect(error.constructor).toBe(is)
    const { status, ...body } = says
    expect(error).toMatchObject(says)
    expect(error.error).toEqual({ ...body, message: expect.any(String) })
    if (!secret) {
      expect(await gateway.readRow(error.requestID)).toMatchObject({
        httpStatus: status,
        outcome: expect.any(String),
        cost: 0n,
      })
    }
  })
})

test.each<[string, (client: OpenAI) => Promise<unknown>, object]>([
  ['an unknown model', (client) => client.models.retrieve('vendor/nothing'), invalid(404, 'model_not_found', 'model')],
  ['an endpoint that does not exist', (client) => client.files.list(), invalid(404, 'not_found')],
  ['an endpoint beneath one that exists', (client) => client.chat.completions.retrieve('x'), invalid(404, 'not_found')],
])('the openai SDK throws a NotFoundError for %s', async (_, call, says) => {
  const { client } = watchedClient(gateway, (await gateway.issue()).secret)
  const error = await failureOf(call(client))
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect(error).toMatchObject(says)
})

test('the openai SDK waits for as long as a busy upstream wants, and is answered then', async () => {
  upstream.reply = inTurn(status(429, {}, { 'Retry-After': '1' }), say('Hello'))
  const { client, sent } = watchedClient(gateway, (await gateway.issue()).secret)
  const { choices } = await client.chat.completions.create(HELLO)
  expect(choices[0]?.message.content).toBe('Hello')
  const [refused, answered] = sent as [Sent, Sent]
  expect(refused.response.status).toBe(503)
  expect(answered.sentAtMs - refused.answeredAtMs).toBeGreaterThanOrEqual(950)
})

test('the message of a 401 has the words of OpenAI by which clients know it, and nothing of the key', async () => {
  const { key, secret } = await gateway.issue()
  await revokeKey(gateway.tables)(key.id, actAt(Date.now()))
  for (const wrong of ['sk-nonsense', `svc_live_${'0'.repeat(43)}`, secret]) {
    const { client } = watchedClient(gateway, wrong)
    const error = await failureOf(client.models.list())
    expect(error.message).toContain('Incorrect API key provided')
    expect(JSON.stringify(error)).not.toContain(wrong.slice(-12))
  }
})

test('the openai SDK asks once with a suspended key, and throws a PermissionDeniedError that says whom to ask', async () => {
  const { key, secret } = await gateway.issue()
  await suspendKey(gateway.tables)(key.id, actAt(Date.now()))
  const { client, sent } = watchedClient(gateway, secret)
  const error = await failureOf(client.chat.completions.create(HELLO))
  expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError)
  expect(error).toMatchObject(forbidden('key_suspended'))
  expect(error.message).toContain('Ask the operator to resume it')
  expect(sent).toHaveLength(1)
})

test('the openai SDK throws an InternalServerError with a Retry-After while the database does not answer', async () => {
  const { secret } = await gateway.issue()
  await using cut = await openGateway(catalogFor(upstream.url), { onSameTables: gateway })
  intercept(cut.tables, async () => {
    throw Object.assign(new Error('no answer'), { code: 'ECONNREFUSED' })
  })
  const { client } = watchedClient(cut, secret, { maxRetries: 0 })
  const error = await failureOf(client.chat.completions.create(HELLO))
  expect(error).toBeInstanceOf(OpenAI.InternalServerError)
  expect(error).toMatchObject(server(503, 'service_unavailable'))
  expect(error.headers?.get('retry-after')).toMatch(/^\d+$/)
})

describe('broken streams', () => {
  const FAILURES: Record<string, readonly string[] | 'broken'> = {
    'an upstream that reports an error': [event({ error: { message: 'overloaded', type: 'server_error' } })],
    'an upstream that breaks the connection': 'broken',
    'an upstream that ends before its answer does': [],
  }

  test.each(Object.entries(FAILURES))(
    'the openai SDK throws midway for %s, and only the delivered part is billed',
    async (_, rest) => {
      const { answer, reply } = heldBack([chunk({ role: 'assistant', content: 'Hello' })], rest)
      upstream.reply = reply
      const { key, secret } = await gateway.issue()
      const { client } = watchedClient(gateway, secret)
      const stream = await client.chat.completions.create({ ...HELLO, stream: true })
      let received = ''
      const error = await failureOf(
        (async () => {
          for await (const { choices } of stream) {
            received += choices[0]?.delta.content ?? ''
            answer()
          }
        })(),
      )
      expect(received).toBe('Hello')
      expect(error).toMatchObject({ type: 'server_error', code: 'upstream_error', param: null })
      const [row] = await rowsOf(key)
      expect(row).toMatchObject({ requestId: error.requestID, outcome: 'upstream_error', completionTokens: 1 })
      expect((await gateway.readKey(key.id)).holds).toEqual({})
    },
  )
})

test.each([
  ['that the balance does not cover', { credits: '0' }, [402]],
  ['beyond the daily limit', { dailyLimit: 1 }, [200, 429]],
])('the openai SDK sends a call %s only once', async (_, settings, statuses) => {
  upstream.reply = say('Hello')
  const { key, secret } = await gateway.issue(settings)
  const { client, sent } = watchedClient(gateway, secret)
  for (const _ of statuses) await client.chat.completions.create(HELLO).catch((error) => error)
  expect(sent.map(({ response }) => response.status)).toEqual(statuses)
  expect((await rowsOf(key)).map(({ httpStatus }) => httpStatus)).toEqual(statuses)
})

test('the openai SDK waits out the Retry-After of the limit per minute, and is then answered', async () => {
  upstream.reply = say('Hello')
  let aheadMs = 0
  await using later = await openGateway(catalogFor(upstream.url), { clock: () => Date.now() + aheadMs })
  const { client, sent } = watchedClient(later, (await later.issue({ rpm: 1 })).secret)
  await client.chat.completions.create(HELLO)
  aheadMs = 59_000
  await client.chat.completions.create(HELLO)
  expect(sent.map(({ response }) => response.status)).toEqual([200, 429, 200])
  expect(sent[1]?.response.headers.get('retry-after')).toBe('1')
  expect(pauseBefore(sent[2], sent[1])).toBeGreaterThan(990)
})

test('the openai SDK waits out the Retry-After of the concurrency limit, and is answered once there is room', async () => {
  const { answer, reply } = heldBack([chunk({ content: 'Hel' })], [chunk({ content: 'lo' }, 'stop')])
  upstream.reply = inTurn(reply, say('Hello'))
  const { client, sent } = watchedClient(gateway, (await gateway.issue({ maxConcurrent: 1 })).secret)
  const stream = await client.chat.completions.create({ ...HELLO, stream: true })
  const second = client.chat.completions.create(HELLO)
  await eventually(
    async () => sent.length,
    (calls) => calls === 2,
  )
  answer()
  for await (const _ of stream);
  expect((await second).choices[0]?.message.content).toBe('Hello')
  expect(sent.map(({ response }) => response.status)).toEqual([200, 429, 200])
  expect(sent[1]?.response.headers.get('retry-after')).toBe('1')
  expect(pauseBefore(sent[2], sent[1])).toBeGreaterThan(990)
})

test('the openai SDK gets past an upstream that failed once, and pays for the answer only', async () => {
  upstream.reply = inTurn(status(500, 'broken'), say('Hello'))
  const { key, secret } = await gateway.issue()
  const { client, sent } = watchedClient(gateway, secret)
  await client.chat.completions.create(HELLO)
  expect(sent.map(({ response }) => response.status)).toEqual([502, 200])
  expect((await rowsOf(key)).map(({ cost }) => cost)).toEqual([0n, 20_000n])
})

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason) => reason,
  )
  if (!(error instanceof OpenAI.APIError)) throw new Error('The SDK did not throw an APIError.', { cause: error })
  return error
}

/** The key's rows, oldest first. */
async function rowsOf(key: Key): Promise<UsageRow[]> {
  const rows: UsageRow[] = []
  const range = { fromMs: key.createdAtMs, toMs: Date.now() + 60_000 }
  for await (const row of queryUsageRows(gateway.tables)(key.id, range, 'oldest first')) rows.push(row)
  return rows
}

function pauseBefore(next: Sent | undefined, last: Sent | undefined): number {
  return (next?.sentAtMs ?? 0) - (last?.answeredAtMs ?? 0)
}
