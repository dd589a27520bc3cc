import type { Act } from '../../domain/act.ts'
import type { Secret } from '../../domain/key.ts'
import { GRACE_MS } from '../../domain/key-settings.ts'
import type { OperatorTables } from '../operator-tables.ts'
import { type ChangeResult, changeKey } from './change-key.ts'
import { PREVIOUS_SECRET } from './end-grace.ts'
import { hashItem } from './key-item.ts'

type RotateKey = (keyId: string, next: Secret, act: Act, graceMs?: number) => Promise<ChangeResult>

/** The current secret becomes the previous one for the grace period, and a previous one ends. Without grace both end. */
export function rotateKey(tables: OperatorTables): RotateKey {
  const { keys } = tables
  const change = changeKey(tables, 'key.rotate')
  return (keyId, next, act, graceMs = GRACE_MS) =>
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
      // Sent again after a later rotation, the next one is in grace. Its item stops the transaction, which may name it
      // once.
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
        // Only uses after the rotation count.
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
