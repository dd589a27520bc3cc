import type { Database, Item, PutInput } from './database.ts'
import { isConditionFailed } from './failures.ts'

type FirstPut = PutInput & { readonly ConditionExpression: string }

/** Of an item of the table `keys` that nobody has made yet. */
export function firstPut(TableName: string, Item: Item): FirstPut {
  return { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' }
}

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
