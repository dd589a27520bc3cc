import { plainJson } from '../../gateway/domain/basics/plain-text.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { OPERATOR_FIELDS, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { recordOf, usageRecord } from '../../gateway/wire/rows/usage-record.ts'
import type { RequestShape } from '../api/shapes/requests.ts'

type OperatorPart = Pick<RequestShape, 'upstream_cost' | 'upstream_cost_source' | 'service_tier' | 'margin'>

const operatorFields = recordOf(OPERATOR_FIELDS)

/** The fields that the caller of a request is not told. A request without a row has none of them. */
export function operatorPart(row: Partial<UsageRow>): OperatorPart {
  const { upstreamCost, upstreamCostSource = 'catalog', cost = 0n } = row
  return {
    ...(operatorFields(row) as Pick<OperatorPart, 'upstream_cost' | 'service_tier'>),
    upstream_cost_source: upstreamCost === undefined ? null : upstreamCostSource,
    margin: upstreamCost === undefined ? null : formatCredits(cost - upstreamCost),
  }
}

export async function* ndjsonLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${plainJson(JSON.stringify({ ...usageRecord(row), ...operatorPart(row) }))}\n`
}
