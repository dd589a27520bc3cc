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

/** Of one model, because a larger context bounds the hold, and a smaller output is what every route can do. */
const LIMITS = { contextLength: Math.max, maxOutputTokens: Math.min } as const
export type Limit = keyof typeof LIMITS

/** The limit that holds for all of these. Undefined if none has it. */
export function limitOf(
  limit: Limit,
  all: readonly { readonly [Name in Limit]?: number | undefined }[],
): number | undefined {
  const known = all.flatMap((one) => one[limit] ?? [])
  return known.length > 0 ? LIMITS[limit](...known) : undefined
}

export function dearer(...picos: readonly (bigint | undefined)[]): bigint | undefined {
  return picos.reduce(
    (most, pico) => (most === undefined || (pico !== undefined && pico > most) ? pico : most),
    undefined,
  )
}

export function picosBy(of: (part: TokenPart) => bigint | undefined): TokenPico {
  return Object.fromEntries(TOKEN_PARTS.map((part) => [part, of(part)]).filter(([, pico]) => pico !== undefined))
}
