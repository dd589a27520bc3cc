import type { Act } from '../../domain/act.ts'
import { changeEvent, type EventKind, keyFields } from '../../domain/change-event.ts'
import type { Key } from '../../domain/key.ts'
import { retry } from '../../retry.ts'
import type { Item } from '../database.ts'
import { findEvent, putEvent } from '../events/events.ts'
import { makeOnce } from '../events/make-once.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { TransactItem } from '../transact.ts'
import { findByExternalId } from './external-id.ts'
import { keyItem, toKey } from './key-item.ts'
import { readKeyItem } from './read-key.ts'

type KeyChange = {
  readonly set: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  /** Other items that change at the same moment. */
  readonly alsoWrite?: readonly TransactItem[]
  /** The external id that the key gets, which another may have. */
  readonly takes?: string | undefined
}

export type ChangeResult =
  | { readonly changed: true; readonly key: Key }
  | { readonly changed: false; readonly why: 'no_such_key' | 'revoked' | 'external_id_taken' }
  /** The key as somebody else has left it. */
  | { readonly changed: false; readonly why: 'stale'; readonly key: Key }

type Decide = (key: Key) => KeyChange | undefined

/** Other changes came first, or what it takes is another's. */
export class Overtaken extends Error {}

/** Before a change that was overtaken is decided again. */
export const pauseAfterOthers = (attempt: number): number => Math.min(10 * attempt, 200)

/**
 * An operator's change to an active key: decided on a fresh copy, written with its event only if that copy's version
 * still stands. `decide` returns undefined if there is nothing to do. With `seen`, only that version is changed.
 */
export function changeKey(tables: OperatorTables, what: EventKind) {
  const read = readKeyItem(tables)
  return (keyId: string, act: Act, decide: Decide, seen?: number): Promise<ChangeResult> => {
    return retry(change, {
      when: (error, pauseMs) => error instanceof Overtaken && pauseMs < act.leftMs(),
      pauseMs: pauseAfterOthers,
    })

    async function change(): Promise<ChangeResult> {
      const item = await read(keyId)
      if (!item) return { changed: false, why: 'no_such_key' }
      const key = toKey(item)
      if (key.status === 'revoked') return afterRevoke(key)
      if (seen !== undefined && key.version !== seen) return afterOthers(key)
      const change = decide(key)
      if (!change) return { changed: true, key }
      const changed = changedKey(item, change)
      const event = changeEvent(act, what, { keyId, before: keyFields(key), after: keyFields(changed) })
      const update = { Update: { TableName: tables.keys, ...keyUpdate(key, change) } }
      const made = await makeOnce(tables, keyId, act, [update, ...(change.alsoWrite ?? []), ...putEvent(tables, event)])
      if (made === 'now') return { changed: true, key: changed }
      if (made === 'before') return { changed: true, key: toKey((await read(keyId)) ?? item) }
      if (await isTaken(change.takes)) return { changed: false, why: 'external_id_taken' }
      throw new Overtaken(`The key ${keyId} was changed by others again and again. Try again.`)
    }

    /** A revoke that is sent again finds the key as it left it. */
    async function afterRevoke(key: Key): Promise<ChangeResult> {
      return (await wasDone()) ? { changed: true, key } : { changed: false, why: 'revoked' }
    }

    /** The one who changed it may be this act itself. */
    async function afterOthers(key: Key): Promise<ChangeResult> {
      return (await wasDone()) ? { changed: true, key } : { changed: false, why: 'stale', key }
    }

    /** An act whose answer was lost, and that is sent again. */
    async function wasDone(): Promise<boolean> {
      return (await findEvent(tables)(keyId, act.id)) !== undefined
    }

    async function isTaken(externalId: string | undefined): Promise<boolean> {
      const owner = externalId === undefined ? undefined : await findByExternalId(tables)(externalId)
      return owner !== undefined && owner !== keyId
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
  const removals = remove.length > 0 ? ` REMOVE ${remove.map((_, i) => `#gone${i}`).join(', ')}` : ''
  const names = [...entries.map(([name], i) => [`#set${i}`, name]), ...remove.map((name, i) => [`#gone${i}`, name])]
  return {
    Key: keyItem(key.id),
    ConditionExpression: 'version = :version',
    UpdateExpression: `SET ${assignments.join(', ')}${removals}`,
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ExpressionAttributeValues: {
      ':version': key.version,
      ':nextVersion': key.version + 1,
      ...Object.fromEntries(entries.map(([, value], i) => [`:set${i}`, value])),
    },
  }
}
