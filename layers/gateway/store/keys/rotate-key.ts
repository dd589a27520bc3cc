import type { Act } from '../../domain/act.ts'
import type { Secret } from '../../domain/key.ts'
import { GRACE_MS } from '../../domain/key-settings.ts'
import { isoTime } from '../../domain/time.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { freeExternalId } from './external-id.ts'
import { hashItem } from './key-item.ts'

const PREVIOUS_SECRET = ['previousHash', 'previousLastFour', 'previousUntilMs', 'previousUsedAtMs']

/**
 * The current secret becomes the previous one for the grace period; one that was in grace already ends now. Without a
 * grace period both are forgotten.
 */
export function rotateKey(tables: OperatorTables) {
  const { keys } = tables
  const change = changeKey(tables, 'key.rotate')
  return (keyId: string, next: Secret, act: Act, graceMs = GRACE_MS): Promise<ChangeResult> =>
    change(keyId, act, ({ current, previous }) => {
      // A rotation whose answer was lost, and that is sent again.
      if (current.hash === next.hash) return undefined
      const newSecret = { currentHash: next.hash, currentLastFour: next.lastFour }
      const isNew = {
        Put: {
          TableName: keys,
          Item: { ...hashItem(next.hash), keyId },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      }
      // Sent again after a later rotation, the next one is in grace. Its item stops the transaction, which may name it once.
      const ended = previous && previous.hash !== next.hash ? [previous] : []
      const forget = ({ hash }: Secret) => ({ Delete: { TableName: keys, Key: hashItem(hash) } })
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
        // Whether anyone uses it from now on is what counts.
        remove: ['previousUsedAtMs'],
        alsoWrite: [
          isNew,
          {
            Update: {
              TableName: keys,
              Key: hashItem(current.hash),
              UpdateExpression: 'SET expiresAt = :expiresAt, keyId = :keyId',
              ExpressionAttributeValues: { ':expiresAt': Math.ceil(untilMs / 1000), ':keyId': keyId },
            },
          },
          ...ended.map(forget),
        ],
      }
    })
}

export function endGrace(tables: OperatorTables) {
  const change = changeKey(tables, 'key.end_grace')
  return (keyId: string, act: Act): Promise<ChangeResult> =>
    change(keyId, act, ({ previous }) =>
      previous
        ? {
            set: {},
            remove: PREVIOUS_SECRET,
            alsoWrite: [{ Delete: { TableName: tables.keys, Key: hashItem(previous.hash) } }],
          }
        : undefined,
    )
}

/** Both secrets are forgotten in the same transaction that ends the key. Its external id is free for the next one. */
export function revokeKey(tables: OperatorTables) {
  const change = changeKey(tables, 'key.revoke')
  return (keyId: string, act: Act): Promise<ChangeResult> =>
    change(keyId, act, ({ current, previous, externalId }) => ({
      set: { status: 'revoked', revokedAt: isoTime(act.atMs) },
      remove: PREVIOUS_SECRET,
      alsoWrite: [
        ...[current, ...(previous ? [previous] : [])].map(({ hash }) => ({
          Delete: { TableName: tables.keys, Key: hashItem(hash) },
        })),
        ...(externalId === undefined ? [] : [freeExternalId(tables, externalId, keyId)]),
      ],
    }))
}
