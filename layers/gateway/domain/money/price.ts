import { formatDecimal, type Nano, parseCredits, parseDecimal } from './money.ts'
import {
  type PartKind,
  type PieceKind,
  PRICE_ROWS,
  type PriceKind,
  type PriceRow,
  type Quantity,
  type TokenKind,
} from './price-kinds.ts'

/** The prices of one request, in picocredits, so that credits per million tokens with six decimals come out whole. */
export type RangePrice = {
  /** Prompts of more tokens than this have it; 0 for the base price. */
  readonly above: number
  /** The dearest price of cache writes that is stated, by which prompts are held; 0 if none is. */
  readonly heldWritePico: bigint
  readonly serviceTier?: string | undefined
} & Picos
type Picos = { readonly [Kind in PriceKind as `${Kind}Pico`]: bigint }

/** The base price, the prices of longer prompts in rising order, and those of service tiers, for prompts of any length. */
export type Price = RangePrice & {
  readonly tiers: readonly RangePrice[]
  readonly serviceTiers: ReadonlyMap<string, RangePrice>
}

type TokenPrices = { readonly [Kind in Exclude<TokenKind, PartKind>]: string } & {
  readonly [Kind in PartKind]?: string | undefined
}

/** The prices of a request whose prompt has more tokens than `above`, those from a cache included. */
export type PriceTier = TokenPrices & { readonly above: number }

type BasePrices = TokenPrices & { readonly [Kind in PieceKind]?: string | undefined }

export type PriceStrings = BasePrices & {
  readonly tiers?: readonly PriceTier[] | undefined
  readonly serviceTiers?: Readonly<Record<string, TokenPrices>> | undefined
}

/** The price of one request as its row keeps it, to explain a charge after the catalog has changed. `above` is its tier's. */
export type StatedPrice = BasePrices & {
  readonly cachedInput: string
  readonly above?: number | undefined
  readonly serviceTier?: string | undefined
}

/** The quantities on a bill. `prompt` includes the tokens read from and written to a cache, in any life. */
export type Quantities = { readonly [Name in Quantity]: number }

export const NO_QUANTITIES = Object.fromEntries(
  PRICE_ROWS.flatMap(({ quantity }) => (quantity ? [[quantity, 0]] : [])),
) as Quantities

export const PICO_PER_NANO = 1000n
/** Credits per million tokens are, digit for digit, picocredits per token with six places. */
const PLACES = { token: 6, piece: 12 }

const PARSED = new WeakMap<PriceStrings | StatedPrice, Price>()

/** Parsed once: routes are compared by their costs for every request. */
export function parsePrice(strings: PriceStrings | StatedPrice): Price {
  const price = PARSED.get(strings) ?? parse(strings)
  PARSED.set(strings, price)
  return price
}

function parse(price: PriceStrings | StatedPrice): Price {
  const base = { above: 'above' in price ? (price.above ?? 0) : 0, ...picosOf(unstated, price) }
  const tiers = 'tiers' in price ? price.tiers : undefined
  const services = Object.entries(('serviceTiers' in price && price.serviceTiers) || {})
  const inService = (serviceTier: string, prices: TokenPrices) => ({
    ...parseTier({ ...prices, above: 0 }, base, price),
    serviceTier,
  })
  return {
    ...base,
    tiers: tiers?.map((tier) => parseTier(tier, base, price)) ?? [],
    serviceTiers: new Map(services.map(([name, prices]) => [name, inService(name, prices)])),
  }
}

/** A tier has no pieces. Its writes are in proportion: at its bare input they would be below the provider's bill. */
function parseTier(tier: PriceTier, base: RangePrice, stated: TokenPrices): RangePrice {
  const without: Unstated = (row, soFar) => {
    if (row.unit === 'piece') return base[row.pico]
    return row.of && row.times
      ? inProportion(soFar[`${row.of}Pico`], base[row.pico], base[`${row.of}Pico`])
      : unstated(row, soFar)
  }
  return { ...picosOf(without, tier, stated), above: tier.above }
}

type Unstated = (row: PriceRow, soFar: Picos) => bigint

