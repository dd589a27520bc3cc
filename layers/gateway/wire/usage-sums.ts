import { addParts, type Figures, NO_FIGURES, type UsagePart } from '../domain/day-total.ts'
import { isoTime, utcDay } from '../domain/time.ts'
import { SUMMED_FIELDS, USAGE_FIELDS } from '../domain/usage-row.ts'
import type { UsageGroup, UsageQuery } from './usage-query.ts'
import { recordOf } from './usage-record.ts'

type Range = UsageQuery['range']
type Usage = { readonly atMs: number; readonly part: UsagePart }

/** A caller is not told the cost to the operator. */
export const CALLER_SUMS = SUMMED_FIELDS.filter((name) => !USAGE_FIELDS[name].operatorOnly)

/** The group of a part; null for calls that asked no model. */
const GROUP_OF: Readonly<Record<UsageGroup, (usage: Usage) => string | null>> = {
  day: ({ atMs }) => utcDay(atMs),
  model: ({ part }) => part.model ?? null,
}

const ORDERS: Readonly<Record<UsageGroup, (a: Group, b: Group) => number>> = {
  day: ([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1),
  model: ([, a], [, b]) => (a.cost > b.cost ? -1 : Number(a.cost < b.cost)),
}

type Group = readonly [name: string | null, part: UsagePart]

/** Sums as a caller sees them: days in their order, the dearest model first. */
export function usageSums(
  group: UsageGroup,
  { fromMs, toMs }: Range,
  usage: readonly Usage[],
  leftOut: readonly Range[],
) {
  const groups = new Map<string | null, UsagePart>()
  for (const one of usage) {
    const name = GROUP_OF[group](one)
    const before = groups.get(name)
    groups.set(name, before ? addParts(before, one.part) : one.part)
  }
  return {
    object: 'usage.sums',
    group,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    data: [...groups].sort(ORDERS[group]).map(([name, part]) => ({ [group]: name, ...figures(part) })),
    total: figures(usage.reduce<UsagePart>((sum, { part }) => addParts(sum, part), { ...NO_FIGURES, errors: {} })),
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
