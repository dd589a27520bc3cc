import { HOUR_MS, isoTime } from '../../domain/basics/time.ts'
import type { Histogram } from '../../domain/rows/histogram.ts'
import { type Asked, UsageSum } from '../../domain/rows/usage-sum.ts'
import { USAGE_ITEMS } from '../../names.ts'
import { type Item, queryItems, type Tables } from '../dynamodb/database.ts'
import { toPart, withoutZeros } from './day-totals.ts'
import { daysOf, idsOf, queryRowsOfDay, type TimeRange } from './usage-rows.ts'

/** The ways in which requests are added up. Each has items of its own, so that a reader reads no other. */
export type SumKind = 'models' | 'keys' | 'routes'

/** An hour, such as 2026-11-17T05, or a day, such as 2026-11-17. A day has all its hours together, too. */
export type Span = string

const HOUR_CHARS = '2026-11-17T05'.length
const DAY_CHARS = '2026-11-17'.length

export const hourOf = (ms: number): Span => isoTime(ms).slice(0, HOUR_CHARS)
export const momentOfHour = (hour: Span): number => Date.parse(`${hour}:00:00.000Z`)
export const hourAfter = (hour: Span): Span => hourOf(momentOfHour(hour) + HOUR_MS)

export const HOUR_SUMS = `${USAGE_ITEMS.day}HOURS#`
const partOf = (span: Span) => `${HOUR_SUMS}${span.slice(0, DAY_CHARS)}`

/** An item may have 400 KB, and a group of figures with every error there is has some 1 KB. */
const GROUPS_IN_ITEM = 250

const TO_GROUPS: Readonly<Record<SumKind, (sum: UsageSum) => Item[]>> = {
  models: ({ models }) =>
    [...models.values()].map(({ firstToken, duration, ...part }) => ({ ...withoutZeros(part), firstToken, duration })),
  keys: ({ keys }) => [...keys].map(([keyId, part]) => ({ ...withoutZeros(part), keyId })),
  routes: ({ routes }) => [...routes].map(([route, asked]) => ({ ...asked, route })),
}

const ADD_GROUP: Readonly<Record<SumKind, (sum: UsageSum, group: Item) => void>> = {
  models: (sum, { firstToken, duration, ...part }) =>
    sum.addModel({ ...toPart(part), firstToken: firstToken as Histogram, duration: duration as Histogram }),
  // An item has a key once.
  keys: (sum, { keyId, ...part }) => sum.keys.set(keyId as string, toPart(part)),
  routes: (sum, { route, ...asked }) => sum.addRoute(route as string, asked as Asked),
}

export const SUM_KINDS = Object.keys(TO_GROUPS) as SumKind[]

/** The sum of a span is always of the same rows, so to write it again changes nothing. */
export function putUsageSum({ database, usage }: Tables) {
  return async (span: Span, sum: UsageSum): Promise<void> => {
    for (const kind of SUM_KINDS) {
      const groups = TO_GROUPS[kind](sum)
      for (let i = 0; i * GROUPS_IN_ITEM < groups.length; i++) {
        const some = groups.slice(i * GROUPS_IN_ITEM, (i + 1) * GROUPS_IN_ITEM)
        // Nobody asks DynamoDB for a figure of a group: as one text they are a tenth of the work for it and for us.
        const text = JSON.stringify(some, (_, value) => (typeof value === 'bigint' ? String(value) : value))
        const Item = { part: partOf(span), requestId: `${kind}#${span}#${i}`, span, groups: text }
        await database.put({ TableName: usage, Item })
      }
    }
  }
}

export function readUsageSums({ database, usage }: Tables, kind: SumKind) {
  return async function* sumsFrom(first: Span, last: Span = first) {
    const items = queryItems(database, {
      TableName: usage,
      KeyConditionExpression: 'part = :part AND requestId BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':part': partOf(first),
        ':first': `${kind}#${first}#`,
        ':last': `${kind}#${last}#~`,
      },
      ConsistentRead: true,
    })
    for await (const { span, groups } of items) {
      const sum = new UsageSum()
      // Amounts are texts still, which `toPart` reads.
      for (const group of JSON.parse(groups as string) as Item[]) ADD_GROUP[kind](sum, group)
      yield { span: span as Span, sum }
    }
  }
}

/** The rows of all keys in a range, added up by the hour. An hour without rows has no sum. */
export function sumRows(tables: Tables) {
  const rowsOfDay = queryRowsOfDay(tables, 'groups')
  return async (range: TimeRange): Promise<ReadonlyMap<Span, UsageSum>> => {
    const sums = new Map<number, UsageSum>()
    const add = async (rows: AsyncIterable<Parameters<UsageSum['addRow']>[0]>) => {
      for await (const row of rows) {
        const hour = Math.floor(row.startedAtMs / HOUR_MS)
        const sum = sums.get(hour) ?? new UsageSum()
        sums.set(hour, sum)
        sum.addRow(row)
      }
    }
    for (const dayMs of daysOf(range, 'oldest first')) {
      await Promise.all(rowsOfDay(dayMs, idsOf(range), 'oldest first').map(add))
    }
    return new Map([...sums].sort(([a], [b]) => a - b).map(([hour, sum]) => [hourOf(hour * HOUR_MS), sum]))
  }
}
