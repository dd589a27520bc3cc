import { formatDecimal, type Nano, parseDecimal } from './money.ts'

/** In picocredits: for one token, one request, one image. Credits per million tokens with six decimals come out whole. */
export type Price = {
  readonly inputPico: bigint
  readonly outputPico: bigint
  readonly cachedInputPico: bigint
  readonly cacheWritePico: bigint
  readonly requestPico: bigint
  readonly imagePico: bigint
}

/**
 * The price of a model, or the cost of a route to us. Tokens are in credits per million; a request and an image are in
 * credits each.
 */
export type PriceStrings = {
  readonly input: string
  readonly output: string
  readonly cachedInput?: string | undefined
  /** Prompt tokens that the provider wrote to its cache because the caller asked for it. */
  readonly cacheWrite?: string | undefined
  readonly request?: string | undefined
  readonly image?: string | undefined
}

/** A price as a row keeps it, so that a charge can be explained when the catalog has long changed. */
export type StatedPrice = PriceStrings & { readonly cachedInput: string }

/** The quantities on a bill. `prompt` includes the tokens read from and written to a cache. */
export type Quantities = {
  readonly prompt: number
  readonly cached: number
  readonly cacheWrite: number
  readonly completion: number
  readonly images: number
}

const PICO_PER_NANO = 1000n
const TOKEN_PLACES = 6
const AMOUNT_PLACES = 9
const PICO_PLACES = 12

export function parsePrice(price: PriceStrings): Price {
  const inputPico = picoPerToken(price.input)
  return {
    inputPico,
    outputPico: picoPerToken(price.output),
    cachedInputPico: price.cachedInput === undefined ? inputPico : picoPerToken(price.cachedInput),
    cacheWritePico: price.cacheWrite === undefined ? inputPico : picoPerToken(price.cacheWrite),
    requestPico: price.request === undefined ? 0n : picoOf(price.request, PICO_PLACES),
    imagePico: price.image === undefined ? 0n : picoOf(price.image, PICO_PLACES),
  }
}

const KINDS = [
  'inputPico',
  'outputPico',
  'cachedInputPico',
  'cacheWritePico',
  'requestPico',
  'imagePico',
] as const satisfies readonly (keyof Price)[]

/** Whether any part of a cost is more than the price covers. */
export function isAbove(cost: Price, price: Price): boolean {
  return KINDS.some((kind) => cost[kind] > price[kind])
}

/** Whether this is a price of tokens, in credits per million. */
export function isPrice(creditsPerMillion: string): boolean {
  return parseDecimal(creditsPerMillion, TOKEN_PLACES) !== undefined
}

/** Whether this is the price of one request or one image, in credits. */
export function isAmount(credits: string): boolean {
  return parseDecimal(credits, AMOUNT_PLACES) !== undefined
}

/** The price of one token in credits, as people read it. */
export function formatPerToken(pico: bigint): string {
  return formatDecimal(pico, PICO_PLACES)
}

const STATED = new WeakMap<Price, StatedPrice>()

/** As the catalog has it, put into words once. Parts that cost nothing of their own are left out. */
export function statePrice(price: Price): StatedPrice {
  const stated = STATED.get(price) ?? inWords(price)
  STATED.set(price, stated)
  return stated
}

function inWords(price: Price): StatedPrice {
  return {
    input: formatPerMillion(price.inputPico),
    output: formatPerMillion(price.outputPico),
    cachedInput: formatPerMillion(price.cachedInputPico),
    ...(price.cacheWritePico !== price.inputPico && { cacheWrite: formatPerMillion(price.cacheWritePico) }),
    ...(price.requestPico > 0n && { request: formatDecimal(price.requestPico, PICO_PLACES) }),
    ...(price.imagePico > 0n && { image: formatDecimal(price.imagePico, PICO_PLACES) }),
  }
}

export function formatPerMillion(pico: bigint): string {
  return formatDecimal(pico, TOKEN_PLACES)
}

type BillLineKind = 'prompt' | 'cached' | 'cache write' | 'completion' | 'request' | 'images'

/** One line of a bill: so many of a kind at so much each. Its amount is exact, in picocredits. */
export type BillLine = {
  readonly kind: BillLineKind
  readonly count: number
  readonly pricePico: bigint
  readonly amountPico: bigint
}

/** Kinds that a request has none of, or that cost nothing of their own, have no line; prompt and completion always do. */
export function billLines(price: Price, quantities: Quantities): readonly BillLine[] {
  const { prompt, cached, cacheWrite, completion, images } = quantities
  const line = (kind: BillLineKind, count: number, pricePico: bigint): BillLine => ({
    kind,
    count,
    pricePico,
    amountPico: BigInt(count) * pricePico,
  })
  return [
    line('prompt', prompt - cached - cacheWrite, price.inputPico),
    ...(cached > 0 ? [line('cached', cached, price.cachedInputPico)] : []),
    ...(cacheWrite > 0 ? [line('cache write', cacheWrite, price.cacheWritePico)] : []),
    line('completion', completion, price.outputPico),
    ...(price.requestPico > 0n ? [line('request', 1, price.requestPico)] : []),
    ...(price.imagePico > 0n && images > 0 ? [line('images', images, price.imagePico)] : []),
  ]
}

/** Exact in picocredits, rounded up once. */
export function costOf(price: Price, quantities: Quantities): Nano {
  return roundUp(sumOf(billLines(price, quantities)))
}

export function sumOf(lines: readonly BillLine[]): bigint {
  return lines.reduce((sum, { amountPico }) => sum + amountPico, 0n)
}

/** The most that a request may come to: its prompt at the dearest of the input prices that can apply to it. */
export type WorstCase = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly images: number
  /** Whether the caller asks for the prompt to be written to a cache. */
  readonly writesCache: boolean
}

export function worstCostOf(price: Price, worst: WorstCase): Nano {
  return roundUp(worstBeforeOutputPico(price, worst) + BigInt(worst.completionTokens) * price.outputPico)
}

/** How many completion tokens this balance covers beside the prompt's worst case; negative if not even that. */
export function affordableTokens(price: Price, worst: Omit<WorstCase, 'completionTokens'>, available: Nano): number {
  const pico = available * PICO_PER_NANO - worstBeforeOutputPico(price, worst)
  if (pico < 0n) return -1
  return price.outputPico === 0n ? Number.POSITIVE_INFINITY : Number(pico / price.outputPico)
}

function worstBeforeOutputPico(
  price: Price,
  { promptTokens, images, writesCache }: Omit<WorstCase, 'completionTokens'>,
): bigint {
  let dearest = price.inputPico > price.cachedInputPico ? price.inputPico : price.cachedInputPico
  if (writesCache && price.cacheWritePico > dearest) dearest = price.cacheWritePico
  return BigInt(promptTokens) * dearest + price.requestPico + BigInt(images) * price.imagePico
}

function roundUp(pico: bigint): Nano {
  return (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO
}

/** Credits per million tokens are, digit for digit, picocredits per token with six places. */
function picoPerToken(creditsPerMillion: string): bigint {
  return picoOf(creditsPerMillion, TOKEN_PLACES)
}

function picoOf(text: string, places: number): bigint {
  const pico = parseDecimal(text, places)
  if (pico === undefined) throw new Error(`'${text}' is not a price`)
  return pico
}
