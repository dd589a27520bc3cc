import type { Act } from '../../domain/keys/act.ts'
import { changeEvent, isEmpty, keyFields } from '../../domain/keys/change-event.ts'
import type { EventKind } from '../../domain/keys/event-names.ts'
import type { Key, RotatingKey, Versioned } from '../../domain/keys/key.ts'
import { type Notice, STATUS_NOTICES } from '../../domain/keys/notice.ts'
import { retry } from '../../platform/retry.ts'
import { type Item, itemReader, type Tables, type TransactItem } from '../dynamodb/database.ts'
import { makeOnce, putEvent, wasDone } from '../events/events.ts'
import { noticeSet } from '../notices/notices.ts'
import { KEY_ITEMS, SWEEP_AT_ONCE } from './key-item.ts'
import { bringLanes } from './lanes.ts'
import type { ItemsOf, KeyItems } from './rotating-item.ts'

/** Keys of callers, admin keys and accounts are changed by the same verbs; they differ in their items and in what their events say. */
export type KeyKind<K extends RotatingKey> = KeyItems<K> & Kind<K> & { readonly eventPrefix: 'key' | 'admin_key' }

export type Kind<K extends Versioned> = ItemsOf<K> & {
  readonly name: string
  readonly eventPrefix: 'key' | 'admin_key' | 'account'
  readonly fieldsOf: (key: K) => Readonly<Record<string, unknown>>
  /** Brings a change to the other items of the one that was changed. */
  readonly follow?: (tables: Tables) => (id: string, nowMs: number) => Promise<void>
  /** The notice of a change to this status, if it is told. */
  readonly noticeOf?: (key: K, act: Act) => Notice | undefined
}

export const KEY: KeyKind<Key> = {
  ...KEY_ITEMS,
  name: 'key',
  eventPrefix: 'key',
  fieldsOf: keyFields,
  follow: bringLanes,
  noticeOf: ({ status }, { id }) => (status === 'active' ? undefined : { id, what: STATUS_NOTICES[status], facts: {} }),
}

export type ItemChange = {
  readonly set: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  readonly notice?: Notice | undefined
}

export type KeyChange = ItemChange & {
  readonly alsoWrite?: readonly TransactItem[]
  /** Asked where a condition failed: a reason other than a change by others. */
  readonly whyNot?: () => Promise<'external_id_taken' | 'account_full' | undefined>
}

export type ChangeResult<K = Key> =
  /** Without a difference there is no event. */
  | { readonly changed: true; readonly key: K; readonly isSame?: true | undefined }
  | { readonly changed: false; readonly why: 'no_such_key' | 'revoked' | 'external_id_taken' | 'account_full' }
  /** The key as another operator has left it. */
  | { readonly changed: false; readonly why: 'stale'; readonly key: K }

/** Other changes came first, or another key has the external id. */
export class VersionConflict extends Error {}

export const pauseAfterOthers = (attempt: number): number => Math.min(10 * attempt, 200)

/** Decides and makes a change anew for as long as others come first and the act has time. */
export function againAfterOthers<T>(act: Act, change: () => Promise<T>, tries = Infinity): Promise<T> {
  const when = (error: unknown, pauseMs: number) => error instanceof VersionConflict && pauseMs < act.leftMs()
  return retry(change, { when, pauseMs: pauseAfterOthers, tries })
}

/**
 * An operator's change to an active key: decided on a fresh copy, written with its event only if that copy's version is
 * still current. `decide` returns undefined if there is nothing to do. With `expectedVersion`, only that version is
 * changed.
 */
