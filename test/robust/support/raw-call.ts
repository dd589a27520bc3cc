import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'

export type RawCall = {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer | undefined
}

export type RawAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }

/** Sends exactly this on a connection of its own: any method, path or header, and no header that was not asked for but the body's length. */
export async function rawCall(
  baseUrl: string,
  { method = 'POST', path = '/v1/chat/completions', headers, body }: RawCall,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  const framed = body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) }
  const sent = request({ hostname, port, method, path, headers: framed, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}
