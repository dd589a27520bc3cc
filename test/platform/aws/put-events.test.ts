import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { openEventBus } from '../../../layers/gateway/platform/aws/put-events.ts'

const heard: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
let answers: ((response: ServerResponse) => unknown)[] = []
const server = createServer(async (request, response) => {
  heard.push({ headers: request.headers, body: await text(request) })
  const answer = answers.shift() ?? say({ FailedEntryCount: 0, Entries: [{ EventId: 'e' }] })
  answer(response)
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void server.close())
beforeEach(() => {
  heard.length = 0
  answers = []
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_EVENTBRIDGE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'a-secret',
  })
})

const say =
  (body: object, status = 200) =>
  (response: ServerResponse) =>
    response.writeHead(status).end(JSON.stringify(body))
const put = () => openEventBus('waybill-dev')({ type: 'key.suspended', detail: '{"id":"1"}' })

test('an event goes to its bus, signed for EventBridge, with our own source', async () => {
  await put()
  const [{ headers, body }] = heard as [(typeof heard)[0]]
  expect(headers).toMatchObject({
    'x-amz-target': 'AWSEvents.PutEvents',
    'content-type': 'application/x-amz-json-1.1',
    authorization: expect.stringMatching(/\/eu-central-1\/events\/aws4_request/),
  })
  expect(JSON.parse(body)).toEqual({
    Entries: [{ EventBusName: 'waybill-dev', Source: 'waybill', DetailType: 'key.suspended', Detail: '{"id":"1"}' }],
  })
})

test('an event that was not taken is a failure, though the call was answered with 200', async () => {
  answers = [say({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'ThrottlingException', ErrorMessage: 'slow' }] })]
  await expect(put()).rejects.toThrow('EventBridge did not take the event: ThrottlingException.')
})

test('an answer that says nothing of the event is no success', async () => {
  answers = [say({})]
  await expect(put()).rejects.toThrow('did not take the event: no reason')
})

test('a call that fails is tried again, and refused rights are told', async () => {
  answers = [say({ __type: 'InternalFailure' }, 500)]
  await put()
  expect(heard).toHaveLength(2)
  answers = [say({ __type: 'AccessDeniedException', message: 'no events:PutEvents' }, 400)]
  await expect(put()).rejects.toThrow(/AccessDenied|PutEvents/)
})
