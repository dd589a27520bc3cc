import { isObject } from '../wire/basics/field-rules.ts'
import type { ChatCall } from './provider.ts'
import { OWN_JSON } from './require-held.ts'

/** The lives of cached tokens whose price is known. */
export type CachePrices = Pick<ChatCall, 'mayWriteCache' | 'mayWriteCache1h'>

export type CacheMark = { readonly type: 'ephemeral'; readonly ttl?: '1h' }

/** The mark that goes upstream for one of the caller's; none if cache writes have no price. */
export function cacheMarkOf(sent: unknown, { mayWriteCache, mayWriteCache1h }: CachePrices): CacheMark | undefined {
  if (!isObject(sent) || !mayWriteCache) return undefined
  return sent.ttl === '1h' && mayWriteCache1h ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

/** A request with every `cache_control`, wherever it is, replaced by one whose price is known, or removed. */
export function withCacheMarks(value: unknown, prices: CachePrices): unknown {
  if (Array.isArray(value)) return value.map((element) => withCacheMarks(element, prices))
  if (!isObject(value) || value instanceof Uint8Array) return value
  const { cache_control: sent, ...fields } = value
  for (const [name, field] of Object.entries(fields)) {
    if (!OWN_JSON.has(name) || !isObject(field)) fields[name] = withCacheMarks(field, prices)
  }
  const mark = cacheMarkOf(sent, prices)
  return mark ? { ...fields, cache_control: mark } : fields
}
