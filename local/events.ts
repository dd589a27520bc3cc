import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { ENDPOINTS } from '../layers/gateway/endpoints.ts'
import { findRoute } from '../layers/gateway/wire/requests/find-route.ts'
import { MAX_BODY_BYTES, MAX_QUOTE_BYTES } from '../layers/gateway/wire/requests/read-body.ts'

const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml|[\w.+-]+\+(json|xml)))/i

/** The event that a Function URL or an HTTP API makes of this request (payload format 2.0). */
export function toEvent(
  request: IncomingMessage,
  body: Buffer,
  nowMs: number,
  requestId: string,
): APIGatewayProxyEventV2 {
  const { url = '/', method = 'GET' } = request
  // Taken as it came: URL would read the start of `//x/v1/models` as a host, and refuse `//`.
  const queryAt = url.indexOf('?')
  const rawPath = queryAt === -1 ? url : url.slice(0, queryAt)
  const rawQueryString = queryAt === -1 ? '' : url.slice(queryAt + 1)
  const headers = headersOf(request)
  // Text that is not UTF-8 would lose its bytes in a string.
  const isText = TEXT_TYPES.test(headers['content-type'] ?? '') && isUtf8(body)
  const { routeKey, pathParameters } = routeOf(method, rawPath)
  const event: APIGatewayProxyEventV2 = {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    headers,
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: (headers.host ?? '127.0.0.1').replace(/:\d+$/, ''),
      domainPrefix: 'local',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: logTime(nowMs),
      timeEpoch: nowMs,
    },
    isBase64Encoded: body.length > 0 && !isText,
  }
  const cookies = headers.cookie?.split(/; */).filter(Boolean) ?? []
  if (cookies.length > 0) event.cookies = cookies
  if (rawQueryString !== '') event.queryStringParameters = queryOf(rawQueryString)
  if (pathParameters) event.pathParameters = pathParameters
  if (body.length > 0) event.body = body.toString(isText ? 'utf8' : 'base64')
  return event
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

function queryOf(rawQueryString: string): Record<string, string> {
  const query = new URLSearchParams(rawQueryString)
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]))
}

/** An HTTP API's name of the route that it chose. A Function URL, which chat has, knows no routes. */
function routeOf(method: string, path: string): { routeKey: string; pathParameters?: { id: string } } {
  const found = findRoute(method, path)
  if (!('route' in found) || found.route.endpoint.function === 'chat') return { routeKey: '$default' }
  const { route, id } = found
  return { routeKey: `${route.method} ${route.path}`, ...(id !== undefined && { pathParameters: { id } }) }
}

/** The last time that was written: many requests come in one second. */
let lastTime = { second: Number.NaN, text: '' }

/** `12/Mar/2020:19:03:58 +0000` */
function logTime(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second !== lastTime.second) {
    const [, day, month, year, time] = new Date(nowMs).toUTCString().split(' ')
    lastTime = { second, text: `${day}/${month}/${year}:${time} +0000` }
  }
  return lastTime.text
}

/** A quote has a whole body in it. */
const QUOTE = ENDPOINTS.quote.routes[0].path

/** Lambda's limit. */
const LAMBDA_BYTES = 6 * 1024 * 1024

/**
 * A request's body, or enough of it to be refused for its size. A body that declares itself too long is not read:
 * blanks of that length stand for it, so that the function answers, and writes its row, as it would in AWS.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  const most = request.url === QUOTE ? MAX_QUOTE_BYTES : MAX_BODY_BYTES
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

/**
 * Ends the connection of a request whose body was not read to its end, once it is answered. The client may still be
 * sending: if its bytes met a closed connection it would lose the answer, so they are thrown away for a moment.
 */
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
