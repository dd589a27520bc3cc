import { formatDecimal, type Nano, parseDecimal } from './money.ts'

/** The prices of one request, in picocredits, so that credits per million tokens with six decimals come out whole. */
export type RangePrice = {
  /** For prompts of more tokens than this; 0 for the base price. */
  readonly above: number
  readonly inputPico: bigint
  readonly outputPico: bigint
  readonly cachedInputPico: bigint
  readonly cacheWritePico: bigint
  readonly cacheWrite1hPico: bigint
  /** The dearest price of cache writes that is stated, by which prompts are held; 0 if none is. */
  readonly heldWritePico: bigint
  readonly requestPico: bigint
  readonly imagePico: bigint
  /** The service tier that it is for, if it is for one. */
  readonly serviceTier?: string | undefined
}

/** The base price, the prices of longer prompts in rising order, and those of service tiers, for prompts of any length. */
export type Price = RangePrice & {
  readonly tiers: readonly RangePrice[]
  readonly serviceTiers: ReadonlyMap<string, RangePrice>
}

/** In credits per million tokens. */
type TokenPrices = {
  readonly input: string
  readonly output: string
  readonly cachedInput?: string | undefined
  /** Prompt tokens that the provider wrote to its cache, asked or not. */
  readonly cacheWrite?: string | undefined
  /** Those of them that it keeps for an hour. */
  readonly cacheWrite1h?: string | undefined
}

/** The prices of a request whose prompt has more tokens than `above`, those from a cache included. */
export type PriceTier = TokenPrices & { readonly above: number }

type BasePrices = TokenPrices & {
  /** Credits for each request. */
  readonly request?: string | undefined
  readonly image?: string | undefined
}

/** The price of a model, or the cost of a route to us. */
export type PriceStrings = BasePrices & {
  readonly tiers?: readonly PriceTier[] | undefined
  /** By the provider's names. */
  readonly serviceTiers?: Readonly<Record<string, TokenPrices>> | undefined
}

/** The price of one request as its row keeps it, to explain a charge after the catalog has changed. `above` is its tier's. */
export type StatedPrice = BasePrices & {
  readonly cachedInput: string
  readonly above?: number | undefined
  readonly serviceTier?: string | undefined
}

/** The quantities on a bill. `prompt` includes the tokens read from and written to a cache. */
export type Quantities = {
  readonly prompt: number
  readonly cached: number
  readonly cacheWrite: number
  /** The part of the tokens written to a cache that stays there for an hour. */
  readonly cacheWrite1h: number
  readonly completion: number
  readonly images: number
}

export const PICO_PER_NANO = 1000n
const TOKEN_PLACES = 6
const AMOUNT_PLACES = 9
const PICO_PLACES = 12

const PARSED = new WeakMap<PriceStrings | StatedPrice, Price>()

/** Parsed once: routes are compared by their costs for every request. */
export function parsePrice(strings: PriceStrings | StatedPrice): Price {
  const price = PARSED.get(strings) ?? parse(strings)
  PARSED.set(strings, price)
  return price
}

function parse(price: PriceStrings | StatedPrice): Price {
  const inputPico = picoPerToken(price.input)
  const cacheWritePico = picoPerToken(price.cacheWrite, unstatedWrite(inputPico))
  const base = {
    above: 'above' in price ? (price.above ?? 0) : 0,
    inputPico,
    outputPico: picoPerToken(price.output),
    cachedInputPico: picoPerToken(price.cachedInput, inputPico),
    cacheWritePico,
    cacheWrite1hPico: picoPerToken(price.cacheWrite1h, unstatedWrite1h(cacheWritePico)),
    heldWritePico: dearer(picoPerToken(price.cacheWrite), picoPerToken(price.cacheWrite1h)),
    requestPico: price.request === undefined ? 0n : picoOf(price.request, PICO_PLACES),
    imagePico: price.image === undefined ? 0n : picoOf(price.image, PICO_PLACES),
  }
  const tiers = 'tiers' in price ? price.tiers : undefined
  const services = Object.entries(('serviceTiers' in price && price.serviceTiers) || {})
  return {
    ...base,
    tiers: tiers?.map((tier) => parseTier(tier, base, price)) ?? [],
    serviceTiers: new Map(
      services.map(([name, prices]) => [
        name,
        { ...parseTier({ ...prices, above: 0 }, base, price), serviceTier: name },
      ]),
    ),
  }
}

