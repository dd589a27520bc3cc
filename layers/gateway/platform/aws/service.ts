import { type Credentials, readAwsEndpoint, readCredentials } from '../config.ts'
import type { Exchange } from '../http/exchange.ts'
import { type HeaderList, openHttpClient } from '../http/http-client.ts'
import { HttpError } from '../http/http-error.ts'
import { retry } from '../retry.ts'
import { isUnavailable, ServiceError } from './service-error.ts'
import { signer } from './sign.ts'

type Service = {
  /** The name for signatures, with which the service's addresses begin. */
  readonly name: string
  /** The spelling in the variable AWS_ENDPOINT_URL_…. */
  readonly variable: string
  /** The prefix of operations in X-Amz-Target. */
  readonly target?: string
  /** Names the operation, in place of a target. */
  readonly path?: string
  readonly contentType?: string
  /** The longest waits for the connection and for the whole answer. */
  readonly timeouts?: { readonly connectMs: number; readonly answerMs: number }
  /** Replaces AWS's own settings. */
  readonly local?: { readonly endpoint: string; readonly region: string; readonly credentials: Credentials }
}

/** Calls an operation with a body of JSON. Throws a ServiceError. */
export type CallService = (
  operation: string,
  body: string,
  options: { readonly attempts: number; readonly signal?: AbortSignal },
) => Promise<Answer>

type Answer = Record<string, unknown>

type SendOptions = {
  readonly signal: AbortSignal | undefined
  /** On a connection of its own: the kept ones may all have died, as the one before did. */
  readonly isRetry: boolean
}

type Reply = {
  readonly status: number
  readonly text: string
  readonly date: string | undefined
  /** The name of an error, for services that do not put it in the body. */
  readonly errorType: string | undefined
}

/** A service of AWS that speaks JSON. The environment is read with the first call, its credentials with every one. */
export function openService(service: Service, clock: () => number = Date.now): CallService {
  let address: ReturnType<typeof openAddress> | undefined
  /** The milliseconds by which the service's clock is ahead of ours, once it has refused a signature for its time. */
  let aheadMs = 0

  return (operation, body, { attempts, signal }) => {
    if (attempts === 1) return call(operation, body, { signal, isRetry: false })
    const when = (error: unknown) => mayBeSentAgain(error) && !signal?.aborted
    const attempt = (number: number) => call(operation, body, { signal, isRetry: number > 1 })
    return retry(attempt, { when, pauseMs: (tried) => 50 * 2 ** tried, tries: attempts })
  }

  async function call(operation: string, body: string, options: SendOptions, isSecond = false): Promise<Answer> {
    address ??= openAddress(service)
    const target = service.target && `${service.target}.${operation}`
    const credentials = service.local?.credentials ?? readCredentials()
    const headers = address.sign({ target, body, credentials, nowMs: clock() + aheadMs })
    const reply = await address.post(headers, body, options)
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

const USUAL = { contentType: 'application/x-amz-json-1.1', timeouts: { connectMs: 1_000, answerMs: 5_000 } }

function openAddress(service: Service) {
  const { name, variable, path = '/', contentType, timeouts, local } = { ...USUAL, ...service }
  const { region, endpoint = endpointOf(name, region) } = local ?? readAwsEndpoint(variable)
  const url = new URL(path, endpoint)
  const { hostname, pathname } = url
  const { connectMs, answerMs } = timeouts
  const client = openHttpClient(url, connectMs)
  const timeout = (what: string) => new ServiceError('TimeoutError', `${hostname}: ${what}.`, {})
  const outOfTime = () => timeout('no answer in the time that was left')
  return { sign: signer({ service: name, region, host: url.host, path, contentType }), post }

  async function post(headers: HeaderList, body: string, { signal, isRetry }: SendOptions): Promise<Reply> {
    if (signal?.aborted) throw outOfTime()
    const exchange = client.post(pathname, headers, body, isRetry)
    const late = setTimeout(() => exchange.end(timeout(`no answer within ${answerMs} ms`)), answerMs)
    const abort = () => exchange.end(outOfTime())
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const { status, headers: answered } = await exchange.head
      // Most answers are so short that they come with their heads.
      const text = exchange.takeWhole()?.toString() ?? (await readText(exchange))
      return { status, text, date: answered.get('date'), errorType: answered.get('x-amzn-errortype') }
    } catch (error) {
      throw error instanceof HttpError ? brokenOff(hostname, error) : error
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** More than any answer that we ask for: a page of DynamoDB has a megabyte before it is written as JSON. */
const MOST_BYTES = 16 * 1024 * 1024

async function readText(exchange: Exchange): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for (let piece = await exchange.read(); piece; piece = await exchange.read()) {
    bytes += piece.length
    if (bytes > MOST_BYTES) exchange.end(new ServiceError('NetworkingError', 'The answer is too long.', {}))
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function brokenOff(host: string, cause: HttpError): ServiceError {
  if (cause.code === 'CONNECT_TIMEOUT')
    return new ServiceError('TimeoutError', `${host}: ${cause.message}`, {}, { cause })
  return new ServiceError('NetworkingError', cause.message, { code: cause.code }, { cause })
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

/** The domains of services by the beginning of the region's name; amazonaws.com for all others. */
const SUFFIXES = {
  'cn-': 'amazonaws.com.cn',
  'eusc-': 'amazonaws.eu',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
}

export function endpointOf(service: string, region: string): string {
  const [, suffix = 'amazonaws.com'] = Object.entries(SUFFIXES).find(([start]) => region.startsWith(start)) ?? []
  return `https://${service}.${region}.${suffix}`
}
