import type { z } from 'zod'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../gateway/domain/basics/time.ts'
import { accountIdOf, type Key } from '../../gateway/domain/keys/key.ts'
import { daysFrom, latestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { addTo, type DayTotal, partOf, UsageGroups, type UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { type FocusLine, focusLines } from '../../gateway/domain/rows/focus-line.ts'
import { payerIn } from '../../gateway/domain/rows/statement.ts'
import { mapConcurrently } from '../../gateway/platform/map-concurrently.ts'
import { readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { queryDayTotals } from '../../gateway/store/rows/day-totals.ts'
import { usageOfKey } from '../../gateway/store/rows/usage-of-key.ts'
import { type TimeRange, usageRows } from '../../gateway/store/rows/usage-rows.ts'
import { requestFilter } from '../usage/request-filter.ts'
import { TAG } from '../usage/usage-groups.ts'
import { shownGroups, usageNumbers } from '../usage/usage-numbers.ts'
import { usageReader } from '../usage/usage-reader.ts'
import type { Call } from './call.ts'
import { accountNames, keysAskedFor } from './changed-key.ts'
import { wrong } from './fields.ts'
import { cursorOf, firstOf, pageOf, readCursor, requireRange } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { focusQuery, usageQuery } from './shapes/queries.ts'
import type { UsagePage } from './shapes/usage.ts'

const BUCKETS = { '1d': { ms: DAY_MS, mostDays: 400 }, '1h': { ms: HOUR_MS, mostDays: 31 } }

/** The name is that of a group under which rows were added up. */
type Usage = {
  readonly atMs: number
  readonly keyId?: string | undefined
  readonly name?: string
  readonly part: UsagePart
}

const GROUPS: Readonly<Record<string, (usage: Usage) => string>> = {
  model: ({ part }) => part.model ?? '-',
  key: ({ keyId }) => keyId ?? '-',
  provider: ({ part }) => part.provider ?? '-',
  day: ({ atMs }) => utcDay(atMs),
  account: ({ keyId }) => keyId ?? '-',
}

/** Callers name any number of users and tags. The rows of those beyond this many are added up together. */
const MOST_NAMES = 10_000
/** Those that cost the most; of groups of rows, an answer has so many in each bucket. */
const MOST_IN_BUCKETS = 100
const OTHERS = '(others)'

/** The last seven days, unless a range is given. */
export async function getUsage(call: Call, sent: z.output<typeof usageQuery>): Promise<UsagePage> {
  const { tables, nowMs } = call
  const { group_by: groupBy, bucket, calls, from, to, top, key_id: _, account: __, ...filters } = sent
  const keys = await keysAskedFor(call, sent)
  const { ms: bucketMs, mostDays } = BUCKETS[bucket]
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  const fromMs = from ?? momentsOf(utcDay(nowMs - 6 * DAY_MS)).fromMs
  const toMs = to ?? startOf(nowMs) + bucketMs
  requireRange(fromMs, toMs, mostDays)
  const { closedThrough = '' } = await readClosing(tables)()
  // Days in the future have no rows to look for.
  const range = { fromMs, toMs: Math.min(toMs, latestRowMs(nowMs)) }
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const matches = requestFilter({ ...filters, calls: 'all' })
  // Sums have no users and tags, and those of a key no hours.
  const isOfRows = isFiltered || !Object.hasOwn(GROUPS, groupBy) || (keys && bucket === '1h')
  const read = isOfRows ? usageOfRows(call, keys, range, groupBy, startOf, matches) : usageIn(call, keys, range, sent)
  const usage: Usage[] = range.fromMs < range.toMs ? await Array.fromAsync(read) : []
  const { groupOf, labels } = await groupsBy(call, groupBy, usage)
  const all = UsageGroups.of(usage, groupOf)
  const mostShown = top ?? (isOfRows ? MOST_IN_BUCKETS : Infinity)
  const shown = new Map(all.dearestFirst(calls).slice(0, mostShown))
  const inBucket = (one: Usage) => (shown.has(groupOf(one)) ? groupOf(one) : OTHERS)
  const byStart = Map.groupBy(usage, ({ atMs }) => startOf(atMs))
  const buckets = Array.from({ length: Math.ceil((toMs - startOf(fromMs)) / bucketMs) }, (_, i) => {
    const startMs = startOf(fromMs) + i * bucketMs
    return { startMs, groups: UsageGroups.of(byStart.get(startMs) ?? [], inBucket) }
  })
  const highest = buckets.reduce((most, { groups: { total } }) => (total.cost > most ? total.cost : most), 0n)
  const { total } = all
  return {
    object: 'page',
    group_by: groupBy,
    data: buckets.map(({ startMs, groups }) => ({
      object: 'bucket',
      start_time: isoTime(Math.max(fromMs, startMs)),
      end_time: isoTime(Math.min(toMs, startMs + bucketMs)),
      closed: utcDay(startMs) <= closedThrough,
      results: groups.dearestFirst(calls).map(([group, part]) => ({ group, ...usageNumbers(part, highest) })),
    })),
    total: usageNumbers(total, total.cost),
    groups: shownGroups(all, groupBy, labels, calls),
  }
}

/** Keys and accounts have names. A key without an account is a customer of its own. */
async function groupsBy({ tables }: Call, by: string, usage: readonly Usage[]) {
  const named = (one: Usage) => one.name ?? GROUPS[by]?.(one) ?? '-'
  if (by !== 'key' && by !== 'account') return { groupOf: named, labels: new Map<string, string>() }
  const keys = await readKeys(tables, [...new Set(usage.flatMap(({ keyId }) => keyId ?? []))])
  const labels = new Map(keys.map(({ id, name }) => [id, name]))
  if (by === 'key') return { groupOf: named, labels }
  const accountOf = new Map(keys.map((key) => [key.id, accountIdOf(key)]))
  const groupOf = ({ keyId = '-' }: Usage) => accountOf.get(keyId) ?? keyId
  return { groupOf, labels: new Map([...labels, ...(await accountNames(tables, keys))]) }
}

/** Rows are added up as they come, because there are as many as requests. */
async function* usageOfRows(
  { tables }: Call,
  keys: readonly Key[] | undefined,
  range: TimeRange,
  by: string,
  startOf: (ms: number) => number,
  matches: ReturnType<typeof requestFilter>,
): AsyncGenerator<Usage, void, undefined> {
  const sums = new Map<string, Usage>()
  const names = new Set<string>()
  const keyIds = keys?.map(({ id }) => id)
  for await (const row of usageRows(tables, keyIds, range)) {
    if (!matches(row)) continue
    const usage = { atMs: startOf(row.startedAtMs), keyId: row.keyId, part: partOf(row) }
    const tag = () => Object.entries(row.tags ?? {}).find(([name]) => by === TAG + name)?.[1]
    const own = GROUPS[by]?.(usage) ?? (by === 'user' ? row.user : tag()) ?? '-'
    if (names.size < MOST_NAMES) names.add(own)
    const name = names.has(own) ? own : OTHERS
    const sum = sums.get(`${usage.atMs} ${name}`)
    if (sum) addTo(sum.part, usage.part)
    else sums.set(`${usage.atMs} ${name}`, { ...usage, name })
  }
  yield* sums.values()
}

async function* usageIn(
  { tables }: Call,
  keys: readonly Key[] | undefined,
  range: TimeRange,
  { bucket, group_by: groupBy }: z.output<typeof usageQuery>,
): AsyncGenerator<Usage, void, undefined> {
  for (const key of keys ?? []) {
    for await (const usage of usageOfKey(tables, key, range)) yield { ...usage, keyId: key.id }
  }
  if (keys) return
  const kind = groupBy === 'key' || groupBy === 'account' ? 'keys' : 'models'
  for await (const { atMs, sum } of usageReader(tables)(range, kind, bucket === '1h' ? 'hours' : 'days')) {
    if (kind === 'models') for (const part of sum.models.values()) yield { atMs, part }
    else for (const [keyId, part] of sum.keys) yield { atMs, keyId, part }
  }
}

/** The charges of closed days. A page has the lines of so many totals: one for each key and day. */
export async function listFocus(
  { tables, currency }: Call,
  sent: z.output<typeof focusQuery>,
): Promise<List<FocusLine>> {
  const { closedThrough = '' } = await readClosing(tables)()
  const { to = closedThrough ? momentsOf(closedThrough).toMs : DAY_MS, from = to - DAY_MS } = sent
  requireRange(from, to, BUCKETS['1d'].mostDays)
  if (from % DAY_MS !== 0) throw wrong('from', 'must be the beginning of a UTC day, such as 2026-11-01.')
  const last = utcDay(to - 1)
  if (to % DAY_MS !== 0 || (sent.to && last > closedThrough)) {
    const through = closedThrough ? `the last one is ${closedThrough}` : 'there is none yet'
    throw wrong('to', `must be the end of a closed UTC day, but got ${isoTime(to)}; ${through}.`)
  }
  const [passed = '0', after] = readCursor(sent.after, /^\d{1,3}$/, /^[\w-]{1,80}$/) ?? []
  const first = utcDay(from + Number(passed) * DAY_MS)
  const isNew = ({ day, keyId }: DayTotal) => day !== first || keyId !== after
  const pages = mapConcurrently(daysFrom(first, last), 1, (day) =>
    firstOf(queryDayTotals(tables)(day, day === first ? after : undefined), sent.limit + 1, isNew),
  )
  const found = await firstOf(pages, sent.limit + 1)
  const totals = found.slice(0, sent.limit)
  const keys = await readKeys(tables, [...new Set(totals.map(({ keyId }) => keyId))])
  const [byId, names] = [new Map(keys.map((key) => [key.id, key])), await accountNames(tables, keys)]
  const lines = totals.flatMap((total) => {
    const key = byId.get(total.keyId)
    const accountId = key ? payerIn(total.day, accountIdOf(key), key.purse?.adoptedAtMs) : total.accountId
    return focusLines({ ...total, currency, accountId, accountName: names.get(accountId ?? ''), keyName: key?.name })
  })
  const end = totals.at(-1)
  return pageOf(lines, found.length > sent.limit, end && cursorOf((Date.parse(end.day) - from) / DAY_MS, end.keyId))
}
