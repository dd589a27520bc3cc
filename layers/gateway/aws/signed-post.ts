import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { readAwsPlace, readCredentials } from '../config.ts'
import { endpointOf } from './endpoint.ts'
import { signer } from './sign.ts'

type Address = {
  /** As it is signed for, and as its addresses begin. */
  readonly service: string
  /** As the variable AWS_ENDPOINT_URL_… spells the service. */
  readonly variable: string
  readonly path: string
}

export type SignedReply = {
  readonly status: number
  /** The kind of a refusal, such as AccessDeniedException. */
  readonly errorType: string | undefined
  readonly text: string
}

/** POSTs JSON to a service of AWS, over a connection that was kept or a fresh one. Throws an Unreachable. */
export type SignedPost = (body: string, withinMs: number, isFresh: boolean) => Promise<SignedReply>

/** There is no answer. The message has nothing of what was sent. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

const CONTENT_TYPE = 'application/json'
const CONNECT_MS = 1_000
const MOST_REPLY_CHARS = 64 * 1024

/** The environment is read with the first call, its credentials with every one. */
export function openSignedPost({ service, variable, path }: Address): SignedPost {
  let line: ReturnType<typeof openLine> | undefined

  function openLine() {
    const { region, endpoint } = readAwsPlace(variable)
    const url = new URL(path, endpoint ?? endpointOf(service, region))
    const { request, Agent } = url.protocol === 'https:' ? https : http
    const agent = new Agent({ keepAlive: true })
    return { url, request, agent, sign: signer({ service, region, host: url.host, path, contentType: CONTENT_TYPE }) }
  }

  return (body, withinMs, isFresh) => {
    line ??= openLine()
    const { url, request, agent, sign } = line
    const headers = sign({ body, credentials: readCredentials(), nowMs: Date.now() })
    headers.push('Content-Length', String(Buffer.byteLength(body)))
    const call = request(url, { method: 'POST', agent: !isFresh && agent, headers })
    return exchange(call, body, service, withinMs)
  }
}

function exchange(call: http.ClientRequest, body: string, service: string, withinMs: number): Promise<SignedReply> {
  const { promise, resolve, reject } = Promise.withResolvers<SignedReply>()
  const giveUp = (what: string) => call.destroy(new Unreachable(`${service}: ${what}.`))
  const fail = (error: NodeJS.ErrnoException) =>
    reject(error instanceof Unreachable ? error : new Unreachable(`${service}: ${error.code ?? 'broken connection'}.`))
  const timer = setTimeout(() => giveUp(`no answer within ${Math.round(withinMs)} ms`), withinMs)
  call.once('socket', (socket) => watchConnecting(socket, giveUp))
  call.once('error', fail)
  call.once('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > MOST_REPLY_CHARS) giveUp('too long an answer')
    })
    response.once('error', fail)
    response.once('end', () => {
      const errorType = String(response.headers['x-amzn-errortype'] ?? '').match(/^\w+/)?.[0]
      resolve({ status: response.statusCode ?? 0, errorType, text })
    })
  })
  call.end(body)
  return promise.finally(() => clearTimeout(timer))
}

function watchConnecting(socket: Socket, giveUp: (what: string) => void): void {
  if (!socket.connecting) return
  const timer = setTimeout(() => giveUp(`no connection within ${CONNECT_MS} ms`), CONNECT_MS)
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
}
