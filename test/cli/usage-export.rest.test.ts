import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'csv-parse/sync'
import { moment } from '../../cli/commands/arguments.ts'
import { csvLine } from '../../layers/admin/usage/csv-line.ts'
import { csvLines } from '../../layers/admin/usage/usage-lines.ts'
import { DAY_MS, makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { usageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import { completedRow } from '../support/completed-row.ts'
import { FULL_ROW } from '../support/full-row.ts'
import { openTestTables } from '../support/gateway.ts'
import { usedKey } from '../support/past-usage.ts'
import { sendJson } from '../support/signed-admin.ts'
import { openStage } from '../support/stack.ts'
import { until } from '../support/wait.ts'

const FIRST = Date.UTC(2026, 2, 1)
const MIDNIGHT = FIRST + 5 * DAY_MS

function rowAt(keyId: string, startedAtMs: number, changes: Partial<UsageRow> = {}): UsageRow {
  const requestId = makeRequestId(startedAtMs, randomBytes(10))
  return { ...completedRow({ requestId, keyId, startedAtMs, cost: 369_000n, hold: 12_300_000n }), ...changes }
}

/** Three keys, each with two rows at both ends of each of twelve days. */
const tables = await openTestTables()
const stage = await openStage(tables)
const days = Array.from({ length: 12 }, (_, day) => FIRST + day * DAY_MS)
const rows = (id: string) => days.flatMap((dayMs) => [rowAt(id, dayMs + DAY_MS - 1), rowAt(id, dayMs)])
const [first] = await Promise.all([1, 2, 3].map(() => usedKey(tables, FIRST, rows)))
const keyId = first?.key.id ?? ''

test.each([
  [MIDNIGHT, MIDNIGHT + DAY_MS, 2],
  [MIDNIGHT - 1, MIDNIGHT, 1],
  [MIDNIGHT - 1, MIDNIGHT + 1, 2],
  [MIDNIGHT + 1, MIDNIGHT + DAY_MS - 1, 0],
  [MIDNIGHT, MIDNIGHT + 1, 1],
  [MIDNIGHT, MIDNIGHT, 0],
])(
  'the range of a usage export is exact to the millisecond: from %i inclusive, to %i exclusive',
  async (fromMs, toMs, count) => {
    const found = await Array.fromAsync(usageRows(tables, [keyId], { fromMs, toMs }))
    expect(found.map((row) => row.keyId)).toEqual(Array(count).fill(keyId))
  },
)

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1)],
  ['2028-02-29', Date.UTC(2028, 1, 29)],
  ['2026-11-01T12:30Z', Date.UTC(2026, 10, 1, 12, 30)],
  ['2026-11-01T12:30:15.007Z', Date.UTC(2026, 10, 1, 12, 30, 15, 7)],
  ['2026-11-01T00:30:00+01:00', Date.UTC(2026, 9, 31, 23, 30)],
])('the range of a usage export accepts the time %s', (text, ms) => {
  expect(moment(text)).toBe(ms)
})

test.each(['yesterday', '2026-02-30', '2026-1-1', '2026-11-01T12:30', '2026-11-01T24:00Z', '', '1700000000'])(
  'the range of a usage export refuses the time %j, and says what to write',
  (text) => {
    expect(() => moment(text)).toThrow(/a UTC day such as 2026-11-01, or a moment such as/)
  },
)

