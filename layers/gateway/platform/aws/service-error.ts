import type { JsonObject } from '../../domain/basics/json-object.ts'

type Detail = {
  /** Node's code for the connection that broke. */
  readonly code?: string | undefined
  /** True if the service reports the fault as its own. */
  readonly isServers?: boolean
  readonly answer?: JsonObject
}

/** A call to a service of AWS failed. The fields have the names that they have in AWS's SDK. */
export class ServiceError extends Error {
  override readonly name: string
  readonly code: string | undefined
  readonly $fault: 'client' | 'server'
  readonly answer: JsonObject

  constructor(name: string, message: string, { code, isServers = false, answer = {} }: Detail, options?: ErrorOptions) {
    super(message, options)
    this.name = name
    this.code = code
    this.$fault = isServers ? 'server' : 'client'
    this.answer = answer
  }
}

const TRANSIENT = new Set([
  ...['ProvisionedThroughputExceededException', 'RequestLimitExceeded', 'ThrottlingException', 'TimeoutError'],
  ...['TransactionConflictException', 'TransactionInProgressException', 'TooManyRequestsException'],
  ...['InternalServerError', 'NetworkingError'],
])
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

/** The service did not answer, or asked us to come back: nothing is known about the request, and it may be repeated. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name, code, $fault, $retryable } = error as JsonObject
  return TRANSIENT.has(String(name)) || NETWORK.has(String(code)) || $fault === 'server' || $retryable != null
}
