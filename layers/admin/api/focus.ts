import type { z } from 'zod'
import { DAY_MS, utcDay } from '../../gateway/domain/basics/time.ts'
import { accountIdOf } from '../../gateway/domain/keys/key.ts'
import { daysFrom, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import type { DayTotal } from '../../gateway/domain/rows/day-total.ts'
import { type FocusLine, focusLines } from '../../gateway/domain/rows/focus-line.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { queryDayTotals } from '../../gateway/store/rows/day-totals.ts'
import type { Call } from './call.ts'
import { accountNames } from './changed-key.ts'
import { wrong } from './fields.ts'
import { cursorOf, firstOf, pageOf, readCursor, requireRange } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { focusQuery } from './shapes/queries.ts'

const MOST_DAYS = 400

/** The charges of closed days. A page has the lines of so many keys and days. */
export async function listFocus({ tables }: Call, sent: z.output<typeof focusQuery>): Promise<List<FocusLine>> {
  const { closedThrough } = await readClosing(tables)()
  const toMs = sent.to ?? (closedThrough === undefined ? DAY_MS : momentsOf(closedThrough).toMs)
  const fromMs = sent.from ?? toMs - DAY_MS
  requireRange(fromMs, toMs, MOST_DAYS)
  for (const [name, ms] of Object.entries({ from: fromMs, to: toMs })) {
    if (ms % DAY_MS !== 0) throw wrong(name, 'must be the beginning of a UTC day, such as 2026-11-01.')
  }
  const last = utcDay(toMs - 1)
  if (sent.to !== undefined && last > (closedThrough ?? '')) {
    const through = closedThrough === undefined ? 'no day is' : `days are closed through ${closedThrough}`
    throw wrong(
      'to',
      `must not be after the closed days: ${last} is not closed, ${through}. See closed days in docs/operate.md.`,
    )
  }
  const [day = utcDay(fromMs), keyId] = readCursor(sent.after, /^\d{4}-\d\d-\d\d$/, /^[\w-]{1,80}$/) ?? []
  const found = await firstOf(totalsFrom(tables, day, last, keyId), sent.limit + 1)
  const totals = found.slice(0, sent.limit)
  const keys = await readKeys(tables, [...new Set(totals.map((total) => total.keyId))])
  const byId = new Map(keys.map((key) => [key.id, key]))
  const names = await accountNames(tables, keys)
  const lines = totals.flatMap((total) => {
    const key = byId.get(total.keyId)
    // A key that was moved into an account is on its invoice with all that it was ever charged.
    const accountId = key ? accountIdOf(key) : total.accountId
    return focusLines(total, { accountId, accountName: names.get(accountId ?? ''), keyName: key?.name })
  })
  const end = totals.at(-1)
  return pageOf(lines, found.length > sent.limit, end && cursorOf(end.day, end.keyId))
}

async function* totalsFrom(tables: Tables, first: string, last: string, afterKey?: string): AsyncGenerator<DayTotal> {
  for (const day of daysFrom(first, last)) {
    const after = day === first ? afterKey : undefined
    for await (const total of queryDayTotals(tables)(day, after)) if (total.keyId !== after) yield total
  }
}
