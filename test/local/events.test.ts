import { readFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { findRoute } from '../../layers/gateway/wire/requests/find-route.ts'
import { toEvent } from '../../local/events.ts'
import { openServer } from '../support/stack.ts'

// The examples of AWS's own documentation, of a Function URL and of an HTTP API with payload format 2.0:
// docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
// docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
const documented = (name: string): APIGatewayProxyEventV2 =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}-event.json`, import.meta.url), 'utf8'))
const functionUrl = documented('function-url')
const httpApi = documented('http-api')

const NOW_MS = functionUrl.requestContext.timeEpoch

let event: APIGatewayProxyEventV2
const url = await openServer(async (request, response) => {
  event = toEvent(request, await buffer(request), NOW_MS, 'id')
  response.end()
})

type Sent = { method?: string; path: string; headers?: Record<string, string | string[]>; body?: string | Buffer }

/** The event that this request becomes, sent for real and byte for byte as it is written here. */
async function eventOf({ method = 'GET', path, headers = {}, body }: Sent): Promise<APIGatewayProxyEventV2> {
  await new Promise((resolve, reject) => {
    const request = send(url, { method, path, headers, agent: false })
    request.once('response', (response) => response.resume().once('end', resolve)).once('error', reject)
    request.end(body)
  })
  return event
}

/** The request of the documented examples. */
const documentedRequest = ({ body, rawPath, rawQueryString, cookies, requestContext }: APIGatewayProxyEventV2) =>
  eventOf({
    method: requestContext.http.method,
    path: `${rawPath}?${rawQueryString}`,
    headers: {
      Header1: 'value1',
      Header2: ['value1', 'value2'],
      Cookie: cookies?.join('; ') ?? '',
      'User-Agent': requestContext.http.userAgent,
      'Content-Type': 'text/plain',
    },
    ...(body !== undefined && { body }),
  })

type Members = Record<string, unknown> | undefined
const UNUSED = ['authentication', 'authorizer', 'stageVariables', 'pathParameters']
const THE_SAME = [
  ...['version', 'routeKey', 'rawPath', 'rawQueryString', 'cookies', 'headers.header1', 'headers.header2'],
  ...['queryStringParameters', 'body', 'isBase64Encoded'],
  ...['method', 'path', 'protocol', 'userAgent'].map((name) => `requestContext.http.${name}`),
  ...['requestId', 'routeKey', 'stage', 'timeEpoch'].map((name) => `requestContext.${name}`),
]

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Members)?.[name], value)

test.each([
  ['a Function URL', functionUrl],
  ['an HTTP API', httpApi],
])(
  'the local Lambda event has what AWS’s example of %s has, as it has it, and no other fields, except for features that are not used',
  async (_, example) => {
    const ours = await documentedRequest(example)
    for (const path of THE_SAME) expect([path, at(ours, path)]).toEqual([path, at(example, path)])
    const { time, timeEpoch, http, domainName } = ours.requestContext
    expect(example.requestContext.time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/\d{4}(:\d\d){3} \+0000$/)
    expect({ time, timeEpoch }).toEqual({ time: '04/Mar/2020:19:03:58 +0000', timeEpoch: 1583348638390 })
    // Without ports.
    expect([http.sourceIp, domainName]).toEqual(['127.0.0.1', '127.0.0.1'])
    for (const scope of ['', 'requestContext', 'requestContext.http']) {
      const [here, there] = [ours, example].map((one) => (scope === '' ? one : at(one, scope)) as Members)
      const used = Object.keys(there ?? {}).filter((name) => !UNUSED.includes(name))
      expect(Object.keys(here ?? {})).toEqual(expect.arrayContaining(used))
      for (const name in here) expect([scope, name, typeof here[name]]).toEqual([scope, name, typeof there?.[name]])
    }
  },
)

test.each([
  ['', undefined],
  ['?', undefined],
  ['?a=1', { a: '1' }],
  ['?a=1&b=2&a=3', { a: '1,3', b: '2' }],
  ['?a', { a: '' }],
  ['?a=%20%26&b=x?y', { a: ' &', b: 'x?y' }],
])('the query %p is in the local Lambda event decoded, and raw as it came', async (query, expected) => {
  const { rawQueryString, queryStringParameters, rawPath } = await eventOf({ path: `/v1/models${query}` })
  expect({ rawPath, rawQueryString, queryStringParameters }).toEqual({
    rawPath: '/v1/models',
    rawQueryString: query.slice(1),
    queryStringParameters: expected,
  })
})

const bytes = Buffer.from([0xff, 0x00, 0x80])
test.each([
  ['application/json', '{"a":"é"}', { body: '{"a":"é"}', isBase64Encoded: false }],
  ['text/plain; charset=utf-8', 'hé', { body: 'hé', isBase64Encoded: false }],
  ['application/octet-stream', bytes, { body: bytes.toString('base64'), isBase64Encoded: true }],
  ['multipart/form-data; boundary=x', 'x', { body: 'eA==', isBase64Encoded: true }],
])('a body of type %s is text or base64 in the local Lambda event, as at AWS', async (type, body, expected) => {
  expect(await eventOf({ method: 'POST', path: '/', headers: { 'Content-Type': type }, body })).toMatchObject(expected)
})

test('a local Lambda event without a body or cookies has no field for them, and names of headers in small letters', async () => {
  const empty = await eventOf({ path: '/', headers: { AUTHORIZATION: 'Bearer x' } })
  expect(empty.headers).toMatchObject({ authorization: 'Bearer x' })
  for (const name of ['body', 'cookies']) expect(empty).not.toHaveProperty(name)
  expect(empty.isBase64Encoded).toBe(false)
})

test.each([
  // An HTTP API names the route that it chose, and its parameters decoded.
  ['GET', '/v1/models', 'GET /v1/models', undefined],
  ['GET', '/v1/models/gpt-4o', 'GET /v1/models/{id+}', { id: 'gpt-4o' }],
  ['GET', '/v1/models/openai/gpt-4o', 'GET /v1/models/{id+}', { id: 'openai/gpt-4o' }],
  ['GET', '/v1/models/openai%2Fgpt-4o', 'GET /v1/models/{id+}', { id: 'openai/gpt-4o' }],
  ['GET', '/v1/usage/req_1', 'GET /v1/usage/{id+}', { id: 'req_1' }],
  ['GET', '/v1/key/introspect', 'GET /v1/key/introspect', undefined],
  ['DELETE', '/v1/models', '$default', undefined],
  ['GET', '/elsewhere', '$default', undefined],
  // A Function URL has no routes.
  ['POST', '/v1/chat/completions', '$default', undefined],
])(
  'the local Lambda event for %s %s has the route name that AWS gives it',
  async (method, path, routeKey, pathParameters) => {
    const made = await eventOf({ method, path })
    expect([made.routeKey, made.requestContext.routeKey]).toEqual([routeKey, routeKey])
    expect(made.pathParameters).toEqual(pathParameters)
  },
)

// An HTTP API hands over the path decoded, a Function URL and this server as it came.
test.each([
  ['/v1/models/openai%2Fgpt-4o', '/v1/models/openai/gpt-4o'],
  ['/v1/models/a%3Ab', '/v1/models/a:b'],
])('the gateway finds the same route for %s and for %s', (encoded, decoded) => {
  expect(findRoute('GET', encoded)).toEqual(findRoute('GET', decoded))
})
