import type { Item } from './value.ts'

export type Reason = {
  readonly Code: 'None' | 'ConditionalCheckFailed' | 'ValidationError' | 'TransactionConflict'
  readonly Message?: string
  readonly Item?: Item
}

type Detail = { readonly Item?: Item | undefined; readonly CancellationReasons?: readonly Reason[] }

/** A refusal with DynamoDB's own message. */
export class DynamoDbError extends Error {
  override readonly name: string
  readonly detail: Detail

  constructor(name: string, message: string, detail: Detail = {}) {
    super(message)
    this.name = name
    this.detail = detail
  }
}

/** The file did not take a change. No command may be answered after it. */
export class StorageFailure extends Error {}

const CONDITION_FAILED = 'The conditional request failed'

export function validationError(message: string): DynamoDbError {
  return new DynamoDbError('ValidationException', message)
}

/** A feature of DynamoDB that this database does not have. */
export function unsupported(feature: string): DynamoDbError {
  return validationError(
    `The local database does not support ${feature}. Amazon's does, which a clone has: start it with --dynamodb-local`,
  )
}

export function noSuchTable(): DynamoDbError {
  return new DynamoDbError('ResourceNotFoundException', 'Cannot do operations on a non-existent table')
}

export function tableInUse(name: string): DynamoDbError {
  return new DynamoDbError('ResourceInUseException', `Table already exists: ${name}`)
}

export function conditionFailed(item: Item | undefined): DynamoDbError {
  return new DynamoDbError('ConditionalCheckFailedException', CONDITION_FAILED, { Item: item })
}

export function conditionReason(item: Item | undefined): Reason {
  const reason = { Code: 'ConditionalCheckFailed', Message: CONDITION_FAILED } as const
  return item ? { ...reason, Item: item } : reason
}

export const CONFLICT: Reason = {
  Code: 'TransactionConflict',
  Message: 'Transaction is ongoing for the item',
}

export function transactionConflict(): DynamoDbError {
  return new DynamoDbError('TransactionConflictException', 'Transaction is ongoing for the item')
}

export function transactionCanceled(reasons: readonly Reason[]): DynamoDbError {
  const codes = reasons.map((reason) => reason.Code).join(', ')
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`
  return new DynamoDbError('TransactionCanceledException', message, { CancellationReasons: reasons })
}

export function tokenReused(): DynamoDbError {
  return new DynamoDbError(
    'IdempotentParameterMismatchException',
    'The client token was used before, with other parameters',
  )
}
