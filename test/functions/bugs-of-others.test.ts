import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { openInstance } from '../../functions/instance.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { KeySettings } from '../../layers/gateway/domain/keys/key-settings.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { findKeyId, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { usageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { openDatabase } from '../../local/dynamodb/open-database.ts'
import { ending, message, start, stream, textBlock } from '../providers/anthropic/anthropic-fixtures.ts'
import { booksBalance, catalogFor, HELLO, openAllTables, postTo } from '../support/gateway.ts'
import { emptyFolder, startLocal } from '../support/processes.ts'
import { openBoth, openFor, openUpstream } from '../support/stack.ts'
import { beginAnswers, type Reply, say, status, type Upstream } from '../support/upstream.ts'

// Bugs that other gateways have had, by their issues, as guarantees of this one.

const CAP = { max_tokens: 100 }
const PAID = { input: '1', output: '2' }
const FREE = { input: '0', output: '0' }

/** The providers are OpenAI's, unless they say otherwise. */
function catalogOf(upstreams: Record<string, Pick<Upstream, 'url'> & { type?: string }>, models: readonly object[]) {
  const providers = Object.entries(upstreams).map(([id, { url, type = 'openai' }]) => [id, { type, baseUrl: url }])
  const whole = models.map((model) => ({ contextLength: 100_000, maxOutputTokens: 1000, ...model }))
  return requireCatalog({ providers: Object.fromEntries(providers), models: whole })
}

// LiteLLM #38157
test('a graceful stop of npm start loses no row: of an answer that has ended none, of a stream under way none after the sweep', async () => {
  const upstream = await openUpstream()
  const folder = emptyFolder()
  writeFileSync(join(folder, 'catalog.json'), JSON.stringify(catalogFor(upstream.url)))
  const { local, child, ended } = await startLocal(folder, {}, ['--catalog', join(folder, 'catalog.json')])
  const ask = () => postTo(local.baseUrl, local.demoKey, { ...HELLO, ...CAP, stream: true })
  const answered = await ask()
  expect(await answered.text()).toContain('[DONE]')
  beginAnswers(upstream)
  const underWay = await ask()
  child.kill('SIGTERM')
  await expect(underWay.text()).rejects.toThrow()
  expect((await ended).code).toBe(0)

  await using database = await openDatabase({ file: join(folder, '.waybill', 'data.sqlite'), credentials: null })
  const tables = openAllTables(LOCAL_TABLES, database.endpoint)
  const keyId = (await findKeyId(tables)(hashSecret(local.demoKey))) ?? ''
  const range = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS }
  const rows = async () =>
    (await Array.fromAsync(usageRows(tables, [keyId], range))).map(({ requestId, outcome }) => [requestId, outcome])
  const completed = [answered.headers.get('x-request-id'), 'completed']
  expect(await rows()).toEqual([completed])
  const config = { ...LOCAL_TABLES, ...BRAND }
  const clock = () => Date.now() + DAY_MS
  await createSweep(openInstance({ config, tables, clock, log: jsonLog(() => {}) }))()
  expect(await rows()).toEqual([completed, [underWay.headers.get('x-request-id'), 'abandoned']])
  const key = await readKey(tables)(keyId)
  expect([key?.holds, key && booksBalance(key)]).toEqual([{}, true])
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
    const asked = await (await openFor(catalog)).ask(CAP)
    expect([asked.status, other.requests.length]).toEqual(answered === 'is answered' ? [200, 1] : [502, 0])
    expect(asked.row.cost).toBe(0n)
  })
})

const CACHE_PRICE = { ...PAID, cachedInput: '0.5', cacheWrite: '3', cacheWrite1h: '7' }

/** The row of an answer that was reported like this, which must be the same whole and streamed. */
async function billedBy(type: 'openai' | 'anthropic', usage: object, asked: object = {}): Promise<UsageRow> {
  const whole = message([{ type: 'text', text: 'Hello' }], 'end_turn', usage)
  // Told at the start, and once more at the end.
  const streamed = stream(start(usage), ...textBlock(0, 'Hello'), ...ending('end_turn', usage))
  const { gateway, upstream } = await openBoth({ model: { price: CACHE_PRICE }, provider: { type } })
  upstream.reply = type === 'openai' ? say('Hello', usage) : whole
  const { row } = await gateway.ask({ ...CAP, ...asked })
  if (type === 'anthropic') upstream.reply = streamed
  const { row: other } = await gateway.ask({ ...CAP, ...asked, stream: true })
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
    return (await openFor(catalog)).ask(CAP, settings)
  }

  const asked = ({ attempts }: UsageRow) => attempts.map(({ provider }) => provider)

  test.each(NO_CREDIT)(
    '(%s) is no outage: the next route answers, though it costs more, within the bound on loss',
    async (_, type, refusal) => {
      const { status: code, row, key } = await askPast(type, refusal)
      expect([code, asked(row)]).toEqual([200, ['empty', 'next']])
      const loss = 10n * 4_000n + 5n * 7_000n
      expect([row.cost, row.loss, Object.values(key.counts.dailyLoss)]).toEqual([20_000n, loss, [loss]])
      const beyond = await askPast(type, refusal, { dailyLoss: 1n })
      expect([beyond.status >= 500, asked(beyond.row)]).toEqual([true, ['empty']])
    },
  )
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
