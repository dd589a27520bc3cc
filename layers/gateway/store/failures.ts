import { setTimeout as sleep } from 'node:timers/promises'

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

const CONFLICT_TRIES = 6

/** A plain write that met an operator's transaction on the same item: it did not happen, and the way is soon free. */
export async function acrossConflicts<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      const conflict = error instanceof Error && error.name === 'TransactionConflictException'
      if (!conflict || attempt === CONFLICT_TRIES) throw error
      await sleep(Math.random() * 20 * attempt)
    }
  }
}
