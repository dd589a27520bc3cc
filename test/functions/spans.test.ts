import { beforeEach, expect, test } from '@jest/globals'
import type { Collector } from '../../functions/close/send-spans.ts'
import { MINUTE_MS, makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import { CLOSING_LAG_MS, SUMMING_LAG_MS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { spanOf } from '../../layers/gateway/domain/rows/span.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { readClosing } from '../../layers/gateway/store/rows/closing.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { readSettings } from '../../local/settings.ts'
import { Random } from '../simulation/random.ts'
import { demandOf } from '../support/demand.ts'
import { FULL_ROW } from '../support/full-row.ts'
import { openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { closerAt, randomRow, usedKey } from '../support/past-usage.ts'
import { someTimes } from '../support/some-of.ts'
import { type Mode, openCollector } from './support/collector.ts'

/** Minutes before midnight, so that spans are of two days. */
const BEGIN_MS = Date.UTC(2026, 9, 1, 23, 50)
const LATER_MS = BEGIN_MS + 20 * MINUTE_MS
const SENT_MS = LATER_MS + SUMMING_LAG_MS

let collector: Awaited<ReturnType<typeof openCollector>>
let tables: Tables
let random: Random

beforeEach(async () => {
  collector = await openCollector()
  tables = await openTestTables()
  random = new Random(5)
})

const runAt = async (nowMs: number, more: Partial<Collector> = {}) => {
  const closer = closerAt(tables, () => nowMs, { collector: { url: collector.url, ...more } })
  await closer.run()
  return closer.logLines.filter((line) => line.includes('spans could not be sent'))
}

/** A stage that sends spans from a moment on, and a key with rows after it. */
async function stageWith(count: number, keys = 1): Promise<UsageRow[]> {
  await runAt(BEGIN_MS + SUMMING_LAG_MS)
  const made = await Promise.all(
    Array.from({ length: keys }, () =>
      usedKey(tables, BEGIN_MS, (id) =>
        Array.from({ length: count }, () => randomRow(random, id, BEGIN_MS + 1 + random.below(19 * MINUTE_MS))),
      ),
    ),
  )
  return made.flatMap(({ rows }) => rows)
}

const idsOf = () => collector.spans.map(({ spanId }) => spanId)
const wanted = (rows: readonly UsageRow[]) =>
  rows.filter(({ model }) => model !== undefined).map((row) => (spanOf(row) as { spanId: string }).spanId)

function expectAll(rows: readonly UsageRow[]): void {
  expect(collector.mistakes).toEqual([])
  expect(new Set(idsOf())).toEqual(new Set(wanted(rows)))
}

const attributesOf = (row: UsageRow) =>
  Object.fromEntries(
    (spanOf(row) as { attributes: { key: string; value: object }[] }).attributes.map(({ key, value }) => [key, value]),
  )

test('each row that asked for a model leaves once as a span, and no span leaves twice while the collector takes them', async () => {
  const rows = await stageWith(40, 3)
  expect(collector.posts).toBe(0)
  expect(await runAt(SENT_MS)).toEqual([])
  expectAll(rows)
  expect(idsOf()).toHaveLength(wanted(rows).length)
  expect(wanted(rows).length).toBeGreaterThan(60)
  const { posts } = collector
  await runAt(SENT_MS + MINUTE_MS)
  expect(collector.posts).toBe(posts)
})

test('a span has what its row has, amounts as texts and nothing that the row lacks', () => {
  expect(attributesOf(FULL_ROW)).toMatchObject({
    'gen_ai.operation.name': { stringValue: 'chat' },
    'gen_ai.provider.name': { stringValue: 'two' },
    'gen_ai.request.model': { stringValue: 'large' },
    'gen_ai.response.model': { stringValue: 'large-2026' },
    'gen_ai.response.finish_reasons': { arrayValue: { values: [{ stringValue: 'stop' }] } },
    'gen_ai.usage.input_tokens': { intValue: '1000' },
    'gen_ai.usage.output_tokens': { intValue: '800' },
    'error.type': { stringValue: 'upstream_error' },
    'user.id': { stringValue: 'u-17' },
    'waybill.tag.team': { stringValue: 'search' },
    'waybill.cost': { stringValue: '5.000000001' },
    'waybill.time_to_first_token_ms': { intValue: '60' },
  })
  const { user: _, tags: __, ttftMs: ___, ...less } = FULL_ROW
  const names = Object.keys(attributesOf({ ...less, outcome: 'completed' }))
  for (const name of ['user.id', 'waybill.tag.team', 'error.type', 'waybill.time_to_first_token_ms']) {
    expect(names).not.toContain(name)
  }
})

const FAILING: readonly Mode[] = ['busy', 'refuses', 'cut', 'silent']

test.each(FAILING)(
  'a collector that is %s keeps no day from being closed, is told of once a run, and gets every span later',
  async (mode) => {
    const rows = await stageWith(20)
    collector.mode = mode
    const closedMs = Date.UTC(2026, 9, 2) + CLOSING_LAG_MS
    const told = await runAt(closedMs, { timeoutMs: 50 })
    expect(told).toHaveLength(1)
    expect(told.join()).not.toContain('no secret of yours')
    expect((await readClosing(tables)()).closedThrough).toBe('2026-10-01')
    expect(collector.spans).toEqual([])
    collector.mode = 'takes'
    expect(await runAt(closedMs + MINUTE_MS)).toEqual([])
    expectAll(rows)
  },
)

test('a connection that is cut after the spans were taken brings the same spans with the same ids again', async () => {
  const rows = await stageWith(20)
  collector.mode = 'cut after'
  expect(await runAt(SENT_MS)).toHaveLength(1)
  collector.mode = 'takes'
  await runAt(SENT_MS)
  expectAll(rows)
  expect(idsOf()).toHaveLength(2 * wanted(rows).length)
})

test('spans that a collector rejects for good are told, and are not sent again', async () => {
  await stageWith(20)
  collector.mode = 'partial'
  expect((await runAt(SENT_MS)).join()).toContain('rejected 1 spans')
  const { posts } = collector
  expect(await runAt(SENT_MS)).toEqual([])
  expect(collector.posts).toBe(posts)
})

test('many spans leave in posts of at most a megabyte and 500 spans, also those of one millisecond', async () => {
  await runAt(BEGIN_MS + SUMMING_LAG_MS)
  const tags = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`tag${i}`, 'x'.repeat(100)]))
  const { rows } = await usedKey(tables, BEGIN_MS, (id) =>
    Array.from({ length: 1_100 }, (_, i) => ({
      ...randomRow(random, id, BEGIN_MS + 1 + (i % 2)),
      model: 'small',
      ...(i < 600 && { tags }),
    })),
  )
  await runAt(SENT_MS)
  expectAll(rows)
  expect(idsOf()).toHaveLength(rows.length)
  expect(collector.posts).toBeGreaterThan(2)
  expect(collector.largest).toBeLessThan(1_010_000)
})

