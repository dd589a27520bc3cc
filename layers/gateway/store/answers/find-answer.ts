import type { KeptAnswer } from '../../domain/idempotency.ts'
import type { Tables } from '../tables.ts'

/** Reads the answer or claim of an Idempotency-Key, without claiming it. */
type FindAnswer = (id: string, nowMs: number) => Promise<KeptAnswer | undefined>

export function findAnswer({ database, answers }: Tables): FindAnswer {
  return async (id, nowMs) => {
    const { Item } = await database.get({ TableName: answers, Key: { id }, ConsistentRead: true })
    const isOver = (Item?.expiresAt as number) <= Math.floor(nowMs / 1000)
    return isOver ? undefined : (Item as KeptAnswer | undefined)
  }
}
