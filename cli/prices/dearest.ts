import { isDeepStrictEqual } from 'node:util'
import { formatPerMillion, type PriceStrings, parsePrice, priceAt } from '../../layers/gateway/domain/money/price.ts'
import { dividedUp } from '../reading/exact-number.ts'
import { dearer, type Listed, limitOf, picosBy, type TokenPart, type TokenPico } from './listed.ts'

/** A catalog takes no more. */
const MOST_TIERS = 4

/** Of each price the dearest, for prompts of every length. */
export function dearestOf(listed: readonly Listed[]): Listed {
  const borders = listed.flatMap(({ tiers }) => tiers.map(({ above }) => above))
  return {
    ...byLength(borders, (above) => picosBy((part) => dearer(...listed.map((one) => picoAt(one, part, above))))),
    contextLength: limitOf('contextLength', listed),
    maxOutputTokens: limitOf('maxOutputTokens', listed),
  }
}

/** The price of a part for prompts just above a border. */
function picoAt({ base, tiers }: Listed, part: TokenPart, border: number): bigint | undefined {
  const last = tiers.findLast(({ above }) => above <= border)
  if (!last) return base[part]
  return dearer(...tiers.filter(({ above }) => above === last.above).map(({ prices }) => prices[part]))
}

/** Without tiers that change nothing. The last of too many has the dearest prices of the rest. */
function byLength(borders: readonly number[], at: (above: number) => TokenPico): Listed {
  const base = at(0)
  const all = [...new Set(borders)].sort((a, b) => a - b).map((above) => ({ above, prices: at(above) }))
  const tiers = all.filter(({ prices }, i) => !isDeepStrictEqual(prices, all[i - 1]?.prices ?? base))
  const [last, ...rest] = tiers.splice(MOST_TIERS - 1)
  if (!last) return { base, tiers }
  const prices = picosBy((part) => dearer(...[last, ...rest].map((tier) => tier.prices[part])))
  return { base, tiers: [...tiers, { above: last.above, prices }] }
}

/** The cost of a route by lists. Prices that no list has stay as they are. */
export function listedCost(listed: Listed, ours: PriceStrings | undefined, isEmbedding: boolean): PriceStrings {
  const { base, tiers } = listed
  if (isEmbedding) return withPicos(ours, { input: base.input ?? 0n })
  const cost = withPicos(ours, base)
  return tiers.length === 0
    ? cost
    : { ...cost, tiers: tiers.map(({ above, prices }) => ({ above, ...withPicos(undefined, prices) })) }
}

/** A catalog has a price of writes for an hour only beside one of the others. */
function withPicos(before: PriceStrings | undefined, picos: TokenPico): PriceStrings {
  const stated = Object.entries(picos).map(([part, pico]) => [part, formatPerMillion(pico)])
  const prices: PriceStrings = { ...before, ...Object.fromEntries(stated) }
  const { cacheWrite1h, ...others } = prices
  return prices.cacheWrite === undefined ? others : prices
}

const WHOLE = 10_000n

/** The price that is above the cost of every route by so many hundredths of a percent. */
export function markedUp(costs: readonly PriceStrings[], ours: PriceStrings, markup: bigint): PriceStrings {
  const parsed = costs.map(parsePrice)
  const stated = [...costs, ours].flatMap((prices) => [prices, ...(prices.tiers ?? [])])
  const raised = (part: TokenPart, above: number) => {
    const dearest = dearer(...parsed.map((price) => priceAt(price, above + 1)[`${part}Pico`])) ?? 0n
    return dividedUp(dearest * (WHOLE + markup), WHOLE)
  }
  const isNamed = (part: TokenPart) => stated.some((prices) => prices[part] !== undefined)
  const borders = parsed.flatMap(({ tiers }) => tiers.map(({ above }) => above))
  const listed = byLength(borders, (above) => picosBy((part) => (isNamed(part) ? raised(part, above) : undefined)))
  return listedCost(listed, ours, costs.every(({ output }) => output === '0') && ours.output === '0')
}
