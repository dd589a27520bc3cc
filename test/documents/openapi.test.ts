import { describe, expect, test } from '@jest/globals'
import { EXAMPLES } from '../../cli/schemas/client-guide.ts'
import { ERROR_KINDS, ERRORS, REQUEST_CODES } from '../../layers/gateway/domain/basics/gateway-error.ts'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { type ENDPOINTS, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { publishStatement } from '../../layers/gateway/store/accounts/published-statements.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { type Reply, say, status } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { expectDocumented } from './support/expect-documented.ts'
import { readDocument, tableOf } from './support/markdown.ts'
import { answerOf, checkerOf, documentedPath, openApi, operation, components as parts } from './support/openapi.ts'

const CHAT = operation('/v1/chat/completions', 'post')
const { components } = openApi

const tiers = [{ above: 100, input: '2', output: '4' }]
const price = { input: '1', output: '2', cacheWrite: '2', cacheWrite1h: '3', request: '0.001', image: '0.01', tiers }
const { upstream, gateway } = await openBoth({ model: { price } })

test('docs/openapi.json has the paths and methods of the gateway, and no others', () => {
  const documented = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const routes = HTTP_ROUTES.map(({ method, path }) => `${method} ${documentedPath(path)}`)
  expect(documented.toSorted()).toEqual(routes.toSorted())
})

test('docs/openapi.json has no broken reference and no unused component', () => {
  const { there, referred } = parts()
  // A wrong method has no operation of its own.
  expect(there).toEqual([...referred, 'responses/MethodNotAllowed'].toSorted())
})

test('the answer of each endpoint but chat is as docs/openapi.json says', async () => {
  upstream.reply = say('Hello')
  const account = await gateway.openAccount({ showsStatements: true })
  await publishStatement(gateway.tables)(account.id, STATEMENT)
  const { secret } = await gateway.issue({ account })
  const answered = await gateway.post(secret, HELLO)
  const refused = await gateway.post(secret, { ...HELLO, model: 'none' })
  const rows = [answered, refused].map(({ headers }) => headers.get('x-request-id'))
  const samples: Record<ApiPath, string[]> = {
    '/v1/models': ['/v1/models'],
    '/v1/models/{id+}': ['/v1/models/test-model'],
    '/v1/key/introspect': ['/v1/key/introspect'],
    '/v1/credits': ['/v1/credits'],
    '/v1/usage': ['', '?limit=1', '?group=day', '?group=model'].map((query) => `/v1/usage${query}`),
    '/v1/usage/{id+}': rows.map((id) => `/v1/usage/${id}`),
    '/v1/statements/{id}': [`/v1/statements/${STATEMENT.month}`],
  }
  for (const [route, paths] of Object.entries(samples)) {
    for (const path of paths) {
      const response = await gateway.get(secret, path)
      expect(response.status).toBe(200)
      await expectDocumented(response, answerOf(operation(documentedPath(route), 'get'), 200))
    }
  }
})

const STATEMENT = EXAMPLES.statement as Statement

type ApiPath = Extract<
  Extract<(typeof ENDPOINTS)[keyof typeof ENDPOINTS], { function: 'api' }>['routes'][number],
  { method: 'GET' }
>['path']

test('a quote, its refusal and one of a message are as docs/openapi.json says', async () => {
  const QUOTE = operation('/v1/quote', 'post')
  const { secret } = await gateway.issue({ credits: '0.0001', monthlyCredits: 1n })
  const quote = (endpoint: string, body: object) => gateway.post(secret, { endpoint, body }, {}, '/v1/quote')
  const answer = await quote('/v1/chat/completions', { ...HELLO, max_tokens: 10 })
  expect(await answer.clone().json()).toMatchObject({ refusal: { code: 'credit_balance_exhausted' } })
  await expectDocumented(answer, answerOf(QUOTE, 200))
  await expectDocumented(await quote('/v1/chat', HELLO), answerOf(QUOTE, 400))
  await expectDocumented(await quote('/v1/messages', HELLO), components.responses.MessagesError)
})

test('docs/clients.md has a row for each endpoint, with its scope', () => {
  const rows = tableOf('docs/clients.md', '| method and path | answer | scope |')
  const stated = rows.flatMap(([calls = '', , scope]) =>
    calls.split(', ').map((call) => `${call.replace('{request_id}', '{id}')}: ${scope}`),
  )
  const wanted = HTTP_ROUTES.map(
    ({ method, path, endpoint: { scope, quotes } }) =>
      `${method} ${documentedPath(path)}: ${quotes ? 'of the quoted endpoint' : (scope ?? 'none')}`,
  )
  expect(stated.toSorted()).toEqual(wanted.toSorted())
})

type Refusal = {
  readonly settings?: object
  readonly request?: object | string
  readonly headers?: Record<string, string>
  readonly reply?: Reply
  /** Asked before, with the same secret. */
  readonly before?: object
}

describe('errors', () => {
  const REJECTION = { error: { message: 'No.', type: 'odd', code: 'odd' } }
  const ONCE = { 'Idempotency-Key': 'a' }
  /** The answer has this status, and is one that the document has for it. */
  async function expectRefusal(response: Response, code: number, documented = answerOf(CHAT, code)): Promise<void> {
    expect(response.status).toBe(code)
    await expectDocumented(response, documented)
  }

  const REFUSALS: Record<string, [status: number, refusal: Refusal]> = {
    'bad JSON': [400, { request: '{' }],
    'a bad field': [400, { request: { ...HELLO, temperature: 'hot' } }],
    'a field that costs extra': [400, { request: { ...HELLO, plugins: [] } }],
    'a bad route header': [400, { headers: { 'X-Svc-Route': 'nobody' } }],
    'a request that the upstream rejects': [400, { reply: status(400, REJECTION) }],
    'a key without credits': [402, { settings: { credits: '0' } }],
    'a key without the scope': [403, { settings: { scopes: ['models.read'] } }],
    'an address that is not allowed': [403, { settings: { allowlist: ['10.0.0.0/8'] } }],
    'a body of 4 MiB': [413, { request: { ...HELLO, user: 'x'.repeat(4 * 1024 * 1024) } }],
    'a content type other than JSON': [415, { headers: { 'Content-Type': 'text/plain' } }],
    'another body with the same Idempotency-Key': [422, { headers: ONCE, before: { ...HELLO, n: 1 } }],
    'a request beyond the limit per minute': [429, { settings: { rpm: 1 }, before: HELLO }],
    'a request beyond the limit per day': [429, { settings: { dailyLimit: 1 }, before: HELLO }],
    'an upstream at its rate limit': [503, { reply: status(429, {}, { 'Retry-After': '7' }) }],
  }

  test.each(Object.entries(REFUSALS))(
    'the error for %s is as docs/openapi.json says',
    async (_, [code, { settings, request = HELLO, headers, reply, before }]) => {
      upstream.reply = reply ?? say('Hello')
      const { secret } = await gateway.issue(settings)
      if (before) await gateway.post(secret, before, headers)
      await expectRefusal(await gateway.post(secret, request, headers), code)
    },
  )

  test.each([
    ['an unknown key', '/v1/models', 401, () => answerOf(operation('/v1/models', 'get'), 401)],
    ['an unknown model', '/v1/models/none', 404, () => answerOf(operation('/v1/models/{id}', 'get'), 404)],
    ['a bad query', '/v1/usage?limit=0', 400, () => answerOf(operation('/v1/usage', 'get'), 400)],
    ['an unknown request', '/v1/usage/none', 404, () => answerOf(operation('/v1/usage/{id}', 'get'), 404)],
    ['an unknown path', '/v1/none', 404, () => components.responses.NotFound],
    ['a wrong method', '/v1/chat/completions', 405, () => components.responses.MethodNotAllowed],
  ])('the error for %s at %s is as docs/openapi.json says', async (_, path, code, documented) => {
    const { secret } = await gateway.issue()
    await expectRefusal(await gateway.get(code === 401 ? 'svc_live_unknown' : secret, path), code, documented())
  })

  test('the error for an upstream that says nothing is as docs/openapi.json says', async () => {
    const route = { provider: 'up', model: 'upstream-model', firstByteTimeoutMs: 200 }
    const impatient = await openFor(catalogFor(upstream.url, { routes: [route] }))
    upstream.reply = () => {}
    const { secret } = await impatient.issue()
    await expectRefusal(await impatient.post(secret, HELLO), 504)
  })

  test.each([
    ['the same Idempotency-Key', 409, { maxConcurrent: 2 }, ONCE],
    ['a limit of one', 429, { maxConcurrent: 1 }, {}],
  ])(
    'the error for a second request at once with %s is as docs/openapi.json says',
    async (_, code, settings, headers) => {
      let answer = () => {}
      upstream.reply = (response, request) => {
        answer = () => void say('Hello')(response, request)
      }
      const { secret } = await gateway.issue(settings)
      const asked = upstream.requests.length
      const first = gateway.post(secret, HELLO, headers)
      await until(() => upstream.requests.length > asked)
      await expectRefusal(await gateway.post(secret, HELLO, headers), code)
      answer()
      expect((await first).status).toBe(200)
    },
  )

  test.each([
    [500, () => Promise.reject(new Error('a fault of our own'))],
    [429, () => Promise.reject(Object.assign(new Error('hot'), { name: 'ProvisionedThroughputExceededException' }))],
    [503, () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNRESET' }))],
  ])('the error for a failure of the gateway itself (%i) is as docs/openapi.json says', async (code, fail) => {
    upstream.reply = say('Hello')
    const { secret } = await gateway.issue()
    const restore = intercept(gateway.tables, fail)
    await expectRefusal(await gateway.post(secret, HELLO).finally(restore), code)
  })
})

test('docs/openapi.json has every error of the gateway under its status, and docs/clients.md no others', () => {
  const missing = ERROR_KINDS.filter((kind) => {
    const answer = answerOf(CHAT, ERRORS[kind].status) ?? components.responses.MethodNotAllowed
    return !answer?.description.includes(`\`${kind}\``)
  })
  expect(missing).toEqual([])
  for (const code of REQUEST_CODES) expect(components.responses.BadRequest?.description).toContain(`\`${code}\``)
  const rows = tableOf('docs/clients.md', '| status | `code` | when |')
  const listed = rows.flatMap(([, codes = '']) => codes.match(/[a-z]+(_[a-z]+)+/g) ?? [])
  expect(listed.toSorted()).toEqual([...ERROR_KINDS, ...REQUEST_CODES].toSorted())
})

test('docs/clients.md says which errors have Retry-After, and which are not to be retried', () => {
  const [table = '', after = ''] =
    readDocument('docs/clients.md').split('\n| status | `code` | when |')[1]?.split('\n\n') ?? []
  const [notRetried = ''] = after.split('so that SDKs do not retry them')
  const untold = ERROR_KINDS.filter((kind) => {
    const { status: code, retry } = ERRORS[kind]
    if (retry === undefined) return false
    if (retry === 'never') return !notRetried.includes(`\`${kind}\``) && !notRetried.includes(String(code))
    return !table.split('\n').some((row) => row.includes(`\`${kind}\``) && row.includes('`Retry-After`'))
  })
  expect(untold).toEqual([])
})

test('the check of an answer finds a field that is missing, of another type or not in docs/openapi.json', () => {
  const checker = checkerOf({ $ref: '#/components/schemas/Window' })
  const window = { limit: 1, remaining: 1, reset: 0 }
  const { reset: _, ...missing } = window
  const answers = [window, missing, { ...window, reset: '0' }, { ...window, colour: 'red' }]
  expect(answers.map((answer) => checker.safeParse(answer).success)).toEqual([true, false, false, false])
})
