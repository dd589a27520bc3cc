import { USAGE_ITEMS } from '../../contract.ts'
import { type DayTotal, type Figures, NO_FIGURES, type UsagePart } from '../../domain/day-total.ts'
import { isoTime } from '../../domain/time.ts'
import type { Item } from '../database.ts'
import { toNano } from '../keys/key-item.ts'

/** All totals of a day are one partition of the index by key, in the order of their keys. */
export const totalsOfDay = (day: string) => `${USAGE_ITEMS.day}${day}`
export const totalId = (keyId: string, day: string) => `${totalsOfDay(day)}#${keyId}`

export function toTotalItem({ keyId, day, parts, rowsUntilMs }: DayTotal): Item {
  return {
    requestId: totalId(keyId, day),
    keyId,
    day,
    parts: parts.map(withoutZeros),
    rowsUntil: rowsUntilMs === undefined ? undefined : isoTime(rowsUntilMs),
    // The attributes have the names of rows, because they share the index.
    keyDay: totalsOfDay(day),
    startedAt: keyId,
  }
}

/** A part has many figures, most of which are zero for most keys. */
function withoutZeros({ errors, ...part }: UsagePart): Item {
  const figures = Object.entries(part).filter(([, value]) => value !== undefined && value !== 0 && value !== 0n)
  return { ...Object.fromEntries(figures), ...(Object.keys(errors).length > 0 && { errors }) }
}

export function toDayTotal(item: Item): DayTotal {
  const { rowsUntil } = item
  return {
    keyId: item.keyId as string,
    day: item.day as string,
    parts: (item.parts as Item[]).map(toPart),
    rowsUntilMs: rowsUntil === undefined ? undefined : Date.parse(rowsUntil as string),
  }
}

function toPart({ model, provider, errors = {}, ...stored }: Item): UsagePart {
  const figures = Object.entries(NO_FIGURES).map(([name, zero]) => {
    const value = stored[name] ?? zero
    return [name, typeof zero === 'bigint' ? toNano(value) : value]
  })
  return { ...(Object.fromEntries(figures) as Figures), model, provider, errors } as UsagePart
}
