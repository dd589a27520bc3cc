import { randomUUID } from 'node:crypto'
import type { Act } from '../../domain/keys/act.ts'
import { isUnavailable, ServiceError } from '../../platform/aws/service-error.ts'
import { retry } from '../../platform/retry.ts'
import { firstPut, ifConditionHolds, isOutcomeUnknown } from './conditional-writes.ts'
import type { Item, Tables, TransactItem, UpdateInput } from './database.ts'

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
export function transact(tables: Tables, items: readonly TransactItem[], act: Act): Promise<boolean> {
  const transaction = { items, token: randomUUID() }
  let lost: WriteOutcomeUnknown | undefined
  return retry(send, {
    when: (error, pauseMs) => maySendAgain(error) && pauseMs < act.leftMs(),
    pauseMs: (attempt) => Math.min(20 * attempt, LONGEST_PAUSE_MS),
  })

  async function send(): Promise<boolean> {
    try {
      await sendOnce(act, (signal) => tables.database.transact(transaction, signal))
      return true
    } catch (error) {
      if (codesOf(error).includes('ConditionalCheckFailed')) return false
      if (error instanceof WriteOutcomeUnknown) lost ??= error
      // DynamoDB cancels no write that was made.
      throw isCanceled(error) ? error : (lost ?? error)
    }
  }
}

/** One write of one item, sent once. False if its condition failed. Throws a WriteOutcomeUnknown if it may have happened. */
export function updateOnce(tables: Tables, act: Act, update: UpdateInput): Promise<boolean> {
  return ifConditionHolds(sendOnce(act, (signal) => tables.database.updateOnce(update, signal)))
}

async function sendOnce(act: Act, send: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const leftMs = Math.ceil(act.leftMs())
  if (leftMs <= 0) throw new ServiceError('TimeoutError', 'There was no time left to write.', {})
  try {
    await send(AbortSignal.timeout(leftMs))
  } catch (error) {
    if (isOutcomeUnknown(error)) throw new WriteOutcomeUnknown(error)
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

function isCanceled(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.name === 'TransactionCanceledException'
}

/** DynamoDB says for each of the writes why it was not made. */
function codesOf(error: unknown): (string | undefined)[] {
  if (!isCanceled(error)) return []
  const { CancellationReasons: reasons = [] } = error.answer as { CancellationReasons?: { Code?: string }[] }
  return reasons.map(({ Code }) => Code)
}
