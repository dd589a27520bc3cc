import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'

const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml|[\w.+-]+\+(json|xml)))/i

/** The event that a Function URL or an HTTP API makes of this request (payload format 2.0). */
export function toEvent(
  request: IncomingMessage,
  body: Buffer,
  nowMs: number,
  requestId: string,
): APIGatewayProxyEventV2 {
  // As it came: URL would take the start of `//x/v1/models` for a host, and refuse `//`.
  const [rawPath = '/', ...queries] = (request.url ?? '/').split('?')
  const rawQueryString = queries.join('?')
  const headers = headersOf(request)
  // Text that is not UTF-8 would lose its bytes in a string.
  const isText = TEXT_TYPES.test(headers['content-type'] ?? '') && isUtf8(body)
  const query = Object.fromEntries(new URLSearchParams(rawQueryString))
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers,
    ...(rawQueryString !== '' && { queryStringParameters: query }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: headers.host ?? '127.0.0.1',
      domainPrefix: 'local',
      http: {
        method: request.method ?? 'GET',
        path: rawPath,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: '$default',
      stage: '$default',
      time: new Date(nowMs).toUTCString(),
      timeEpoch: nowMs,
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  }
}

/** Names in lower case, repeated headers joined, as AWS does. */
function headersOf(request: IncomingMessage): Record<string, string> {
  const entries = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(',')])
  return Object.fromEntries(entries)
}
