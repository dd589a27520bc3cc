import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { EDGE_HEADERS } from '../../../layers/gateway/names.ts'
import { ORIGIN_SECRET } from './account.ts'

export type Call = {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'OPTIONS'
  readonly path: string
  /** Without its question mark. */
  readonly query?: string
  readonly secret?: string
  readonly sourceIp?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Goes around CloudFront, so that its proof is missing. */
  readonly direct?: boolean
  readonly body?: unknown
}

/** The event that an HTTP API and a Function URL make of a call through CloudFront: payload format 2.0. */
export function httpEvent(call: Call): APIGatewayProxyEventV2 {
  const { method = 'GET', path, query = '', secret, sourceIp = '203.0.113.7', headers = {}, direct, body } = call
  const routeKey = `${method} ${path}`
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      host: 'abc123.execute-api.us-east-1.amazonaws.com',
      'user-agent': 'test/1.0',
      'x-amzn-trace-id': 'Root=1-67890abc-0123456789abcdef01234567',
      'x-forwarded-for': sourceIp,
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(!direct && { [EDGE_HEADERS.origin]: ORIGIN_SECRET }),
      ...headers,
    },
    requestContext: {
      accountId: '123456789012',
      apiId: 'abc123',
      domainName: 'abc123.execute-api.us-east-1.amazonaws.com',
      domainPrefix: 'abc123',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: 'test/1.0' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey,
      stage: '$default',
      time: '15/Nov/2026:12:00:00 +0000',
      timeEpoch: 1794744000000,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    isBase64Encoded: false,
  }
}
