import { formatCredits } from '../../gateway/domain/money.ts'
import { plainJson } from '../../gateway/domain/plain-text.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'
import { usageRecord } from '../../gateway/wire/usage-record.ts'
import { isStated } from './expected-cost.ts'

/** A row as its caller is told it, and the operator's part of it. A price that is damaged is none. */
export function usageLine(row: UsageRow) {
  const { price, upstreamCost, cost } = row
  const source = row.upstreamCostSource ?? ('catalog' as const)
  return {
    ...usageRecord({ ...row, price: price && isStated(price) ? price : undefined }),
    upstream_cost: upstreamCost === undefined ? null : formatCredits(upstreamCost),
    upstream_cost_source: upstreamCost === undefined ? null : source,
    margin: upstreamCost === undefined ? null : formatCredits(cost - upstreamCost),
  }
}

export async function* ndjsonLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${plainJson(JSON.stringify(usageLine(row)))}\n`
}