describe('CSV', () => {
  /** Strict RFC 4180: a quote inside a bare cell, or a row of another length, is an error. */
  const parseCsv = (csv: string) => parse<Record<string, string>>(csv, { columns: true, record_delimiter: '\r\n' })

  const csvOf = (...rows: UsageRow[]) =>
    text(
      csvLines(
        (async function* () {
          yield* rows
        })(),
        true,
      ),
    )

  test('a minus alone, which is no model, is no formula', () => {
    expect(csvLine(['-', '-1.5', '-1+2'])).toBe("-,-1.5,'-1+2\r\n")
  })

  test('a CSV export reads back as it was written, and its columns keep their places: new ones go to the end', async () => {
    const attempts = [...FULL_ROW.attempts, { provider: 'one', model: 'm', result: 'ok', ms: 120 }]
    const csv = await csvOf({ ...FULL_ROW, attempts })
    const first = [
      'requestId,keyId,startedAt,endpoint,contract,outcome,httpStatus,errorCode,model,provider,upstreamModel',
      'fallbackModel,replayOf,stream,promptTokens,completionTokens,totalTokens,cachedTokens,cacheWriteTokens',
      'cacheWrite1hTokens,reasoningTokens,images,askedMaxTokens,loweredMaxTokens,usageSource,estimatedBy',
      'usageRejected,usageCapped,cost,hold,upstreamCost,upstreamCostSource,priceVersion,priceInput,priceOutput',
      'priceCachedInput,priceCacheWrite,priceCacheWrite1h,priceRequest,priceImage,priceWebSearch',
      'priceWebFetch,priceFileSearch,priceCodeExecution,priceImageGeneration,priceMcpCall,priceAbove,attempts,ttftMs,durationMs',
      'droppedFields,user,tags,stopReason,loss,serviceTier,alsoRefused',
    ]
    expect(csv.startsWith(first.join(','))).toBe(true)
    const cells = [
      `${FULL_ROW.requestId},${FULL_ROW.keyId},2026-11-15T12:30:15.007Z,chat.completions,chat,upstream_error,502,upstream_error,large,two,large-2026`,
      'small,req_01J00000000000000000000001,true,1000,800,1800,400,300,200,100,3,32000,16000,estimate,characters',
    ]
    expect(csv.split('\r\n')[1]?.startsWith(cells.join(','))).toBe(true)
    expect(parseCsv(csv)[0]).toMatchObject({
      usageCapped: 'true',
      cost: '5.000000001',
      upstreamCost: '4.000000003',
      upstreamCostSource: 'provider',
      priceCacheWrite: '1.25',
      priceCacheWrite1h: '2.5',
      priceRequest: '0.001',
      priceImage: '0.01',
      priceAbove: '900',
      attempts: 'two/large-2026: timeout after 50 ms; one/m: ok after 120 ms',
    })
  })

  test('a CSV export quotes cells that need it, and disarms cells that a spreadsheet would run', async () => {
    const armed = ['=1+1', '+1', '-1+1', '@SUM(A1)', '\t=1', ' =1', '＝1']
    const plain = ['-1', 'a,b', 'say "hi"', 'two\r\nlines', 'plain']
    const rows = [...armed, ...plain].map((errorCode) => rowAt('key_1', FIRST, { errorCode }))
    const records = parseCsv(await csvOf(...rows))
    expect(records.map(({ errorCode }) => errorCode)).toEqual([...armed.map((text) => `'${text}`), ...plain])
    expect(records[0]).toMatchObject({ model: '', priceInput: '' })
  })

  test('a CSV export without rows is its header', async () => {
    expect(await csvOf()).toMatch(/^requestId,keyId,startedAt,[^\r\n]*\r\n$/)
  })
})

describe('the export command', () => {
  test('waybill usage export writes one JSON row a line, and refuses a backward range and --json with --format csv', async () => {
    const waybill = (...args: string[]) => stage.waybill(['usage', 'export', ...args, '--stage', 'dev'])
    const range = ['--from', '2026-03-01', '--to', '2026-03-02T00:00:00Z']
    const [good, withCost, backwards, both] = await Promise.all([
      waybill(...range, '--json'),
      waybill(...range, '--with-cost'),
      waybill('--from', '2026-03-02', '--to', '2026-03-01'),
      waybill(...range, '--format', 'csv', '--json'),
    ])
    expect([good.code, good.stderr]).toEqual([0, ''])
    const rows = good.stdout.trimEnd().split('\n')
    expect(rows.length).toBeGreaterThanOrEqual(6)
    expect(JSON.parse(rows[0] ?? '')).toMatchObject({ object: 'usage', cost: '0.000369' })
    expect(rows[0]).not.toContain('upstream_cost')
    expect(JSON.parse(withCost.stdout.split('\n')[0] ?? '')).toMatchObject({ cost: '0.000369', upstream_cost: null })
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
