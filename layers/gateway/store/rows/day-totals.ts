import { DAY_MS, isoTime } from '../../domain/basics/time.ts'
import { type DayTotal, type Figures, isSameTotal, NO_FIGURES, type UsagePart } from '../../domain/rows/day-total.ts'
import { USAGE_ITEMS } from '../../names.ts'
import { firstPut, putOnce } from '../dynamodb/conditional-writes.ts'
import { type Item, itemReader, queryItems, type Tables } from '../dynamodb/database.ts'
import { toNano } from '../keys/key-item.ts'

/** All totals of a day are one partition, in the order of their keys. */
const totalsOfDay = (day: string) => `${USAGE_ITEMS.day}${day}`
const keyInPart = (part: string, keyId: string) => ({ part, requestId: `${part}#${keyId}` })
export const totalKey = (keyId: string, day: string) => keyInPart(totalsOfDay(day), keyId)

export function toTotalItem({ keyId, day, accountId, parts, rowsUntilMs }: DayTotal, part = totalsOfDay(day)): Item {
  return {
    ...keyInPart(part, keyId),
    keyId,
    day,
    accountId,
    parts: parts.map(withoutZeros),
    rowsUntil: rowsUntilMs === undefined ? undefined : isoTime(rowsUntilMs),
  }
}

/** A part has many figures, most of which are zero for most keys. */
export function withoutZeros({ errors, ...part }: UsagePart): Item {
  const figures = Object.entries(part).filter(([, value]) => value !== undefined && value !== 0 && value !== 0n)
  return { ...Object.fromEntries(figures), ...(Object.keys(errors).length > 0 && { errors }) }
}

export function toDayTotal(item: Item): DayTotal {
  const { rowsUntil } = item
  return {
    keyId: item.keyId as string,
    day: item.day as string,
    accountId: item.accountId as string | undefined,
    parts: (item.parts as Item[]).map(toPart),
    rowsUntilMs: rowsUntil === undefined ? undefined : Date.parse(rowsUntil as string),
  }
}

export function toPart({ model, provider, errors = {}, ...stored }: Item): UsagePart {
  const part: Item = { ...NO_FIGURES, model, provider, errors }
  for (const name in stored) {
    const zero = NO_FIGURES[name as keyof Figures]
    if (zero !== undefined) part[name] = typeof zero === 'bigint' ? toNano(stored[name]) : stored[name]
  }
  return part as UsagePart
}

/** False if there is another total already, which stays: a total is written once and never changed. */
export function putDayTotal({ database, usage }: Tables) {
  return async (total: DayTotal): Promise<boolean> => {
    const standing = await putOnce(database, firstPut(usage, toTotalItem(total), 'requestId'))
    return !standing || isSameTotal(toDayTotal(standing), total)
  }
}

export function readDayTotal({ database, usage }: Tables) {
  return itemReader(database, usage, totalKey, toDayTotal)
}

/** The totals of all keys on one day from this one on, in the order of their ids: a page has some thousand of them. */
export function queryDayTotals(tables: Tables) {
  return (day: string, fromKeyId?: string) => itemsOfDay(tables, totalsOfDay(day), toDayTotal, fromKeyId)
}

function itemsOfDay<T>({ database, usage }: Tables, part: string, read: (item: Item) => T, fromKeyId = '') {
  const input = {
    TableName: usage,
    KeyConditionExpression: 'part = :day AND requestId >= :from',
    ExpressionAttributeValues: { ':day': part, ':from': keyInPart(part, fromKeyId).requestId },
    ConsistentRead: true,
  }
  return queryItems(database, input, read)
}

/**
 * The rows of a key and a day that began before a time, added up: a total in the making, if one run has no time for all
 * rows. Sum and time are one item, and these rows do not change any more, so no row can be counted twice or left out.
 */
export type DaySum = { readonly total: DayTotal; readonly beforeMs: number }

/** Long after the next run. Without its sum a key is added up from the first row again. */
const KEPT_MS = 7 * DAY_MS

export const DAY_SUMS = `${USAGE_ITEMS.day}SUM#`
const sumsOfDay = (day: string) => `${DAY_SUMS}${day}`

export function putDaySum({ database, usage }: Tables) {
  return async ({ total, beforeMs }: DaySum, nowMs: number): Promise<void> => {
    const Item = {
      ...toTotalItem(total, sumsOfDay(total.day)),
      before: isoTime(beforeMs),
      expiresAt: Math.ceil((nowMs + KEPT_MS) / 1000),
    }
    await database.put({ TableName: usage, Item })
  }
}

export function readDaySums(tables: Tables) {
  return async (day: string): Promise<ReadonlyMap<string, DaySum>> => {
    const read = (item: Item) => ({ total: toDayTotal(item), beforeMs: Date.parse(item.before as string) })
    const sums = await Array.fromAsync(itemsOfDay(tables, sumsOfDay(day), read))
    return new Map(sums.map((sum) => [sum.total.keyId, sum]))
  }
}
