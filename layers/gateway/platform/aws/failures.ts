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
  'TooManyRequestsException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'InternalServerError',
  'TimeoutError',
  'NetworkingError',
])
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** The service did not answer, or asked us to come back: nothing is known about the request, and it may be repeated. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name = '', code = '', $fault, $retryable }: AwsError = error
  return TRANSIENT.has(name) || NETWORK.has(code) || $fault === 'server' || $retryable != null
}
