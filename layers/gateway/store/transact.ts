import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { retry } from '../retry.ts'
import { mayHaveHappened } from './failures.ts'
import type { OperatorTables } from './operator-tables.ts'

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** Nobody knows whether a write happened: its answer was lost, and sending it again told no more. */
export class UnansweredWrite extends Error {
  override readonly name = 'UnansweredWrite'
  readonly reason: string

  constructor(cause: unknown) {
    const { name, message } = cause as Error
    const reason = `${name}: ${message}`
    super(`The database did not say whether the change was made (${reason}).`, { cause })
    this.reason = reason
  }
}

/**
 * All of it or nothing. False if a condition failed; a conflict with other traffic on a busy key is only tried again.
 * Throws an UnansweredWrite where it may have happened all the same.
 */
export function transact({ client }: OperatorTables, items: readonly TransactItem[]): Promise<boolean> {
  const { write, attempts } = observed(new TransactWriteCommand({ TransactItems: [...items] }))
  return retry(send, {
    when: (error) => codesOf(error).includes('TransactionConflict'),
    pauseMs: (attempt) => 20 * attempt,
    tries: 12,
  })

  async function send(): Promise<boolean> {
    try {
      await client.send(write)
      return true
    } catch (error) {
      if (codesOf(error).includes('ConditionalCheckFailed')) return false
      // DynamoDB knows a write that is sent again by its token, and cancels none that was made.
      throw error instanceof TransactionCanceledException ? error : explained(error, attempts.anyUnanswered)
    }
  }
}

/** Others wrote the same items at the same moment, again and again. Nothing was written. */
export function wasCrowdedOut(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'TransactionConflict' || code === 'ThrottlingError')
}

function codesOf(error: unknown): (string | undefined)[] {
  if (!(error instanceof TransactionCanceledException)) return []
  return error.CancellationReasons?.map((reason) => reason.Code) ?? []
}

/** The SDK tries a few times and tells of the last time only; an earlier one may be the one that landed. */
function observed(write: TransactWriteCommand) {
  const attempts = { anyUnanswered: false }
  write.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        attempts.anyUnanswered ||= mayHaveHappened(error)
        throw error
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'noteUnanswered', override: true },
  )
  return { write, attempts }
}

function explained(error: unknown, anyUnanswered: boolean): unknown {
  return anyUnanswered || mayHaveHappened(error) ? new UnansweredWrite(error) : error
}
