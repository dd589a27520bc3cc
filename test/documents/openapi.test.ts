import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseChatRequest } from '../../layers/gateway/contracts/chat/chat-request.ts'
import { readMessagesRequest } from '../../layers/gateway/contracts/messages/messages-request.ts'
import { readRequest } from '../../layers/gateway/contracts/responses/read-request.ts'
import {
  ERROR_KINDS,
  ERRORS,
  type ErrorKind,
  GatewayError,
  REQUEST_CODES,
} from '../../layers/gateway/domain/basics/gateway-error.ts'
import { type ENDPOINTS, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { HELLO as ASKED, ask } from '../contracts/responses/ask.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, event, type Reply, say, sse, status, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { expectDocumented } from './support/expect-documented.ts'
import { blocksOf, readDocument, tableOf } from './support/markdown.ts'
import { answerOf, checkerOf, documentedPath, openApi, openApiText, operation } from './support/openapi.ts'

const CHAT = operation('/v1/chat/completions', 'post')
const RESPONSES = operation('/v1/responses', 'post')
const { components } = openApi

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  const tiers = [{ above: 100, input: '2', output: '4' }]
  const price = { input: '1', output: '2', cacheWrite: '2', cacheWrite1h: '3', request: '0.001', image: '0.01', tiers }
  ;({ upstream, gateway } = await openBoth({ model: { price } }))
})

test('docs/openapi.json has the paths and methods of the gateway, and no others', () => {
  const documented = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const routes = HTTP_ROUTES.map(({ method, path }) => `${method} ${documentedPath(path)}`)
  expect(documented.toSorted()).toEqual(routes.toSorted())
})

test('docs/openapi.json has no broken reference and no unused component', () => {
  const referred = new Set(
    [...openApiText.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
  )
  const there = Object.entries(components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`))
  // A wrong method has no operation of its own.
  expect(there.toSorted()).toEqual([...referred, 'responses/MethodNotAllowed'].toSorted())
})

test('docs/openapi.json has every error of the gateway under its status', () => {
  const missing = ERROR_KINDS.filter((kind) => {
    const { status: code, code: name } = new GatewayError(kind, 'why')
    const answers = [answerOf(CHAT, code), components.responses.MethodNotAllowed]
    return !answers.some((answer) => {
      const schema = answer?.content['application/json']?.schema
      return schema && checkerOf(schema).safeParse({ error: errorOf(kind, name) }).success
    })
  })
  expect(missing).toEqual([])
  for (const code of REQUEST_CODES) expect(components.responses.BadRequest?.description).toContain(`\`${code}\``)
})

function errorOf(kind: ErrorKind, code: string | null) {
  const { message, type, param } = new GatewayError(kind, 'why')
  return { message, type, param, code }
}

test('a chat answer is as docs/openapi.json says, whole and streamed', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  const whole = await gateway.post(secret, HELLO)
  expect(whole.status).toBe(200)
  await expectDocumented(whole, answerOf(CHAT, 200))
  const streamed = { ...HELLO, stream: true, stream_options: { include_usage: true } }
  const events = await expectDocumented(await gateway.post(secret, streamed), answerOf(CHAT, 200))
  expect(events).toContainEqual(expect.objectContaining({ choices: [], usage: expect.anything() }))
})

test('a chat answer whose max_tokens was lowered, and its row, are as docs/openapi.json says', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  const answer = await gateway.post(secret, { ...HELLO, max_tokens: 32_000 })
  expect(answer.headers.has('x-svc-lowered-max-tokens')).toBe(true)
  await expectDocumented(answer, answerOf(CHAT, 200))
  const row = await gateway.get(secret, `/v1/usage/${answer.headers.get('x-request-id')}`)
  await expectDocumented(row, answerOf(operation('/v1/usage/{id}', 'get'), 200))
})

test('a replayed chat answer is as docs/openapi.json says', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  await gateway.post(secret, HELLO, { 'Idempotency-Key': 'a' })
  const again = await gateway.post(secret, HELLO, { 'Idempotency-Key': 'a' })
  expect(again.headers.get('x-svc-replayed')).toBe('true')
  await expectDocumented(again, answerOf(CHAT, 200))
})

test('a stream that breaks off is as docs/openapi.json says', async () => {
  upstream.reply = sse([chunk({ role: 'assistant', content: 'Hel' }), event({ error: { message: 'overloaded' } })])
  const { secret } = await gateway.issue()
  const events = await expectDocumented(await gateway.post(secret, { ...HELLO, stream: true }), answerOf(CHAT, 200))
  expect(events).toEqual([expect.objectContaining({ choices: expect.anything() }), { error: expect.anything() }])
})