/** Providers bill what they write to a cache at 1.25 times the input, and at twice the input for an hour. */
const unstatedWrite = (inputPico: bigint) => (inputPico * 5n + 3n) / 4n
const unstatedWrite1h = (cacheWritePico: bigint) => (cacheWritePico * 8n + 4n) / 5n

function parseTier(tier: PriceTier, base: RangePrice, stated: TokenPrices): RangePrice {
  const inputPico = picoPerToken(tier.input)
  // Providers bill cache writes as a multiple of the input, so at the tier's bare input they would be below the bill.
  const cacheWritePico = picoPerToken(tier.cacheWrite, inProportion(inputPico, base.cacheWritePico, base.inputPico))
  const cacheWrite1hPico = picoPerToken(
    tier.cacheWrite1h,
    inProportion(cacheWritePico, base.cacheWrite1hPico, base.cacheWritePico),
  )
  const heldIf = (name: 'cacheWrite' | 'cacheWrite1h', pico: bigint) => ((tier[name] ?? stated[name]) ? pico : 0n)
  return {
    ...base,
    above: tier.above,
    inputPico,
    outputPico: picoPerToken(tier.output),
    cachedInputPico: picoPerToken(tier.cachedInput, inputPico),
    cacheWritePico,
    cacheWrite1hPico,
    heldWritePico: dearer(heldIf('cacheWrite', cacheWritePico), heldIf('cacheWrite1h', cacheWrite1hPico)),
  }
}

const dearer = (one: bigint, other: bigint) => (one > other ? one : other)

/** As much more than `pico` as `part` is more than `whole`, rounded up; no less than either if they cannot be compared. */
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

const KINDS = [
  'inputPico',
  'outputPico',
  'cachedInputPico',
  'cacheWritePico',
  'cacheWrite1hPico',
  'requestPico',
  'imagePico',
] as const satisfies readonly (keyof Price)[]

/** The part of a cost that the price does not cover, kind by kind, for prompts of any length; undefined if it covers all. */
export function lossPrice(cost: Price, price: Price): Price | undefined {
  const isFlat = cost.tiers.length === 0 && price.tiers.length === 0
  if (cost === price || (isFlat && KINDS.every((kind) => cost[kind] <= price[kind]))) return undefined
  const borders = new Set([0, ...cost.tiers.map(({ above }) => above), ...price.tiers.map(({ above }) => above)])
  const ranges = [...borders].sort((a, b) => a - b).map((above) => uncoveredIn(above, cost, price))
  const [base, ...tiers] = ranges as [RangePrice, ...RangePrice[]]
  if (ranges.every((range) => KINDS.every((kind) => range[kind] === 0n))) return undefined
  // No tier but the default is asked for.
  return { ...base, tiers, serviceTiers: new Map() }
}

function uncoveredIn(above: number, cost: Price, price: Price): RangePrice {
  const [billed, paid] = [priceAt(cost, above + 1), priceAt(price, above + 1)]
  const parts = KINDS.map((kind) => [kind, billed[kind] > paid[kind] ? billed[kind] - paid[kind] : 0n])
  const range = { above, ...Object.fromEntries(parts) }
  return {
    ...range,
    heldWritePico: billed.heldWritePico > 0n ? dearer(range.cacheWritePico, range.cacheWrite1hPico) : 0n,
  }
}

/** True if nothing of it costs anything. */
export function isFree(price: Price): boolean {
  return [price, ...price.tiers].every((range) => KINDS.every((kind) => range[kind] === 0n))
}

/** True if this is a price of tokens, in credits per million. */
export function isPrice(creditsPerMillion: string): boolean {
  return parseDecimal(creditsPerMillion, TOKEN_PLACES) !== undefined
}

/** True if this is the price of one request or one image, in credits. */
export function isAmount(credits: string): boolean {
  return parseDecimal(credits, AMOUNT_PLACES) !== undefined
}

