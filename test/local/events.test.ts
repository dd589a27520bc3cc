import { request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { findRoute } from '../../layers/gateway/wire/requests/find-route.ts'
import { type LocalEvent, toEvent } from '../../local/events.ts'
import { openServer } from '../support/stack.ts'

let event: LocalEvent
const url = await openServer(async (request, response) => {
  event = toEvent(request, await buffer(request))
  response.end()
})

type Sent = { method?: string; path: string; headers?: Record<string, string | string[]>; body?: string | Buffer }

/** The event that this request becomes, sent for real and byte for byte as it is written here. */
async function eventOf({ method = 'GET', path, headers = {}, body }: Sent): Promise<LocalEvent> {
  await new Promise((resolve, reject) => {
    const request = send(url, { method, path, headers, agent: false })
    request.once('response', (response) => response.resume().once('end', resolve)).once('error', reject)
    request.end(body)
  })
  return event
}

// The examples of AWS's own documentation, of a Function URL and of an HTTP API with payload format 2.0:
// docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
// docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
test('the local Lambda event has what functions read of an event as AWS’s examples have it', async () => {
  const rawQueryString = 'parameter1=value1&parameter1=value2&parameter2=value'
  const headers = { Header1: 'value1', Header2: ['value1', 'value2'], 'Content-Type': 'text/plain' }
  const body = 'Hello from client!'
  const { headers: made, ...rest } = await eventOf({
    method: 'POST',
    path: `/my/path?${rawQueryString}`,
    headers,
    body,
  })
  expect(made).toMatchObject({ header1: 'value1', header2: 'value1,value2' })
  expect(rest).toEqual({
    rawPath: '/my/path',
    rawQueryString,
    body,
    isBase64Encoded: false,
    // Without a port.
    requestContext: { http: { method: 'POST', sourceIp: '127.0.0.1' } },
  })
})

test.each(['', '?', '?a=1', '?a', '?a=%20%26&b=x?y'])(
  'the query %p is in the local Lambda event as it came',
  async (query) => {
    const { rawPath, rawQueryString } = await eventOf({ path: `/v1/models${query}` })
    expect([rawPath, rawQueryString]).toEqual(['/v1/models', query.slice(1)])
  },
)

const bytes = Buffer.from([0xff, 0x00, 0x80])
test.each([
  ['application/json', '{"a":"é"}', { body: '{"a":"é"}', isBase64Encoded: false }],
  ['text/plain; charset=utf-8', 'hé', { body: 'hé', isBase64Encoded: false }],
  ['application/octet-stream', bytes, { body: bytes.toString('base64'), isBase64Encoded: true }],
  ['multipart/form-data; boundary=x', 'x', { body: 'eA==', isBase64Encoded: true }],
])('a body of type %s is text or base64 in the local Lambda event, as at AWS', async (type, body, expected) => {
  expect(await eventOf({ method: 'POST', path: '/', headers: { 'Content-Type': type }, body })).toMatchObject(expected)
})

test('a local Lambda event without a body has no field for it, and names of headers in small letters', async () => {
  const empty = await eventOf({ path: '/', headers: { AUTHORIZATION: 'Bearer x' } })
  expect(empty.headers).toMatchObject({ authorization: 'Bearer x' })
  expect(empty).not.toHaveProperty('body')
  expect(empty.isBase64Encoded).toBe(false)
})

// An HTTP API hands over the path decoded, a Function URL and this server as it came.
test.each([
  ['/v1/models/openai%2Fgpt-4o', '/v1/models/openai/gpt-4o'],
  ['/v1/models/a%3Ab', '/v1/models/a:b'],
])('the gateway finds the same route for %s and for %s', (encoded, decoded) => {
  expect(findRoute('GET', encoded)).toEqual(findRoute('GET', decoded))
})
