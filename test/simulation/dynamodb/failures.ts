import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Item } from './value.ts'

const CONDITION_FAILED = 'The conditional request failed'

export type Reason = {
  readonly Code: 'None' | 'ConditionalCheckFailed' | 'ValidationError'
  readonly Message?: string
  readonly Item?: Record<string, AttributeValue>
}

export function validationError(message: string): DynamoDBServiceException {
  return new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', $metadata: {}, message })
}

export function isValidationError(error: unknown): error is DynamoDBServiceException {
  return error instanceof DynamoDBServiceException && error.name === 'ValidationException'
}

/** What DynamoDB knows and the model does not: a limit of the model, never an answer of the database. */
export function unsupported(what: string): Error {
  return new Error(`The model of DynamoDB does not know ${what}.`)
}

export function noSuchTable(): ResourceNotFoundException {
  return new ResourceNotFoundException({ $metadata: {}, message: 'Cannot do operations on a non-existent table' })
}

export function conditionFailed(item: Item | undefined): ConditionalCheckFailedException {
  const options = { $metadata: {}, message: CONDITION_FAILED }
  return new ConditionalCheckFailedException(item ? { ...options, Item: raw(item) } : options)
}

export function conditionReason(item: Item | undefined): Reason {
  const reason = { Code: 'ConditionalCheckFailed', Message: CONDITION_FAILED } as const
  return item ? { ...reason, Item: raw(item) } : reason
}

export function transactionCanceled(reasons: Reason[]): TransactionCanceledException {
  const codes = reasons.map((reason) => reason.Code).join(', ')
  return new TransactionCanceledException({
    $metadata: {},
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons: reasons,
  })
}

export function tokenReused(): IdempotentParameterMismatchException {
  return new IdempotentParameterMismatchException({
    $metadata: {},
    message: 'The client token was used before, with other parameters',
  })
}

const raw = (item: Item): Record<string, AttributeValue> => marshall(item as Record<string, unknown>)
