import { DynamoDbError } from './failures.ts'
import type { Item } from './value.ts'

export type Reason = {
  readonly Code:
    | 'None'
    | 'ConditionalCheckFailed'
    | 'ValidationError'
    | 'TransactionConflict'
    | 'ProvisionedThroughputExceeded'
  readonly Message?: string
  readonly Item?: Item
}

export const CONFLICT: Reason = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }

export function conditionFailed(item: Item | undefined): Reason {
  return { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', ...(item && { Item: item }) }
}

/** A write that is no part of a transaction is refused with an error of its reason's name. */
export function refusedFor({ Code, Message = '', Item: item }: Reason): DynamoDbError {
  return new DynamoDbError(`${Code}Exception`, Message, { Item: item })
}

export function transactionCanceled(reasons: readonly Reason[]): DynamoDbError {
  const codes = reasons.map((reason) => reason.Code).join(', ')
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`
  return new DynamoDbError('TransactionCanceledException', message, { CancellationReasons: reasons })
}
