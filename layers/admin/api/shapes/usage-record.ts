import { z } from 'zod'
import type { UsageSource } from '../../../gateway/domain/money/bill.ts'
import { PRICE_ROWS, PRICE_WORDS, type PriceRow } from '../../../gateway/domain/money/price-kinds.ts'
import {
  CALLER_FIELDS,
  OUTCOMES,
  type SUMMED_FIELDS,
  USAGE_FIELDS,
  USAGE_WORDS,
  type UsageFieldKind,
  type UsageFieldName,
  type UsageFieldTable,
} from '../../../gateway/domain/rows/usage-row.ts'
import { CONTRACTS, ENDPOINT_NAMES } from '../../../gateway/endpoints.ts'
import { count, kind, moment, text } from './parts.ts'

type Fields = Readonly<Record<string, z.ZodType>>

export const Attempt = z.object({
  provider: text('The provider that was asked.'),
  model: text("The model's name at that provider."),
  result: text('`ok`, or why the route did not answer.'),
  ms: count('Milliseconds that it took.'),
})

export const amount = (words: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .describe(words)

function pricesPer(wanted: PriceRow['unit']): Fields {
  const rows = PRICE_ROWS.filter(({ unit }) => unit === wanted)
  return Object.fromEntries(
    rows.map(({ kind: name, api, unit, times }) => {
      const price = amount(PRICE_WORDS[name].told)
      return [api, times || unit === 'piece' ? price.optional() : price]
    }),
  )
}

const Tier = z.object({
  above: z.int().min(1).describe('The tier is for longer prompts than this.'),
  ...pricesPer('token'),
})

export const Pricing = z
  .object({
    above: z
      .int()
      .min(1)
      .describe('Of a request only: it was charged at the tier above so many prompt tokens; absent at the base price.')
      .optional(),
    ...pricesPer('token'),
    ...pricesPer('piece'),
    tiers: z
      .array(Tier)
      .max(4)
      .describe(
        'Of a model only, rising: a request whose prompt has more tokens than `above`, cached ones included, is charged at the highest such tier as a whole; absent if there are none.',
      )
      .optional(),
  })
  .describe('Credits for one token, one request and one image.')

const BY_KIND = {
  text: z.string(),
  count: z.int().min(0),
  number: z.int().min(0),
  credits: amount('In credits.'),
  moment: moment(''),
  flag: z.boolean(),
  price: Pricing,
  attempts: z.array(Attempt),
  tags: z.record(z.string(), z.string()),
} satisfies Record<UsageFieldKind, z.ZodType>

/** Rules that do not follow from the kind. */
const BY_NAME: Readonly<Partial<Record<UsageFieldName, z.ZodType>>> = {
  endpoint: z.enum(ENDPOINT_NAMES),
  contract: z.enum(CONTRACTS),
  outcome: z.enum(OUTCOMES),
  usageSource: z.enum(['upstream', 'estimate', 'none'] satisfies readonly UsageSource[]),
  estimatedBy: z.enum(['tokenizer', 'characters']),
  upstreamCostSource: z.enum(['provider', 'catalog']),
  askedMaxTokens: z.int().min(1),
  loweredMaxTokens: z.int().min(1),
}

type Values = { [Kind in UsageFieldKind]: z.input<(typeof BY_KIND)[Kind]> }
type Rows = UsageFieldTable
type Value<Row extends Rows[UsageFieldName]> =
  | Values[Row['kind']]
  | (Row extends { readonly kind: 'count' | 'flag' } ? never : Row extends { readonly optional: true } ? null : never)
type UsageFields<Name extends UsageFieldName> = {
  [N in Name as Rows[N]['api']]: z.ZodType<Value<Rows[N]>, Value<Rows[N]>>
}

function fieldsBy(names: readonly UsageFieldName[], schemaOf: (name: UsageFieldName) => z.ZodType): Fields {
  return Object.fromEntries(names.map((name) => [USAGE_FIELDS[name].api, schemaOf(name).describe(USAGE_WORDS[name])]))
}

/** A missing count is 0, and a missing flag false. */
export function usageFields<Name extends UsageFieldName>(names: readonly Name[]): UsageFields<Name> {
  const fields = fieldsBy(names, (name) => {
    const { kind: type, optional } = USAGE_FIELDS[name]
    const schema = BY_NAME[name] ?? BY_KIND[type]
    return optional && type !== 'count' && type !== 'flag' ? schema.nullable() : schema
  })
  return fields as UsageFields<Name>
}

export function sumFields<Name extends (typeof SUMMED_FIELDS)[number]>(names: readonly Name[]) {
  const fields = fieldsBy(names, (name) => BY_KIND[USAGE_FIELDS[name].kind])
  return fields as { [N in Name as Rows[N]['api']]: z.ZodType<Values[Rows[N]['kind']], Values[Rows[N]['kind']]> }
}

export const totalTokens = z.int().min(0).describe('Prompt and completion together.')

export const UsageRecord = z
  .object({ object: kind('usage'), ...usageFields(CALLER_FIELDS), total_tokens: totalTokens })
  .describe('One request: the route it took, its counts, its charge. Never its text.')
