import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { moment } from '../../cli/commands/arguments.ts'
import type { ExportFormat } from '../../cli/commands/exported-rows.ts'
import { csvLines, ndjsonLines } from '../../layers/admin/usage/usage-lines.ts'
import { usageRows } from '../../layers/admin/usage/usage-rows.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { ulid } from '../../layers/gateway/domain/basics/ulid.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { toUsageItem } from '../../layers/gateway/store/rows/usage-item.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { issueKey } from '../../local/issue-key.ts'
import { FULL_ROW } from '../support/full-row.ts'
import { openTestTables } from '../support/gateway.ts'
import { sendJson } from '../support/signed-admin.ts'
import { openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

jest.setTimeout(120_000)

const FIRST = Date.UTC(2026, 2, 1)
const DAYS = 12

let tables: OperatorTables
let stage: Stage
let keys: Key[]

const ROW: Omit<UsageRow, 'requestId' | 'keyId' | 'startedAtMs'> = {
  endpoint: 'chat.completions',
  contract: 'chat',
  outcome: 'completed',
  httpStatus: 200,
  model: 'gpt-4o-mini',
  provider: 'openai',
  upstreamModel: 'gpt-4o-mini-2024-07-18',
  stream: true,
  promptTokens: 1200,
  completionTokens: 340,
  cachedTokens: 200,
  usageSource: 'upstream',
  usageRejected: false,
  cost: 369_000n,
  hold: 12_300_000n,
  priceVersion: 3,
  price: { input: '0.15', output: '0.6', cachedInput: '0.075' },
  attempts: [
    { provider: 'azure', model: 'gpt-eu', result: 'timeout', ms: 60_000 },
    { provider: 'openai', model: 'gpt', result: 'ok', ms: 120 },
  ],
  ttftMs: 130,
  durationMs: 900,
}

function rowAt(keyId: string, startedAtMs: number, changes: Partial<UsageRow> = {}): UsageRow {
  return { ...ROW, requestId: `req_${ulid(startedAtMs, randomBytes(10))}`, keyId, startedAtMs, ...changes }
}

/** Three keys, each with two rows at both ends of each of twelve days. */
beforeAll(async () => {
  tables = await openTestTables()
  stage = await openStage(tables)
  const settings = { ...KEY_DEFAULTS, name: 'test' }
  const issue = () => issueKey(tables, { settings, credits: 0n, prefix: BRAND.keyPrefix, by: 'test' }, FIRST)
  keys = (await Promise.all([issue(), issue(), issue()])).map(({ key }) => key)
  const rows = keys.flatMap(({ id }) =>
    Array.from({ length: DAYS }, (_, day) => FIRST + day * DAY_MS).flatMap((dayMs) => [
      rowAt(id, dayMs + DAY_MS - 1),
      rowAt(id, dayMs),
    ]),
  )
  for (let i = 0; i < rows.length; i += 25) await put(rows.slice(i, i + 25))
})

async function put(rows: readonly UsageRow[]): Promise<void> {
  const requests = rows.map((row) => ({ PutRequest: { Item: toUsageItem(row) } }))
  await tables.client.send(new BatchWriteCommand({ RequestItems: { [tables.usage]: requests } }))
}

async function exported(format: ExportFormat, fromMs: number, toMs: number, keyId?: string): Promise<string> {
  const rows = usageRows(tables, keyId, { fromMs, toMs }, 'oldest first')
  return text(format === 'csv' ? csvLines(rows) : ndjsonLines(rows))
}

type Line = { request_id: string; key_id: string; started_at: string }

async function lines(fromMs: number, toMs: number, keyId?: string): Promise<Line[]> {
  const whole = await exported('jsonl', fromMs, toMs, keyId)
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

const waybill = (...args: string[]) => stage.waybill([...args, '--stage', 'dev'])

test('a usage export has every row of every key and day once, oldest first within a key', async () => {
  const all = await lines(FIRST, FIRST + DAYS * DAY_MS)
  expect(new Set(all.map((line) => line.request_id)).size).toBe(all.length)
  expect(all).toHaveLength(keys.length * DAYS * 2)
  for (const { id } of keys) {
    const times = all.filter((line) => line.key_id === id).map((line) => line.started_at)
    expect(times).toHaveLength(DAYS * 2)
    expect(times).toEqual(times.toSorted())
  }
})

test('the range of a usage export is exact to the millisecond: from inclusive, to exclusive', async () => {
  const [{ id }] = keys as [Key]
  const count = async (fromMs: number, toMs: number) => (await lines(fromMs, toMs, id)).length
  const midnight = FIRST + 5 * DAY_MS
  expect(await count(midnight, midnight + DAY_MS)).toBe(2)
  expect(await count(midnight - 1, midnight)).toBe(1)
  expect(await count(midnight - 1, midnight + 1)).toBe(2)
  expect(await count(midnight + 1, midnight + DAY_MS - 1)).toBe(0)
  expect(await count(midnight, midnight + 1)).toBe(1)
  expect(await count(midnight, midnight)).toBe(0)
})

test('a usage export of one key has no row of another', async () => {
  const [{ id }] = keys as [Key]
  expect(new Set((await lines(FIRST, FIRST + DAY_MS, id)).map((line) => line.key_id))).toEqual(new Set([id]))
})

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2026-11-01T12:30Z', Date.UTC(2026, 10, 1, 12, 30)],
  ['2026-11-01T12:30:15.007Z', Date.UTC(2026, 10, 1, 12, 30, 15, 7)],
  ['2026-11-01T00:30:00+01:00', Date.UTC(2026, 9, 31, 23, 30)],
])('the range of a usage export accepts the time %s', (text, ms) => {
  expect(moment(text)).toBe(ms)
})

