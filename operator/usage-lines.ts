import { formatCredits } from '../layers/gateway/domain/money.ts'
import { plainJson } from '../layers/gateway/domain/plain-text.ts'
import { USAGE_FIELD_NAMES, USAGE_FIELDS, type UsageRow } from '../layers/gateway/domain/usage-row.ts'
import { recordOf, usageRecord } from '../layers/gateway/wire/usage-record.ts'
import type { RequestShape } from './admin-api/shapes/requests.ts'
import { isStated } from './expected-cost.ts'

type OperatorPart = Pick<RequestShape, 'upstream_cost' | 'upstream_cost_source' | 'margin'>

export const OPERATOR_FIELDS = USAGE_FIELD_NAMES.filter((name) => USAGE_FIELDS[name].operatorOnly)
const operatorFields = recordOf(OPERATOR_FIELDS)

/** The fields that the caller of a request is not told. A request without a row has none of them. */
export function operatorPart(row: Partial<UsageRow>): OperatorPart {
  const { upstreamCost, upstreamCostSource = 'catalog', cost = 0n } = row
  return {
    ...(operatorFields(row) as Pick<OperatorPart, 'upstream_cost'>),
    upstream_cost_source: upstreamCost === undefined ? null : upstreamCostSource,
    margin: upstreamCost === undefined ? null : formatCredits(cost - upstreamCost),
  }
}

/** A row as its caller is told it. A price that is damaged is none. */
export function soundRecord(row: UsageRow) {
  const { price } = row
  return usageRecord({ ...row, price: price && isStated(price) ? price : undefined })
}

export async function* ndjsonLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${plainJson(JSON.stringify({ ...soundRecord(row), ...operatorPart(row) }))}\n`
}
