import { randomUUID } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Act } from '../../domain/keys/act.ts'
import { isUnavailable, ServiceError } from '../../platform/aws/service-error.ts'
import { retry } from '../../platform/retry.ts'
import { firstPut, ifConditionHolds, isOutcomeUnknown } from '../dynamodb/conditional-writes.ts'
import type { Item, UpdateInput } from '../dynamodb/database.ts'
import type { OperatorTables } from './operator-tables.ts'

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** Part of a transaction that must make this item, and fails if there is one already. */
export function putNew(TableName: string, Item: Item): TransactItem {
  return { Put: firstPut(TableName, Item) }
}

const LONGEST_PAUSE_MS = 400

/** The outcome of a write is unknown: its answer was lost, and sending it again told no more. */
export class WriteOutcomeUnknown extends Error {
  override readonly name = 'WriteOutcomeUnknown'
  readonly reason: string

  constructor(cause: unknown) {
    const { name, message } = cause as Error
    const reason = `${name}: ${message}`
    super(`The database did not say whether the change was made (${reason}).`, { cause })
    this.reason = reason
  }
}

/**
 * Makes all of the writes or none, tried until it is answered or the act's time is over. False if a condition failed.
 * Throws a WriteOutcomeUnknown if it may have happened all the same.
 */
export function transact(tables: OperatorTables, items: readonly TransactItem[], act: Act): Promise<boolean> {
  // DynamoDB recognises a write that is sent again by its token, and makes it once.
  const write = { TransactItems: [...items], ClientRequestToken: randomUUID() }
  let lost: WriteOutcomeUnknown | undefined
  return retry(send, {
    when: (error, pauseMs) => maySendAgain(error) && pauseMs < act.leftMs(),
    pauseMs: (attempt) => Math.min(20 * attempt, LONGEST_PAUSE_MS),
  })

  async function send(): Promise<boolean> {
    try {
      await sendOnce(tables, act, new TransactWriteCommand(write))
      return true
    } catch (error) {
      if (codesOf(error).includes('ConditionalCheckFailed')) return false
      if (error instanceof WriteOutcomeUnknown) lost ??= error
      // DynamoDB cancels no write that was made.
      throw error instanceof TransactionCanceledException ? error : (lost ?? error)
    }
  }
}

/** One write of one item, sent once. False if its condition failed. Throws a WriteOutcomeUnknown if it may have happened. */
export function updateOnce(tables: OperatorTables, act: Act, update: UpdateInput): Promise<boolean> {
  return ifConditionHolds(sendOnce(tables, act, new UpdateCommand(update)))
}

async function sendOnce(
  { onceClient }: OperatorTables,
  act: Act,
  command: TransactWriteCommand | UpdateCommand,
): Promise<void> {
  const leftMs = Math.ceil(act.leftMs())
  if (leftMs <= 0) throw new ServiceError('TimeoutError', 'There was no time left to write.', {})
  try {
    await onceClient.send(command as UpdateCommand, { abortSignal: AbortSignal.timeout(leftMs) })
  } catch (error) {
    if (isOutcomeUnknown(error) || (error as Error).name === 'AbortError') throw new WriteOutcomeUnknown(error)
    throw error
  }
}

function maySendAgain(error: unknown): boolean {
  return error instanceof WriteOutcomeUnknown || wasTransactionRejected(error) || isUnavailable(error)
}

/** Others wrote the same items at the same moment, again and again. Nothing was written. */
export function wasTransactionRejected(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'TransactionConflict' || code === 'ThrottlingError')
}

function codesOf(error: unknown): (string | undefined)[] {
  if (!(error instanceof TransactionCanceledException)) return []
  return error.CancellationReasons?.map((reason) => reason.Code) ?? []
}
