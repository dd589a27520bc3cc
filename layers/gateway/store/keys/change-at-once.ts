import type { Act } from '../../domain/keys/act.ts'
import { type ChangeEvent, changeEvent, isEmpty, type UrgentEvent } from '../../domain/keys/change-event.ts'
import type { RotatingKey } from '../../domain/keys/key.ts'
import { isUnavailable } from '../../platform/aws/service-error.ts'
import { retry, waitAtMost } from '../../platform/retry.ts'
import type { Item, Tables } from '../dynamodb/database.ts'
import { updateOnce, WriteOutcomeUnknown } from '../dynamodb/transact.ts'
import { wasDone } from '../events/events.ts'
import { eventsOn, keepEvent, moveEvents, type Pointer } from '../events/pending-events.ts'
import {
  type ChangeResult,
  changedItem,
  type ItemChange,
  type KeyKind,
  pauseAfterOthers,
  VersionConflict,
  writeOf,
} from './change-key.ts'
import { SWEEP_AT_ONCE } from './key-item.ts'

/** The pointers end with the change, and are deleted after it: admission goes by the key's own item. */
type UrgentChange = ItemChange & { readonly pointers: readonly Pointer[] }

/**
 * An operator's change to a key that must win over any number of requests. It is one plain write of the key's item,
 * because DynamoDB cancels a transaction with an item that others are writing. The event is kept on the item in the
 * same write, and moved afterwards: by this act, by the next one on the key, or by the next sweep.
 */
export function changeAtOnce<K extends RotatingKey>(tables: Tables, kind: KeyKind<K>, what: UrgentEvent) {
  const { toKey, fieldsOf, itemOf } = kind
  const { database, keys: TableName } = tables
  return async (keyId: string, act: Act, decide: (key: K) => UrgentChange | undefined): Promise<ChangeResult<K>> => {
    const Key = itemOf(keyId)
    let made: ChangeEvent | undefined
    let lost: WriteOutcomeUnknown | undefined
    let hasLanes = false
    const result = await retry(change, {
      when: (error, pauseMs) => mayTryAgain(error) && pauseMs < act.leftMs(),
      pauseMs: pauseAfterOthers,
    }).catch((error: unknown) => {
      throw lost ?? error
    })
    if (result.changed || result.why === 'revoked') {
      if (hasLanes) await kind.follow?.(tables)(keyId, act.atMs)
      // The change is made. If its event cannot be moved now, the sweep moves it.
      const moving = moveEvents(tables)(keyId, act.atMs, made).catch(() => {})
      await waitAtMost(moving, act.leftMs())
    }
    return result

    async function change(): Promise<ChangeResult<K>> {
      const { Item: item } = await database.get({ TableName, Key, ConsistentRead: true })
      if (!item) return { changed: false, why: 'no_such_key' }
      hasLanes = item.lanesMade !== undefined
      const key = toKey(item)
      // The item was read first, and an event is put before it leaves the item.
      const isKept = eventsOn(keyId, item).some(({ id }) => id === act.id)
      if (isKept || (await wasDone(tables, keyId, act))) return { changed: true, key }
      if (key.status === 'revoked') return { changed: false, why: 'revoked' }
      const change = decide(key)
      return change ? write(item, key, change) : { changed: true, key, isSame: true }
    }

    async function write(item: Item, before: K, change: UrgentChange): Promise<ChangeResult<K>> {
      const key = toKey(changedItem(item, change))
      const event = changeEvent(act, what, { keyId, before: fieldsOf(before), after: fieldsOf(key) })
      const isSame = isEmpty(event)
      const kept = {
        ...change,
        set: { ...change.set, ...(isSame ? { sweepAt: SWEEP_AT_ONCE } : keepEvent(item, event, change.pointers)) },
        notice: before.status === key.status ? undefined : kind.noticeOf?.(key, act),
      }
      const isMade = await updateOnce(tables, act, { TableName, Key, ...writeOf(before.version, kept) }).catch(noteLost)
      if (isMade) {
        made = isSame ? undefined : event
        return { changed: true, key, isSame: isSame || undefined }
      }
      throw new VersionConflict(`The ${kind.name} ${keyId} was changed by others again and again. Try again.`)
    }

    function noteLost(error: unknown): never {
      if (error instanceof WriteOutcomeUnknown) lost = error
      throw error
    }
  }
}

function mayTryAgain(error: unknown): boolean {
  return error instanceof VersionConflict || error instanceof WriteOutcomeUnknown || isUnavailable(error)
}