test('a request that is under way keeps its span and later ones back until it has its row', async () => {
  await stageWith(1)
  const { key } = await usedKey(tables, BEGIN_MS, () => [])
  const startedAtMs = BEGIN_MS + 5 * MINUTE_MS
  const requestId = makeRequestId(startedAtMs, random.bytes(10))
  const stored = await readKey(tables)(key.id)
  if (!stored) throw new Error('no key')
  const demand = demandOf(stored, startedAtMs, { requestId, hold: 5n, holdUntilMs: startedAtMs + 960_000 })
  await takeAdmission(tables)({ ...stored, bucketFullAtUs: 0 }, demand)
  await runAt(SENT_MS)
  const { spannedThrough = '' } = await readClosing(tables)()
  expect(Date.parse(spannedThrough)).toBe(startedAtMs)
  await putUsageRow(tables)({ ...randomRow(random, key.id, startedAtMs), requestId, model: 'small' })
  const closer = closerAt(tables, () => SENT_MS, { collector: { url: collector.url } })
  const holds = (await readKey(tables)(key.id))?.holds ?? {}
  for (const [id, hold] of Object.entries(holds)) await closer.instance.finishHold(stored, { requestId: id, ...hold })
  await closer.run()
  expect(idsOf().length).toBeGreaterThan(0)
  const row = { ...FULL_ROW, requestId }
  expect(idsOf()).toContain((spanOf(row) as { spanId: string }).spanId)
})

test('wherever a run dies, before a call or after it, the next ones send every span, each with its one id', async () => {
  const rows = await stageWith(6)
  const { database, usage } = tables
  const closing = await readClosing(tables)()
  for (let failing = 0, hasDied = true; hasDied; failing += someTimes(3, 1)) {
    collector.spans = []
    const { Items = [] } = await database.scan({ TableName: usage, ConsistentRead: true })
    for (const { part, requestId } of Items.filter((item) => String(item.part).startsWith('DAY#'))) {
      await database.delete({ TableName: usage, Key: { part, requestId } })
    }
    await database.put({
      TableName: usage,
      Item: { part: 'DAY#CLOSING', requestId: 'DAY#CLOSING', spannedThrough: closing.spannedThrough },
    })
    let calls = 0
    const stop = intercept(tables, async (send) => {
      const number = calls++
      if (number === failing && failing % 2 === 0) throw new Error('killed before')
      const result = await send()
      if (number >= failing) throw new Error('killed after')
      return result
    })
    await runAt(SENT_MS).catch(() => {})
    stop()
    hasDied = calls > failing
    await runAt(SENT_MS)
    expectAll(rows)
  }
})

test('the address of a collector on one machine is one without a name and a password', () => {
  expect(readSettings(['--otlp', 'http://127.0.0.1:4318'], {})?.otlpUrl).toBe('http://127.0.0.1:4318/')
  expect(readSettings([], { WAYBILL_OTLP_URL: 'https://c.example' })?.otlpUrl).toBe('https://c.example/')
  for (const wrong of ['ftp://c.example', 'https://a:b@c.example', 'c']) {
    expect(() => readSettings(['--otlp', wrong], {})).toThrow('The collector must be an address')
  }
})
