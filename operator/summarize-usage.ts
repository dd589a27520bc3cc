import type { Nano } from '../layers/gateway/domain/money.ts'
import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'

type UsageTotal = {
  readonly group: string
  requests: number
  completed: number
  refused: number
  failed: number
  promptTokens: number
  completionTokens: number
  cost: Nano
  /** The cost to us of the answers whose route states one. */
  upstreamCost: Nano
  /** The charges for those same answers, less their cost. */
  margin: Nano
  /** How many answers do not say what they cost us, and so are in neither. */
  withoutCost: number
}

export async function summarizeUsage(
  rows: AsyncIterable<UsageRow>,
  groupOf: (row: UsageRow) => string,
): Promise<UsageTotal[]> {
  const totals = new Map<string, UsageTotal>()
  for await (const row of rows) {
    const group = groupOf(row)
    const total = totals.get(group) ?? emptyTotal(group)
    totals.set(group, total)
    add(total, row)
  }
  return [...totals.values()].sort((a, b) => a.group.localeCompare(b.group))
}

function add(total: UsageTotal, row: UsageRow): void {
  total.requests += 1
  if (row.outcome === 'completed') total.completed += 1
  else if (row.outcome === 'refused') total.refused += 1
  else total.failed += 1
  total.promptTokens += row.promptTokens
  total.completionTokens += row.completionTokens
  total.cost += row.cost
  if (row.upstreamCost !== undefined) {
    total.upstreamCost += row.upstreamCost
    total.margin += row.cost - row.upstreamCost
  } else if (row.usageSource !== 'none') total.withoutCost += 1
}

function emptyTotal(group: string): UsageTotal {
  return {
    group,
    requests: 0,
    completed: 0,
    refused: 0,
    failed: 0,
    promptTokens: 0,
    completionTokens: 0,
    cost: 0n,
    upstreamCost: 0n,
    margin: 0n,
    withoutCost: 0,
  }
}
