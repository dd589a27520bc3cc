import type { Exchange } from '../../platform/http/exchange.ts'
import { type HttpClient, openHttpClient } from '../../platform/http/http-client.ts'
import { HttpError } from '../../platform/http/http-error.ts'
import type { Head, Headers } from '../../platform/http/response-head.ts'
import { ReplyBody, toFailure } from './reply-body.ts'

/** An address, with the connections to its host, and the headers that every request has. */
export type Target = { readonly client: HttpClient; readonly path: string; readonly headers: readonly string[] }

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
  /** The time of the upstream's Retry-After, if it sent one. */
  readonly retryAfterMs: number | undefined
  readonly body: ReplyBody
}

const CONNECT_TIMEOUT_MS = 5_000
/** Half of nginx's default limit; beyond its limit nginx answers 413 and closes, and the answer may be lost. */
const LARGE_CHARS = 512 * 1024
/** By origin: all providers at the same host share its connections. */
const CLIENTS = new Map<string, HttpClient>()

/** If header names differ only in case, the last one counts. */
export function targetOf(address: string, headers: Readonly<Record<string, string>> = {}): Target {
  const url = new URL(address)
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
      return replyOf(await exchange.head, body)
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

function replyOf({ status, headers }: Head, body: ReplyBody): Reply {
  return { status, contentType: headers.get('content-type') ?? '', retryAfterMs: readRetryAfter(headers), body }
}

/** Seconds, or a date. */
function readRetryAfter(headers: Headers): number | undefined {
  const header = headers.get('retry-after')
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}
