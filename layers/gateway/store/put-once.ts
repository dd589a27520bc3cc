import type { Database, Item, PutInput } from './database.ts'
import { isConditionFailed } from './failures.ts'

type FirstPut = PutInput & { readonly ConditionExpression: string }

/**
 * Writes an item whose condition says that it is the first. Undefined if it was written, else the item that stands. That
 * one is empty if the condition is about an item that is gone.
 */
export async function putOnce(database: Database, put: FirstPut): Promise<Item | undefined> {
  try {
    await database.put({ ...put, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })
    return undefined
  } catch (error) {
    if (!isConditionFailed(error)) throw error
    return error.Item ?? {}
  }
}
