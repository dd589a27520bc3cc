import { z } from 'zod'
import { isAmount, isPrice } from '../gateway/domain/money/price.ts'
import {
  LIVES,
  type PartKind,
  type PieceKind,
  PRICE_ROWS,
  PRICE_WORDS,
  type PriceKind,
  type PriceRow,
  type TokenKind,
} from '../gateway/domain/money/price-kinds.ts'
import { otherTier } from '../gateway/domain/routing/catalog.ts'

// Patterns are for catalog.schema.json: a JSON Schema has no other word for a check of our own.

export function maybe<Schema extends z.ZodType>(schema: Schema, words: string) {
  return schema.optional().describe(words)
}

const price = z
  .string('must be a decimal string in credits per million tokens, such as "0.15"')
  .refine(isPrice, 'must be a decimal string in credits per million tokens with at most 6 decimals, such as "0.15"')
  .meta({ pattern: '^(0|[1-9]\\d*)(\\.\\d{1,6})?$' })
const amount = z
  .string('must be a decimal string in credits, such as "0.005"')
  .refine(isAmount, 'must be a decimal string in credits with at most 9 decimals, such as "0.005"')
  .meta({ pattern: '^(0|[1-9]\\d*)(\\.\\d{1,9})?$' })
export const count = z.int().min(1).max(100_000_000)
type Kinds<Kind extends PriceKind, Schema> = { [Name in Kind]: Schema }
type TokenPrices = Kinds<Exclude<TokenKind, PartKind>, typeof price> & Kinds<PartKind, z.ZodOptional<typeof price>>

function pricesPer(wanted: PriceRow['unit'], words: 'catalog' | 'tier'): object {
  const rows = PRICE_ROWS.filter(({ unit }) => unit === wanted)
  return Object.fromEntries(
    rows.map(({ kind, unit, of }) => {
      const schema = unit === 'token' ? price : amount
      const isOptional = unit === 'piece' || of !== undefined
      return [kind, (isOptional ? schema.optional() : schema).describe(PRICE_WORDS[kind][words] ?? '')]
    }),
  )
}

const tierPrices = pricesPer('token', 'tier') as TokenPrices
const tier = z.strictObject({
  above: count.describe(
    'The whole request is charged at this tier if its prompt has more tokens, cached ones included.',
  ),
  ...tierPrices,
})
const tiers = z
  .array(tier)
  .max(4, 'must be at most 4 tiers')
  .refine(
    (list) => list.every(({ above }, i) => above > (list[i - 1]?.above ?? Number.NEGATIVE_INFINITY)),
    'must rise: each tier begins above the one before',
  )
/** AWS's SDK cannot store an object with a field such as `constructor`. */
export const isStorable = (name: string) => !(name in Object.prototype)
export const UNSTORABLE = 'must be another name: the table cannot keep this one'
export const tierName = z
  .string()
  .regex(/^[a-z_]{1,32}$/, 'must be at most 32 lower-case letters and _')
  .refine(isStorable, UNSTORABLE)
const basePrices = pricesPer('token', 'catalog') as TokenPrices
const pieces = pricesPer('piece', 'catalog') as Kinds<PieceKind, z.ZodOptional<typeof amount>>
const LIFE_ALONE = 'must stand beside a cacheWrite, the price of the default life in a cache'

export const prices = z
  .strictObject({
    ...basePrices,
    ...pieces,
    tiers: maybe(tiers, 'Prices of requests with long prompts, rising by above, at most 4.'),
    serviceTiers: maybe(
      z.record(
        tierName.refine(otherTier, 'must be another tier than that of the list price'),
        z.strictObject(tierPrices),
      ),
      'Prices of answers that the provider says it has served in another tier than that of the list price.',
    ),
  })
  .superRefine((stated, { addIssue }) => {
    const alone = LIVES.filter(({ kind }) => stated.cacheWrite === undefined && stated[kind] !== undefined)
    for (const { kind } of alone) addIssue({ code: 'custom', path: [kind], message: LIFE_ALONE })
  })
/** Vectors are no tokens and have no price. A default and not a transform, so that a stored catalog is valid again. */
export const embeddingPrices = z.strictObject({
  input: basePrices.input,
  output: z.literal('0').default('0').describe(PRICE_WORDS.output.catalog),
  request: pieces.request,
})
