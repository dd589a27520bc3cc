import type { z } from 'zod'
import { isRequestId } from '../../gateway/domain/basics/ulid.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { keysWithReference } from '../../gateway/store/keys/grant-credits.ts'
import { newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readUsageRow } from '../../gateway/store/rows/usage-rows.ts'
import { weekCosts } from '../usage/usage-reader.ts'
import type { Call } from './call.ts'
import { keyShape } from './key-shape.ts'
import { firstOf } from './pages.ts'
import { keyHolding } from './requests.ts'
import type { SearchShape } from './shapes/answers.ts'
import type { searchQuery } from './shapes/queries.ts'

const MOST_FOUND = 20

/** Finds by request id, key id, external id, last four, a part of the name, or the reference of a grant. */
export async function search({ tables, nowMs }: Call, { q }: z.output<typeof searchQuery>): Promise<SearchShape> {
  const text = q.trim()
  if (isRequestId(text)) {
    const isThere = (await readUsageRow(tables)(text)) ?? (await keyHolding(tables, text))
    return { object: 'search', keys: [], request_id: isThere ? text : null }
  }
  const referenced = await firstOf(keysWithReference(tables)(text), MOST_FOUND)
  const keys = (await Array.fromAsync(newestKeys(tables)())).filter(
    (key) => isFoundBy(key, text) || referenced.includes(key.id),
  )
  const costs = keys.length > 0 ? await weekCosts(tables, nowMs) : new Map<string, bigint>()
  const shapes = keys.slice(0, MOST_FOUND).map((key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n))
  return { object: 'search', keys: shapes, request_id: null }
}

function isFoundBy({ id, name, externalId, current, previous }: Key, text: string): boolean {
  if ([id, externalId, current.lastFour, previous?.lastFour].includes(text)) return true
  return name.toLowerCase().includes(text.toLowerCase())
}
