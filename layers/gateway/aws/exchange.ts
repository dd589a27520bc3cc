import * as http from 'node:http'
import * as https from 'node:https'
import { ServiceError } from './service-error.ts'

/** How long a call waits: for a connection, and for the whole answer. */
export type Patience = { readonly connectMs: number; readonly answerMs: number }

export type Reply = {
  readonly status: number
  readonly text: string
  /** When the service says that it answered; of answers other than 200 only. */
  readonly date: string | undefined
  /** The name of an error, where a service does not say it in its answer; of answers other than 200 only. */
  readonly errorType: string | undefined
}

type Exchange = (headers: readonly string[], body: string, signal?: AbortSignal) => Promise<Reply>

/** More than any answer that we ask for: a page of DynamoDB has a megabyte before it is written as JSON. */
const MOST_BYTES = 16 * 1024 * 1024
const KEPT_CONNECTIONS = { keepAlive: true, maxSockets: 256, maxFreeSockets: 256 }

/** POSTs to one address, over connections that are kept. Whatever breaks on the way is a ServiceError. */
export function openExchange(url: URL, { connectMs, answerMs }: Patience): Exchange {
  const { request: open, Agent } = url.protocol === 'https:' ? https : http
  const agent = new Agent(KEPT_CONNECTIONS)
  const { hostname: host, port, pathname: path } = url
  return (headers, body, signal) =>
    new Promise((resolve, reject) => {
      const request = open({ method: 'POST', path, host, port, agent, headers, signal }, receive)
      let timer = setTimeout(giveUpConnecting, connectMs)
      request.once('error', fail)
      request.end(body)

      function receive(response: http.IncomingMessage): void {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes > MOST_BYTES) response.destroy(new ServiceError('NetworkingError', 'The answer is too long.', {}))
        })
        response.once('error', fail)
        response.once('end', () => {
          clearTimeout(timer)
          const [first = Buffer.of()] = chunks
          const text = (chunks.length > 1 ? Buffer.concat(chunks) : first).toString()
          const status = response.statusCode ?? 0
          // Headers are not even parsed where nobody asks for one.
          const { date, 'x-amzn-errortype': errorType }: http.IncomingHttpHeaders =
            status === 200 ? {} : response.headers
          resolve({ status, text, date, errorType: errorType?.toString() })
        })
      }

      function fail(error: NodeJS.ErrnoException): void {
        clearTimeout(timer)
        if (error instanceof ServiceError) reject(error)
        else reject(signal?.aborted ? timeout(host, 'no answer in the time that was left') : brokenLine(error))
      }

      function giveUpConnecting(): void {
        if (request.socket?.connecting) giveUp(`no connection within ${connectMs} ms`)
        else timer = setTimeout(giveUp, answerMs - connectMs, `no answer within ${answerMs} ms`)
      }

      function giveUp(what: string): void {
        const error = timeout(host, what)
        request.destroy(error)
        // Whatever the request says to that, its time is over.
        fail(error)
      }
    })
}

function timeout(host: string, what: string): ServiceError {
  return new ServiceError('TimeoutError', `${host}: ${what}.`, {})
}

function brokenLine(cause: NodeJS.ErrnoException): ServiceError {
  return new ServiceError('NetworkingError', cause.message, { code: cause.code }, { cause })
}
