import { setTimeout as sleep } from 'node:timers/promises'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { mayHaveHappened } from './failures.ts'
import type { Tables } from './tables.ts'

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

const TRIES = 12

/**
 * All of it or nothing. False if a condition failed; a conflict with other traffic on a busy key is only tried again.
 * Throws an UnansweredWrite where it may have happened all the same.
 */
export async function transact({ client }: Tables, items: readonly TransactItem[]): Promise<boolean> {
  const { write, attempts } = observed(new TransactWriteCommand({ TransactItems: [...items] }))
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(write)
      return true
    } catch (error) {
      // DynamoDB knows a write that is sent again by its token, and cancels none that was made.
      if (!(error instanceof TransactionCanceledException)) throw explained(error, attempts.anyUnanswered)
      const codes = error.CancellationReasons?.map((reason) => reason.Code) ?? []
      if (codes.includes('ConditionalCheckFailed')) return false
      if (!codes.includes('TransactionConflict') || attempt === TRIES) throw error
      await sleep(Math.random() * 20 * attempt)
    }
  }
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
