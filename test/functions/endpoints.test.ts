import { expect, test } from '@jest/globals'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/keys/new-key.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { addRateLimits, type Headers } from '../../layers/gateway/wire/requests/headers.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let nowMs = NOW
const price = { input: '1', output: '2', cachedInput: '0.1', cacheWrite: '1.25', request: '0.005', image: '0.001' }
const model = { id: 'vendor/test-model', name: 'Test', created: 5, price }
const { upstream, gateway } = await openBoth({ clock: () => nowMs, model })

const ENTRY = {
  id: 'vendor/test-model',
  object: 'model',
  created: 5,
  owned_by: 'up',
  name: 'Test',
  kind: 'chat',
  contracts: expect.arrayContaining(['chat', 'completions']),
  context_length: 1_000_000,
  max_output_tokens: 1000,
  pricing: {
    prompt: '0.000001',
    completion: '0.000002',
    input_cache_read: '0.0000001',
    input_cache_write: '0.00000125',
    request: '0.005',
    image: '0.001',
  },
}

test('GET /v1/models lists the active models with every price of theirs, also those per request and per image', async () => {
  const { secret } = await gateway.issue()
  const response = await gateway.get(secret, '/v1/models')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ object: 'list', data: [ENTRY] })
})

test('GET /v1/models/{id} finds a model by an id with a slash, encoded or not', async () => {
  const { secret } = await gateway.issue()
  for (const id of ['vendor/test-model', 'vendor%2Ftest-model']) {
    expect(await (await gateway.get(secret, `/v1/models/${id}`)).json()).toEqual(ENTRY)
  }
  const missing = await gateway.get(secret, '/v1/models/nope')
  expect(missing.status).toBe(404)
  expect(await missing.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } })
})

test('a catalog is in force 30 seconds after it was pushed, and a model that it makes inactive is gone', async () => {
  const own = await openFor(catalogFor(upstream.url), { clock: () => nowMs })
  const { secret } = await own.issue()
  expect((await own.post(secret, HELLO)).status).toBe(200)
  await writeCatalog(own.tables)(catalogFor(upstream.url, { active: false }), actAt(nowMs))
  nowMs += 30_000
  const response = await own.post(secret, HELLO)
  expect(response.status).toBe(404)
  expect(await (await own.get(secret, '/v1/models')).json()).toEqual({ object: 'list', data: [] })
  nowMs = NOW
})

test('GET /v1/key/introspect tells a key all about itself, whatever its scopes', async () => {
  const settings: Partial<KeySettings> = { name: 'acme', scopes: ['models.read'], models: ['test-m*'], rpm: 30 }
  const { key, secret } = await gateway.issue({ ...settings, credits: '2.5' })
  const response = await gateway.get(secret, '/v1/key/introspect')
  expect(await response.json()).toEqual({
    object: 'api_key',
    id: key.id,
    name: 'acme',
    status: 'active',
    scopes: ['models.read'],
    balance: '2.5',
    account: null,
    held: '0',
    spent: '0',
    key: { prefix: 'svc_live_', last_four: secret.slice(-4), state: 'current', expires_at: null },
    limits: {
      rpm: { limit: 30, remaining: 29, reset: 2 },
      daily: { limit: 10_000, remaining: 9_999, reset: 12 * 3600 },
      concurrent: { limit: 200, in_use: 0 },
      daily_credits: null,
      monthly_credits: null,
      tpm: null,
    },
    plan: null,
    top_up_url: null,
    models: ['test-m*'],
    allowlist: [],
    created_at: NOW / 1000,
  })
})

test('every answer to a known key has a request id, the rate limit and the cost', async () => {
  const { secret } = await gateway.issue()
  const answers = await Promise.all([
    gateway.get(secret, '/v1/models'),
    gateway.get(secret, '/v1/key/introspect'),
    gateway.get(secret, '/v1/usage/nope'),
    gateway.get(secret, '/v1/nope'),
    gateway.get(secret, '/v1/chat/completions'),
    gateway.get(secret, '/v1/chat/nope'),
    gateway.post(secret, { ...HELLO, model: 'vendor/test-model' }),
    gateway.post(secret, 'not json'),
  ])
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(new Set(ids).size).toBe(answers.length)
  for (const { headers } of answers) {
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
      expect(headers.get(name)).toMatch(/^\d+$/)
    }
    expect(headers.get('x-ratelimit-limit-requests')).toBe(headers.get('ratelimit-limit'))
    expect(headers.get('x-ratelimit-remaining-requests')).toBe(headers.get('ratelimit-remaining'))
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^(\d+h)?(\d+m)?\d+s$/)
    expect(headers.get('x-svc-cost')).toMatch(/^\d+(\.\d+)?$/)
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 405, 404, 200, 400])
})

test.each([
  [0, '0s'],
  [6, '6s'],
  [59, '59s'],
  [60, '1m0s'],
  [3_599, '59m59s'],
  [3_600, '1h0m0s'],
  [44_934, '12h28m54s'],
])('a limit that is reset in %i seconds says so as OpenAI does: %s', (seconds, text) => {
  const nowMs = Date.UTC(2026, 0, 2) - seconds * 1000
  // The limit per day is the tighter one, and ends at midnight; a bucket that is full needs no time.
  const limits = seconds === 0 ? { rpm: 1, dailyLimit: 2 } : { rpm: 3, dailyLimit: 2 }
  const settings = { ...KEY_DEFAULTS, name: 'any', ...limits }
  const stored = { hash: 'any', lastFour: 'abcd' }
  const key = newKey({ settings, credits: 0n, prefix: 'svc_live_', stored }, nowMs, new Uint8Array(10))
  const headers: Headers = {}
  addRateLimits(headers, key, nowMs)
  expect(headers['x-ratelimit-reset-requests']).toBe(text)
})