test.each([
  'yesterday',
  '2026-02-30',
  '2026-13-01',
  '2026-11-01T12:30',
  '2026-11-01T24:00Z',
  '2026-1-1',
  '',
  '1700000000',
])('the range of a usage export refuses the time %j, and says what to write', (text) => {
  expect(() => moment(text)).toThrow(/a UTC day such as 2026-11-01, or a moment such as/)
})

describe('CSV', () => {
  /** RFC 4180 read strictly: a quote inside a bare cell, or a bare line end, is an error. */
  function parseCsv(text: string): Record<string, string>[] {
    const records: string[][] = [[]]
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
    while (cell.lastIndex < text.length) {
      const at = cell.lastIndex
      const match = cell.exec(text)
      if (!match) throw new Error(`This is not CSV at ${at}: ${text.slice(at, at + 50)}`)
      records.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
      if (match[3] === '\r\n') records.push([])
    }
    const [header = [], ...rest] = records.slice(0, -1)
    return rest.map((record) => {
      expect(record).toHaveLength(header.length)
      return Object.fromEntries(header.map((name, i) => [name, record[i] ?? '']))
    })
  }

  test('a CSV export reads back as it was written, with prices and attempts in cells of their own', async () => {
    const [record] = parseCsv(await exported('csv', FIRST, FIRST + 1, keys[0]?.id))
    const filled = Object.entries(record ?? {}).filter(([, cell]) => cell !== '')
    expect(Object.fromEntries(filled)).toEqual({
      requestId: expect.stringMatching(/^req_/),
      keyId: keys[0]?.id,
      startedAt: '2026-03-01T00:00:00.000Z',
      endpoint: 'chat.completions',
      outcome: 'completed',
      httpStatus: '200',
      model: 'gpt-4o-mini',
      provider: 'openai',
      upstreamModel: 'gpt-4o-mini-2024-07-18',
      stream: 'true',
      promptTokens: '1200',
      completionTokens: '340',
      cachedTokens: '200',
      totalTokens: '1540',
      usageSource: 'upstream',
      usageRejected: 'false',
      cost: '0.000369',
      hold: '0.0123',
      priceVersion: '3',
      priceInput: '0.15',
      priceOutput: '0.6',
      priceCachedInput: '0.075',
      attempts: 'azure/gpt-eu: timeout after 60000 ms; openai/gpt: ok after 120 ms',
      ttftMs: '130',
      durationMs: '900',
      contract: 'chat',
    })
  })

  test('the columns of a CSV export keep their places: new ones go to the end', async () => {
    const startedAtMs = FIRST + 6 * 3_600_000
    const [, , { id }] = keys as [Key, Key, Key]
    await put([{ ...FULL_ROW, requestId: rowAt(id, startedAtMs).requestId, keyId: id, startedAtMs }])
    const csv = await exported('csv', startedAtMs, startedAtMs + 1, id)
    const first = [
      'requestId,keyId,startedAt,endpoint,contract,outcome,httpStatus,errorCode,model,provider,upstreamModel',
      'fallbackModel,replayOf,stream,promptTokens,completionTokens,totalTokens,cachedTokens,cacheWriteTokens',
      'cacheWrite1hTokens,reasoningTokens,images,askedMaxTokens,loweredMaxTokens,usageSource,estimatedBy',
      'usageRejected,usageCapped,cost,hold,upstreamCost,upstreamCostSource,priceVersion,priceInput,priceOutput',
      'priceCachedInput,priceCacheWrite,priceCacheWrite1h,priceRequest,priceImage,priceAbove,attempts,ttftMs,durationMs',
    ]
    expect(csv.startsWith(first.join(','))).toBe(true)
    const [record] = parseCsv(csv)
    expect(record).toMatchObject({
      ...{
        cacheWriteTokens: '300',
        cacheWrite1hTokens: '200',
        reasoningTokens: '100',
        images: '3',
        totalTokens: '1800',
      },
      ...{ askedMaxTokens: '32000', loweredMaxTokens: '16000', estimatedBy: 'characters', contract: 'chat' },
      ...{ usageCapped: 'true', upstreamCost: '4.000000003', upstreamCostSource: 'provider' },
      ...{ priceCacheWrite: '1.25', priceCacheWrite1h: '2.5', priceRequest: '0.001', priceImage: '0.01' },
      ...{ priceAbove: '900', startedAt: '2026-03-01T06:00:00.000Z' },
    })
  })

  test('a CSV export quotes cells that need it, and disarms cells that a spreadsheet would run', async () => {
    const startedAtMs = FIRST + 12 * 3_600_000
    const [, { id }] = keys as [Key, Key]
    const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', 'a,b', 'say "hi"', 'two\r\nlines', '＝1', 'plain']
    await put(
      texts.map((errorCode, i) => rowAt(id, startedAtMs + i, { errorCode, model: undefined, price: undefined })),
    )
    const records = parseCsv(await exported('csv', startedAtMs, startedAtMs + 100, id))
    expect(records.map(({ errorCode }) => errorCode)).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@SUM(A1)",
      "'\t=1",
      "' =1",
      'a,b',
      'say "hi"',
      'two\r\nlines',
      "'＝1",
      'plain',
    ])
    expect(records[0]).toMatchObject({ model: '', priceInput: '' })
  })

  test('a CSV export without rows is its header', async () => {
    expect(await exported('csv', 0, 1)).toMatch(/^requestId,keyId,startedAt,[^\r\n]*\r\n$/)
  })
})

