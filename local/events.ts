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
  const url = new URL(request.url ?? '/', 'http://local')
  const headers = headersOf(request)
  const isText = TEXT_TYPES.test(headers['content-type'] ?? '')
  const query = Object.fromEntries(url.searchParams)
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(url.search.length > 1 && { queryStringParameters: query }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: headers.host ?? '127.0.0.1',
      domainPrefix: 'local',
      http: {
        method: request.method ?? 'GET',
        path: url.pathname,
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
