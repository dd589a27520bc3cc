import { randomBytes } from 'node:crypto'
import { catalogFor } from '../../../bench/waybill.ts'
import { hourSummer } from '../../../functions/close/sum-hours.ts'
import { DAY_MS, HOUR_MS, makeRequestId, utcDay } from '../../../layers/gateway/domain/basics/time.ts'
import { changeEvent } from '../../../layers/gateway/domain/keys/change-event.ts'
import type { Key } from '../../../layers/gateway/domain/keys/key.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../../layers/gateway/domain/keys/new-key.ts'
import { daysFrom, momentsOf, SUMMING_LAG_MS } from '../../../layers/gateway/domain/rows/closed-day.ts'
import { DayCounter, type UsagePart } from '../../../layers/gateway/domain/rows/day-total.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { UsageSum } from '../../../layers/gateway/domain/rows/usage-sum.ts'
import { BRAND } from '../../../layers/gateway/names.ts'
import { mapConcurrently } from '../../../layers/gateway/platform/map-concurrently.ts'
import { writeCatalog } from '../../../layers/gateway/store/catalog/write-catalog.ts'
import { createTables } from '../../../layers/gateway/store/dynamodb/create-tables.ts'
import type { Item, Tables } from '../../../layers/gateway/store/dynamodb/database.ts'
import { eventItems } from '../../../layers/gateway/store/events/events.ts'
import { toItem } from '../../../layers/gateway/store/keys/key-item.ts'
import { noteClosing } from '../../../layers/gateway/store/rows/closing.ts'
import { toTotalItem } from '../../../layers/gateway/store/rows/day-totals.ts'
import { hourOf, putUsageSum } from '../../../layers/gateway/store/rows/hour-sums.ts'
import { toUsageItem } from '../../../layers/gateway/store/rows/usage-item.ts'
import { actAt } from '../../support/act.ts'
import { completedRow } from '../../support/completed-row.ts'

export type Size = { readonly keys: number; readonly days: number; readonly rows: number }

const ROUTES = ['small', 'large', 'vision'].flatMap((model) => ['one', 'two'].map((provider) => ({ model, provider })))
const EVENTS_OF_KEY = 10
const CATALOG_VERSIONS = 30
const AT_ONCE = 64

/** A gateway with a past: its closed days as their totals, today as rows, and what its operators changed meanwhile. */
export async function writeHistory(
  tables: Tables,
  { keys: count, days, rows }: Size,
  nowMs: number,
): Promise<{ readonly rowsToday: number }> {
  await createTables(tables)
  for (let i = 0; i < CATALOG_VERSIONS; i++) {
    await writeCatalog(tables)(catalogFor(`https://upstream-${i}.example/v1`), actAt(nowMs - i, 'bench'))
  }
  const startMs = momentsOf(utcDay(nowMs - (days - 1) * DAY_MS)).fromMs
  const keys = Array.from({ length: count }, (_, i) => pastKey(i, startMs + i))
  await putAll(
    tables,
    tables.keys,
    keys.flatMap((key) => [toItem(key), ...eventsOf(key)]),
  )

  const perDay = Math.floor(rows / count / days)
  const yesterday = utcDay(nowMs - DAY_MS)
  const totals = [...daysFrom(utcDay(startMs), yesterday)].flatMap((day) =>
    keys.map(({ id: keyId }) => toTotalItem({ keyId, day, parts: partsOf(keyId, day, perDay) })),
  )
  await putAll(tables, tables.usage, totals)
  await noteClosing(tables)({ closedThrough: yesterday })

  const dayMs = momentsOf(utcDay(nowMs)).fromMs
  // At the rate of every other day, so that the time of day does not decide how many rows are not added up yet.
  const wholeDay = keys.flatMap(({ id }) =>
    Array.from({ length: perDay }, (_, i) => rowOf(id, dayMs + Math.floor((DAY_MS * i) / perDay), i)),
  )
  const today = wholeDay.filter(({ startedAtMs }) => startedAtMs < nowMs)
  await putAll(tables, tables.usage, today.map(toUsageItem))
  await writeSums(tables, wholeDay, dayMs, days)
  await hourSummer(tables, () => true)(dayMs, nowMs - SUMMING_LAG_MS, (hour) =>
    noteClosing(tables)({ summedThrough: hour }),
  )
  return { rowsToday: today.length }
}

/** Every past day is like today, spread over its hours. */
async function writeSums(tables: Tables, today: readonly UsageRow[], dayMs: number, days: number) {
  const day = new UsageSum()
  const hours = Array.from({ length: 24 }, () => new UsageSum())
  for (const [i, row] of today.entries()) for (const sum of [day, hours[i % 24] as UsageSum]) sum.addRow(row)
  const put = putUsageSum(tables)
  for (let back = 1; back < days; back++) {
    const pastMs = dayMs - back * DAY_MS
    await Promise.all([put(utcDay(pastMs), day), ...hours.map((sum, i) => put(hourOf(pastMs + i * HOUR_MS), sum))])
  }
}

function pastKey(index: number, createdAtMs: number): Key {
  const { stored } = issueSecret(BRAND.keyPrefix, randomBytes)
  const settings = { ...KEY_DEFAULTS, name: `customer ${index + 1}`, externalId: `cus_${index + 1}` }
  return newKey({ settings, credits: 10n ** 11n, prefix: BRAND.keyPrefix, stored }, createdAtMs, randomBytes(10))
}

function eventsOf({ id, createdAtMs }: Key): Item[] {
  return Array.from({ length: EVENTS_OF_KEY }, (_, i) => {
    const act = actAt(createdAtMs + i, 'arn:aws:iam::123456789012:user/ann')
    return eventItems(changeEvent(act, 'key.update', { keyId: id, before: { rpm: 60 + i }, after: { rpm: 61 + i } }))
  }).flat()
}

function partsOf(keyId: string, day: string, requests: number): UsagePart[] {
  const counter = new DayCounter(keyId, day)
  for (let i = 0; i < requests; i++) counter.add(rowOf(keyId, momentsOf(day).fromMs + i, i))
  return [...counter.total().parts]
}

function rowOf(keyId: string, startedAtMs: number, index: number): UsageRow {
  const { model, provider } = ROUTES[index % ROUTES.length] as (typeof ROUTES)[number]
  const requestId = makeRequestId(startedAtMs, randomBytes(10))
  return {
    ...completedRow({ requestId, keyId, startedAtMs, cost: 270_000n, hold: 1_000_000n }),
    model,
    provider,
    upstreamModel: model,
    stream: true,
    promptTokens: 1000 + index,
    completionTokens: 200,
    priceVersion: 1,
    price: { input: '0.15', cachedInput: '0.15', output: '0.60' },
    attempts: [{ provider, model: 'm', result: 'ok', ms: 512 }],
    ttftMs: 200,
    durationMs: 900,
  }
}

async function putAll({ database }: Tables, TableName: string, items: readonly Item[]): Promise<void> {
  const write = async (Item: Item) => [await database.put({ TableName, Item })]
  for await (const _ of mapConcurrently(items, AT_ONCE, write));
}
