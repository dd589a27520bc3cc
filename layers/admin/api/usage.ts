import type { z } from 'zod'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../gateway/domain/basics/time.ts'
import { accountIdOf, type Key } from '../../gateway/domain/keys/key.ts'
import { latestRowMs, momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import { UsageGroups, type UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { usageOfKey, usageOfKeyByHour } from '../../gateway/store/rows/usage-of-key.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'
import { shownGroups, usageNumbers } from '../usage/usage-numbers.ts'
import { usageReader } from '../usage/usage-reader.ts'
import type { Call } from './call.ts'
import { accountNames, keysAskedFor } from './changed-key.ts'
import { requireRange } from './pages.ts'
import type { usageQuery } from './shapes/queries.ts'
import type { UsageGroup, UsagePage } from './shapes/usage.ts'

const BUCKETS = { '1d': { ms: DAY_MS, mostDays: 400 }, '1h': { ms: HOUR_MS, mostDays: 31 } }

type Usage = { readonly atMs: number; readonly keyId?: string | undefined; readonly part: UsagePart }

const GROUPS: Readonly<Record<Exclude<UsageGroup, 'account'>, (usage: Usage) => string>> = {
  model: ({ part }) => part.model ?? '-',
  key: ({ keyId }) => keyId ?? '-',
  provider: ({ part }) => part.provider ?? '-',
  day: ({ atMs }) => utcDay(atMs),
}

/** The last seven days, unless a range is given. */
export async function getUsage(call: Call, sent: z.output<typeof usageQuery>): Promise<UsagePage> {
  const { tables, nowMs } = call
  const { group_by: groupBy, bucket } = sent
  const keys = await keysAskedFor(call, sent)
  const { ms: bucketMs, mostDays } = BUCKETS[bucket]
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  const fromMs = sent.from ?? momentsOf(utcDay(nowMs - 6 * DAY_MS)).fromMs
  const toMs = sent.to ?? startOf(nowMs) + bucketMs
  requireRange(fromMs, toMs, mostDays)
  const { closedThrough = '' } = await readClosing(tables)()
  // Days in the future have no rows to look for.
  const range = { fromMs, toMs: Math.min(toMs, latestRowMs(nowMs)) }
  const usage = range.fromMs < range.toMs ? await Array.fromAsync(usageIn(call, keys, range, sent)) : []
  const { groupOf, labels } = await groupsBy(call, groupBy, usage)
  const all = UsageGroups.of(usage, groupOf)
  const byStart = Map.groupBy(usage, ({ atMs }) => startOf(atMs))
  const buckets = Array.from({ length: Math.ceil((toMs - startOf(fromMs)) / bucketMs) }, (_, i) => {
    const startMs = startOf(fromMs) + i * bucketMs
    return { startMs, groups: UsageGroups.of(byStart.get(startMs) ?? [], groupOf) }
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
      results: groups.dearestFirst().map(([group, part]) => ({ group, ...usageNumbers(part, highest) })),
    })),
    total: usageNumbers(total, total.cost),
    groups: shownGroups(all, groupBy, labels),
  }
}

/** Keys and accounts have names. A key without an account is a customer of its own. */
async function groupsBy({ tables }: Call, by: UsageGroup, usage: readonly Usage[]) {
  if (by !== 'key' && by !== 'account') return { groupOf: GROUPS[by], labels: new Map<string, string>() }
  const keys = await readKeys(tables, [...new Set(usage.flatMap(({ keyId }) => keyId ?? []))])
  const labels = new Map(keys.map(({ id, name }) => [id, name]))
  if (by === 'key') return { groupOf: GROUPS[by], labels }
  const accountOf = new Map(keys.map((key) => [key.id, accountIdOf(key)]))
  const groupOf = ({ keyId = '-' }: Usage) => accountOf.get(keyId) ?? keyId
  return { groupOf, labels: new Map([...labels, ...(await accountNames(tables, keys))]) }
}

async function* usageIn(
  { tables }: Call,
  keys: readonly Key[] | undefined,
  range: TimeRange,
  { bucket, group_by: groupBy }: z.output<typeof usageQuery>,
): AsyncGenerator<Usage, void, undefined> {
  const read = bucket === '1h' ? usageOfKeyByHour : usageOfKey
  for (const key of keys ?? []) {
    for await (const usage of read(tables, key, range)) yield { ...usage, keyId: key.id }
  }
  if (keys) return
  const kind = groupBy === 'key' || groupBy === 'account' ? 'keys' : 'models'
  for await (const { atMs, sum } of usageReader(tables)(range, kind, bucket === '1h' ? 'hours' : 'days')) {
    if (kind === 'models') for (const part of sum.models.values()) yield { atMs, part }
    else for (const [keyId, part] of sum.keys) yield { atMs, keyId, part }
  }
}
