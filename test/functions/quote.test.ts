import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { type EndpointName, endpointNamed, HTTP_ROUTES, isBilled, SCOPES } from '../../layers/gateway/endpoints.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { demandOf } from '../support/demand.ts'
import { embed } from '../support/embeddings.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

type Quote = {
  readonly endpoint: string
  readonly catalog_version: number
  readonly prompt_tokens: { readonly estimated: number; readonly most: number }
  readonly output_tokens: { readonly most: number; readonly covered: Record<string, number | null> }
  readonly hold: string | null
  readonly cost: { readonly without_output: string; readonly with_most_output: string }
  readonly refusal: { readonly status: number; readonly code: string; readonly message: string } | null
}

const nano = (credits: string) => parseCredits(credits) ?? -1n
const upstream = await openUpstream()
const vectors = await openUpstream(embed())
const [model] = catalogFor(upstream.url).models
const price = { input: '1', output: '2', request: '0.001', image: '0.01' }
const embedding = { kind: 'embedding', contextLength: 1000, dimensions: 4, price: { input: '1' } }
const to = (...providers: string[]) => ({ routes: providers.map((provider) => ({ provider, model: provider })) })
const gateway = await openFor(
  requireCatalog({
    providers: {
      up: { type: 'openai', baseUrl: upstream.url },
      vectors: { type: 'openai', baseUrl: vectors.url },
      claude: { type: 'anthropic', baseUrl: upstream.url, apiKey: 'env:NO_SUCH_VARIABLE' },
      bedrock: { type: 'bedrock', region: 'us-east-1' },
    },
    models: [
      model,
      { ...model, id: 'tiers', price: { ...price, tiers: [{ above: 300, input: '3', output: '1' }] } },
      { ...model, id: 'claude', ...to('claude') },
      { ...model, id: 'both', ...to('claude', 'up') },
      { ...model, id: 'nova', ...to('bedrock') },
      { id: 'vector', ...embedding, ...to('vectors') },
    ],
  }),
)

const send = (secret: string, path: string, body: object | string, headers: Record<string, string> = {}) =>
  gateway.ask(textOf(body), { secret, path, headers })
const textOf = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body))

/** As a client writes both: the body in a quote has the letters of the body alone. */
const askQuote = (secret: string, endpoint: string, body: object | string, headers?: Record<string, string>) =>
  send(secret, '/v1/quote', `{"endpoint":${JSON.stringify(endpoint)},"body":${textOf(body)}}`, headers)
const quote = async (secret: string, endpoint: string, body: object | string) =>
  JSON.parse((await askQuote(secret, endpoint, body)).text) as Quote

const CHAT = '/v1/chat/completions'
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } }
const user = (content: unknown) => ({ role: 'user', content })
const BODIES: readonly (readonly [path: string, body: object | string])[] = [
  [CHAT, HELLO],
  [CHAT, { ...HELLO, max_tokens: 7 }],
  [CHAT, { ...HELLO, max_completion_tokens: 1_000_000 }],
  [CHAT, { ...HELLO, n: 3, max_tokens: 20 }],
  [CHAT, { ...HELLO, stream: true }],
  [CHAT, { ...HELLO, model: 'tiers', messages: [user('x'.repeat(2000))] }],
  [CHAT, { ...HELLO, model: 'tiers', messages: [user([{ type: 'text', text: 'ä"\\ 🚀' }, image, image])] }],
  [CHAT, { ...HELLO, tools: [tool, tool] }],
  [CHAT, { ...HELLO, seed: 10_000, messages: [user('1'), { role: 'assistant', content: 'a' }, user('2')] }],
  [
    CHAT,
    '{ "model" : "test-model",\n  "messages": [ {"role":"user","content":"\\u00e4\\ud83d\\ude80 \\" } ] , {"} ] }',
  ],
  [CHAT, '{"messages":[],"model":"none","model":"test-model","messages":[{"role":"user","content":"twice"}]}'],
  [
    CHAT,
    '{"model":"test-model","messages":[{"role":"user","content":[{"type":"text","text":"1"}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","maximum":1e20,"minimum":1000}}}]}',
  ],
  ['/v1/responses', { model: 'test-model', input: 'Hello', instructions: 'Be brief.' }],
  ['/v1/responses', { model: 'test-model', input: 'Hello', max_output_tokens: 33, stream: true }],
  ['/v1/responses/compact', { model: 'test-model', input: 'Hello', instructions: 'Be brief.' }],
  ['/v1/messages', { ...HELLO, max_tokens: 30, system: 'Be brief.' }],
  ['/v1/messages', { ...HELLO, max_tokens: 30, stream: true }],
  ['/v1/completions', { model: 'test-model', prompt: 'Hello', max_tokens: 12 }],
  ['/v1/completions', { model: 'test-model', prompt: ['Hello'] }],
  ['/v1/embeddings', { model: 'vector', input: ['Hello', 'you there'] }],
  ['/v1/embeddings', { model: 'vector', input: [[1, 2, 3]] }],
]

