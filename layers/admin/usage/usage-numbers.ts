import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { faultsOf, type UsageGroups, type UsagePart } from '../../gateway/domain/rows/day-total.ts'
import { emptyHistogram, type Histogram, quantileOf } from '../../gateway/domain/rows/histogram.ts'
import { SUMMED_FIELDS } from '../../gateway/domain/rows/usage-row.ts'
import { recordOf } from '../../gateway/wire/rows/usage-record.ts'
import type { UsageNumbers, UsagePage } from '../api/shapes/usage.ts'

export function shownGroups(
  groups: UsageGroups,
  by: string,
  labels: ReadonlyMap<string, string> = new Map(),
  calls?: string,
): UsagePage['groups'] {
  const dearest = groups.dearestFirst(calls)
  const highest = dearest[0]?.[1].cost ?? 0n
  return (by === 'day' ? groups.byName(calls) : dearest).map(([group, part]) => ({
    group,
    label: labels.get(group) ?? group,
    ...usageNumbers(part, highest),
  }))
}

const sumsOf = recordOf(SUMMED_FIELDS)

export function usageNumbers(part: UsagePart, highest: Nano): UsageNumbers {
  const more = {
    requests: part.requests,
    completed: part.completed,
    ...faultsOf(part),
    calls: part.calls,
    margin: formatCredits(part.costOfStated - part.upstreamCost),
    without_cost: part.withoutCost,
    share: highest === 0n ? 0 : Number((part.cost * 1000n) / highest),
  }
  return { ...sumsOf(part), ...more } as UsageNumbers
}

export function creditTexts<Name extends string>(amounts: Readonly<Record<Name, Nano>>): Record<Name, string> {
  return Object.fromEntries(Object.entries<Nano>(amounts).map(([name, nano]) => [name, formatCredits(nano)])) as never
}

export function quantilesOf(histogram: Histogram = emptyHistogram()) {
  return { p50: quantileOf(histogram, 0.5) ?? null, p95: quantileOf(histogram, 0.95) ?? null }
}
