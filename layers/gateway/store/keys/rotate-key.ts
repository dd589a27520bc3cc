import { isoTime } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import type { UrgentEvent } from '../../domain/keys/change-event.ts'
import type { RotatingKey, Secret } from '../../domain/keys/key.ts'
import { GRACE_MS } from '../../domain/keys/key-settings.ts'
import type { Tables } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import type { Pointer } from '../events/pending-events.ts'
import { changeAtOnce } from './change-at-once.ts'
import { type ChangeResult, changeKey, KEY, type KeyKind } from './change-key.ts'
import { externalItem } from './key-item.ts'
import { type KeyItems, PREVIOUS_SECRET } from './rotating-item.ts'

/** The current secret becomes the previous one for the grace period, and a previous one ends. Without grace both end. */
export function rotateSecret<K extends RotatingKey>(tables: Tables, kind: KeyKind<K>) {
  const { keys } = tables
  const change = changeKey(tables, kind, `${kind.eventPrefix}.rotate`)
  const forget = ({ hash }: Secret) => ({ Delete: { TableName: keys, Key: kind.secretItemOf(hash) } })
  return (keyId: string, next: Secret, act: Act, graceMs = GRACE_MS): Promise<ChangeResult<K>> =>
    change(keyId, act, ({ current, previous }) => {
      // A rotation whose answer was lost, and that is sent again.
      if (current.hash === next.hash) return undefined
      const newSecret = { currentHash: next.hash, currentLastFour: next.lastFour }
      const isNew = putNew(keys, { ...kind.secretItemOf(next.hash), keyId })
      // Sent again after a later rotation, `next` is in grace. Its item, named once at most, stops the transaction.
      const ended = previous && previous.hash !== next.hash ? [previous] : []
      if (graceMs === 0) {
        return { set: newSecret, remove: PREVIOUS_SECRET, alsoWrite: [isNew, ...[current, ...ended].map(forget)] }
      }
      const untilMs = act.atMs + graceMs
      return {
        set: {
          ...newSecret,
          previousHash: current.hash,
          previousLastFour: current.lastFour,
          previousUntilMs: untilMs,
        },
        // Only uses from now on count.
        remove: ['previousUsedAtMs'],
        alsoWrite: [
          isNew,
          {
            Update: {
              TableName: keys,
              Key: kind.secretItemOf(current.hash),
              UpdateExpression: 'SET expiresAt = :expiresAt, keyId = :keyId',
              ExpressionAttributeValues: { ':expiresAt': expiryOf(untilMs), ':keyId': keyId },
            },
          },
          ...ended.map(forget),
        ],
      }
    })
}

export function rotateKey(tables: Tables) {
  return rotateSecret(tables, KEY)
}

export function endGrace(tables: Tables) {
  const change = changeAtOnce(tables, KEY, 'key.end_grace')
  return (keyId: string, act: Act) =>
    change(keyId, act, ({ previous }) =>
      previous ? { set: {}, remove: PREVIOUS_SECRET, pointers: [inGrace(KEY, previous)] } : undefined,
    )
}

/** Both secrets end with the key, and its external id becomes free for the next one. */
export function revokeKey(tables: Tables) {
  return revoke(tables, KEY, 'key.revoke', ({ externalId }) =>
    externalId === undefined ? [] : [externalItem(externalId)],
  )
}

export function revoke<K extends RotatingKey>(
  tables: Tables,
  kind: KeyKind<K>,
  what: UrgentEvent,
  othersOf: (key: K) => readonly Pointer[] = () => [],
) {
  const change = changeAtOnce(tables, kind, what)
  return (id: string, act: Act): Promise<ChangeResult<K>> =>
    change(id, act, (key) => ({
      set: { status: 'revoked', revokedAt: isoTime(act.atMs) },
      remove: PREVIOUS_SECRET,
      pointers: [
        kind.secretItemOf(key.current.hash),
        ...(key.previous ? [inGrace(kind, key.previous)] : []),
        ...othersOf(key),
      ],
    }))
}

function inGrace<K>({ secretItemOf }: KeyItems<K>, { hash, untilMs }: NonNullable<RotatingKey['previous']>): Pointer {
  return { ...secretItemOf(hash), expiresAt: expiryOf(untilMs) }
}

/** DynamoDB's time to live is in seconds. */
function expiryOf(untilMs: number): number {
  return Math.ceil(untilMs / 1000)
}