test('every endpoint that is charged is tried here', () => {
  const paths = HTTP_ROUTES.filter(({ endpoint }) => isBilled(endpoint)).map(({ path }) => path)
  expect([...new Set(BODIES.map(([path]) => path))].toSorted()).toEqual(paths.toSorted())
})

describe.each([
  ['a full balance', { credits: '10' }],
  ['a balance that lowers the cap', { credits: '0.0013' }],
  ['a day that lowers the cap', { credits: '10', dailyCredits: 1_300_000n }],
  ['a month and a day', { credits: '10', dailyCredits: 1_400_000n, monthlyCredits: 1_250_000n }],
  ['the tokens of a minute', { credits: '10', tpm: 400 }],
  ['a balance and fewer tokens', { credits: '0.0013', tpm: 150 }],
  ['a balance and more tokens', { credits: '0.0005', tpm: 400 }],
  ['next to nothing', { credits: '0.0001' }],
  ['no credits', { credits: '0' }],
])('with %s', (_, credits) => {
  test.each(BODIES)('a request to %s holds what its quote says, or is refused as it says: %j', async (path, body) => {
    const { secret } = await gateway.issue({ ...credits, scopes: SCOPES })
    const asked = upstream.requests.length
    const quoted = await askQuote(secret, path, body)
    const told = JSON.parse(quoted.text) as Quote
    expect(upstream.requests).toHaveLength(asked)
    expect([quoted.status, quoted.response.headers.get('x-svc-cost')]).toEqual([200, '0'])
    expect(quoted.key).toMatchObject({ available: nano(credits.credits), spent: 0n, holds: {} })
    const { status, error, row } = await send(secret, path, body)
    if (told.hold === null) {
      expect([status, error.message]).toEqual([told.refusal?.status, told.refusal?.message])
      return
    }
    expect([status, row.hold, row.priceVersion]).toEqual([200, nano(told.hold), told.catalog_version])
    expect(told.refusal).toBeNull()
    const { without_output, with_most_output } = told.cost
    expect(nano(without_output)).toBeLessThanOrEqual(nano(with_most_output))
    expect(nano(with_most_output)).toBeLessThanOrEqual(nano(told.hold))
    expect(told.prompt_tokens.estimated).toBeLessThanOrEqual(told.prompt_tokens.most)
    expect(told.prompt_tokens.estimated).toBeGreaterThan(0)
  })
})

test('the output that is covered can be sent, and one token more cannot', async () => {
  const { secret } = await gateway.issue({ credits: '0.0013', dailyCredits: 1_000_000n, rpm: 600 })
  const ask = (max_tokens: number) => quote(secret, CHAT, { ...HELLO, max_tokens })
  const { covered } = (await ask(100)).output_tokens
  expect(covered).toMatchObject({ monthly_credits: null })
  const [day, balance] = [Number(covered.daily_credits), Number(covered.balance)]
  expect(day).toBeLessThan(balance)
  const [within, beyondDay, beyondAll] = [await ask(day), await ask(day + 1), await ask(balance + 1)]
  expect([within, beyondDay, beyondAll].map(({ refusal }) => refusal?.code)).toEqual([
    undefined,
    'daily_credits_exceeded',
    'credit_balance_exhausted',
  ])
})

