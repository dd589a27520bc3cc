import { parseJson } from '../../gateway/domain/basics/json-object.ts'
import { DAY_MS, isoTime } from '../../gateway/domain/basics/time.ts'
import { AdminError } from './admin-error.ts'
import { wrong } from './fields.ts'
import type { List } from './shapes/answers.ts'

export function requireRange(fromMs: number, toMs: number, mostDays = Infinity): void {
  const [from, to] = [fromMs, toMs].map((ms) => isoTime(ms))
  if (fromMs >= toMs) throw wrong('from', `must be before 'to', but ${from} is not before ${to}.`)
  if (toMs - fromMs <= mostDays * DAY_MS) return
  throw new AdminError('invalid_request', `The range may have at most ${mostDays} days.`, { param: 'from' })
}

/** The cursor from which a list goes on: written by us, and opaque to callers. */
export function cursorOf(...parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

export function readCursor(text: string | undefined, ...patterns: readonly RegExp[]): string[] | undefined {
  if (text === undefined) return undefined
  const read = parseJson(Buffer.from(text, 'base64url').toString())
  const parts = Array.isArray(read) ? read.map(String) : []
  if (parts.length === patterns.length && parts.every((part, i) => patterns[i]?.test(part))) return parts
  throw noSuchPage()
}

export function placeOf({ createdAtMs, id }: Place): string {
  return cursorOf(createdAtMs, id)
}

export function readPlace(text: string | undefined, prefix: 'key' | 'acct' | 'adminkey'): Place | undefined {
  const [createdAtMs, id] = readCursor(text, /^\d{1,15}$/, new RegExp(`^${prefix}_\\w{1,40}$`)) ?? []
  return id === undefined ? undefined : { createdAtMs: Number(createdAtMs), id }
}

export type Place = { readonly createdAtMs: number; readonly id: string }

export function noSuchPage(): AdminError {
  return wrong('after', 'must be the last_id of the list before.')
}

export async function firstOf<T>(all: AsyncIterable<T>, count: number, isWanted = (_: T) => true): Promise<T[]> {
  const found: T[] = []
  for await (const one of all) {
    if (isWanted(one)) found.push(one)
    if (found.length === count) break
  }
  return found
}

export function wholeList<T>(data: readonly T[]): List<T> {
  return pageOf(data, false, undefined)
}

/** A page of a list, from one row more than asked for, which tells if the list goes on. */
export function listOf<Row, T>(
  rows: readonly Row[],
  limit: number,
  shape: (row: Row) => T,
  cursor: (row: Row) => string,
): List<T> {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return pageOf(page.map(shape), rows.length > limit, last && cursor(last))
}

export function pageOf<T>(data: readonly T[], hasMore: boolean, cursor: string | undefined): List<T> {
  return { object: 'list', data, has_more: hasMore, last_id: cursor ?? null }
}