/** False for a damaged price, which cannot be parsed. */
export function isStated(price: StatedPrice): boolean {
  const {
    input,
    output,
    cachedInput,
    cacheWrite = '0',
    cacheWrite1h = '0',
    request = '0',
    image = '0',
    above = 1,
  } = price
  const isText = (part: unknown) => typeof part === 'string'
  return (
    Number.isSafeInteger(above) &&
    above > 0 &&
    [input, output, cachedInput, cacheWrite, cacheWrite1h].every((part) => isText(part) && isPrice(part)) &&
    [request, image].every((part) => isText(part) && isAmount(part))
  )
}

/** The price of one token in credits, as people read it. */
export function formatPerToken(pico: bigint): string {
  return formatDecimal(pico, PICO_PLACES)
}

const STATED = new WeakMap<RangePrice, StatedPrice>()

/** The price in the catalog's form. Parts that cost nothing of their own are left out. */
export function statePrice(price: RangePrice): StatedPrice {
  const stated = STATED.get(price) ?? inWords(price)
  STATED.set(price, stated)
  return stated
}

function inWords(price: RangePrice): StatedPrice {
  const { cacheWritePico, cacheWrite1hPico } = price
  return {
    ...(price.above > 0 && { above: price.above }),
    input: formatPerMillion(price.inputPico),
    output: formatPerMillion(price.outputPico),
    cachedInput: formatPerMillion(price.cachedInputPico),
    ...(cacheWritePico !== unstatedWrite(price.inputPico) && { cacheWrite: formatPerMillion(cacheWritePico) }),
    ...(cacheWrite1hPico !== unstatedWrite1h(cacheWritePico) && { cacheWrite1h: formatPerMillion(cacheWrite1hPico) }),
    ...(price.requestPico > 0n && { request: formatDecimal(price.requestPico, PICO_PLACES) }),
    ...(price.imagePico > 0n && { image: formatDecimal(price.imagePico, PICO_PLACES) }),
    ...(price.serviceTier !== undefined && { serviceTier: price.serviceTier }),
  }
}

export function formatPerMillion(pico: bigint): string {
  return formatDecimal(pico, TOKEN_PLACES)
}

type BillLineKind = 'prompt' | 'cached' | 'cache write' | 'cache 1h' | 'completion' | 'request' | 'images'

/** One line of a bill: a number of units at a price each. Its amount is exact, in picocredits. */
export type BillLine = {
  readonly kind: BillLineKind
  readonly count: number
  readonly pricePico: bigint
  readonly amountPico: bigint
}

/** Kinds that the request has none of, or that cost nothing of their own, have no line; prompt and completion always do. */
export function billLines(price: RangePrice, quantities: Quantities): readonly BillLine[] {
  const { prompt, cached, cacheWrite, cacheWrite1h, completion, images } = quantities
  const briefWrite = cacheWrite - cacheWrite1h
  const line = (kind: BillLineKind, count: number, pricePico: bigint): BillLine => ({
    kind,
    count,
    pricePico,
    amountPico: BigInt(count) * pricePico,
  })
  return [
    line('prompt', prompt - cached - cacheWrite, price.inputPico),
    ...(cached > 0 ? [line('cached', cached, price.cachedInputPico)] : []),
    ...(briefWrite > 0 ? [line('cache write', briefWrite, price.cacheWritePico)] : []),
    ...(cacheWrite1h > 0 ? [line('cache 1h', cacheWrite1h, price.cacheWrite1hPico)] : []),
    line('completion', completion, price.outputPico),
    ...(price.requestPico > 0n ? [line('request', 1, price.requestPico)] : []),
    ...(price.imagePico > 0n && images > 0 ? [line('images', images, price.imagePico)] : []),
  ]
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

/** Credits per million tokens are, digit for digit, picocredits per token with six places. */
function picoPerToken(creditsPerMillion: string | undefined, without = 0n): bigint {
  return creditsPerMillion === undefined ? without : picoOf(creditsPerMillion, TOKEN_PLACES)
}

function picoOf(text: string, places: number): bigint {
  const pico = parseDecimal(text, places)
  if (pico === undefined) throw new Error(`'${text}' is not a price`)
  return pico
}
