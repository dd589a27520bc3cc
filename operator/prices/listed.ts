import { dividedUp, scaledNumber, wholeNumberIn } from '../reading/exact-number.ts'
import { type JsonNode, textOf } from '../reading/json-nodes.ts'

/** The prices of tokens that public lists have, by their names in a catalog. */
export const TOKEN_PARTS = ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWrite1h'] as const
export type TokenPart = (typeof TOKEN_PARTS)[number]

/** In picocredits a token, with a credit as a US dollar. */
export type TokenPico = { readonly [Part in TokenPart]?: bigint }
export type ListedTier = { readonly above: number; readonly prices: TokenPico }

/** A model as a list has it, after its numbers were checked. */
export type Listed = {
  readonly base: TokenPico
  /** In rising order. */
  readonly tiers: readonly ListedTier[]
  readonly contextLength?: number | undefined
  readonly maxOutputTokens?: number | undefined
}

/** Of several values for one part, the dearest holds: tokens of reasoning are output, for example. */
export type RawPrices = { readonly [Part in TokenPart]?: readonly (JsonNode | undefined)[] }

/** The values of a model in a list, not checked yet. */
export type RawModel = {
  readonly currencies: readonly (JsonNode | undefined)[]
  readonly base: RawPrices
  readonly tiers: readonly { readonly above: string | undefined; readonly prices: RawPrices }[]
  readonly contextLength?: JsonNode | undefined
  readonly maxOutputTokens?: JsonNode | undefined
  /** A price that a catalog cannot express. */
  readonly beyond?: string | undefined
}

/**
 * From a tenth of a cent to 1,000 dollars for a million tokens: all that is sold, and just so wide that a price in units wrong by a
 * million is never within it.
 */
const LEAST_PICO = 1_000n
const MOST_PICO = 1_000_000_000n
const MOST_TOKENS = 100_000_000
const MOST_TIERS = 20
const MOST_SHOWN = 40

/** The checked model, or why nothing of it is believed. `places` makes picocredits a token of the list's unit. */
export function checkModel(raw: RawModel, places: number): Listed | string {
  try {
    for (const currency of raw.currencies) requireDollars(currency)
    if (raw.beyond !== undefined) throw new Doubt(raw.beyond)
    if (raw.tiers.length > MOST_TIERS) throw new Doubt(`it has ${raw.tiers.length} tiers`)
    const base = pricesOf(raw.base, places, '')
    return {
      base,
      tiers: raw.tiers
        .map(({ above, prices }) => checkTier(above, prices, base, places))
        .toSorted((a, b) => a.above - b.above),
      contextLength: tokensOf(raw.contextLength, 'context'),
      maxOutputTokens: tokensOf(raw.maxOutputTokens, 'output limit'),
    }
  } catch (error) {
    if (error instanceof Doubt) return error.message
    throw error
  }
}

class Doubt extends Error {}

function requireDollars(currency: JsonNode | undefined): void {
  if (currency !== undefined && textOf(currency)?.toUpperCase() !== 'USD') {
    throw new Doubt(`its currency is ${shown(currency)} and not USD`)
  }
}

/** No tier is cheaper than the base. A price of caches that a tier leaves out is in the base's proportion to the input. */
function checkTier(aboveText: string | undefined, raw: RawPrices, base: TokenPico, places: number): ListedTier {
  const above = wholeNumberIn(aboveText, 1, MOST_TOKENS)
  if (above === undefined) throw new Doubt(`a tier begins above '${aboveText?.slice(0, MOST_SHOWN)}' tokens`)
  const stated = pricesOf(raw, places, `above ${above} tokens `)
  const input = dearer(stated.input, base.input) ?? 0n
  const parts = TOKEN_PARTS.flatMap((part) => {
    const usual = base[part]
    const inProportion = usual && base.input && dividedUp(input * usual, base.input)
    const pico = part === 'output' ? dearer(stated.output, usual) : (stated[part] ?? inProportion)
    return pico === undefined ? [] : [[part, part === 'input' ? input : pico]]
  })
  return { above, prices: Object.fromEntries(parts) }
}

export function dearer(...picos: readonly (bigint | undefined)[]): bigint | undefined {
  return picos.reduce(
    (most, pico) => (most === undefined || (pico !== undefined && pico > most) ? pico : most),
    undefined,
  )
}

function pricesOf(raw: RawPrices, places: number, where: string): TokenPico {
  const parts = TOKEN_PARTS.flatMap((part) => {
    const picos = (raw[part] ?? []).map((node) => node && picoOf(node, places, `${where}${part}`))
    const pico = dearer(...picos)
    // Lists have 0 for a price of caches that they do not know.
    return pico === undefined || (pico === 0n && part.startsWith('cache')) ? [] : [[part, pico]]
  })
  return Object.fromEntries(parts)
}

function picoOf(node: JsonNode, places: number, name: string): bigint {
  const pico = scaledNumber(textOf(node), places)
  if (pico === undefined || pico < 0n) throw new Doubt(`its ${name} is ${shown(node)}, which is no price`)
  if (pico !== 0n && (pico < LEAST_PICO || pico >= MOST_PICO)) {
    throw new Doubt(`its ${name} is ${shown(node)}, which is beyond all that is sold: the unit may be wrong`)
  }
  return pico
}

function tokensOf(node: JsonNode | undefined, name: string): number | undefined {
  const text = textOf(node)
  if (node === undefined || text === '0') return undefined
  const tokens = wholeNumberIn(text, 1, MOST_TOKENS)
  if (tokens === undefined) throw new Doubt(`its ${name} is ${shown(node)}, which is no number of tokens`)
  return tokens
}

function shown(node: JsonNode): string {
  if (node.kind === 'twice') return 'there twice'
  const text = textOf(node)
  return text === undefined ? `a ${node.kind}` : `'${text.slice(0, MOST_SHOWN)}'`
}
