import { z } from 'zod'
import { isAmount, isPrice } from '../layers/gateway/domain/price.ts'
import { otherTier } from '../layers/gateway/domain/service-tier.ts'

// Patterns are for catalog.schema.json: a JSON Schema has no other word for a check of our own.

const price = z
  .string('must be a decimal string in credits per million tokens, such as "0.15"')
  .refine(isPrice, 'must be a decimal string in credits per million tokens with at most 6 decimals, such as "0.15"')
  .meta({ pattern: '^(0|[1-9]\\d*)(\\.\\d{1,6})?$' })
const amount = z
  .string('must be a decimal string in credits, such as "0.005"')
  .refine(isAmount, 'must be a decimal string in credits with at most 9 decimals, such as "0.005"')
  .meta({ pattern: '^(0|[1-9]\\d*)(\\.\\d{1,9})?$' })
export const count = z.int().min(1).max(100_000_000)
const tierPrices = {
  input: price.describe('As input, within this tier.'),
  output: price.describe('As output, within this tier.'),
  cachedInput: price.optional().describe('As cachedInput. Default: the input of this tier.'),
  cacheWrite: price.optional().describe('As cacheWrite. Default: in the proportion to input that the base price has.'),
  cacheWrite1h: price.optional().describe('As cacheWrite1h. Default: in the proportion that the base price has.'),
}
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
const input = price.describe('Credits per million prompt tokens, as a decimal string.')
const OUTPUT = 'Credits per million completion tokens, as a decimal string.'
const request = amount.optional().describe('Credits for each request. Default: 0.')
export const prices = z
  .strictObject({
    input,
    output: price.describe(OUTPUT),
    cachedInput: price.optional().describe('Credits per million prompt tokens read from a cache. Default: input.'),
    cacheWrite: price
      .optional()
      .describe(
        'Credits per million prompt tokens that a provider writes to its cache. Without this price no cache_control is sent.',
      ),
    cacheWrite1h: price
      .optional()
      .describe(
        'Credits per million prompt tokens that a provider writes to its cache for an hour. Without this price a ttl of 1h is shortened to the default life.',
      ),
    request,
    image: amount.optional().describe('Credits for each image in the prompt. Default: 0.'),
    tiers: tiers.optional().describe('Prices of requests with long prompts, rising by above, at most 4.'),
    serviceTiers: z
      .record(
        tierName.refine(otherTier, 'must be another tier than that of the list price'),
        z.strictObject(tierPrices),
      )
      .optional()
      .describe('Prices of answers that the provider says it has served in another tier than that of the list price.'),
  })
  .refine(({ cacheWrite, cacheWrite1h }) => cacheWrite !== undefined || cacheWrite1h === undefined, {
    path: ['cacheWrite1h'],
    error: 'must stand beside a cacheWrite, the price of the default life in a cache',
  })
/** Vectors are no tokens and have no price. A default and not a transform, so that a stored catalog is valid again. */
export const embeddingPrices = z.strictObject({ input, output: z.literal('0').default('0').describe(OUTPUT), request })