/** A price that is not stated follows from the kind before it. Providers bill it so, rounded up. */
const unstated: Unstated = ({ of, times: [numerator, denominator] = [1n, 1n] }, soFar) =>
  of ? (soFar[`${of}Pico`] * numerator + denominator - 1n) / denominator : 0n

type Prices = { readonly [Kind in PriceKind]?: string | undefined }

/** Writes are held for that have a price here or at the base. */
function picosOf(without: Unstated, prices: Prices, base = prices): Picos & Pick<RangePrice, 'heldWritePico'> {
  const picos = {} as { -readonly [Name in keyof Picos]: bigint }
  let heldWritePico = 0n
  for (const row of PRICE_ROWS) {
    const text = prices[row.kind]
    const pico = text === undefined ? without(row, picos) : picoOf(text, PLACES[row.unit])
    picos[row.pico] = pico
    if (row.times && (text ?? base[row.kind])) heldWritePico = dearer(heldWritePico, pico)
  }
  return { ...picos, heldWritePico }
}

const dearer = (one: bigint, other: bigint) => (one > other ? one : other)

/** `pico` in the proportion of `part` to `whole`, rounded up; no less than either if they cannot be compared. */
function inProportion(pico: bigint, part: bigint, whole: bigint): bigint {
  if (whole === 0n) return part > pico ? part : pico
  return (pico * part + whole - 1n) / whole
}

/** The price of a request by its service tier, if that has one, or by the tokens of its prompt, those from a cache included. */
export function priceAt(price: Price, promptTokens: number, serviceTier = ''): RangePrice {
  const service = price.serviceTiers.get(serviceTier)
  if (service) return service
  let found: RangePrice = price
  for (const tier of price.tiers) if (promptTokens > tier.above) found = tier
  return found
}

const KINDS = PRICE_ROWS.map(({ pico }) => pico)

/**
 * The part of a cost that the price does not cover, kind by kind, for prompts of any length, at the list price and in
 * the tier that is asked for; undefined if it covers all.
 */
export function lossPrice(cost: Price, price: Price, asked?: string): Price | undefined {
  const atList = listLoss(cost, price)
  if (asked === undefined) return atList
  const [first, ...more] = [0, ...[...cost.tiers, ...price.tiers].map(({ above }) => above)].map((above) =>
    uncoveredIn(above, cost, price, asked),
  ) as [RangePrice, ...RangePrice[]]
  const most = more.reduce((one, other) => dearestOf(one, other), first)
  if (KINDS.every((kind) => most[kind] === 0n)) return atList
  const none = { ...first, ...Object.fromEntries(KINDS.map((kind) => [kind, 0n])), heldWritePico: 0n }
  return { ...(atList ?? { ...none, tiers: [] }), serviceTiers: new Map([[asked, most]]) }
}

const dearestOf = (one: RangePrice, other: RangePrice): RangePrice => ({
  ...one,
  ...Object.fromEntries(KINDS.map((kind) => [kind, dearer(one[kind], other[kind])])),
  heldWritePico: dearer(one.heldWritePico, other.heldWritePico),
})

function listLoss(cost: Price, price: Price): Price | undefined {
  const isFlat = cost.tiers.length === 0 && price.tiers.length === 0
  if (cost === price || (isFlat && KINDS.every((kind) => cost[kind] <= price[kind]))) return undefined
  const borders = new Set([0, ...cost.tiers.map(({ above }) => above), ...price.tiers.map(({ above }) => above)])
  const ranges = [...borders].sort((a, b) => a - b).map((above) => uncoveredIn(above, cost, price))
  const [base, ...tiers] = ranges as [RangePrice, ...RangePrice[]]
  if (ranges.every((range) => KINDS.every((kind) => range[kind] === 0n))) return undefined
  return { ...base, tiers, serviceTiers: new Map() }
}

function uncoveredIn(above: number, cost: Price, price: Price, asked?: string): RangePrice {
  const [billed, paid] = [priceAt(cost, above + 1, asked), priceAt(price, above + 1, asked)]
  const parts = KINDS.map((kind) => [kind, billed[kind] > paid[kind] ? billed[kind] - paid[kind] : 0n])
  const range = Object.fromEntries(parts) as Picos
  const writes = PRICE_ROWS.map(({ pico, times }) => (times ? range[pico] : 0n))
  return { above, ...range, heldWritePico: billed.heldWritePico > 0n ? writes.reduce(dearer) : 0n }
}

