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

/** A row beside whose ids are the names, as far as they are known. */
export type NamedRow = UsageRow & { readonly [Name in (typeof OWNER)[number]]?: string | null }
const OWNER = ['key_name', 'account_name'] as const

type Column = { readonly name: string; readonly of: (row: NamedRow) => unknown }
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

const NAMES = OWNER.map((part): Column => {
  return { name: part.replace(/_./, ([, sign = '']) => sign.toUpperCase()), of: (row) => row[part] ?? undefined }
})

/** The names come last, so that the columns before them keep their places. */
const COLUMNS = [
  ...USAGE_FIELD_NAMES.flatMap((field) => {
    const columns = COLUMNS_BY_KIND[USAGE_FIELDS[field].kind](field)
    return field === 'completionTokens' ? [...columns, TOTAL] : columns
  }),
  ...NAMES,
]
/** Not for the eyes of customers. */
const COSTS: readonly string[] = ['upstreamCost', 'upstreamCostSource', 'loss'] satisfies UsageFieldName[]
const withoutCosts = recordOf(OPERATOR_FIELDS.filter((name) => !COSTS.includes(name)))

export async function* csvLines(rows: AsyncIterable<NamedRow>, isWithCost = false): AsyncGenerator<string> {
  const columns = COLUMNS.filter(({ name }) => isWithCost || !COSTS.includes(name))
  yield csvLine(columns.map(({ name }) => name))
  for await (const row of rows) yield csvLine(columns.map(({ of }) => of(row)))
}

type OperatorFields = Pick<RequestShape, UsageFieldTable[(typeof OPERATOR_FIELDS)[number]]['api']>

const operatorFields = recordOf(OPERATOR_FIELDS)

/** The fields that the caller of a request is not told. A request without a row has none of them. */
export function operatorPart(row: Partial<UsageRow>): OperatorFields & Pick<RequestShape, 'margin'> {
  const { upstreamCost, upstreamCostSource = 'catalog', cost = 0n } = row
  return {
    ...(operatorFields(row) as OperatorFields),
    upstream_cost_source: upstreamCost === undefined ? null : upstreamCostSource,
    margin: upstreamCost === undefined ? null : formatCredits(cost - upstreamCost),
  }
}

export async function* ndjsonLines(rows: AsyncIterable<UsageRow>, isWithCost = false): AsyncGenerator<string> {
  const operatorsOf = isWithCost ? operatorPart : withoutCosts
  for await (const row of rows) yield `${plainJson(JSON.stringify({ ...usageRecord(row), ...operatorsOf(row) }))}\n`
}
