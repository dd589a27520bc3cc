import type { Act } from '../../domain/act.ts'
import type { AdminKey } from '../../domain/admin-key.ts'
import { adminKeyFields, changeEvent, type EventKind } from '../../domain/change-event.ts'
import { retry } from '../../retry.ts'
import { findEvent, putEvent } from '../events/events.ts'
import { makeOnce } from '../events/make-once.ts'
import { Overtaken, pauseAfterOthers } from '../keys/change-key.ts'
import type { OperatorTables } from '../operator-tables.ts'
import type { TransactItem } from '../transact.ts'
import { adminHashItem, toAdminItem } from './admin-key-item.ts'
import { readAdminKey } from './read-admin-key.ts'

export type AdminKeyResult =
  | { readonly changed: true; readonly key: AdminKey }
  | { readonly changed: false; readonly why: 'no_such_key' | 'revoked' }

type Change = { readonly next: AdminKey; readonly alsoWrite: readonly TransactItem[] }

/** A change to an active admin key: decided on a fresh copy, written with its event only if that copy still stands. */
export function changeAdminKey(tables: OperatorTables, what: EventKind) {
  const read = readAdminKey(tables)
  return (id: string, act: Act, decide: (key: AdminKey) => Change): Promise<AdminKeyResult> => {
    return retry(change, {
      when: (error, pauseMs) => error instanceof Overtaken && pauseMs < act.leftMs(),
      pauseMs: pauseAfterOthers,
    })

    async function change(): Promise<AdminKeyResult> {
      const key = await read(id)
      if (!key) return { changed: false, why: 'no_such_key' }
      // An act whose answer was lost, and that is sent again.
      if (await findEvent(tables)(id, act.id)) return { changed: true, key }
      if (key.status === 'revoked') return { changed: false, why: 'revoked' }
      const { next: decided, alsoWrite } = decide(key)
      const next = { ...decided, version: key.version + 1 }
      const event = changeEvent(act, what, { keyId: id, before: adminKeyFields(key), after: adminKeyFields(next) })
      const put = {
        Put: {
          TableName: tables.keys,
          Item: toAdminItem(next),
          ConditionExpression: 'version = :version',
          ExpressionAttributeValues: { ':version': key.version },
        },
      }
      const items = [put, ...alsoWrite, ...putEvent(tables, event)]
      if (await makeOnce(tables, id, act, items)) return { changed: true, key: next }
      throw new Overtaken(`The admin key ${id} was changed by others again and again. Try again.`)
    }
  }
}

/** For the transaction in which a secret ends. */
export function forgetAdminSecret({ keys }: OperatorTables, hash: string): TransactItem {
  return { Delete: { TableName: keys, Key: adminHashItem(hash) } }
}
