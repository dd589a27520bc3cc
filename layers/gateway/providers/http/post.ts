import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { ReplyBody, toFailure } from './reply-body.ts'

/** An address in the parts that node:http takes, so that it is taken apart once. */
export type Target = ReturnType<typeof targetOf>

export function targetOf(address: string) {
  const { protocol, hostname, port, path } = urlToHttpOptions(new URL(address))
  return { protocol, hostname, port, path }
}

type Post = {
  readonly target: Target
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly idleTimeoutMs: number
  /** Whether the reply may be silent for any time before its first byte, as a whole answer is. */
  readonly mayBeginLate: boolean
  readonly signal: AbortSignal
}

export type Reply = {
  readonly status: number
  readonly contentType: string
  /** How long the upstream asks to be left alone, if it does. */
  readonly retryAfterMs: number | undefined
  readonly body: ReplyBody
}

const CONNECT_TIMEOUT_MS = 5_000
const KEPT_CONNECTIONS = { keepAlive: true, maxFreeSockets: 64, scheduling: 'lifo' } as const
const AGENTS = { 'http:': new http.Agent(KEPT_CONNECTIONS), 'https:': new https.Agent(KEPT_CONNECTIONS) }

/** Redirects are answers like any other: never followed. */
export async function post(call: Post): Promise<Reply> {
  try {
    return await send(call)
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw toFailure(error, 'connect')
    // If one kept connection is stale, others may be: this call gets a connection of its own.
    return send(call, false)
  }
}

/** A kept connection that the other side had closed already: nothing was received, so the call may be sent again. */
class StaleConnection extends Error {}

function send({ target, headers, body, idleTimeoutMs, mayBeginLate, signal }: Post, kept = true): Promise<Reply> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const secure = target.protocol === 'https:'
    const request = (secure ? https : http).request({
      ...target,
      method: 'POST',
      agent: kept && AGENTS[secure ? 'https:' : 'http:'],
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    })
    let hasAnswered = false
    const abort = () => request.destroy(signal.reason)
    request.once('socket', (socket) => giveUpConnecting(socket, secure))
    signal.addEventListener('abort', abort, { once: true })
    request.once('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', abort)
      const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isStale && !signal.aborted ? new StaleConnection() : toFailure(error, 'connect'))
    })
    // Alone it comes where an upstream switches protocols.
    request.once('close', () => {
      if (!hasAnswered) reject(new UpstreamFailure('reset', 'The upstream closed without an answer.'))
    })
    request.once('response', (response) => {
      hasAnswered = true
      signal.removeEventListener('abort', abort)
      request.on('error', () => {})
      resolve({
        status: response.statusCode ?? 0,
        contentType: response.headers['content-type'] ?? '',
        retryAfterMs: readRetryAfter(response.headers['retry-after']),
        body: new ReplyBody(response, { idleTimeoutMs, mayBeginLate, signal }),
      })
    })
    request.end(body)
  })
}

/** A host that does not even take the connection is given up sooner than one that thinks. */
function giveUpConnecting(socket: Socket, secure: boolean): void {
  if (!socket.connecting) return
  const late = () => socket.destroy(new UpstreamFailure('connect', `No connection within ${CONNECT_TIMEOUT_MS} ms.`))
  const timer = setTimeout(late, CONNECT_TIMEOUT_MS)
  socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(timer))
  socket.once('close', () => clearTimeout(timer))
}

/** Seconds, or a date. */
function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}
