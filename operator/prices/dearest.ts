import {
  formatPerMillion,
  type Price,
  type PriceStrings,
  type PriceTier,
  parsePrice,
  priceAt,
  type RangePrice,
} from '../../layers/gateway/domain/price.ts'
import { dividedUp } from '../reading/exact-number.ts'
import { dearer, type Listed, type ListedTier, TOKEN_PARTS, type TokenPart, type TokenPico } from './listed.ts'

/** A catalog takes no more. */
const MOST_TIERS = 4

/** Of each price the dearest, for prompts of every length. */
export function dearestOf(listed: readonly Listed[]): Listed {
  const at = (above: number) => picosBy((part) => dearer(...listed.map((one) => picoAt(one, part, above))))
  const borders = listed.flatMap(({ tiers }) => tiers.map(({ above }) => above))
  return {
    base: at(0),
    tiers: fewTiers(
      at(0),
      bordersOf(borders).map((above) => ({ above, prices: at(above) })),
    ),
    contextLength: bound(
      Math.max,
      listed.map((one) => one.contextLength),
    ),
    maxOutputTokens: bound(
      Math.min,
      listed.map((one) => one.maxOutputTokens),
    ),
  }
}

export function bound(
  choose: (...tokens: number[]) => number,
  all: readonly (number | undefined)[],
): number | undefined {
  const known = all.filter((tokens) => tokens !== undefined)
  return known.length > 0 ? choose(...known) : undefined
}

function bordersOf(all: readonly number[]): number[] {
  return [...new Set(all)].sort((a, b) => a - b)
}

/** The price of a part for prompts just above a border. */
function picoAt({ base, tiers }: Listed, part: TokenPart, border: number): bigint | undefined {
  const last = tiers.findLast(({ above }) => above <= border)
  if (!last) return base[part]
  return dearer(...tiers.filter(({ above }) => above === last.above).map(({ prices }) => prices[part]))
}

function picosBy(of: (part: TokenPart) => bigint | undefined): TokenPico {
  return Object.fromEntries(TOKEN_PARTS.map((part) => [part, of(part)]).filter(([, pico]) => pico !== undefined))
}

/** Without those that change nothing. The last of too many has the dearest prices of the rest. */
function fewTiers(base: TokenPico, tiers: readonly ListedTier[]): readonly ListedTier[] {
  const changing = tiers.filter(({ prices }, i) => !isSame(prices, tiers[i - 1]?.prices ?? base))
  const rest = changing.slice(MOST_TIERS - 1)
  const [fourth] = rest
  if (!fourth || rest.length === 1) return changing
  const prices = picosBy((part) => dearer(...rest.map((tier) => tier.prices[part])))
  return [...changing.slice(0, MOST_TIERS - 1), { above: fourth.above, prices }]
}

function isSame(one: TokenPico, other: TokenPico): boolean {
  return TOKEN_PARTS.every((part) => one[part] === other[part])
}

/** The cost of a route by lists. Prices that no list has stay as they are. */
export function listedCost(listed: Listed, ours: PriceStrings | undefined, isEmbedding: boolean): PriceStrings {
  const { base, tiers } = listed
  const stated = stateParts(isEmbedding ? { input: base.input ?? 0n } : base)
  const cost = { ...ours, ...stated } as PriceStrings
  const { cacheWrite1h, ...others } = cost
  return {
    ...(cost.cacheWrite === undefined ? others : cost),
    ...(!isEmbedding && tiers.length > 0 && { tiers: tiers.map(stateTier) }),
  }
}

function stateTier({ above, prices }: ListedTier): PriceTier {
  const { cacheWrite, cacheWrite1h, ...others } = prices
  return { above, ...stateParts(cacheWrite === undefined ? others : prices) } as PriceTier
}

function stateParts(picos: TokenPico): Partial<Record<TokenPart, string>> {
  return Object.fromEntries(Object.entries(picos).map(([part, pico]) => [part, formatPerMillion(pico)]))
}

/** The price that is above the cost of every route by so many hundredths of a percent. */
export function markedUp(costs: readonly PriceStrings[], ours: PriceStrings, markup: bigint): PriceStrings {
  const parsed = costs.map(parsePrice)
  const isNamed = (part: TokenPart) =>
    part === 'input' || part === 'output' || [...costs, ours].some((prices) => names(prices, part))
  const at = (above: number) => {
    const ranges = parsed.map((price) => priceAt(price, above + 1))
    return picosBy((part) => (isNamed(part) ? raised(dearestIn(ranges, part), markup) : undefined))
  }
  const borders = bordersOf(parsed.flatMap(({ tiers }: Price) => tiers.map(({ above }) => above)))
  const listed = {
    base: at(0),
    tiers: fewTiers(
      at(0),
      borders.map((above) => ({ above, prices: at(above) })),
    ),
  }
  const isEmbedding = costs.every(({ output }) => output === '0') && ours.output === '0'
  return listedCost(listed, ours, isEmbedding)
}

function names(prices: PriceStrings, part: TokenPart): boolean {
  return [prices, ...(prices.tiers ?? [])].some((one) => one[part] !== undefined)
}

function dearestIn(ranges: readonly RangePrice[], part: TokenPart): bigint {
  return dearer(...ranges.map((range) => range[`${part}Pico`])) ?? 0n
}

const WHOLE = 10_000n

function raised(pico: bigint, markup: bigint): bigint {
  return dividedUp(pico * (WHOLE + markup), WHOLE)
}
