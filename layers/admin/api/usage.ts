import type { z } from 'zod'
import { momentsOf } from '../../gateway/domain/closed-day.ts'
import { addParts, type Figures, NO_FIGURES, type UsagePart } from '../../gateway/domain/day-total.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money.ts'
import { DAY_MS, HOUR_MS, isoTime, utcDay } from '../../gateway/domain/time.ts'
import { SUMMED_FIELDS } from '../../gateway/domain/usage-row.ts'
import { readKeys } from '../../gateway/store/newest-keys.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { usageOfKey, usageOfKeyByHour } from '../../gateway/store/usage/usage-of-key.ts'
import type { TimeRange } from '../../gateway/store/usage/usage-rows.ts'
import { recordOf } from '../../gateway/wire/usage-record.ts'
import { usageReader } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { keyNamed } from './changed-key.ts'
import { requireOrder } from './pages.ts'
import type { usageQuery } from './shapes/queries.ts'
import type { UsageGroup, UsageNumbers, UsagePage } from './shapes/usage.ts'

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
  requireLength(fromMs, toMs, bucket)
  const { closedThrough = '' } = await readClosing(tables)()

  const bucketMs = BUCKET_MS[bucket]
  const startOf = (ms: number) => Math.floor(ms / bucketMs) * bucketMs
  const sums = new Sums()
  // Days in the future have no rows to look for.
  const range = { fromMs, toMs: Math.min(toMs, latestRowMs(nowMs)) }
  if (range.fromMs < range.toMs) {
    for await (const usage of usageIn(call, key, range, sent))
      sums.add(startOf(usage.atMs), usage.part, GROUPS[groupBy](usage))
  }
  const labels = groupBy === 'key' ? await labelsOf(tables, [...sums.groups.keys()]) : new Map<string, string>()
  const starts = Array.from(
    { length: Math.ceil((toMs - startOf(fromMs)) / bucketMs) },
    (_, i) => startOf(fromMs) + i * bucketMs,
  )
  const highestBucket = highest(starts.map((startMs) => costOf(sums.ofBucket(startMs))))
  const groups = [...sums.groups].sort(groupBy === 'day' ? earliestFirst : dearestFirst)
  const highestGroup = highest(groups.map(([, part]) => part.cost))
  const body: UsagePage = {
    object: 'page',
    group_by: groupBy,
    data: starts.map((startMs) => ({
      object: 'bucket',
      start_time: isoTime(Math.max(fromMs, startMs)),
      end_time: isoTime(Math.min(toMs, startMs + bucketMs)),
      closed: utcDay(startMs) <= closedThrough,
      results: [...sums.ofBucket(startMs)].map(([group, part]) => ({ group, ...numbers(part, highestBucket) })),
    })),
    total: numbers(sums.total, sums.total?.cost ?? 0n),
    groups: groups.map(([group, part]) => ({
      group,
      label: labels.get(group) ?? group,
      ...numbers(part, highestGroup),
    })),
  }
  return { body }
}

function requireLength(fromMs: number, toMs: number, bucket: '1d' | '1h'): void {
  const most = MOST_DAYS[bucket]
  if (toMs - fromMs <= most * DAY_MS) return
  const ofHours = bucket === '1h' ? ' by the hour' : ''
  throw new AdminError('invalid_request', `The range may have at most ${most} days${ofHours}.`, { param: 'from' })
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

type Groups = ReadonlyMap<string, UsagePart>
type Group = [name: string, part: UsagePart]

function dearestFirst([, a]: Group, [, b]: Group): number {
  return a.cost > b.cost ? -1 : Number(a.cost < b.cost)
}

function earliestFirst([a]: Group, [b]: Group): number {
  return a < b ? -1 : 1
}

class Sums {
  readonly #buckets = new Map<number, Map<string, UsagePart>>()
  readonly groups = new Map<string, UsagePart>()
  total: UsagePart | undefined

  add(startMs: number, part: UsagePart, group: string): void {
    const ofBucket = this.#buckets.get(startMs) ?? new Map<string, UsagePart>()
    this.#buckets.set(startMs, ofBucket)
    for (const groups of [ofBucket, this.groups]) {
      const before = groups.get(group)
      groups.set(group, before ? addParts(before, part) : part)
    }
    this.total = this.total ? addParts(this.total, part) : part
  }

  ofBucket(startMs: number): Groups {
    return this.#buckets.get(startMs) ?? new Map()
  }
}

function costOf(groups: Groups): Nano {
  return [...groups.values()].reduce((sum, { cost }) => sum + cost, 0n)
}

function highest(costs: readonly Nano[]): Nano {
  return costs.reduce((most, cost) => (cost > most ? cost : most), 0n)
}

const sumsOf = recordOf(SUMMED_FIELDS)

function numbers(part: Figures = NO_FIGURES, highestCost: Nano): UsageNumbers {
  const { requests, completed, refused, cost } = part
  const more = {
    requests,
    completed,
    refused,
    failed: part.upstreamErrors + part.abandoned,
    margin: formatCredits(part.costOfStated - part.upstreamCost),
    without_cost: part.withoutCost,
    share: highestCost === 0n ? 0 : Number((cost * 1000n) / highestCost),
  }
  return { ...sumsOf(part), ...more } as UsageNumbers
}
