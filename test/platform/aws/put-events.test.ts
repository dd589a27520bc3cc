import type { ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import { openEventBus } from '../../../layers/gateway/platform/aws/put-events.ts'
import { openAwsService } from './support/aws-service.ts'

const say =
  (body: object, status = 200) =>
  (response: ServerResponse) =>
    response.writeHead(status).end(JSON.stringify(body))
const service = await openAwsService('EVENTBRIDGE', say({ FailedEntryCount: 0, Entries: [{ EventId: 'e' }] }))
const put = () => openEventBus('waybill-dev')({ type: 'key.suspended', detail: '{"id":"1"}' })

test('an event goes to its bus, signed for EventBridge, with our own source', async () => {
  await put()
  const [{ headers, body }] = service.heard as [(typeof service.heard)[0]]
  expect(headers).toMatchObject({
    'x-amz-target': 'AWSEvents.PutEvents',
    'content-type': 'application/x-amz-json-1.1',
    authorization: expect.stringMatching(/\/eu-central-1\/events\/aws4_request/),
  })
  expect(JSON.parse(body.toString())).toEqual({
    Entries: [{ EventBusName: 'waybill-dev', Source: 'waybill', DetailType: 'key.suspended', Detail: '{"id":"1"}' }],
  })
})

const SLOW = { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow' }

test.each([
  [{ FailedEntryCount: 1, Entries: [SLOW] }, 'EventBridge did not take the event: ThrottlingException.'],
  [{}, 'did not take the event: no reason'],
])('an event is not taken, though the call was answered with 200, by the answer %j', async (answer, says) => {
  service.answers = [say(answer)]
  await expect(put()).rejects.toThrow(says)
})

test('a call that fails is tried again, and refused rights are told', async () => {
  service.answers = [say({ __type: 'InternalFailure' }, 500)]
  await put()
  expect(service.heard).toHaveLength(2)
  service.answers = [say({ __type: 'AccessDeniedException', message: 'no events:PutEvents' }, 400)]
  await expect(put()).rejects.toThrow(/AccessDenied|PutEvents/)
})
