import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { openInstance } from '../../functions/instance.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { usageRows } from '../../layers/admin/usage/usage-rows.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { findKeyId, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { openDatabase } from '../../local/dynamodb/open-database.ts'
import { ending, message, start, stream, textBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { booksBalance, catalogFor, HELLO, openAllTables, type TestGateway } from '../support/gateway.ts'
import { emptyFolder, startLocal } from '../support/processes.ts'
import { openBoth, openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, sse, status, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

// Bugs that other gateways have had, by their issues, as guarantees of this one.

const CAPPED = { ...HELLO, max_tokens: 100 }
const PAID = { input: '1', output: '2' }
const FREE = { input: '0', output: '0' }

const codeOf = async (response: Response) => ((await response.json()) as { error?: { code: string } }).error?.code
const rowOf = (gateway: TestGateway, { headers }: Response) => gateway.readRow(headers.get('x-request-id'))

async function rowsOf(tables: OperatorTables, keyId: string): Promise<UsageRow[]> {
  const rows: UsageRow[] = []
  const range = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS }
  for await (const row of usageRows(tables, keyId, range)) rows.push(row)
  return rows
}

/** The providers are OpenAI's, unless they say otherwise. */
function catalogOf(upstreams: Record<string, Pick<Upstream, 'url'> & { type?: string }>, models: readonly object[]) {
  const providers = Object.entries(upstreams).map(([id, { url, type = 'openai' }]) => [id, { type, baseUrl: url }])
  const whole = models.map((model) => ({ contextLength: 100_000, maxOutputTokens: 1000, ...model }))
  return requireCatalog({ providers: Object.fromEntries(providers), models: whole })
}

async function holdOf(gateway: TestGateway): Promise<bigint> {
  const { secret } = await gateway.issue()
  return (await rowOf(gateway, await gateway.post(secret, CAPPED))).hold
}

// LiteLLM #18730
test.each<[string, string, (hold: bigint) => Partial<KeySettings>]>([
  ['daily credits', 'daily_credits_exceeded', (hold) => ({ rpm: 60_000, dailyCredits: 10n * hold })],
  ['requests a minute', 'rate_limit_exceeded', () => ({ rpm: 10 })],
])('of 200 requests at once that race through two instances, none passes its %s', async (_, refusal, limit) => {
  const nowMs = Date.now()
  const { gateway, upstream } = await openBoth({ clock: () => nowMs })
  const other = await openFor(catalogFor(upstream.url), { onSameTables: gateway, clock: () => nowMs })
  const { key, secret } = await gateway.issue({ maxConcurrent: 1000, ...limit(await holdOf(gateway)) })
  const everyone = Promise.withResolvers<void>()
  const before = upstream.requests.length
  upstream.reply = (...args) => everyone.promise.then(() => say('Hello')(...args))
  let ended = 0
  const asked = Array.from({ length: 200 }, async (_, i) => {
    const response = await (i % 2 ? gateway : other).post(secret, CAPPED)
    ended += 1
    return response
  })
  // No credits come back while requests still come.
  await until(() => upstream.requests.length - before + ended === 200)
  everyone.resolve()
  const codes = await Promise.all((await Promise.all(asked)).map(codeOf))
  expect([upstream.requests.length - before, codes.filter((code) => code === refusal).length]).toEqual([10, 190])
  const after = await gateway.readKey(key.id)
  expect([after.holds, booksBalance(after)]).toEqual([{}, true])
})

// LiteLLM #38157
test('a graceful stop of npm start loses no row: of an answer that has ended none, of a stream under way none after the sweep', async () => {
  const upstream = await openUpstream()
  const folder = emptyFolder()
  writeFileSync(join(folder, 'catalog.json'), JSON.stringify(catalogFor(upstream.url)))
  const { local, child, ended } = await startLocal(folder, {}, ['--catalog', join(folder, 'catalog.json')])
  const ask = () =>
    fetch(`${local.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${local.demoKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...CAPPED, stream: true }),
    })
  const answered = await ask()
  expect(await answered.text()).toContain('[DONE]')
  upstream.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ content: 'Hello' }))
  }
  const underWay = await ask()
  child.kill('SIGTERM')
  await expect(underWay.text()).rejects.toThrow()
  expect((await ended).code).toBe(0)

  await using database = await openDatabase({ file: join(folder, '.waybill', 'data.sqlite'), credentials: null })
  const tables = openAllTables(LOCAL_TABLES, database.endpoint)
  const keyId = (await findKeyId(tables)(hashSecret(local.demoKey))) ?? ''
  const rows = async () => (await rowsOf(tables, keyId)).map(({ requestId, outcome }) => [requestId, outcome])
  const completed = [answered.headers.get('x-request-id'), 'completed']
  expect(await rows()).toEqual([completed])
  const config = { ...LOCAL_TABLES, ...BRAND }
  const clock = () => Date.now() + DAY_MS
  await createSweep(openInstance({ config, tables, clock, log: jsonLog(() => {}) }))()
  expect(await rows()).toEqual([[underWay.headers.get('x-request-id'), 'abandoned'], completed])
  const key = await readKey(tables)(keyId)
  expect([key?.holds, key && booksBalance(key)]).toEqual([{}, true])
  tables.client.destroy()
})

// LiteLLM #27639, new-api #4429
test('clients that abort their streams in the middle, many at once, leave nothing held, and each one row that is charged', async () => {
  const { gateway, upstream } = await openBoth()
  const { key, secret } = await gateway.issue({ rpm: 60_000, maxConcurrent: 1000 })
  const left = Promise.withResolvers<void>()
  // Some report their counts, some do not, and some break off.
  const endings = [chunk({}, 'stop') + usageChunk(USAGE) + DONE, chunk({}, 'stop') + DONE, '']
  upstream.reply = async (response) => {
    const end = endings[upstream.requests.length % endings.length]
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ content: 'Hello' }))
    await left.promise
    // In turns, so that the gateway meets closed connections before the end.
    for (let i = 0; i < 10; i++) await nextTurn(response.write(chunk({ content: ' there' })))
    response.end(end)
  }
  const ids = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const response = await gateway.post(secret, { ...CAPPED, stream: true })
      for await (const bytes of response.body ?? []) if (String(Buffer.from(bytes)).includes('Hello')) break
      return response.headers.get('x-request-id')
    }),
  )
  expect(Object.keys((await gateway.readKey(key.id)).holds)).toHaveLength(30)
  left.resolve()
  await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length === 0)
  const after = await gateway.readKey(key.id)
  const rows = await rowsOf(gateway.tables, key.id)
  expect(rows.map(({ requestId }) => requestId).sort()).toEqual(ids.sort())
  expect(rows.filter(({ cost }) => cost > 0n)).toHaveLength(30)
  expect([rows.reduce((sum, { cost }) => sum + cost, 0n), booksBalance(after)]).toEqual([after.spent, true])
})

// LiteLLM #41344
describe('a free model whose routes are out', () => {
  const perRequest = { ...FREE, request: '0.001' }
  test.each<['is answered' | 'is not answered', string, object, object?, object?]>([
    ['is not answered', 'a fallback that has a price and no cost', { price: PAID }],
    ['is not answered', 'a fallback with a price and a cost', { price: PAID }, { cost: PAID }],
    ['is not answered', 'a fallback that is free to callers and costs us something', { price: FREE }, { cost: PAID }],
    ['is not answered', 'a fallback with a price for each request only', { price: perRequest }],
    ['is not answered', 'a fallback with a price if paidFallback names another', { price: PAID }, {}, ['free']],
    ['is answered', 'a fallback with a price that paidFallback names', { price: PAID }, {}, ['other']],
    ['is answered', 'a fallback with a cost that paidFallback names', { price: FREE }, { cost: PAID }, ['other']],
    ['is answered', 'a fallback that is free as well', { price: FREE }],
  ])('%s by %s', async (answered, _, model, route = {}, paidFallback = undefined) => {
    const [out, other] = [await openUpstream(status(500, {})), await openUpstream()]
    const own = { price: FREE, routes: [{ provider: 'out', model: 'm' }] }
    const catalog = catalogOf({ out, other }, [
      { id: 'test-model', ...own, fallback: ['other', 'free'], paidFallback },
      { id: 'other', ...model, routes: [{ provider: 'other', model: 'm', ...route }] },
      { id: 'free', ...own },
    ])
    const gateway = await openFor(catalog)
    const response = await gateway.post((await gateway.issue()).secret, CAPPED)
    expect([response.status, other.requests.length]).toEqual(answered === 'is answered' ? [200, 1] : [502, 0])
    expect((await rowOf(gateway, response)).cost).toBe(0n)
  })
})

const CACHE_PRICE = { ...PAID, cachedInput: '0.5', cacheWrite: '3', cacheWrite1h: '7' }

/** The row of an answer that was reported like this, which must be the same whole and streamed. */
async function billedBy(type: 'openai' | 'anthropic', usage: object, asked: object = {}): Promise<UsageRow> {
  const whole = message([{ type: 'text', text: 'Hello' }], 'end_turn', usage)
  // Told at the start, and once more at the end.
  const streamed = stream(start(usage), ...textBlock(0, 'Hello'), ...ending('end_turn', usage))
  const { gateway, upstream } = await openBoth({ model: { price: CACHE_PRICE }, provider: { type } })
  const { secret } = await gateway.issue()
  const ask = async (asStream: boolean) => {
    upstream.reply = type === 'openai' ? say('Hello', usage) : asStream ? streamed : whole
    const response = await gateway.post(secret, { ...CAPPED, ...asked, stream: asStream })
    await response.text()
    return rowOf(gateway, response)
  }
  const [row, other] = [await ask(false), await ask(true)]
  expect(row.cost).toBe(other.cost)
  return row
}

// LiteLLM #42663
test.each([
  ['are part of both lives', { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 5 }, 10n, 20n],
  ['are part of none', { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, 30n, 0n],
  ['have no breakdown', undefined, 30n, 0n],
])('cache writes that %s are charged, those beyond a breakdown as the dearer hour', async (_, lives, brief, hour) => {
  const counts = { input_tokens: 10, cache_creation_input_tokens: 30, cache_creation: lives, output_tokens: 5 }
  const row = await billedBy('anthropic', counts)
  expect(row).toMatchObject({ promptTokens: 40, cacheWriteTokens: 30, usageSource: 'upstream' })
  expect([row.cost, row.usageCapped]).toEqual([10n * 1_000n + brief * 3_000n + hour * 7_000n + 5n * 2_000n, undefined])
})

// LiteLLM #40006
const READ = { completion_tokens: 5, prompt_tokens_details: { cached_tokens: 30 } }
test.each<[string, 'openai' | 'anthropic', bigint, object]>([
  ['inside the prompt', 'openai', 30n, { prompt_tokens: 40, ...READ }],
  ['inside the prompt, by two names', 'openai', 30n, { prompt_tokens: 40, ...READ, prompt_cache_hit_tokens: 30 }],
  ['beside the prompt in OpenAI’s form', 'openai', 30n, { prompt_tokens: 10, ...READ }],
  ['beside the prompt', 'anthropic', 10n, { input_tokens: 30, cache_read_input_tokens: 10, output_tokens: 5 }],
])('cache reads are charged once, at their price, if they are counted %s', async (_, type, read, usage) => {
  const row = await billedBy(type, usage)
  expect(row).toMatchObject({ promptTokens: 40, cachedTokens: Number(read), usageSource: 'upstream' })
  expect(row.cost).toBe((40n - read) * 1_000n + read * 500n + 5n * 2_000n)
})

// LiteLLM #31837
test.each([
  ['priority', 'default', undefined, 1n],
  ['default', 'priority', 'priority', 3n],
  [undefined, 'priority', 'priority', 3n],
  ['priority', 'flex', 'flex', 1n],
])('a request in tier %s that is served in %s has %s in its row, and its price', async (asked, served, told, times) => {
  const price = { ...PAID, serviceTiers: { priority: { input: '3', output: '6' } } }
  const { gateway, upstream } = await openBoth({ model: { price, allowFields: ['service_tier'] } })
  const { secret } = await gateway.issue()
  const whole = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], usage: USAGE, service_tier: served }
  const streamed = [chunk({ content: 'Hi' }, 'stop', { service_tier: served }), usageChunk(USAGE), DONE]
  for (const reply of [status(200, whole), sse(streamed)]) {
    upstream.reply = reply
    const response = await gateway.post(secret, { ...CAPPED, stream: true, service_tier: asked })
    await response.text()
    const { serviceTier, cost } = await rowOf(gateway, response)
    expect([serviceTier, cost]).toEqual([told, times * 20_000n])
    expect(upstream.requests.at(-1)?.body.service_tier).toBe(asked)
  }
})

// LangWatch #7917
test('a refusal for the credits of a day ends with its day: a warm instance then answers the same request', async () => {
  const midnightMs = Date.UTC(2026, 10, 16)
  let nowMs = midnightMs - 60_000
  const { gateway } = await openBoth({ clock: () => nowMs })
  const { secret } = await gateway.issue({ dailyCredits: await holdOf(gateway) })
  expect((await gateway.post(secret, CAPPED)).status).toBe(200)
  const again = () => gateway.post(secret, CAPPED, { 'Idempotency-Key': 'the-same-request' })
  const refused = await again()
  expect([refused.status, await codeOf(refused)]).toEqual([429, 'daily_credits_exceeded'])
  nowMs = midnightMs - 1
  expect((await again()).status).toBe(429)
  nowMs = midnightMs
  expect((await again()).status).toBe(200)
})

// LiteLLM #37592
describe('a provider that is out of credit', () => {
  const DEARER = { input: '5', output: '9' }
  const error = { message: 'Your credit balance is too low', code: 'insufficient_quota' }
  const NO_CREDIT: readonly (readonly [string, object, Reply])[] = [
    ['402', {}, status(402, { error })],
    ['OpenAI’s 429', {}, status(429, { error })],
    ['Anthropic’s 400', { type: 'anthropic' }, status(400, { error })],
  ]

  async function askPast(provider: object, refusal: Reply, settings: Partial<KeySettings> = {}) {
    const [empty, next] = [await openUpstream(refusal), await openUpstream()]
    const second = { provider: 'next', model: 'm', priority: 1, cost: DEARER }
    const routes = [{ provider: 'empty', model: 'm' }, second]
    const catalog = catalogOf({ empty: { ...provider, ...empty }, next }, [{ id: 'test-model', price: PAID, routes }])
    const gateway = await openFor(catalog)
    const { key, secret } = await gateway.issue(settings)
    const response = await gateway.post(secret, CAPPED)
    const { counts } = await gateway.readKey(key.id)
    return { response, row: await rowOf(gateway, response), lost: Object.values(counts.dailyLoss) }
  }

  test.each(NO_CREDIT)('(%s) is no outage: the next route answers, though it costs more', async (_, type, refusal) => {
    const { response, row, lost } = await askPast(type, refusal)
    expect([response.status, row.attempts.map(({ provider }) => provider)]).toEqual([200, ['empty', 'next']])
    const loss = 10n * 4_000n + 5n * 7_000n
    expect([row.cost, row.loss, lost]).toEqual([20_000n, loss, [loss]])
  })

  test.each(NO_CREDIT)('(%s) leads to no dearer route beyond the key’s bound on loss', async (_, type, refusal) => {
    const { response, row } = await askPast(type, refusal, { dailyLoss: 1n })
    expect([response.status >= 500, row.attempts.map(({ provider }) => provider)]).toEqual([true, ['empty']])
  })
})

// LiteLLM #39294
test('an answer of several iterations is charged for all of them, not for the last', async () => {
  const first = { input_tokens: 20, cache_read_input_tokens: 8, output_tokens: 7 }
  const last = { input_tokens: 12, cache_read_input_tokens: 4, output_tokens: 5 }
  const row = await billedBy('anthropic', { ...last, iterations: [{ type: 'compaction', ...first }, last] })
  expect(row).toMatchObject({ promptTokens: 44, cachedTokens: 12, completionTokens: 12, usageSource: 'upstream' })
  expect(row.cost).toBe(32n * 1_000n + 12n * 500n + 12n * 2_000n)
})

test('iterations that do not tell how long their cache writes stay are charged by the hour that was asked for', async () => {
  const turn = { input_tokens: 10, cache_creation_input_tokens: 15, output_tokens: 5 }
  const content = [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral', ttl: '1h' } }]
  const asked = { messages: [{ role: 'user', content }] }
  const row = await billedBy('anthropic', { ...turn, iterations: [turn, turn] }, asked)
  expect(row).toMatchObject({ promptTokens: 50, cacheWriteTokens: 30, cacheWrite1hTokens: 30, completionTokens: 10 })
  expect(row.cost).toBe(20n * 1_000n + 30n * 7_000n + 10n * 2_000n)
})

test('an answer is charged by the price of the model that was asked for, whichever answered and however it calls itself', async () => {
  const [out, other] = [await openUpstream(status(500, {})), await openUpstream()]
  const gateway = await openFor(
    catalogOf({ out, other }, [
      { id: 'test-model', price: PAID, routes: [{ provider: 'out', model: 'm' }], fallback: ['upstream-model'] },
      { id: 'upstream-model', price: { input: '0.1', output: '0.2' }, routes: [{ provider: 'other', model: 'm' }] },
    ]),
  )
  const { secret } = await gateway.issue()
  const ask = async (model: string) => rowOf(gateway, await gateway.post(secret, { ...CAPPED, model }))
  const rows = await Promise.all(['test-model', 'upstream-model', 'test-model'].map(ask))
  expect(rows.map(({ cost }) => cost)).toEqual([20_000n, 2_000n, 20_000n])
})
