import { isoTime, utcDay } from '../../domain/basics/time.ts'
import { type Figures, UsageGroups, type UsagePart } from '../../domain/rows/day-total.ts'
import { SUMMED_FIELDS, USAGE_FIELDS } from '../../domain/rows/usage-row.ts'
import type { UsageGroup, UsageQuery } from './usage-query.ts'
import { recordOf } from './usage-record.ts'

type Range = UsageQuery['range']
type Usage = { readonly atMs: number; readonly part: UsagePart }

/** A caller is not told the cost to the operator. */
export const CALLER_SUMS = SUMMED_FIELDS.filter((name) => !USAGE_FIELDS[name].operatorOnly)

const GROUP_OF: Readonly<Record<UsageGroup, (usage: Usage) => string | null>> = {
  day: ({ atMs }) => utcDay(atMs),
  model: ({ part }) => part.model ?? null,
}

export function usageSums(
  group: UsageGroup,
  { fromMs, toMs }: Range,
  usage: readonly Usage[],
  leftOut: readonly Range[],
) {
  const groups = UsageGroups.of(usage, GROUP_OF[group])
  const sorted = group === 'day' ? groups.byName() : groups.dearestFirst()
  return {
    object: 'usage.sums',
    group,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    data: sorted.map(([name, part]) => ({ [group]: name, ...figures(part) })),
    total: figures(groups.total),
    left_out: leftOut
      .toSorted((a, b) => a.fromMs - b.fromMs)
      .map((range) => ({ from: isoTime(range.fromMs), to: isoTime(range.toMs) })),
  }
}

const sumsOf = recordOf(CALLER_SUMS)

function figures(part: Figures) {
  const { requests, completed, promptTokens, completionTokens } = part
  return { requests, completed, ...sumsOf(part), total_tokens: promptTokens + completionTokens }
}