describe('the export command', () => {
  test('waybill usage export writes one JSON row a line, and refuses a backward range and --json with --format csv', async () => {
    const range = ['--from', '2026-03-01', '--to', '2026-03-02T00:00:00Z']
    const [good, backwards, both] = await Promise.all([
      waybill('usage', 'export', ...range, '--json'),
      waybill('usage', 'export', '--from', '2026-03-02', '--to', '2026-03-01'),
      waybill('usage', 'export', ...range, '--format', 'csv', '--json'),
    ])
    expect([good.code, good.stderr]).toEqual([0, ''])
    const rows = good.stdout.trimEnd().split('\n')
    expect(rows.length).toBeGreaterThanOrEqual(6)
    expect(JSON.parse(rows[0] ?? '')).toMatchObject({
      object: 'usage',
      cost: '0.000369',
      pricing: { prompt: '0.00000015' },
      attempts: ROW.attempts,
      upstream_cost: null,
    })
    for (const { code, stdout } of [backwards, both]) expect([code, stdout]).toEqual([1, ''])
    expect(backwards.stderr).toContain('2026-03-02T00:00:00.000Z is not before 2026-03-01T00:00:00.000Z')
    expect(both.stderr).toContain('--format jsonl')
  })

  test('waybill usage export pauses with its reader, and ends quietly when its reader leaves', async () => {
    const { admin } = stage
    const page = `${JSON.stringify({ key_id: 'x'.repeat(1_000) })}\n`.repeat(1_000)
    // A range of more than a quarter of an hour is too much for one answer.
    admin.instead = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', admin.url)
      const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? '')) as [number, number]
      if (to - from > 15 * 60_000)
        sendJson(response, 400, { error: { message: 'too large', code: 'answer_too_large' } })
      else response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(page)
    }
    admin.asked.length = 0
    const args = ['usage', 'export', '--from', '2026-03-01', '--to', '2026-03-02', '--stage', 'dev']
    const { child, ended } = stage.start('cli/waybill.ts', args)
    child.stdout?.pause()
    await until(() => admin.asked.length > 0)
    expect(await settledPages(() => admin.asked.length)).toBeLessThan(20)
    child.stdout?.destroy()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
    expect(admin.asked.length).toBeLessThan(25)
    admin.instead = undefined
  })

  async function settledPages(read: () => number): Promise<number> {
    for (let last = -1; ; await new Promise((resolve) => setTimeout(resolve, 300))) {
      if (read() === last) return last
      last = read()
    }
  }
})
