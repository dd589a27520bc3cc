/** The names that providers give to the tier at their list price. */
const STANDARD_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'on_demand'])

export function isStandardTier(tier: unknown): boolean {
  return STANDARD_TIERS.has(tier)
}

/** Sounds and pictures have prices of their own. */
export function isTextOnly(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.every((modality) => modality === 'text')
}

/** The cache mark that `price.cacheWrite` is the price of; an hour in the cache has another. */
export const CACHE_CONTROL = { type: 'ephemeral' } as const
