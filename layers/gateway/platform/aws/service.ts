import { type Credentials, readAwsEndpoint, readCredentials } from '../config.ts'
import { retry } from '../retry.ts'
import { endpointOf } from './endpoint.ts'
import { type ExchangeOptions, openExchange, type Reply, type Timeouts } from './exchange.ts'
import { isUnavailable } from './failures.ts'
import { ServiceError } from './service-error.ts'
import { signer } from './sign.ts'

type Service = {
  /** The name for signatures, with which the service's addresses begin. */
  readonly name: string
  /** The spelling in the variable AWS_ENDPOINT_URL_…. */
  readonly variable: string
  /** The prefix of operations in X-Amz-Target. */
  readonly target?: string
  /** For a service that names its operation in the path, in place of a target. */
  readonly path?: string
  readonly contentType: string
  readonly timeouts: Timeouts
  /** Replaces AWS's own settings. */
  readonly local?: { readonly endpoint: string; readonly region: string; readonly credentials: Credentials }
}

export type CallOptions = { readonly attempts: number; readonly signal?: AbortSignal }

/** Calls an operation with a body of JSON. Throws a ServiceError. */
export type CallService = (operation: string, body: string, options: CallOptions) => Promise<Answer>
type Answer = Record<string, unknown>

/** A service of AWS that speaks JSON. The environment is read with the first call, its credentials with every one. */
export function openService(service: Service, clock: () => number = Date.now): CallService {
  let line: ReturnType<typeof openLine> | undefined
  /** The milliseconds by which the service's clock is ahead of ours, once it has refused a signature for its time. */
  let aheadMs = 0

  return (operation, body, { attempts, signal }) => {
    if (attempts === 1) return call(operation, body, { signal, isRetry: false })
    const when = (error: unknown) => mayBeSentAgain(error) && !signal?.aborted
    const attempt = (number: number) => call(operation, body, { signal, isRetry: number > 1 })
    return retry(attempt, { when, pauseMs, tries: attempts })
  }

  async function call(operation: string, body: string, options: ExchangeOptions, isSecond = false): Promise<Answer> {
    line ??= openLine(service)
    const credentials = service.local?.credentials ?? readCredentials()
    const headers = line.sign({ target: line.targetOf(operation), body, credentials, nowMs: clock() + aheadMs })
    const reply = await line.exchange(headers, body, options)
    const answer = read(reply)
    if (reply.status === 200) return answer
    const error = errorOf(reply, answer)
    // A call that was refused for its time did not happen, so even one that may be sent only once is sent again.
    if (isSecond || !TIME_ERRORS.has(error.name) || !setClock(reply.date)) throw error
    return call(operation, body, options, true)
  }

  /** False if the clocks agree, and the signature was refused for another reason. */
  function setClock(date = ''): boolean {
    const offMs = Date.parse(date) - (clock() + aheadMs)
    if (!(Math.abs(offMs) >= MOST_SKEW_MS)) return false
    aheadMs += offMs
    return true
  }
}

const TIME_ERRORS = new Set([
  ...['AuthFailure', 'InvalidSignatureException', 'RequestExpired', 'RequestInTheFuture'],
  ...['RequestTimeTooSkewed', 'SignatureDoesNotMatch'],
])
/** AWS accepts signatures of the last five minutes, and the date of an answer has seconds only. */
const MOST_SKEW_MS = 4 * 60_000

/** The callers decide about conflicts. */
function mayBeSentAgain(error: unknown): boolean {
  return isUnavailable(error) && (error as Error).name !== 'TransactionConflictException'
}

function pauseMs(attempt: number): number {
  return 50 * 2 ** attempt
}

function openLine({ name, variable, target, path = '/', contentType, timeouts, local }: Service) {
  const { region, endpoint = endpointOf(name, region) } = local ?? readAwsEndpoint(variable)
  const url = new URL(path, endpoint)
  return {
    sign: signer({ service: name, region, host: url.host, path, contentType }),
    targetOf: (operation: string) => target && `${target}.${operation}`,
    exchange: openExchange(url, timeouts),
  }
}

/** An answer that cannot be read leaves the outcome of the call unknown. */
function read({ status, text }: Reply): Answer {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null) return answer as Answer
  } catch {}
  throw new ServiceError('NetworkingError', `An answer with status ${status} is not JSON.`, {})
}

/** A name comes as `com.amazonaws.dynamodb.v20120810#Name`, as `Name:http://…`, or alone. */
function errorOf({ status, errorType }: Reply, answer: Answer): ServiceError {
  const { __type: type = errorType ?? 'UnknownError', message = answer.Message ?? '' } = answer
  const [name = ''] = /\w+(?=$|:)/.exec(String(type)) ?? []
  return new ServiceError(name, String(message), { isServers: status >= 500, answer })
}
