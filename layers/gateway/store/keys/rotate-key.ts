import type { Act } from '../../domain/act.ts'
import type { RotatingKey, Secret } from '../../domain/key.ts'
import { GRACE_MS } from '../../domain/key-settings.ts'
import { isoTime } from '../../domain/time.ts'
import type { Pointer } from '../events/pending-events.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { putNew } from '../transact.ts'
import { changeAtOnce } from './change-at-once.ts'
import { type ChangeResult, changeKey, type ItemChange, KEY, type KeyKind } from './change-key.ts'
import { externalItem, hashItem } from './key-item.ts'
import { PREVIOUS_SECRET } from './rotating-item.ts'

/** The current secret becomes the previous one for the grace period, and a previous one ends. Without grace both end. */
export function rotateSecret<K extends RotatingKey>(tables: OperatorTables, kind: KeyKind<K>) {
  const { keys } = tables
  const change = changeKey(tables, kind, `${kind.eventPrefix}.rotate`)
  const forget = ({ hash }: Secret) => ({ Delete: { TableName: keys, Key: kind.secretItemOf(hash) } })
  return (keyId: string, next: Secret, act: Act, graceMs = GRACE_MS): Promise<ChangeResult<K>> =>
    change(keyId, act, ({ current, previous }) => {
      // A rotation whose answer was lost, and that is sent again.
      if (current.hash === next.hash) return undefined
      const newSecret = { currentHash: next.hash, currentLastFour: next.lastFour }
      const isNew = putNew(keys, { ...kind.secretItemOf(next.hash), keyId })
      // Sent again after a later rotation, the next one is in grace. Its item stops the transaction, which may name it
      // once.
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

export function rotateKey(tables: OperatorTables) {
  return rotateSecret(tables, KEY)
}

export function endGrace(tables: OperatorTables) {
  const change = changeAtOnce(tables, 'key.end_grace')
  return (keyId: string, act: Act) =>
    change(keyId, act, ({ previous }) =>
      previous ? { set: {}, remove: PREVIOUS_SECRET, pointers: [inGrace(previous)] } : undefined,
    )
}

/** Both secrets end with the key, and its external id becomes free for the next one. */
export function revokeKey(tables: OperatorTables) {
  const change = changeAtOnce(tables, 'key.revoke')
  return (keyId: string, act: Act) =>
    change(keyId, act, ({ current, previous, externalId }) => ({
      ...revokedAt(act),
      pointers: [
        hashItem(current.hash),
        ...(previous ? [inGrace(previous)] : []),
        ...(externalId === undefined ? [] : [externalItem(externalId)]),
      ],
    }))
}

/** The change of a key, or an admin key, that ends. */
export function revokedAt({ atMs }: Act): ItemChange {
  return { set: { status: 'revoked', revokedAt: isoTime(atMs) }, remove: PREVIOUS_SECRET }
}

function inGrace({ hash, untilMs }: NonNullable<RotatingKey['previous']>): Pointer {
  return { ...hashItem(hash), expiresAt: expiryOf(untilMs) }
}

/** DynamoDB's time to live is in seconds. */
function expiryOf(untilMs: number): number {
  return Math.ceil(untilMs / 1000)
}