test.each([false, true])('a response is as docs/openapi.json says (streamed: %p)', async (stream) => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  const answer = await ask(gateway, secret, { ...ASKED, stream, user: 'u' })
  expect(answer.status).toBe(200)
  await expectDocumented(answer, answerOf(RESPONSES, 200))
})

test('a response that thinks and then breaks off is as docs/openapi.json says', async () => {
  upstream.reply = sse([chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Hel' }), 'data: {\n\n'])
  const { secret } = await gateway.issue()
  const broken = await ask(gateway, secret, { ...ASKED, stream: true })
  const events = await expectDocumented(broken, answerOf(RESPONSES, 200))
  expect(events).toContainEqual(expect.objectContaining({ type: 'response.reasoning_summary_text.delta' }))
  const refused = await ask(gateway, secret, { ...ASKED, conversation: 'c' })
  await expectDocumented(refused, answerOf(RESPONSES, 400))
})

test('the answer of each endpoint but chat is as docs/openapi.json says', async () => {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
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
  }
  for (const [route, paths] of Object.entries(samples)) {
    for (const path of paths) {
      const response = await gateway.get(secret, path)
      expect(response.status).toBe(200)
      await expectDocumented(response, answerOf(operation(documentedPath(route), 'get'), 200))
    }
  }
})

type ApiPath = Extract<
  Extract<(typeof ENDPOINTS)[keyof typeof ENDPOINTS], { function: 'api' }>['routes'][number],
  { method: 'GET' }
>['path']

test('a quote, its refusal and one of a message are as docs/openapi.json says', async () => {
  const QUOTE = operation('/v1/quote', 'post')
  const { secret } = await gateway.issue({ credits: '0.0001', monthlyCredits: 1n })
  const quote = (endpoint: string, body: object) =>
    fetch(`${gateway.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ endpoint, body }),
    })
  const answer = await quote('/v1/chat/completions', { ...HELLO, max_tokens: 10 })
  expect(await answer.clone().json()).toMatchObject({ refusal: { code: 'credit_balance_exhausted' } })
  await expectDocumented(answer, answerOf(QUOTE, 200))
  await expectDocumented(await quote('/v1/chat', HELLO), answerOf(QUOTE, 400))
  await expectDocumented(await quote('/v1/messages', HELLO), components.responses.MessagesError)
})

describe('Messages', () => {
  const MESSAGES = operation('/v1/messages', 'post')
  const COUNT = operation('/v1/messages/count_tokens', 'post')
  const ASKED = { ...HELLO, max_tokens: 10 }

  async function post(path: string, body: object): Promise<Response> {
    const { secret } = await gateway.issue()
    const headers = { 'X-Api-Key': secret, 'Content-Type': 'application/json' }
    return fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  test('a message, its stream, a count and an error are as docs/openapi.json says', async () => {
    upstream.reply = say('Hello')
    await expectDocumented(await post('/v1/messages', ASKED), answerOf(MESSAGES, 200))
    await expectDocumented(await post('/v1/messages/count_tokens', HELLO), answerOf(COUNT, 200))
    await expectDocumented(await post('/v1/messages', HELLO), components.responses.MessagesError)
    const streamed = await post('/v1/messages', { ...ASKED, stream: true })
    const schema = answerOf(MESSAGES, 200)?.content['text/event-stream']?.schema ?? {}
    const frames = (await streamed.text()).split('\n\n').filter((frame) => frame.startsWith('event: '))
    expect(frames).toHaveLength(7)
    for (const frame of frames) checkerOf(schema).parse(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
  })

  test.each([
    [true, {}],
    [true, { system: null, temperature: 1, tools: [], stop_sequences: ['a'], top_k: 0 }],
    [true, { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    [false, { max_tokens: 0 }],
    [false, { messages: [] }],
    [false, { messages: [{ role: 'tool', content: 'Hi' }] }],
    [false, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    [false, { temperature: 2 }],
    [false, { tools: ['search'] }],
    [false, { stop_sequences: 'a' }],
  ])('docs/openapi.json and the gateway agree (valid: %p) on a message with %j', (isValid, extra) => {
    const request = { ...ASKED, ...extra }
    const checker = checkerOf(MESSAGES.requestBody?.content['application/json']?.schema ?? {})
    const isTaken = () => {
      try {
        return readMessagesRequest({ value: request, bytes: 1, callerId: 'key' }) !== undefined
      } catch {
        return false
      }
    }
    expect([checker.safeParse(request).success, isTaken()]).toEqual([isValid, isValid])
  })
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
  const REFUSALS: Record<string, [status: number, refusal: Refusal]> = {
    'bad JSON': [400, { request: '{' }],
    'a bad field': [400, { request: { ...HELLO, temperature: 'hot' } }],
    'a field that costs extra': [400, { request: { ...HELLO, web_search_options: {} } }],
    'a bad route header': [400, { headers: { 'X-Svc-Route': 'nobody' } }],
    'a request that the upstream rejects': [
      400,
      { reply: status(400, { error: { message: 'No.', type: 'odd', code: 'odd' } }) },
    ],
    'a key without credits': [402, { settings: { credits: '0' } }],
    'a key without the scope': [403, { settings: { scopes: ['models.read'] } }],
    'an address that is not allowed': [403, { settings: { allowlist: ['10.0.0.0/8'] } }],
    'an unknown model': [404, { request: { ...HELLO, model: 'none' } }],
    'a body of 4 MiB': [413, { request: { ...HELLO, user: 'x'.repeat(4 * 1024 * 1024) } }],
    'a content type other than JSON': [415, { headers: { 'Content-Type': 'text/plain' } }],
    'another body with the same Idempotency-Key': [
      422,
      { headers: { 'Idempotency-Key': 'a' }, before: { ...HELLO, n: 1 } },
    ],
    'a request beyond the limit per minute': [429, { settings: { rpm: 1 }, before: HELLO }],
    'a request beyond the limit per day': [429, { settings: { dailyLimit: 1 }, before: HELLO }],
    'an upstream at its rate limit': [503, { reply: status(429, {}, { 'Retry-After': '7' }) }],
    'an upstream that fails': [502, { reply: status(500, 'broken') }],
  }

  test.each(Object.entries(REFUSALS))(
    'the error for %s is as docs/openapi.json says',
    async (_, [code, { settings, request = HELLO, headers, reply, before }]) => {
      upstream.reply = reply ?? say('Hello')
      const { secret } = await gateway.issue(settings)
      if (before) await gateway.post(secret, before, headers)
      const response = await gateway.post(secret, request, headers)
      expect(response.status).toBe(code)
      await expectDocumented(response, answerOf(CHAT, code))
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
    const response = await gateway.get(code === 401 ? 'svc_live_unknown' : secret, path)
    expect(response.status).toBe(code)
    await expectDocumented(response, documented())
  })

  test('the error for an upstream that says nothing is as docs/openapi.json says', async () => {
    const route = { provider: 'up', model: 'upstream-model', firstByteTimeoutMs: 200 }
    const impatient = await openFor(catalogFor(upstream.url, { routes: [route] }))
    upstream.reply = () => {}
    const { secret } = await impatient.issue()
    const response = await impatient.post(secret, HELLO)
    expect(response.status).toBe(504)
    await expectDocumented(response, answerOf(CHAT, 504))
  })

  test.each([
    ['the same Idempotency-Key', 409, { maxConcurrent: 2 }, { 'Idempotency-Key': 'a' }],
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
      const refused = await gateway.post(secret, HELLO, headers)
      expect(refused.status).toBe(code)
      await expectDocumented(refused, answerOf(CHAT, code))
      answer()
      expect((await first).status).toBe(200)
    },
  )

  test.each([
    [500, () => Promise.reject(new Error('a fault of our own'))],
    [503, () => Promise.reject(Object.assign(new Error('away'), { name: 'ProvisionedThroughputExceededException' }))],
  ])('the error for a failure of the gateway itself (%i) is as docs/openapi.json says', async (code, fail) => {
    upstream.reply = say('Hello')
    const { secret } = await gateway.issue()
    const restore = intercept(gateway.tables, fail)
    const response = await gateway.post(secret, HELLO).finally(restore)
    expect(response.status).toBe(code)
    await expectDocumented(response, answerOf(CHAT, code))
  })
})

describe('requests', () => {
  const checker = checkerOf(CHAT.requestBody?.content['application/json']?.schema ?? {})
  const isTaken = (value: object) => {
    try {
      return parseChatRequest({ value, bytes: 1, callerId: 'key' }) !== undefined
    } catch {
      return false
    }
  }

  test.each([
    [true, {}],
    [true, { max_tokens: null, temperature: 2, top_p: 0, n: 128, stop: ['a'], seed: -1, tools: [] }],
    [true, { messages: [{ role: 'assistant', content: null, tool_calls: [] }] }],
    [true, { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    [false, { model: '' }],
    [false, { messages: [] }],
    [false, { messages: [{ role: 'robot', content: 'Hi' }] }],
    [false, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
    [false, { max_tokens: 0 }],
    [false, { max_completion_tokens: 1.5 }],
    [false, { temperature: 2.1 }],
    [false, { n: 129 }],
    [false, { stream: 'yes' }],
    [false, { stop: 1 }],
    [false, { top_logprobs: 21 }],
    [false, { tools: ['search'] }],
    [false, { metadata: [] }],
  ])('docs/openapi.json and the gateway agree (valid: %p) on a request with %j', (isValid, extra) => {
    const request = { ...HELLO, ...extra }
    expect([checker.safeParse(request).success, isTaken(request)]).toEqual([isValid, isValid])
  })
})

describe('requests for a response', () => {
  const checker = checkerOf(RESPONSES.requestBody?.content['application/json']?.schema ?? {})
  const isTaken = (value: object) => {
    try {
      return readRequest({ value, bytes: 1, callerId: 'key' }) !== undefined
    } catch {
      return false
    }
  }

  test.each([
    [true, {}],
    [true, { input: [{ role: 'user', content: 'Hi' }], tools: [{ type: 'function', name: 'f' }], tool_choice: 'auto' }],
    [true, { instructions: null, store: true, background: false, previous_response_id: null }],
    [false, { model: '' }],
    [false, { input: [] }],
    [false, { input: '' }],
    [false, { max_output_tokens: 0 }],
    [false, { temperature: 3 }],
    [false, { tools: [{ type: 'web_search' }] }],
    [false, { tool_choice: 'search' }],
    [false, { truncation: 'middle' }],
    [false, { background: true }],
    [false, { conversation: 'c' }],
    [false, { previous_response_id: 'resp_1' }],
    [false, { prompt: { id: 'p' } }],
  ])('docs/openapi.json and the gateway agree (valid: %p) on a request for a response with %j', (isValid, extra) => {
    const request = { ...ASKED, ...extra }
    expect([checker.safeParse(request).success, isTaken(request)]).toEqual([isValid, isValid])
  })
})

test('the answers shown in docs/clients.md are as docs/openapi.json says', () => {
  const shown = blocksOf('docs/clients.md', 'json').map((block) => JSON.parse(block))
  const kinds = {
    list: 'ModelList',
    api_key: 'ApiKey',
    usage: 'UsageRecord',
    'usage.sums': 'UsageSums',
    quote: 'Quote',
  }
  expect(shown.map(({ object }) => object)).toEqual(Object.keys(kinds))
  for (const answer of shown) {
    const name = kinds[answer.object as keyof typeof kinds]
    checkerOf({ $ref: `#/components/schemas/${name}` }).parse(answer)
  }
})

test('docs/clients.md lists every error code beside its status', () => {
  const rows = readDocument('docs/clients.md')
    .split('\n')
    .filter((line) => /^\| \d{3}/.test(line))
  const missing = ERROR_KINDS.filter((kind) => {
    const { status: code, code: name } = new GatewayError(kind, 'why')
    const isNamed = (row: string) => row.split('|')[1]?.includes(String(code)) && row.includes(`\`${name}\``)
    return !rows.some(isNamed)
  })
  expect(missing).toEqual([])
  const badRequests = rows.filter((row) => row.startsWith('| 400 ')).join('\n')
  for (const code of REQUEST_CODES) expect(badRequests).toContain(`\`${code}\``)
  const listed = rows.flatMap((row) => Array.from((row.split('|')[2] ?? '').matchAll(/`(\w+)`/g), ([, code]) => code))
  expect(listed.filter((code) => ![...ERROR_KINDS, ...REQUEST_CODES].includes(code as never))).toEqual([])
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

test('the check of an answer finds a charge that is missing or no number', () => {
  for (const name of ['ChatCompletion', 'Completion', 'EmbeddingList']) {
    const checker = checkerOf({ $ref: `#/components/schemas/${name}` })
    const answer = (usage: object) => ({ id: name === 'Completion' ? 'cmpl-1' : 'chatcmpl-1', model: 'm', usage })
    const usages = [{ cost: 0.1 }, { prompt_tokens: 1 }, { cost: '0.1' }]
    expect(usages.map((usage) => checker.safeParse(answer(usage)).success)).toEqual([true, false, false])
  }
})

test('the check of an answer finds a field that is missing, of another type or not in docs/openapi.json', () => {
  const checker = checkerOf({ $ref: '#/components/schemas/Window' })
  const window = { limit: 1, remaining: 1, reset: 0 }
  const { reset: _, ...missing } = window
  const answers = [window, missing, { ...window, reset: '0' }, { ...window, colour: 'red' }]
  expect(answers.map((answer) => checker.safeParse(answer).success)).toEqual([true, false, false, false])
})
