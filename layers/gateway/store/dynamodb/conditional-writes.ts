import { isUnavailable } from '../../platform/aws/service-error.ts'
import { retry } from '../../platform/retry.ts'
import type { Database, Item, PutInput, Tables, UpdateInput } from './database.ts'

/** A write's condition did not hold. The error has the item if the write asked for it. */
export function isConditionFailed(error: unknown): error is Error & { readonly Item?: Item } {
  return nameOf(error) === 'ConditionalCheckFailedException'
}

/** True if the write was made, false if its condition did not hold. */
export async function ifConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (isConditionFailed(error)) return false
    throw error
  }
}

/** Retries a write that met a transaction a few times, and one that was throttled once: more would add to the heat. */
export function retryRejected<T>(write: () => Promise<T>): Promise<T> {
  const pauseMs = (attempt: number) => 20 * attempt
  return retry(() => retry(write, { when: isThrottled, pauseMs, tries: 2 }), { when: isConflict, pauseMs, tries: 6 })
}

/** DynamoDB itself told that the call did not happen: it met a transaction, or its item, table or account has too many. */
export function wasRejected(error: unknown): boolean {
  return isConflict(error) || isThrottled(error)
}

export type KeysUpdate = Omit<UpdateInput, 'TableName' | 'Key'>

/** A write of one item of the table `keys`, which may be sent twice. True if it was made, false if its condition did not hold. */
export function updateIf({ database, keys: TableName }: Tables, Key: Item, write: KeysUpdate) {
  return ifConditionHolds(retryRejected(() => database.update({ TableName, Key, ...write })))
}

const THROTTLED = new Set(['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'ThrottlingException'])
const isThrottled = (error: unknown) => THROTTLED.has(nameOf(error))
const isConflict = (error: unknown) => nameOf(error) === 'TransactionConflictException'

function nameOf(error: unknown): string {
  return (typeof error === 'object' && (error as Error | null)?.name) || ''
}

const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** A write failed without an answer, or with one that does not tell: it may have been made. */
export function isOutcomeUnknown(error: unknown): boolean {
  return isUnavailable(error) && !wasRejected(error) && !NEVER_SENT.has((error as NodeJS.ErrnoException).code ?? '')
}

type FirstPut = PutInput & { readonly ConditionExpression: string }

/** The put of an item that nobody has made yet, which is known by an attribute that every item of its table has. */
export function firstPut(TableName: string, Item: Item, attribute = 'pk'): FirstPut {
  return { TableName, Item, ConditionExpression: `attribute_not_exists(${attribute})` }
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
