import { setTimeout as sleep } from 'node:timers/promises'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Tables } from './tables.ts'

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const TRIES = 12

/** All of it or nothing. False if a condition failed; a conflict with other traffic on a busy key is only tried again. */
export async function transact({ client }: Tables, items: readonly TransactItem[]): Promise<boolean> {
  const write = new TransactWriteCommand({ TransactItems: [...items] })
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(write)
      return true
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error
      const codes = error.CancellationReasons?.map((reason) => reason.Code) ?? []
      if (codes.includes('ConditionalCheckFailed')) return false
      if (!codes.includes('TransactionConflict') || attempt === TRIES) throw error
      await sleep(Math.random() * 20 * attempt)
    }
  }
}
