import type { Key } from '../../domain/key.ts'
import { retry } from '../../retry.ts'
import type { Item } from '../database.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type TransactItem, transact } from '../transact.ts'
import { keyItem, toKey } from './key-item.ts'
import { readKeyItem } from './read-key.ts'

type KeyChange = {
  readonly set: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  /** Other items that change at the same moment. */
  readonly alsoWrite?: readonly TransactItem[]
}

export type ChangeResult =
  | { readonly changed: true; readonly key: Key }
  | { readonly changed: false; readonly why: 'no_such_key' | 'revoked' }

/** Another change of the same key came first. */
class Overtaken extends Error {}

/**
 * An operator's change to an active key: decided on a fresh copy, written only if that copy's version still stands.
 * `decide` returns undefined if there is nothing to do.
 */
export function changeKey(tables: OperatorTables) {
  const read = readKeyItem(tables)
  return (keyId: string, decide: (key: Key) => KeyChange | undefined): Promise<ChangeResult> => {
    return retry(change, {
      when: (error) => error instanceof Overtaken,
      pauseMs: (attempt) => 10 * attempt,
      tries: 12,
    })

    async function change(): Promise<ChangeResult> {
      const item = await read(keyId)
      if (!item) return { changed: false, why: 'no_such_key' }
      const key = toKey(item)
      if (key.status === 'revoked') return { changed: false, why: 'revoked' }
      const change = decide(key)
      if (!change) return { changed: true, key }
      const update = { Update: { TableName: tables.keys, ...keyUpdate(key, change) } }
      if (await transact(tables, [update, ...(change.alsoWrite ?? [])])) {
        return { changed: true, key: changedKey(item, change) }
      }
      throw new Overtaken(`The key ${keyId} was changed by others again and again. Try again.`)
    }
  }
}

/** The key as it was written. It is not read again: a change that was made must not end in a failure to look at it. */
function changedKey(before: Item, { set, remove = [] }: KeyChange): Key {
  const item: Item = { ...before, ...set, version: (before.version as number) + 1 }
  for (const name of remove) delete item[name]
  return toKey(item)
}

function keyUpdate(key: Key, { set, remove = [] }: KeyChange) {
  const entries = Object.entries(set)
  const assignments = ['version = :nextVersion', ...entries.map((_, i) => `#set${i} = :set${i}`)]
  const removals = remove.length > 0 ? ` REMOVE ${remove.join(', ')}` : ''
  return {
    Key: keyItem(key.id),
    ConditionExpression: 'version = :version',
    UpdateExpression: `SET ${assignments.join(', ')}${removals}`,
    ...(entries.length > 0 && {
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#set${i}`, name])),
    }),
    ExpressionAttributeValues: {
      ':version': key.version,
      ':nextVersion': key.version + 1,
      ...Object.fromEntries(entries.map(([, value], i) => [`:set${i}`, value])),
    },
  }
}
