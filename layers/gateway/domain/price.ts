import { formatDecimal, type Nano, parseDecimal } from './money.ts'

/** Picocredits for one token. Credits per million tokens with six decimals come out whole. */
export type Price = {
  readonly inputPico: bigint
  readonly outputPico: bigint
  readonly cachedInputPico: bigint
}

export type PriceStrings = {
  readonly input: string
  readonly output: string
  readonly cachedInput?: string | undefined
}

/** A price with all of its parts named, so that a charge can be explained when the catalog has long changed. */
export type StatedPrice = PriceStrings & { readonly cachedInput: string }

export type BilledTokens = { readonly prompt: number; readonly cached: number; readonly completion: number }

const PICO_PER_NANO = 1000n

export function parsePrice(price: PriceStrings): Price {
  const inputPico = picoPerToken(price.input)
  return {
    inputPico,
    outputPico: picoPerToken(price.output),
    cachedInputPico: price.cachedInput === undefined ? inputPico : picoPerToken(price.cachedInput),
  }
}

export function isPrice(creditsPerMillion: string): boolean {
  return parseDecimal(creditsPerMillion, 6) !== undefined
}

/** The price of one token in credits, as people read it. */
export function formatPerToken(pico: bigint): string {
  return formatDecimal(pico, 12)
}

/** In credits per million tokens, as the catalog has it. */
export function statePrice(price: Price): StatedPrice {
  return {
    input: formatPerMillion(price.inputPico),
    output: formatPerMillion(price.outputPico),
    cachedInput: formatPerMillion(price.cachedInputPico),
  }
}

export function formatPerMillion(pico: bigint): string {
  return formatDecimal(pico, 6)
}

/** One kind of token on a bill. Its amount is exact, in picocredits. */
export type BillLine = {
  readonly kind: 'prompt' | 'cached' | 'completion'
  readonly tokens: number
  readonly pricePico: bigint
  readonly amountPico: bigint
}

export function billLines(price: Price, { prompt, cached, completion }: BilledTokens): readonly BillLine[] {
  const line = (kind: BillLine['kind'], tokens: number, pricePico: bigint): BillLine => ({
    kind,
    tokens,
    pricePico,
    amountPico: BigInt(tokens) * pricePico,
  })
  return [
    line('prompt', prompt - cached, price.inputPico),
    line('cached', cached, price.cachedInputPico),
    line('completion', completion, price.outputPico),
  ]
}

/** Exact in picocredits, rounded up once. */
export function costOf(price: Price, tokens: BilledTokens): Nano {
  return roundUp(sumOf(billLines(price, tokens)))
}

export function sumOf(lines: readonly BillLine[]): bigint {
  return lines.reduce((sum, { amountPico }) => sum + amountPico, 0n)
}

/** The most that a call within these bounds can cost. */
export function worstCostOf(price: Price, promptTokens: number, completionTokens: number): Nano {
  return roundUp(worstPromptPico(price, promptTokens) + BigInt(completionTokens) * price.outputPico)
}

/** How many completion tokens this balance covers beside the prompt's worst case; negative if not even that. */
export function affordableTokens(price: Price, promptTokens: number, available: Nano): number {
  const pico = available * PICO_PER_NANO - worstPromptPico(price, promptTokens)
  if (pico < 0n) return -1
  return price.outputPico === 0n ? Number.POSITIVE_INFINITY : Number(pico / price.outputPico)
}

function worstPromptPico(price: Price, promptTokens: number): bigint {
  const dearest = price.inputPico > price.cachedInputPico ? price.inputPico : price.cachedInputPico
  return BigInt(promptTokens) * dearest
}

function roundUp(pico: bigint): Nano {
  return (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO
}

function picoPerToken(creditsPerMillion: string): bigint {
  const pico = parseDecimal(creditsPerMillion, 6)
  if (pico === undefined) throw new Error(`'${creditsPerMillion}' is not a price`)
  return pico
}
