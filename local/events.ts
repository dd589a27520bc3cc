import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ENDPOINTS } from '../layers/gateway/endpoints.ts'
import { MAX_BODY_BYTES, MAX_QUOTE_BYTES } from '../layers/gateway/wire/requests/read-body.ts'

const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml|[\w.+-]+\+(json|xml)))/i

export type LocalEvent = ReturnType<typeof toEvent>

/** The part that functions read of the event that a Function URL or an HTTP API makes of a request (payload format 2.0). */
export function toEvent(request: IncomingMessage, body: Buffer) {
  const { url = '/', method = 'GET' } = request
  // Taken as it came: URL would read the start of `//x/v1/models` as a host, and refuse `//`.
  const [rawPath = ''] = url.split('?', 1)
  const headers = headersOf(request)
  // Text that is not UTF-8 would lose its bytes in a string.
  const isText = TEXT_TYPES.test(headers['content-type'] ?? '') && isUtf8(body)
  const sourceIp = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  return {
    rawPath,
    rawQueryString: url.slice(rawPath.length + 1),
    headers,
    requestContext: { http: { method, sourceIp } },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  }
}

/** Names in lower case, repeated headers joined, as AWS does. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [(rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string]
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before},${value}`
  }
  return headers
}

const LAMBDA_BYTES = 6 * 1024 * 1024

/** A body that declares itself too long is not read: blanks of its length stand for it, and are refused as in AWS. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  // A quote has a whole body in it.
  const most = request.url === ENDPOINTS.quote.routes[0].path ? MAX_QUOTE_BYTES : MAX_BODY_BYTES
  if (declared > most) return Buffer.alloc(Math.min(declared, LAMBDA_BYTES), ' ')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > LAMBDA_BYTES) break
  }
  return Buffer.concat(chunks)
}

/** The client may still be sending: if its bytes met a closed connection, it would lose the answer. */
export function endUnread(request: IncomingMessage, response: ServerResponse, lingerMs: number): void {
  if (request.complete) return
  const { socket } = request
  // Otherwise Node closes the connection of a client that asked for that as soon as the answer is written.
  response.shouldKeepAlive = true
  request.resume()
  response.once('finish', () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}
