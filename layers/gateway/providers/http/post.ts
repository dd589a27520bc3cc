import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { Exchange } from '../../platform/http/exchange.ts'
import { type HttpClient, openHttpClient } from '../../platform/http/http-client.ts'
import { HttpError } from '../../platform/http/http-error.ts'
import type { Headers } from '../../platform/http/response-head.ts'

/** An address, with the connections to its host, and the headers that every request has. */
type Target = { readonly client: HttpClient; readonly path: string; readonly headers: readonly string[] }

type Post = {
  readonly target: Target
  /** Beside those of the target: names and values in turns. */
  readonly headers: readonly string[]
  readonly body: string
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal
}

export type Reply = {
  readonly status: number
  readonly contentType: string
  readonly retryAfterMs: number | undefined
  readonly body: ReplyBody
}

const CONNECT_TIMEOUT_MS = 5_000
/** Half of nginx's default limit; beyond its limit nginx answers 413 and closes, and the answer may be lost. */
const LARGE_CHARS = 512 * 1024
/** All providers at the same origin share its connections. */
const CLIENTS = new Map<string, HttpClient>()

/** If header names differ only in case, the last one counts. */
export function targetOf(url: URL, headers: Readonly<Record<string, string>> = {}): Target {
  const client = CLIENTS.get(url.origin) ?? openHttpClient(url, CONNECT_TIMEOUT_MS)
  CLIENTS.set(url.origin, client)
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { client, path: url.pathname + url.search, headers: [...byName].flat() }
}

/** Redirects are answers like any other: never followed. Throws an UpstreamFailure. */
export async function post(call: Post): Promise<Reply> {
  let isAlone = false
  for (;;) {
    let body: ReplyBody | undefined
    let exchange: Exchange | undefined
    try {
      if (call.signal.aborted) throw call.signal.reason
      const { client, path, headers } = call.target
      exchange = client.post(path, [...headers, ...call.headers], call.body, isAlone)
      body = new ReplyBody(exchange, call)
      const { status, headers: sent } = await exchange.head
      return { status, contentType: sent.get('content-type') ?? '', retryAfterMs: readRetryAfter(sent), body }
    } catch (error) {
      body?.close()
      const isStale = error instanceof HttpError && error.isStale
      if (!isStale || isAlone || call.signal.aborted) throw toFailure(error, brokenBy(call, exchange))
      // If one kept connection is stale, others may be: this call gets a connection of its own.
      isAlone = true
    }
  }
}

/** An upstream that closes during a large request may have a limit on its size, which the caller should learn. */
function brokenBy({ body }: Post, exchange: Exchange | undefined): 'connect' | 'reset' | 'too_large' {
  if (!exchange?.isSent) return 'connect'
  return body.length > LARGE_CHARS ? 'too_large' : 'reset'
}

function readRetryAfter(headers: Headers): number | undefined {
  const header = headers.get('retry-after')
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}

/** Before the first token only the signal ends a silent upstream: it may be reasoning. Throws UpstreamFailure. */
export class ReplyBody {
  readonly #exchange: Exchange
  readonly #idleTimeoutMs: number
  readonly #signal: AbortSignal
  readonly #abort: () => void
  #isTimed = false
  #isWaiting = false
  #idle: NodeJS.Timeout | undefined

  constructor(exchange: Exchange, { idleTimeoutMs, signal }: Pick<Post, 'idleTimeoutMs' | 'signal'>) {
    this.#exchange = exchange
    this.#idleTimeoutMs = idleTimeoutMs
    this.#signal = signal
    // Not assigned inline: V8 keeps such functions, and all that they reach, until a full collection.
    const abort = () => exchange.end(signal.reason)
    this.#abort = abort
    signal.addEventListener('abort', abort, { once: true })
  }

  startIdleClock(): void {
    this.#isTimed = true
  }

  /** The bytes that have arrived since the last read, as soon as there are any; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    // The timer runs only while we wait for the upstream, not while a slow client makes us wait.
    if (this.#isTimed) this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.#giveUp(), this.#idleTimeoutMs)
    this.#isWaiting = true
    try {
      return await this.#exchange.read()
    } catch (error) {
      throw toFailure(error, 'reset')
    } finally {
      this.#isWaiting = false
    }
  }

  /** The whole body, if it has come; undefined if it must be waited for. */
  takeWhole(): Buffer | undefined {
    return this.#exchange.takeWhole()
  }

  /** Ends the connection if the reply is left early, and keeps it for the next call if it was read to its end. */
  close(): void {
    clearTimeout(this.#idle)
    this.#signal.removeEventListener('abort', this.#abort)
    this.#exchange.leave()
  }

  #giveUp(): void {
    if (!this.#isWaiting) return
    this.#exchange.end(new UpstreamFailure('timeout', `The upstream sent nothing for ${this.#idleTimeoutMs} ms.`))
  }
}

function toFailure(error: unknown, reason: 'connect' | 'reset' | 'too_large'): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  const what = reason === 'connect' ? 'The upstream could not be reached' : 'The upstream broke the connection'
  return new UpstreamFailure(reason, `${what} (${code}).`, {}, { cause: error })
}
