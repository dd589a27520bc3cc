import { gunzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { cursorOf } from '../../layers/admin/api/pages.ts'
import { DAY_MS, makeRequestId, utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { parseCredits } from '../../layers/gateway/domain/money/money.ts'
import { costOf, type PriceStrings, parsePrice, priceAt, statePrice } from '../../layers/gateway/domain/money/price.ts'
import { chargesOf, NO_CHARGES, quantitiesOf } from '../../layers/gateway/domain/rows/charges.ts'
import { CLOSING_LAG_MS } from '../../layers/gateway/domain/rows/closed-day.ts'
import { DayCounter } from '../../layers/gateway/domain/rows/day-total.ts'
import { type FocusLine, focusLines } from '../../layers/gateway/domain/rows/focus-line.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { putDayTotal, readDayTotal, toTotalItem } from '../../layers/gateway/store/rows/day-totals.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { Random } from '../simulation/random.ts'
import { completedRow } from '../support/completed-row.ts'
import { openTestTables } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { closerAt, randomRow, usedKey } from '../support/past-usage.ts'
import { someTimes } from '../support/some-of.ts'

const FIRST_MS = Date.UTC(2026, 8, 29)
const DAYS = 4
const day = (number: number) => utcDay(FIRST_MS + number * DAY_MS)
const END_MS = FIRST_MS + DAYS * DAY_MS + CLOSING_LAG_MS

const PRICES: readonly PriceStrings[] = [
  { input: '0.000001', output: '0.000003' },
  {
    input: '3',
    output: '15',
    cachedInput: '0.3',
    cacheWrite: '3.75',
    cacheWrite1h: '6',
    request: '0.001',
    image: '0.02',
  },
  {
    input: '1.234567',
    output: '7.654321',
    tiers: [{ above: 500, input: '2.000001', output: '9' }],
    serviceTiers: { priority: { input: '5', output: '11.000007' } },
  },
  { input: '0', output: '0' },
]

/** A row of any kind, as it would be settled: whole, cut by its hold, free, refused, damaged, without a price. */
function anyRow(random: Random, keyId: string, startedAtMs: number): UsageRow {
  if (random.chance(0.3)) return randomRow(random, keyId, startedAtMs)
  const prompt = random.below(2_000)
  const parts = {
    cachedTokens: random.below(prompt / 3),
    cacheWriteTokens: random.below(prompt / 3),
    cacheWrite1hTokens: 0,
    images: random.below(4),
  }
  const counts = { promptTokens: prompt, completionTokens: random.below(900), ...parts }
  const serviceTier = random.chance(0.3) ? 'priority' : undefined
  const parsed = parsePrice(random.pick(PRICES))
  const requestId = makeRequestId(startedAtMs, random.bytes(10))
  const base = { ...completedRow({ requestId, keyId, startedAtMs, cost: 0n, hold: 0n }), ...counts }
  const price = statePrice(priceAt(parsed, prompt, serviceTier))
  const bill = costOf(parsed, quantitiesOf(base), serviceTier)
  const isCapped = random.chance(0.3)
  const hold = isCapped ? bill - BigInt(random.below(Number(bill) + 1)) : bill + 7n
  const row = {
    ...base,
    model: random.pick(['small', 'large', 'vision']),
    provider: random.pick(['one', 'two']),
    price,
    hold,
  }
  if (random.chance(0.1)) return { ...row, outcome: 'refused', httpStatus: 429, usageSource: 'none' }
  // An answer that was paid for by nobody.
  if (random.chance(0.1)) return { ...row, outcome: 'upstream_error', httpStatus: 502 }
  if (random.chance(0.05)) return { ...row, promptTokens: -1, cost: bill }
  if (random.chance(0.05)) return { ...row, price: { ...price, input: 'x' }, cost: bill }
  return { ...row, cost: bill < hold ? bill : hold, ...(isCapped && { usageCapped: true }), serviceTier }
}

const billed = (lines: readonly FocusLine[]) =>
  lines.reduce((sum, { BilledCost }) => sum + (parseCredits(BilledCost ?? '') ?? 0n), 0n)
const charged = (rows: readonly UsageRow[]) => rows.reduce((sum, { cost }) => sum + cost, 0n)

test('the lines of a bill come to the cost of its row, to the nanocredit, none below zero and none beyond the bill', () => {
  const random = new Random(41)
  for (let i = 0; i < someTimes(20_000, 3_000); i++) {
    const row = anyRow(random, 'key_a', FIRST_MS)
    const charges = Object.values(chargesOf(row))
    expect(charges.filter((one) => one < 0)).toEqual([])
    const sum = charges.reduce<bigint>((all, one) => (typeof one === 'bigint' ? all + one : all), 0n)
    const isPriced = charges.length > 0
    expect(sum).toBe(isPriced ? row.cost : 0n)
  }
})

const DECIMAL = /^-?\d+(\.\d+)?$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const TEXT = /^\S(.*\S)?$/s
const UNIT = /^(Tokens|Requests|Images)$/

/** Rules of the specification, version 1.4, Cost and Usage: the form of each value; `null` if there may be none. */
const RULES: Readonly<Record<string, { form: RegExp; mayBeNull?: true; isMandatory?: true }>> = {
  BilledCost: { form: DECIMAL, isMandatory: true },
  BillingAccountId: { form: TEXT, isMandatory: true },
  BillingAccountName: { form: TEXT, isMandatory: true, mayBeNull: true },
  BillingAccountType: { form: TEXT },
  BillingCurrency: { form: TEXT, isMandatory: true },
  BillingPeriodEnd: { form: MOMENT, isMandatory: true },
  BillingPeriodStart: { form: MOMENT, isMandatory: true },
  ChargeCategory: { form: /^(Usage|Purchase|Tax|Credit|Adjustment)$/, isMandatory: true },
  ChargeClass: { form: /^Correction$/, isMandatory: true, mayBeNull: true },
  ChargeDescription: { form: TEXT, isMandatory: true, mayBeNull: true },
  ChargePeriodEnd: { form: MOMENT, isMandatory: true },
  ChargePeriodStart: { form: MOMENT, isMandatory: true },
  ConsumedQuantity: { form: DECIMAL },
  ConsumedUnit: { form: UNIT },
  ContractedCost: { form: DECIMAL, isMandatory: true },
  EffectiveCost: { form: DECIMAL, isMandatory: true },
  HostProviderName: { form: TEXT, isMandatory: true },
  InvoiceIssuerName: { form: TEXT, isMandatory: true },
  ListCost: { form: DECIMAL, isMandatory: true },
  PricingQuantity: { form: DECIMAL, isMandatory: true },
  PricingUnit: { form: UNIT, isMandatory: true },
  ServiceCategory: { form: /^AI and Machine Learning$/, isMandatory: true },
  ServiceName: { form: TEXT, isMandatory: true },
  ServiceProviderName: { form: TEXT, isMandatory: true },
  SkuId: { form: TEXT },
  SkuMeter: { form: TEXT },
  SubAccountId: { form: TEXT },
  SubAccountName: { form: TEXT, mayBeNull: true },
}

function expectConforming(line: FocusLine): void {
  const broken = Object.entries(line).filter(([name, value]) => {
    // A column of our own has the prefix that the specification keeps for those.
    if (name.startsWith('x_')) return value === null
    const rule = RULES[name]
    return !rule || (value === null ? !rule.mayBeNull : !rule.form.test(value))
  })
  expect(broken).toEqual([])
  for (const [name, { isMandatory }] of Object.entries(RULES)) if (isMandatory) expect(line).toHaveProperty(name)
  const {
    BillingPeriodStart: from = '',
    BillingPeriodEnd: to = '',
    ChargePeriodStart: start = '',
    ChargePeriodEnd,
  } = line
  expect(
    from && start && ChargePeriodEnd && to && from <= start && start < ChargePeriodEnd && ChargePeriodEnd <= to,
  ).toBe(true)
  expect([from, to].map((at) => at?.slice(8))).toEqual(['01T00:00:00Z', '01T00:00:00Z'])
}

/** Three keys with rows of every kind on four days around the end of a month. */
async function stage(seed: number): Promise<{ tables: Tables; rows: UsageRow[] }> {
  const tables = await openTestTables()
  const random = new Random(seed)
  const made = await Promise.all(
    [0, 1, 2].map(() =>
      usedKey(tables, FIRST_MS, (id) =>
        Array.from({ length: 40 }, () => anyRow(random, id, FIRST_MS + random.below(DAYS * DAY_MS))),
      ),
    ),
  )
  return { tables, rows: made.flatMap(({ rows }) => rows) }
}

async function listed(tables: Tables, query: string, limit = 2): Promise<FocusLine[]> {
  const { call } = adminOf(tables, { clock: () => END_MS })
  const lines: FocusLine[] = []
  for (let after = ''; ; ) {
    const { body, status } = await call(`GET /focus?${query}&limit=${limit}${after}`)
    expect(status).toBe(200)
    lines.push(...body.data)
    if (!body.has_more) return lines
    after = `&after=${body.last_id}`
  }
}

test('the lines of any closed days come to what their rows were charged, each once, page by page, by the rules of FOCUS', async () => {
  const { tables, rows } = await stage(42)
  const objects = new Map<string, Uint8Array>()
  const putObject = async (path: string, bytes: Uint8Array) => void objects.set(path, bytes)
  const closer = closerAt(tables, () => END_MS, { putObject })
  await closer.run()
  expect(await closer.run()).toMatchObject({ exported: DAYS + 1, behind: 0 })
  for (const [first, end] of [
    [0, DAYS],
    [0, 2],
    [2, 3],
  ] as const) {
    const inRange = rows.filter(
      ({ startedAtMs: at }) => at >= FIRST_MS + first * DAY_MS && at < FIRST_MS + end * DAY_MS,
    )
    const lines = await listed(tables, `from=${day(first)}&to=${day(end)}`)
    expect(billed(lines)).toBe(charged(inRange))
    for (const line of lines) expectConforming(line)
    const names = lines.map((line) => `${line.ChargePeriodStart} ${line.SubAccountId} ${line.SkuId}`)
    expect(new Set(names).size).toBe(names.length)
    expect(lines).toEqual(await listed(tables, `from=${day(first)}&to=${day(end)}`, 100))
    for (const keyId of new Set(inRange.map((row) => row.keyId))) {
      const ofKey = (id: string | null | undefined) => id === keyId
      expect(billed(lines.filter((line) => ofKey(line.SubAccountId)))).toBe(
        charged(inRange.filter((row) => ofKey(row.keyId))),
      )
    }
  }
  const exported = [...objects].filter(([path]) => path.startsWith('focus/'))
  expect(exported.map(([path]) => path)).toEqual([0, 1, 2, 3].map((i) => `focus/dt=${day(i)}/00000.json.gz`))
  const inFiles = exported.flatMap(([, bytes]) => jsonLines<FocusLine>(gunzipSync(bytes).toString()))
  // Names of keys may change; files have none, so that a day that is exported again has the same bytes.
  const nameless = (await listed(tables, `from=${day(0)}&to=${day(DAYS)}`)).map((line) => ({
    ...line,
    BillingAccountName: null,
    SubAccountName: null,
  }))
  expect(inFiles).toEqual(nameless)
})

test('a day that is not closed is refused with the last one that is, and so is a part of a day', async () => {
  const { tables } = await stage(43)
  const { call } = adminOf(tables, { clock: () => END_MS })
  const refusal = async (query: string) => {
    const { status, body } = await call(`GET /focus?${query}`)
    return [status, body.error?.param, body.error?.message]
  }
  expect((await call('GET /focus')).body.data).toEqual([])
  expect(await refusal(`from=${day(0)}&to=${day(1)}`)).toEqual([
    400,
    'to',
    expect.stringContaining('there is none yet'),
  ])
  await closerAt(tables, () => END_MS - DAY_MS).run()
  expect(await refusal(`from=${day(0)}&to=${day(DAYS)}`)).toEqual([
    400,
    'to',
    expect.stringContaining(`but got ${day(DAYS)}T00:00:00.000Z; the last one is ${day(DAYS - 2)}`),
  ])
  expect(await refusal(`from=${day(0)}T05:00:00Z&to=${day(2)}`)).toEqual([400, 'from', expect.any(String)])
  expect((await refusal(`from=2020-01-01&to=${day(2)}`))[0]).toBe(400)
  expect((await refusal('after=x'))[0]).toBe(400)
  // A cursor that somebody made up leads to no more days than the range has.
  expect((await call(`GET /focus?after=${cursorOf(999, 'key_a')}`)).body.data).toEqual([])
})

test('a total from before charges were kept has its whole cost in a line of its own', async () => {
  const tables = await openTestTables()
  const random = new Random(44)
  const rows = Array.from({ length: 30 }, () => anyRow(random, 'key_a', FIRST_MS))
  const counter = new DayCounter('key_a', day(0))
  for (const row of rows) counter.add(row)
  const total = counter.total()
  const old = { ...total, parts: total.parts.map((part) => ({ ...part, ...NO_CHARGES })) }
  await tables.database.put({ TableName: tables.usage, Item: toTotalItem(old) })
  // The audit and a closing that is repeated take both for the same.
  expect(await putDayTotal(tables)(total)).toBe(true)
  const stored = await readDayTotal(tables)('key_a', day(0))
  const lines = stored ? focusLines(stored) : []
  expect(new Set(lines.map(({ SkuMeter }) => SkuMeter))).toEqual(new Set(['other']))
  expect(billed(lines)).toBe(charged(rows))
  for (const line of lines) expectConforming(line)
})
