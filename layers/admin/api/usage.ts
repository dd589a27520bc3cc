import type { z } from 'zod'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { momentsOf } from '../../gateway/domain/rows/closed-day.ts'
import type { UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { UsageGroups } from '../../gateway/domain/rows/day-total.ts'
import { readClosing } from '../../gateway/store/rows/closing.ts'
import { usageOfKey, usageOfKeyByHour } from '../../gateway/store/rows/usage-of-key.ts'
import type { TimeRange } from '../../gateway/store/rows/usage-rows.ts'
import { readKeys } from '../../gateway/store/sdk/newest-keys.ts'
import { shownGroups, usageNumbers } from '../usage/usage-numbers.ts'
import { usageReader } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import type { Answer, Call } from './call.ts'
import { keyNamed } from './changed-key.ts'
import { requireLength, requireOrder } from './pages.ts'
import type { usageQuery } from './shapes/queries.ts'
import type { UsageGroup, UsagePage } from './shapes/usage.ts'

/** The longest ranges by the length of a bucket. */
const MOST_DAYS = { '1d': 400, '1h': 31 }
const BUCKET_MS = { '1d': DAY_MS, '1h': HOUR_MS }

/** A part of the usage in a range: of an hour or a day, of one key or of all, of one model or of all. */
type Usage = { readonly atMs: number; readonly keyId?: string | undefined; readonly part: UsagePart }

const GROUPS: Readonly<Record<UsageGroup, (usage: Usage) => string>> = {
  model: ({ part }) => part.model ?? '-',
  key: ({ keyId }) => keyId ?? '-',
  provider: ({ part }) => part.provider ?? '-',
  day: ({ atMs }) => utcDay(atMs),
}

const endOfBucket = (nowMs: number, bucket: keyof typeof BUCKET_MS) =>
  (Math.floor(nowMs / BUCKET_MS[bucket]) + 1) * BUCKET_MS[bucket]

/** The last seven days, unless a range is given. */
export async function getUsage(call: Call, sent: z.output<typeof usageQuery>): Promise<Answer> {
  const { tables, nowMs } = call
  const { group_by: groupBy, bucket } = sent
  const key = await keyNamed(call, sent.key_id)
  const fromMs = sent.from ?? momentsOf(utcDay(nowMs - 6 * DAY_MS)).fromMs
  const toMs = sent.to ?? endOfBucket(nowMs, bucket)
  requireOrder(fromMs, toMs)
  requireLength(fromMs, toMs, MOST_DAYS[bucket])
  const { closedThrough = '' } = await readClosing(tables)()

  const bucketMs = BUCKET_MS[bucket]
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  const all = new UsageGroups()
  const buckets = new Map<number, UsageGroups>()
  // Days in the future have no rows to look for.
  const range = { fromMs, toMs: Math.min(toMs, latestRowMs(nowMs)) }
  if (range.fromMs < range.toMs) {
    for await (const usage of usageIn(call, key, range, sent)) {
      const startMs = startOf(usage.atMs)
      const bucketGroups = buckets.get(startMs) ?? new UsageGroups()
      buckets.set(startMs, bucketGroups)
      for (const groups of [bucketGroups, all]) groups.add(GROUPS[groupBy](usage), usage.part)
    }
  }
  const labels =
    groupBy === 'key'
      ? await labelsOf(
          tables,
          all.byName().map(([id]) => id),
        )
      : new Map<string, string>()
  const starts = Array.from(
    { length: Math.ceil((toMs - startOf(fromMs)) / bucketMs) },
    (_, i) => startOf(fromMs) + i * bucketMs,
  )
  const highest = [...buckets.values()].reduce((most, { total: { cost } }) => (cost > most ? cost : most), 0n)
  const { total } = all
  const body: UsagePage = {
    object: 'page',
    group_by: groupBy,
    data: starts.map((startMs) => ({
      object: 'bucket',
      start_time: isoTime(Math.max(fromMs, startMs)),
      end_time: isoTime(Math.min(toMs, startMs + bucketMs)),
      closed: utcDay(startMs) <= closedThrough,
      results: (buckets.get(startMs)?.dearestFirst() ?? []).map(([group, part]) => ({
        group,
        ...usageNumbers(part, highest),
      })),
    })),
    total: usageNumbers(total, total.cost),
    groups: shownGroups(all, groupBy, labels),
  }
  return { body }
}

async function* usageIn(
  { tables }: Call,
  key: Key | undefined,
  range: TimeRange,
  { bucket, group_by: groupBy }: z.output<typeof usageQuery>,
): AsyncGenerator<Usage, void, undefined> {
  if (key) {
    const read = bucket === '1h' ? usageOfKeyByHour : usageOfKey
    for await (const usage of read(tables, key, range)) yield { ...usage, keyId: key.id }
    return
  }
  const kind = groupBy === 'key' ? 'keys' : 'models'
  for await (const { atMs, sum } of usageReader(tables)(range, kind, bucket === '1h' ? 'hours' : 'days')) {
    if (kind === 'models') for (const part of sum.models.values()) yield { atMs, part }
    else for (const [keyId, part] of sum.keys) yield { atMs, keyId, part }
  }
}

async function labelsOf(tables: Call['tables'], keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map((await readKeys(tables, keyIds)).map(({ id, name }) => [id, name]))
}
