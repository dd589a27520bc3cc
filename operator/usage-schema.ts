import type { UsageSource } from '../layers/gateway/domain/bill.ts'
import {
  OUTCOMES,
  SUMMED_FIELDS,
  USAGE_FIELDS,
  USAGE_WORDS,
  type UsageFieldKind,
  type UsageFieldName,
} from '../layers/gateway/domain/usage-row.ts'
import { CONTRACTS, ENDPOINT_NAMES } from '../layers/gateway/endpoints.ts'
import { CALLER_FIELDS } from '../layers/gateway/wire/usage-record.ts'
import { OPERATOR_FIELDS } from './usage-lines.ts'

type Schema = { readonly [keyword: string]: unknown }
type Properties = Readonly<Record<string, Schema>>

const BY_KIND: Readonly<Record<UsageFieldKind, Schema>> = {
  text: { type: 'string' },
  count: { type: 'integer', minimum: 0 },
  number: { type: 'integer', minimum: 0 },
  credits: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  moment: { type: 'string', format: 'date-time' },
  flag: { type: 'boolean' },
  price: { $ref: '#/components/schemas/Pricing' },
  attempts: { type: 'array', items: { $ref: '#/components/schemas/Attempt' } },
}

const SOURCES: readonly UsageSource[] = ['upstream', 'estimate', 'none']

/** Rules that do not follow from the kind. */
const RULES: Readonly<Partial<Record<UsageFieldName, Schema>>> = {
  endpoint: { enum: ENDPOINT_NAMES },
  contract: { enum: CONTRACTS },
  outcome: { enum: OUTCOMES },
  usageSource: { enum: SOURCES },
  estimatedBy: { enum: ['tokenizer', 'characters'] },
  upstreamCostSource: { enum: ['provider', 'catalog'] },
  askedMaxTokens: { minimum: 1 },
  loweredMaxTokens: { minimum: 1 },
}

export const TOTAL_TOKENS: Schema = { type: 'integer', minimum: 0, description: 'Prompt and completion together.' }

/** Some fields of a row, as JSON Schemas under their names in the API. */
export function usageProperties(names: readonly UsageFieldName[]): Properties {
  return Object.fromEntries(names.map((name) => [USAGE_FIELDS[name].api, propertyOf(name)]))
}

function propertyOf(name: UsageFieldName): Schema {
  const { kind, optional } = USAGE_FIELDS[name]
  const schema = { ...BY_KIND[kind], ...RULES[name] }
  const hasNull = optional && kind !== 'count' && kind !== 'flag'
  return { ...(hasNull ? orNull(schema) : schema), description: USAGE_WORDS[name] }
}

function orNull(schema: Schema): Schema {
  if (schema.$ref) return { anyOf: [schema, { type: 'null' }] }
  const { type, enum: values } = schema
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}

/** A row as its caller is told it. */
export function usageRecordSchema(): Schema {
  const properties = {
    object: { type: 'string', const: 'usage' },
    ...usageProperties(CALLER_FIELDS),
    total_tokens: TOTAL_TOKENS,
  }
  const description = 'One request: the route it took, its counts, its charge. Never its text.'
  return { type: 'object', description, required: Object.keys(properties), properties }
}

/** The rest of the row, for operators. */
export function operatorProperties(): Properties {
  const description = 'The charge less the cost to us, in credits.'
  const margin = { type: ['string', 'null'], pattern: '^-?\\d+(\\.\\d+)?$', description }
  return { ...usageProperties(OPERATOR_FIELDS), margin }
}

/** The fields of rows that are added up. */
export function sumProperties(): Properties {
  return Object.fromEntries(
    SUMMED_FIELDS.map((name) => {
      const { api, kind } = USAGE_FIELDS[name]
      return [api, { ...BY_KIND[kind], description: USAGE_WORDS[name] }]
    }),
  )
}