export function isFree(price: Price): boolean {
  return [price, ...price.tiers].every((range) => KINDS.every((kind) => range[kind] === 0n))
}

export function isPrice(creditsPerMillion: string): boolean {
  return parseDecimal(creditsPerMillion, PLACES.token) !== undefined
}

export function isAmount(credits: string): boolean {
  return parseCredits(credits) !== undefined
}

/** False for a damaged price, which cannot be parsed. */
export function isStated(price: StatedPrice): boolean {
  const { above = 1 } = price
  return (
    Number.isSafeInteger(above) &&
    above > 0 &&
    PRICE_ROWS.every(({ kind, unit, of, times }) => {
      const text: unknown = price[kind]
      if (text === undefined) return unit === 'piece' || (of !== undefined && times !== undefined)
      return typeof text === 'string' && parseDecimal(text, PLACES[unit]) !== undefined
    })
  )
}

export function formatPerToken(pico: bigint): string {
  return formatDecimal(pico, PLACES.piece)
}

const STATED = new WeakMap<RangePrice, StatedPrice>()

/** The price in the catalog's form. Parts that cost nothing of their own are left out. */
export function statePrice(price: RangePrice): StatedPrice {
  const stated = STATED.get(price) ?? inWords(price)
  STATED.set(price, stated)
  return stated
}

function inWords(price: RangePrice): StatedPrice {
  const stated = PRICE_ROWS.map((row) => {
    const pico = price[row.pico]
    const isAlways = row.unit === 'token' && !row.times
    return (isAlways || pico !== unstated(row, price)) && [row.kind, formatDecimal(pico, PLACES[row.unit])]
  })
  return {
    ...(price.above > 0 && { above: price.above }),
    ...Object.fromEntries(stated.filter((part) => part !== false)),
    ...(price.serviceTier !== undefined && { serviceTier: price.serviceTier }),
  }
}

export function formatPerMillion(pico: bigint): string {
  return formatDecimal(pico, PLACES.token)
}

export type BillLine = {
  readonly kind: PriceRow['line']
  readonly unit: 'token' | 'piece'
  readonly count: number
  readonly pricePico: bigint
  readonly amountPico: bigint
}

const isOfPrompt = ({ kind, of }: PriceRow) => of !== undefined || kind === 'input'
const LINES = /* @__PURE__ */ PRICE_ROWS.toSorted((one, other) => Number(isOfPrompt(other)) - Number(isOfPrompt(one)))

/** The units that are charged at the price of a kind: its quantity without the parts that have a price of their own. */
export function countOf({ quantity, parts }: PriceRow, quantities: Quantities): number {
  if (!quantity) return 1
  let count = quantities[quantity]
  for (const part of parts) count -= quantities[part]
  return count
}

/** Kinds that the request has none of, or that cost nothing of their own, have no line; prompt and completion always do. */
export function billLines(price: RangePrice, quantities: Quantities): readonly BillLine[] {
  const lines: BillLine[] = []
  for (const row of LINES) {
    const count = countOf(row, quantities)
    const pricePico = price[row.pico]
    const isShown = row.unit === 'token' ? !row.of || count > 0 : pricePico > 0n && count > 0
    if (isShown) lines.push({ kind: row.line, unit: row.unit, count, pricePico, amountPico: BigInt(count) * pricePico })
  }
  return lines
}

/** Exact in picocredits, rounded up once. The service tier or the length of the prompt decides the price. */
export function costOf(price: Price, quantities: Quantities, serviceTier?: string): Nano {
  return roundUp(sumOf(billLines(priceAt(price, quantities.prompt, serviceTier), quantities)))
}

export function sumOf(lines: readonly BillLine[]): bigint {
  return lines.reduce((sum, { amountPico }) => sum + amountPico, 0n)
}

export function roundUp(pico: bigint): Nano {
  return (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO
}

function picoOf(text: string, places: number): bigint {
  const pico = parseDecimal(text, places)
  if (pico === undefined) throw new Error(`'${text}' is not a price`)
  return pico
}
