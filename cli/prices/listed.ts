import { isDeepStrictEqual } from 'node:util'
import { formatPerMillion, type PriceStrings, parsePrice, priceAt } from '../../layers/gateway/domain/money/price.ts'
import { LIVES, PRICE_ROWS, type TokenKind } from '../../layers/gateway/domain/money/price-kinds.ts'
import { dividedUp } from '../reading/numbers.ts'

export const TOKEN_KINDS = PRICE_ROWS.filter(({ unit }) => unit === 'token').map(({ kind }) => kind as TokenKind)

/** Picocredits a token, with a credit as a US dollar. */
export type Picos = { readonly [Kind in TokenKind]?: bigint }

export type Limits = { readonly contextLength?: number | undefined; readonly maxOutputTokens?: number | undefined }

/** A model as a list has it, after its numbers were checked. Its ranges of longer prompts rise; the first is above 0. */
export type Listed = Limits & { readonly ranges: readonly { readonly above: number; readonly prices: Picos }[] }

/** A larger context bounds the hold, and a smaller output is within the limit of every route. */
export function limitsOf(all: readonly Limits[]): Limits {
  const contexts = all.flatMap(({ contextLength }) => contextLength ?? [])
  const outputs = all.flatMap(({ maxOutputTokens }) => maxOutputTokens ?? [])
  return {
    contextLength: contexts.length > 0 ? Math.max(...contexts) : undefined,
    maxOutputTokens: outputs.length > 0 ? Math.min(...outputs) : undefined,
  }
}

export function dearer(...picos: readonly (bigint | undefined)[]): bigint | undefined {
  return picos.filter((pico) => pico !== undefined).toSorted((a, b) => (a > b ? -1 : 1))[0]
}

export function picosBy(of: (kind: TokenKind) => bigint | undefined): Picos {
  return Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, of(kind)]).filter(([, pico]) => pico !== undefined))
}

/** The dearest price of each kind, for prompts of every length. */
export function dearestOf(all: readonly Listed[]): Listed {
  const borders = all.flatMap(({ ranges }) => ranges.map(({ above }) => above))
  return {
    ranges: rangesBy(borders, (kind, above) => dearer(...all.map((listed) => picoAt(listed, kind, above)))),
    ...limitsOf(all),
  }
}

/** The dearest price for prompts just above a border, which a list may have more than once. */
function picoAt({ ranges }: Listed, kind: TokenKind, border: number): bigint | undefined {
  const last = ranges.findLast(({ above }) => above <= border)
  return dearer(...ranges.filter(({ above }) => above === last?.above).map(({ prices }) => prices[kind]))
}

/** Ranges that change nothing are left out. The last of too many has the dearest prices of the rest. */
function rangesBy(borders: readonly number[], pico: (kind: TokenKind, above: number) => bigint | undefined) {
  const rising = [...new Set(borders)].sort((a, b) => a - b)
  const all = rising.map((above) => ({ above, prices: picosBy((kind) => pico(kind, above)) }))
  const ranges = all.filter(({ prices }, i) => !isDeepStrictEqual(prices, all[i - 1]?.prices))
  // The base and three tiers; the rest become the fourth, the last that a catalog takes.
  const rest = ranges.splice(4)
  const dearest = picosBy((kind) => dearer(...rest.map(({ prices }) => prices[kind])))
  return [...ranges, ...rest.slice(0, 1).map(({ above }) => ({ above, prices: dearest }))]
}

/** The cost of a route by lists. Prices that no list has stay as they are. */
export function listedCost({ ranges }: Listed, ours: PriceStrings | undefined, isEmbedding: boolean): PriceStrings {
  const [base, ...tiers] = ranges
  if (isEmbedding) return withPicos(ours, { input: base?.prices.input ?? 0n })
  const cost = withPicos(ours, base?.prices ?? {})
  if (tiers.length === 0) return cost
  return { ...cost, tiers: tiers.map(({ above, prices }) => ({ above, ...withPicos(undefined, prices) })) }
}

/** A catalog has a price of a longer life only beside one of the others. */
function withPicos(before: PriceStrings | undefined, picos: Picos): PriceStrings {
  const stated = Object.entries(picos).map(([kind, pico]) => [kind, formatPerMillion(pico)])
  const prices: PriceStrings = { ...before, ...Object.fromEntries(stated) }
  if (prices.cacheWrite !== undefined) return prices
  const others = Object.entries(prices).filter(([name]) => LIVES.every(({ kind }) => kind !== name))
  return Object.fromEntries(others) as PriceStrings
}

const WHOLE = 10_000n

/** The price that is above the cost of every route by so many hundredths of a percent. */
export function markedUp(costs: readonly PriceStrings[], ours: PriceStrings, markup: bigint): PriceStrings {
  const parsed = costs.map(parsePrice)
  const stated = [...costs, ours].flatMap((prices) => [prices, ...(prices.tiers ?? [])])
  const borders = parsed.flatMap(({ tiers }) => tiers.map(({ above }) => above))
  const ranges = rangesBy([0, ...borders], (kind, above) => {
    if (stated.every((prices) => prices[kind] === undefined)) return undefined
    const dearest = dearer(...parsed.map((price) => priceAt(price, above + 1)[`${kind}Pico`])) ?? 0n
    return dividedUp(dearest * (WHOLE + markup), WHOLE)
  })
  return listedCost({ ranges }, ours, costs.every(({ output }) => output === '0') && ours.output === '0')
}
