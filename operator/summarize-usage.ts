import { addParts, type UsagePart } from '../layers/gateway/domain/day-total.ts'
import type { Nano } from '../layers/gateway/domain/money.ts'
import type { UsageOfDay } from './usage-of-days.ts'

type UsageTotal = {
  readonly group: string
  readonly requests: number
  readonly completed: number
  readonly refused: number
  readonly failed: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: Nano
  /** The cost to us of the answers whose route states one. */
  readonly upstreamCost: Nano
  /** The charges for those same answers, less their cost. */
  readonly margin: Nano
  /** How many answers do not say what they cost us, and so are in neither. */
  readonly withoutCost: number
}

export async function summarizeUsage(
  usage: AsyncIterable<UsageOfDay> | Iterable<UsageOfDay>,
  groupOf: (usage: UsageOfDay) => string,
): Promise<UsageTotal[]> {
  const groups = new Map<string, UsagePart>()
  for await (const of of usage) {
    const group = groupOf(of)
    const before = groups.get(group)
    groups.set(group, before ? addParts(before, of.part) : of.part)
  }
  return [...groups].map(([group, part]) => toTotal(group, part)).sort((a, b) => a.group.localeCompare(b.group))
}

/** A part as people read it. */
export function toTotal(group: string, part: UsagePart): UsageTotal {
  return {
    group,
    requests: part.requests,
    completed: part.completed,
    refused: part.refused,
    failed: part.upstreamErrors + part.abandoned,
    promptTokens: part.promptTokens,
    completionTokens: part.completionTokens,
    cost: part.cost,
    upstreamCost: part.upstreamCost,
    margin: part.costOfStated - part.upstreamCost,
    withoutCost: part.withoutCost,
  }
}