export function changeKey<K extends Versioned>(tables: Tables, kind: Kind<K>, what: EventKind) {
  const { toKey, fieldsOf, itemOf } = kind
  const read = itemReader(tables.database, tables.keys, itemOf, (item) => item)
  const follow = kind.follow?.(tables)
  return async (
    id: string,
    act: Act,
    decide: (key: K) => KeyChange | undefined,
    expectedVersion?: number,
  ): Promise<ChangeResult<K>> => {
    let triedVersion: number | undefined
    let hasLanes = false
    const result = await againAfterOthers(act, change)
    if (hasLanes && (result.changed || result.why === 'revoked')) await follow?.(id, act.atMs)
    return result

    async function change(): Promise<ChangeResult<K>> {
      let item = await read(id)
      hasLanes = item?.lanesMade !== undefined
      // A deal that an earlier act has begun comes first.
      if (item?.dealing !== undefined) {
        await follow?.(id, act.atMs)
        item = await read(id)
        // Another has begun since: what it begins with would be lost.
        if (item?.dealing !== undefined) throw new VersionConflict(`The ${kind.name} ${id} is dealt out. Try again.`)
      }
      if (!item) return { changed: false, why: 'no_such_key' }
      const key = toKey(item)
      // A revocation that is sent again finds the key as it left it, and another version may be of this act itself.
      if (key.status === 'revoked')
        return (await wasDone(tables, id, act)) ? { changed: true, key } : { changed: false, why: 'revoked' }
      if (expectedVersion !== undefined && key.version !== expectedVersion)
        return (await wasDone(tables, id, act)) ? { changed: true, key } : { changed: false, why: 'stale', key }
      const change = decide(key)
      if (!change) return { changed: true, key, isSame: true }
      const changed = toKey(changedItem(item, change))
      const event = changeEvent(act, what, { keyId: id, before: fieldsOf(key), after: fieldsOf(changed) })
      // If this is cut off before it was brought to the other lanes, the sweep does that.
      hasLanes ||= change.set.lanesMade !== undefined
      const set = hasLanes ? { ...change.set, sweepAt: SWEEP_AT_ONCE } : change.set
      const written = writeOf(key.version, { ...change, set })
      const update = { Update: { TableName: tables.keys, Key: itemOf(id), ...written } }
      const isSame = isEmpty(event)
      const events = isSame ? [] : putEvent(tables, event)
      const made = await makeOnce(tables, id, act, [update, ...(change.alsoWrite ?? []), ...events])
      if (made === 'now') return { changed: true, key: changed, isSame: isSame || undefined }
      if (made === 'before') return { changed: true, key: toKey((await read(id)) ?? item) }
      const why = await change.whyNot?.()
      if (why) return { changed: false, why }
      // Nobody came first, so trying again would tell no more: another change has this id.
      if (key.version === triedVersion)
        throw new Error(`The change ${act.id} of the ${kind.name} ${id} contradicts another.`)
      triedVersion = key.version
      throw new VersionConflict(`The ${kind.name} ${id} was changed by others again and again. Try again.`)
    }
  }
}

/** The item as it was written. It is not read again: a change that was made must not end in a failure to look at it. */
export function changedItem(before: Item, { set, remove = [] }: ItemChange): Item {
  const item: Item = { ...before, ...set, version: (before.version as number) + 1 }
  for (const name of remove) delete item[name]
  return item
}

export function writeOf(version: number, { set, remove = [], notice }: ItemChange) {
  const entries = Object.entries(set)
  const assignments = ['version = :nextVersion', ...entries.map((_, i) => `#set${i} = :set${i}`)]
  const removals = remove.length > 0 ? ` REMOVE ${remove.map((_, i) => `#gone${i}`).join(', ')}` : ''
  const names = [...entries.map(([name], i) => [`#set${i}`, name]), ...remove.map((name, i) => [`#gone${i}`, name])]
  return {
    ConditionExpression: 'version = :version',
    UpdateExpression: `SET ${assignments.join(', ')}${removals}${notice ? ' ADD notices :notices' : ''}`,
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) }),
    ExpressionAttributeValues: {
      ':version': version,
      ':nextVersion': version + 1,
      ...Object.fromEntries(entries.map(([, value], i) => [`:set${i}`, value])),
      ...(notice && { ':notices': noticeSet(notice) }),
    },
  }
}
