import type { Exchange as HttpExchange } from '../http/exchange.ts'
import { type HeaderList, openHttpClient } from '../http/http-client.ts'
import { HttpError } from '../http/http-error.ts'
import { ServiceError } from './service-error.ts'

/** The timeouts of a call: for the connection, and for the whole answer. */
export type Timeouts = { readonly connectMs: number; readonly answerMs: number }

export type Reply = {
  readonly status: number
  readonly text: string
  /** The Date header of the answer. */
  readonly date: string | undefined
  /** The name of an error, for services that do not put it in the body. */
  readonly errorType: string | undefined
}

type Exchange = (headers: HeaderList, body: string, options: ExchangeOptions) => Promise<Reply>

export type ExchangeOptions = {
  readonly signal?: AbortSignal | undefined
  /** On a connection of its own: the kept ones may all have died, as the one before did. */
  readonly isRetry: boolean
}

/** More than any answer that we ask for: a page of DynamoDB has a megabyte before it is written as JSON. */
const MOST_BYTES = 16 * 1024 * 1024

/** POSTs to one address. Every failure on the way is a ServiceError. */
export function openExchange(url: URL, { connectMs, answerMs }: Timeouts): Exchange {
  const client = openHttpClient(url, connectMs)
  const { hostname, pathname } = url
  return async (headers, body, { signal, isRetry }) => {
    if (signal?.aborted) throw outOfTime()
    const exchange = client.post(pathname, headers, body, isRetry)
    const late = setTimeout(() => exchange.end(timeout(hostname, `no answer within ${answerMs} ms`)), answerMs)
    const abort = () => exchange.end(outOfTime())
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const { status, headers: answered } = await exchange.head
      // Most answers are so short that they come with their heads.
      const text = exchange.takeWhole()?.toString() ?? (await readText(exchange))
      return { status, text, date: answered.get('date'), errorType: answered.get('x-amzn-errortype') }
    } catch (error) {
      throw error instanceof HttpError ? brokenLine(hostname, error) : error
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
    }
  }

  function outOfTime(): ServiceError {
    return timeout(hostname, 'no answer in the time that was left')
  }
}

async function readText(exchange: HttpExchange): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for (let piece = await exchange.read(); piece; piece = await exchange.read()) {
    bytes += piece.length
    if (bytes > MOST_BYTES) exchange.end(new ServiceError('NetworkingError', 'The answer is too long.', {}))
    pieces.push(piece)
  }
  const [first = Buffer.of()] = pieces
  return (pieces.length > 1 ? Buffer.concat(pieces) : first).toString()
}

function timeout(host: string, what: string): ServiceError {
  return new ServiceError('TimeoutError', `${host}: ${what}.`, {})
}

function brokenLine(host: string, cause: HttpError): ServiceError {
  if (cause.code === 'CONNECT_TIMEOUT')
    return new ServiceError('TimeoutError', `${host}: ${cause.message}`, {}, { cause })
  return new ServiceError('NetworkingError', cause.message, { code: cause.code }, { cause })
}
