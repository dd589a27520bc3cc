import { FIRST_BYTE_TIMEOUT_MS } from '../../../layers/gateway/domain/catalog.ts'

/** The fields as documents and examples write them: the table keeps no order. */
const ORDER =
  '$schema providers models type id kind name ownedBy region baseUrl contract apiKey active created contextLength maxOutputTokens dimensions price provider model priority weight above input output cachedInput cacheWrite cacheWrite1h request image tiers firstByteTimeoutMs idleTimeoutMs cost routes fallback'.split(
    ' ',
  )

/** Filled in by the parser where the author wrote nothing. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['active', true],
  ['created', 0],
  ['priority', 0],
  ['weight', 1],
  ['firstByteTimeoutMs', FIRST_BYTE_TIMEOUT_MS],
  ['idleTimeoutMs', 60_000],
])

/** A catalog as an author would write it. */
export function catalogText(catalog: unknown): string {
  return JSON.stringify(inOrder(catalog), null, 2)
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([name, own]) => !DEFAULTS.has(name) || DEFAULTS.get(name) !== own)
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b))
  return Object.fromEntries(entries.map(([name, own]) => [name, inOrder(own)]))
}

/** A name that is not known stays behind those that are. */
function placeOf(name: string): number {
  const place = ORDER.indexOf(name)
  return place < 0 ? ORDER.length : place
}
