import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'

export type RawCall = {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer | undefined
}

export type RawAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }

/** Sends exactly this on a connection of its own: any method, path or header, and no header that was not asked for but the body's length. */
export function rawCall(baseUrl: string, { method = 'POST', path, headers, body }: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const framed = body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) }
    const sent = request({
      hostname,
      port,
      method,
      path: path ?? '/v1/chat/completions',
      headers: framed,
      agent: false,
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      text(response).then(
        (answered) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answered }),
        reject,
      )
    })
    sent.end(body)
  })
}
