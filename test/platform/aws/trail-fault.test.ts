import type { ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import { createClose } from '../../../functions/close/create.ts'
import { openTrail } from '../../../layers/gateway/platform/aws/trail-fault.ts'
import { openBoth } from '../../support/stack.ts'
import { openAwsService } from './support/aws-service.ts'

const say =
  (body: object, status = 200) =>
  (response: ServerResponse) =>
    response.writeHead(status).end(JSON.stringify(body))
const service = await openAwsService('CLOUDTRAIL', say({ IsLogging: true }))
const ARN = 'arn:aws:cloudtrail:eu-central-1:123456789012:trail/Waybill-prod-keys'
const { gateway } = await openBoth()

test.each([
  ['records', say({ IsLogging: true, LatestDeliveryError: '' }), undefined],
  ['is stopped', say({ IsLogging: false }), 'It is stopped.'],
  ['cannot write its files', say({ IsLogging: true, LatestDeliveryError: 'AccessDenied' }), 'cannot be written: Acc'],
  ['is gone', say({ __type: 'TrailNotFoundException', message: 'Unknown trail' }, 400), 'TrailNotFoundException: Unkn'],
  ['may not be asked about', say({ __type: 'AccessDeniedException' }, 400), 'AccessDeniedException'],
])('a trail that %s is told in the line and the metric of the next run that closes days', async (_, answer, fault) => {
  service.answers = [answer]
  await createClose(gateway.instance, { trailFault: openTrail(ARN) })()
  const line = gateway.logged().at(-1)
  expect([line?.TrailStopped, line?.trailFault]).toEqual(
    fault ? [1, expect.stringContaining(fault)] : [undefined, undefined],
  )
  const { headers, body } = service.heard.at(-1) as (typeof service.heard)[0]
  expect(headers).toMatchObject({
    'x-amz-target': 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.GetTrailStatus',
    authorization: expect.stringMatching(/\/eu-central-1\/cloudtrail\/aws4_request/),
  })
  expect(JSON.parse(body.toString())).toEqual({ Name: ARN })
})
