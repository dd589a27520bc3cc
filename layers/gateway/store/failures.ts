import { retry } from '../retry.ts'

type AwsError = {
  readonly name?: string
  readonly code?: string
  readonly $fault?: 'client' | 'server'
  readonly $retryable?: object
}

const TRANSIENT = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'InternalServerError',
  'TimeoutError',
  'NetworkingError',
])
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** DynamoDB did not answer, or asked us to come back: nothing is known about the request, and it may be repeated. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name = '', code = '', $fault, $retryable }: AwsError = error
  return TRANSIENT.has(name) || NETWORK.has(code) || $fault === 'server' || $retryable != null
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
  return typeof error === 'object' && error !== null && TURNED_AWAY.has((error as AwsError).name ?? '')
}

/** Nobody was reached. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** Whether a write that failed may have been made: no answer came to it, or one that does not say. */
export function mayHaveHappened(error: unknown): boolean {
  return isUnavailable(error) && !wasTurnedAway(error) && !NEVER_SENT.has((error as AwsError).code ?? '')
}