describe('the same refusals', () => {
  const deep = `{"model":"test-model","messages":${'['.repeat(200)}${']'.repeat(200)}}`
  const REFUSED: readonly (readonly [path: string, body: object | string])[] = [
    [CHAT, {}],
    [CHAT, '[]'],
    [CHAT, 'null'],
    [CHAT, '"text"'],
    [CHAT, deep],
    [CHAT, '{"__proto__":1}'],
    [CHAT, '{"model":"test-model","messages":[],"seed":1e999}'],
    [CHAT, { ...HELLO, model: 'test-modle' }],
    [CHAT, { ...HELLO, model: 'vector' }],
    [CHAT, { ...HELLO, max_tokens: -1 }],
    [CHAT, { ...HELLO, mesages: [] }],
    [CHAT, { ...HELLO, plugins: [] }],
    [CHAT, { ...HELLO, model: 'claude', logit_bias: { 1: 1 } }],
    [CHAT, { ...HELLO, model: 'claude', n: 2 }],
    [CHAT, { ...HELLO, model: 'nova', logit_bias: { 1: 1 } }],
    [CHAT, `{"model":"test-model","messages":[{"role":"user","content":"${'x'.repeat(4 * 1024 * 1024)}"}]}`],
    ['/v1/messages', HELLO],
    ['/v1/messages', { ...HELLO, max_tokens: 10, temperature: 7 }],
    ['/v1/responses', { model: 'test-model', input: 'a', previous_response_id: 'resp_1' }],
    ['/v1/completions', { model: 'test-model' }],
    ['/v1/embeddings', { model: 'test-model', input: 'a' }],
    ['/v1/embeddings', { model: 'vector', input: 'word '.repeat(2000) }],
  ]
  const known = (text: string) => text.replaceAll(/req_[0-9A-Z]+/gi, 'req')

  test.each(REFUSED)('a quote for %s is refused as the request is, letter for letter (%#)', async (path, body) => {
    const { secret } = await gateway.issue({ scopes: SCOPES })
    const [quoted, sent] = [await askQuote(secret, path, body), await send(secret, path, body)]
    expect(sent.status).toBeGreaterThanOrEqual(400)
    expect([quoted.status, known(quoted.text)]).toEqual([sent.status, known(sent.text)])
  })

  test.each(['chat.completions', 'embeddings'] as EndpointName[])(
    'a key without its scope gets no quote for %s',
    async (name) => {
      const { routes } = endpointNamed(name)
      const [path = ''] = routes.map((route) => route.path)
      const { secret } = await gateway.issue({ scopes: [] })
      const [quoted, sent] = [await askQuote(secret, path, '{}'), await send(secret, path, '{}')]
      expect([quoted.status, known(quoted.text)]).toEqual([403, known(sent.text)])
    },
  )

  test('a model that the key may not use is a 403, and a route that cannot be chosen a 400', async () => {
    const { secret } = await gateway.issue({ models: ['other-*'] })
    expect(await askQuote(secret, CHAT, HELLO)).toMatchObject({ status: 403, error: { code: 'model_not_allowed' } })
    const { secret: other } = await gateway.issue()
    const pinned = await askQuote(other, CHAT, HELLO, { 'X-Svc-Route': 'nobody' })
    expect(pinned).toMatchObject({ status: 400, error: { code: 'invalid_route' } })
  })

  test('a route that cannot take the request does not keep another from a quote', async () => {
    const { secret } = await gateway.issue()
    expect((await askQuote(secret, CHAT, { ...HELLO, model: 'both', logit_bias: { 1: 1 } })).status).toBe(200)
  })
})

