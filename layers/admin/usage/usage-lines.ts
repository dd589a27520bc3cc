import { plainJson } from '../../gateway/domain/basics/plain-text.ts'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import type { StatedPrice } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import {
  OPERATOR_FIELDS,
  USAGE_FIELD_NAMES,
  USAGE_FIELDS,
  type UsageFieldKind,
  type UsageFieldName,
  type UsageFieldTable,
  type UsageRow,
} from '../../gateway/domain/rows/usage-row.ts'
import { recordOf, usageRecord } from '../../gateway/wire/rows/usage-record.ts'
import type { RequestShape } from '../api/shapes/requests.ts'
import { attemptText, tagTexts } from '../explain/explain-request.ts'
import { csvLine } from './csv-line.ts'

// The lines of an export: CSV, or a record in JSON.

type Column = { readonly name: string; readonly of: (row: UsageRow) => unknown }
type ColumnsOf = (field: UsageFieldName) => readonly Column[]

/** The service tier has a column of its own, at the end. */
const PRICE_COLUMNS: readonly (keyof StatedPrice)[] = [...PRICE_ROWS.map(({ kind }) => kind), 'above']

const asItIs: ColumnsOf = (field) => [{ name: field, of: (row) => row[field] }]

const COLUMNS_BY_KIND: Readonly<Record<UsageFieldKind, ColumnsOf>> = {
  text: asItIs,
  count: asItIs,
  number: asItIs,
  credits: asItIs,
  flag: asItIs,
  moment: (field) => [{ name: field.replace(/Ms$/, ''), of: (row) => isoTime(row[field] as number) }],
  price: () =>
    PRICE_COLUMNS.map((part) => ({
      name: `price${part.charAt(0).toUpperCase()}${part.slice(1)}`,
      of: ({ price }) => price?.[part],
    })),
  tags: (field) => [{ name: field, of: ({ tags }) => tags && tagTexts(tags).join('; ') }],
  attempts: (field) => [{ name: field, of: ({ attempts }) => attempts.map(attemptText).join('; ') }],
}

const TOTAL: Column = { name: 'totalTokens', of: (row) => row.promptTokens + row.completionTokens }

const COLUMNS = USAGE_FIELD_NAMES.flatMap((field) => {
  const columns = COLUMNS_BY_KIND[USAGE_FIELDS[field].kind](field)
  return field === 'completionTokens' ? [...columns, TOTAL] : columns
})

const CSV_HEADER = csvLine(COLUMNS.map(({ name }) => name))

export async function* csvLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  yield CSV_HEADER
  for await (const row of rows) yield toCsvLine(row)
}

export function toCsvLine(row: UsageRow): string {
  return csvLine(COLUMNS.map(({ of }) => of(row)))
}

type OperatorFields = Pick<RequestShape, UsageFieldTable[(typeof OPERATOR_FIELDS)[number]]['api']>
type OperatorPart = OperatorFields & Pick<RequestShape, 'margin'>

const operatorFields = recordOf(OPERATOR_FIELDS)

/** The fields that the caller of a request is not told. A request without a row has none of them. */
export function operatorPart(row: Partial<UsageRow>): OperatorPart {
  const { upstreamCost, upstreamCostSource = 'catalog', cost = 0n } = row
  return {
    ...(operatorFields(row) as OperatorFields),
    upstream_cost_source: upstreamCost === undefined ? null : upstreamCostSource,
    margin: upstreamCost === undefined ? null : formatCredits(cost - upstreamCost),
  }
}

export async function* ndjsonLines(rows: AsyncIterable<UsageRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${plainJson(JSON.stringify({ ...usageRecord(row), ...operatorPart(row) }))}\n`
}
