import type { z } from 'zod'
import { isRequestId } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import { wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import { keysWithReference } from '../../gateway/store/keys/grant-credits.ts'
import { newest, newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readUsageRow } from '../../gateway/store/rows/usage-rows.ts'
import { weekCosts } from '../usage/usage-reader.ts'
import { accountShape, readPurses } from './account-shape.ts'
import type { Call } from './call.ts'
import { accountNames } from './changed-key.ts'
import { keyShape } from './key-shape.ts'
import { firstOf } from './pages.ts'
import { keyHolding } from './requests.ts'
import type { SearchShape } from './shapes/answers.ts'
import type { searchQuery } from './shapes/queries.ts'

const MOST_FOUND = 20

export async function search({ tables, nowMs }: Call, { q }: z.output<typeof searchQuery>): Promise<SearchShape> {
  const text = q.trim()
  if (isRequestId(text)) {
    const isThere = (await readUsageRow(tables)(text)) ?? (await keyHolding(tables, text, nowMs))
    return { object: 'search', keys: [], accounts: [], request_id: isThere ? text : null }
  }
  const referenced = await firstOf(keysWithReference(tables)(text), MOST_FOUND)
  const found = async <T extends Findable>(all: AsyncIterable<T>): Promise<T[]> => {
    const isWanted = (one: T) => isFoundBy(one, text) || referenced.includes(one.id)
    return (await Array.fromAsync(all)).filter(isWanted).slice(0, MOST_FOUND)
  }
  const [firsts, accounts] = await Promise.all([found(newestKeys(tables)()), found(newest(tables, ACCOUNT)())])
  const keys = await wholeKeys(tables)(firsts, nowMs)
  const costs = keys.length + accounts.length > 0 ? await weekCosts(tables, nowMs) : new Map<string, bigint>()
  const names = await accountNames(tables, keys)
  return {
    object: 'search',
    keys: keys.map((key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n, names)),
    accounts: (await readPurses(tables, accounts, costs)).map(accountShape),
    request_id: null,
  }
}

type Findable = Pick<Key, 'id' | 'name' | 'externalId'> & Partial<Pick<Key, 'current' | 'previous'>>

function isFoundBy({ id, name, externalId, current, previous }: Findable, text: string): boolean {
  if ([id, externalId, current?.lastFour, previous?.lastFour].includes(text)) return true
  return name.toLowerCase().includes(text.toLowerCase())
}
