import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { type ContractName, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'

const upstream = await openUpstream()
const other = await openUpstream()
const price = { input: '1', output: '2' }
const model = { contextLength: 100_000, maxOutputTokens: 100, price }
const routes = [{ provider: 'up', model: 'm' }]
const catalog = requireCatalog({
  providers: { up: { type: 'openai', baseUrl: upstream.url }, other: { type: 'openai', baseUrl: other.url } },
  models: [
    { ...model, id: 'test-model', routes, fallback: ['backup'] },
    { ...model, id: 'test-mini', routes },
    { ...model, id: 'backup', routes: [{ provider: 'other', model: 'b' }] },
    { id: 'vector', kind: 'embedding', contextLength: 100, dimensions: 4, price: { input: '1' }, routes },
  ],
})
const gateway = await openFor(catalog)
const second = await openFor(catalog, { onSameTables: gateway })

const codeOf = async (response: Response) =>
  ((await response.json()) as { error?: { code?: string; type?: string } }).error?.code
const PATHS = HTTP_ROUTES.filter(({ endpoint }) => endpoint.contract)
/** A body of each contract. */
const BODIES: Readonly<Record<ContractName, object>> = {
  chat: HELLO,
  responses: { model: 'test-model', input: 'Hello' },
  messages: { ...HELLO, max_tokens: 10 },
  completions: { model: 'test-model', prompt: 'Hello' },
  embeddings: { model: 'vector', input: 'Hello' },
}

test.each(PATHS.map(({ path, endpoint }) => [path, endpoint.contract as ContractName] as const))(
  '%s refuses a model that is not on the list with 403, before anything is held, and without an upstream',
  async (path, contract) => {
    const settings: Partial<KeySettings> = {
      models: ['test-mini', 'backup'],
      scopes: ['chat.completions', 'embeddings'],
    }
    const asked = upstream.requests.length
    const { status: code, error, row, key } = await gateway.ask(BODIES[contract], { ...settings, path })
    expect([code, error.message]).toEqual([403, expect.stringContaining('may not use the model')])
    expect(row).toMatchObject({ outcome: 'refused', errorCode: 'model_not_allowed', hold: 0n, cost: 0n })
    expect([key.available, Object.values(key.counts.dailyLimit)]).toEqual([key.granted, [1n]])
    expect(upstream.requests.length).toBe(asked)
  },
)

test('a model that a pattern of the list matches is served, in exactly these letters', async () => {
  const { status: code, secret } = await gateway.ask({}, { models: ['test-m*l'] })
  const other = await gateway.ask({ model: 'test-mini' }, { secret })
  const loud = await gateway.ask({}, { models: ['TEST-MODEL'] })
  expect([code, other.error.code, loud.error.code]).toEqual([200, 'model_not_allowed', 'model_not_allowed'])
})

test('a list that is changed is in force from the next request on a warm instance, in both directions', async () => {
  const { key, secret } = await gateway.issue()
  const set = (models: string[]) => updateKey(second.tables)(key.id, { models }, actAt())
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  await set(['test-mini'])
  expect(await codeOf(await gateway.post(secret, HELLO))).toBe('model_not_allowed')
  await set(['test-model'])
  const response = await gateway.post(secret, HELLO)
  expect(response.status).toBe(200)
  expect((await gateway.readRow(response.headers.get('x-request-id'))).hold > 0n).toBe(true)
  await set([])
  expect((await gateway.post(secret, { ...HELLO, model: 'test-mini' })).status).toBe(200)
})

test('of 200 requests that race with a change of the list, each that began after it is judged by the new list', async () => {
  const { key, secret } = await gateway.issue({ rpm: 60_000, maxConcurrent: 1000 })
  const post = (i: number) => (i % 2 ? gateway : second).post(secret, HELLO)
  const before = Array.from({ length: 100 }, (_, i) => post(i))
  await updateKey(second.tables)(key.id, { models: ['test-mini'] }, actAt())
  const after = await Promise.all(Array.from({ length: 100 }, (_, i) => post(i)))
  expect(new Set(after.map((response) => response.status))).toEqual(new Set([403]))
  for (const response of await Promise.all(before)) {
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect([row.httpStatus, row.hold > 0n]).toEqual(row.httpStatus === 200 ? [200, true] : [403, false])
  }
})

test('an answer that was paid for is not given again for a model that the key may not use any more', async () => {
  const { key, secret } = await gateway.issue()
  const headers = { 'Idempotency-Key': 'once' }
  expect((await gateway.post(secret, HELLO, headers)).status).toBe(200)
  await updateKey(gateway.tables)(key.id, { models: ['test-mini'] }, actAt())
  expect(await codeOf(await gateway.post(secret, HELLO, headers))).toBe('model_not_allowed')
})

test('a fallback model is used only by a key that may use it', async () => {
  upstream.reply = status(500, 'away')
  const answered = await gateway.ask({}, { models: ['test-model', 'back*'] })
  expect(answered).toMatchObject({ status: 200, row: { fallbackModel: 'backup' } })
  const asked = other.requests.length
  expect((await gateway.ask({}, { models: ['test-model'] })).status).toBe(502)
  expect(other.requests.length).toBe(asked)
  upstream.reply = say('Hello')
})

test('GET /v1/models lists the models that the key may use, GET /v1/models/{id} refuses the others, and advice names none', async () => {
  const { secret } = await gateway.issue({ models: ['test-m*', 'unknown'] })
  const list = (await (await gateway.get(secret, '/v1/models')).json()) as { data: { id: string }[] }
  expect(list.data.map(({ id }) => id)).toEqual(['test-model', 'test-mini'])
  expect((await gateway.get(secret, '/v1/models/test-mini')).status).toBe(200)
  const refused = await gateway.get(secret, '/v1/models/backup')
  expect([refused.status, await codeOf(refused)]).toEqual([403, 'model_not_allowed'])
  const misspelt = await gateway.post(secret, { ...HELLO, model: 'backupp' })
  expect(misspelt.status).toBe(404)
  expect(await misspelt.text()).not.toContain('Did you mean')
  const meant = await gateway.post(secret, { ...HELLO, model: 'test-modell' })
  expect(await meant.text()).toContain("Did you mean 'test-model'?")
})