test.each([
  ['', 'invalid_json', 'empty'],
  ['{"endpoint":', 'invalid_json', 'not valid JSON: '],
  ['[]', 'invalid_body', "an object with 'endpoint' and 'body'"],
  ['{}', 'missing_required_parameter', "'endpoint' must be"],
  ['{"endpoint":7,"body":{}}', 'invalid_value', "'endpoint' must be"],
  ['{"endpoint":"/v1/chat/completion","body":{}}', 'invalid_value', "did you mean '/v1/chat/completions'?"],
  ['{"endpoint":"/v1/messages/count_tokens","body":{}}', 'invalid_value', "'endpoint' must be"],
  ['{"endpoint":"/v1/models","body":{}}', 'invalid_value', "'endpoint' must be"],
  ['{"endpoint":"/v1/quote","body":{}}', 'invalid_value', "'endpoint' must be"],
  ['{"endpoint":"__proto__","body":{}}', 'invalid_value', "'endpoint' must be"],
  ['{"endpoint":"/v1/chat/completions"}', 'missing_required_parameter', "'body' must be"],
  ['{"endpoint":"/v1/chat/completions","body":{},"model":"a"}', 'unsupported_parameter', "belong into 'body'"],
  ['{"endpoint":"/v1/chat/completions","body":{},"__proto__":{}}', 'unsupported_parameter', "belong into 'body'"],
])('the quote %s is a 400 %s, spends a token and leaves a row', async (text, code, words) => {
  const { status, error, key, row } = await gateway.ask(text, { path: '/v1/quote' })
  expect([status, error.code, error.message]).toEqual([400, code, expect.stringContaining(words)])
  expect(Object.values(key.counts.dailyLimit)).toEqual([1n])
  expect(row).toMatchObject({ endpoint: 'quote', outcome: 'refused', hold: 0n, cost: 0n })
})

test('a quote spends a token, and its row has its model and contract, and neither hold nor charge', async () => {
  const { secret } = await gateway.issue({ rpm: 2 })
  const body = { ...HELLO, max_tokens: 10, stream: true }
  const { row, key } = await askQuote(secret, '/v1/messages', body)
  const asked = { endpoint: 'quote', contract: 'messages', model: 'test-model', outcome: 'completed', stream: false }
  expect(row).toMatchObject({ ...asked, hold: 0n, cost: 0n, usageSource: 'none', attempts: [] })
  expect(Object.values(key.counts.dailyLimit)).toEqual([1n])
  const statuses = [await askQuote(secret, CHAT, body), await askQuote(secret, CHAT, body)].map(({ status }) => status)
  expect(statuses).toEqual([200, 429])
})

test('a body of the most bytes is quoted, though the quote is longer', async () => {
  const { secret } = await gateway.issue()
  const frame = JSON.stringify({ ...HELLO, max_tokens: 1, messages: [user('')] })
  const body = frame.replace('""', `"${'x'.repeat(4 * 1024 * 1024 - frame.length)}"`)
  upstream.reply = say('Hello')
  const told = await quote(secret, CHAT, body)
  const { row } = await send(secret, CHAT, body)
  expect(row.hold).toBe(nano(told.hold ?? ''))
})

test('a quote counts credits that a dead request still holds, as admission does', async () => {
  const { key, secret } = await gateway.issue({ credits: '0.0005' })
  const past = Date.now() - 3_600_000
  const requestId = makeRequestId(past, new Uint8Array(10))
  const demand = demandOf(key, past, { requestId, hold: 500_000n, holdUntilMs: past + 1000 })
  expect(await takeAdmission(gateway.tables)(key, demand)).toMatchObject({ admitted: true })
  const body = { ...HELLO, max_tokens: 10 }
  const told = await quote(secret, CHAT, body)
  const { row } = await send(secret, CHAT, body)
  expect([nano(told.hold ?? ''), row.httpStatus]).toEqual([row.hold, 200])
})

test('200 quotes at once take no credits, and a request beside them is admitted', async () => {
  const { key, secret } = await gateway.issue({ credits: '0.01', rpm: 60_000, maxConcurrent: 1000 })
  const all = Array.from({ length: 200 }, () => askQuote(secret, CHAT, HELLO))
  const [sent, ...quoted] = await Promise.all([send(secret, CHAT, HELLO), ...all])
  expect(sent?.status).toBe(200)
  expect(quoted.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
  const { available, spent, holds, granted } = await gateway.readKey(key.id)
  expect([available + spent, holds]).toEqual([granted, {}])
})

test('an Idempotency-Key of a quote is not the one of the request', async () => {
  const { secret } = await gateway.issue()
  const headers = { 'Idempotency-Key': 'once' }
  expect((await askQuote(secret, CHAT, HELLO, headers)).status).toBe(200)
  expect((await send(secret, CHAT, HELLO, headers)).status).toBe(200)
  expect((await askQuote(secret, CHAT, HELLO, headers)).response.headers.get('x-svc-replayed')).toBeNull()
})
