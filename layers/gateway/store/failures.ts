import { isUnavailable } from '../aws/failures.ts'
import { retry } from '../retry.ts'
import type { Item } from './database.ts'

export { isUnavailable }

/** A write's condition did not hold. The item is there if the write asked for it. */
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

/** Retries a write that DynamoDB rejected (a conflict with a transaction, or throttling). */
export function retryTurnedAway<T>(write: () => Promise<T>): Promise<T> {
  return retry(write, { when: wasTurnedAway, pauseMs: (attempt) => 20 * attempt, tries: 6 })
}

const TURNED_AWAY = new Set([
  'TransactionConflictException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
])

/** DynamoDB said itself that the write did not happen. */
function wasTurnedAway(error: unknown): boolean {
  return TURNED_AWAY.has(nameOf(error))
}

function nameOf(error: unknown): string {
  return (typeof error === 'object' && (error as Error | null)?.name) || ''
}

/** Nobody was reached. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** Whether a write that failed may have been made: no answer came to it, or one that does not say. */
export function mayHaveHappened(error: unknown): boolean {
  return isUnavailable(error) && !wasTurnedAway(error) && !NEVER_SENT.has((error as NodeJS.ErrnoException).code ?? '')
}
