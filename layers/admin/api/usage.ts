import type { z } from 'zod'
import { daysFrom, momentsOf } from '../../gateway/domain/closed-day.ts'
import { addParts, type Figures, NO_FIGURES, type UsagePart } from '../../gateway/domain/day-total.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money.ts'
import { DAY_MS, isoTime, utcDay } from '../../gateway/domain/time.ts'
import { SUMMED_FIELDS } from '../../gateway/domain/usage-row.ts'
import { newestKeys } from '../../gateway/store/newest-keys.ts'
import { readClosing } from '../../gateway/store/usage/closing.ts'
import { recordOf } from '../../gateway/wire/usage-record.ts'
import { type UsageOfDay, usageOfDays } from '../usage/usage-of-days.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { keyNamed } from './changed-key.ts'
import { requireOrder } from './pages.ts'
import type { usageQuery } from './shapes/queries.ts'
import type { UsageGroup, UsageNumbers, UsagePage } from './shapes/usage.ts'

const MOST_DAYS = 400

const GROUPS: Readonly<Record<UsageGroup, (usage: UsageOfDay) => string>> = {
  model: ({ part }) => part.model ?? '-',
  key: ({ keyId }) => keyId,
  provider: ({ part }) => part.provider ?? '-',
  day: ({ day }) => day,
}

/** The last seven days, unless a range is given. */
export async function getUsage(call: Call, sent: z.output<typeof usageQuery>): Promise<Answer> {
  const { tables, nowMs } = call
  const { group_by: groupBy } = sent
  const key = await keyNamed(call, sent.key_id)
  const fromMs = sent.from ?? momentsOf(utcDay(nowMs - 6 * DAY_MS)).fromMs
  const toMs = sent.to ?? momentsOf(utcDay(nowMs)).toMs
  requireOrder(fromMs, toMs)
  if (toMs - fromMs > MOST_DAYS * DAY_MS) {
    throw new AdminError('invalid_request', `The range may have at most ${MOST_DAYS} days.`, { param: 'from' })
  }
  const { closedThrough = '' } = await readClosing(tables)()

  const keys = groupBy === 'key' ? await (key ? [key] : Array.fromAsync(newestKeys(tables)())) : []
  const sums = new Sums()
  // Days in the future have no rows to look for.
  const range = { fromMs, toMs: Math.min(toMs, latestRowMs(nowMs)) }
  if (range.fromMs < range.toMs) {
    const of = key?.id ?? (groupBy === 'key' ? keys : undefined)
    for await (const usage of usageOfDays(tables, of, range, nowMs)) sums.add(usage, GROUPS[groupBy](usage))
  }
  const labels = new Map(keys.map(({ id, name }) => [id, name]))
  const days = [...daysFrom(utcDay(fromMs), utcDay(toMs - 1))]
  const highestDay = highest(days.map((day) => costOf(sums.ofDay(day))))
  const groups = [...sums.groups].sort(groupBy === 'day' ? earliestFirst : dearestFirst)
  const highestGroup = highest(groups.map(([, part]) => part.cost))
  const body: UsagePage = {
    object: 'page',
    group_by: groupBy,
    data: days.map((day) => ({
      object: 'bucket',
      start_time: isoTime(Math.max(fromMs, momentsOf(day).fromMs)),
      end_time: isoTime(Math.min(toMs, momentsOf(day).toMs)),
      closed: day <= closedThrough,
      results: [...sums.ofDay(day)].map(([group, part]) => ({ group, ...numbers(part, highestDay) })),
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

type Groups = ReadonlyMap<string, UsagePart>
type Group = [name: string, part: UsagePart]

function dearestFirst([, a]: Group, [, b]: Group): number {
  return a.cost > b.cost ? -1 : Number(a.cost < b.cost)
}

function earliestFirst([a]: Group, [b]: Group): number {
  return a < b ? -1 : 1
}

class Sums {
  readonly #days = new Map<string, Map<string, UsagePart>>()
  readonly groups = new Map<string, UsagePart>()
  total: UsagePart | undefined

  add({ day, part }: UsageOfDay, group: string): void {
    const ofDay = this.#days.get(day) ?? new Map<string, UsagePart>()
    this.#days.set(day, ofDay)
    for (const groups of [ofDay, this.groups]) {
      const before = groups.get(group)
      groups.set(group, before ? addParts(before, part) : part)
    }
    this.total = this.total ? addParts(this.total, part) : part
  }

  ofDay(day: string): Groups {
    return this.#days.get(day) ?? new Map()
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
