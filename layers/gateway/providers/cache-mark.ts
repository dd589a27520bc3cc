import { isObject } from '../wire/field-rules.ts'
import type { ChatCall } from './provider.ts'

/** The lives of cached tokens whose price is known. */
export type CachePrices = Pick<ChatCall, 'mayWriteCache' | 'mayWriteCache1h'>

export type CacheMark = { readonly type: 'ephemeral'; readonly ttl?: '1h' }

/** The mark that goes upstream for one of the caller's; none if cache writes have no price. */
export function cacheMarkOf(sent: unknown, { mayWriteCache, mayWriteCache1h }: CachePrices): CacheMark | undefined {
  if (!isObject(sent) || !mayWriteCache) return undefined
  return sent.ttl === '1h' && mayWriteCache1h ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}
