import { expect, test } from '@jest/globals'
import middy from '@middy/core'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { endpointNamed } from '../../layers/gateway/endpoints.ts'
import type { GatewayAnswer, GatewayEvent } from '../../layers/gateway/flow/request.ts'
import type { GatewayContext } from '../../layers/gateway/middleware/gate.ts'
import { open } from '../../layers/gateway/middleware/open.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'

/** The share of ServerErrors in Requests pages. */
const UNRECORDED = { Problems: 1, Unrecorded: 1, ServerErrors: 1, Requests: 1 }

test.each([
  ['a database outage is a 503 that the log counts as a row would', new Error('ECONNREFUSED'), 503, UNRECORDED],
  ['an internal error is a 500 that the log counts as a row would', new TypeError('oops'), 500, UNRECORDED],
  [
    'an invalid key is a 401 that is counted, and no problem',
    new GatewayError('invalid_api_key', 'no'),
    401,
    { InvalidKeys: 1 },
  ],
  ['any other mistake is nothing in the log', new GatewayError('not_found', 'no'), 404, undefined],
])('before the key is known, %s', async (_, error, status, counted) => {
  const logged: string[] = []
  const gate = open(
    {
      clock: () => 1_000,
      newRequestId: () => 'req_1',
      mostMs: Infinity,
      headerPrefix: 'X-Svc-',
      isUnavailable: (thrown) => thrown instanceof Error && thrown.message === 'ECONNREFUSED',
      wasRejected: () => false,
      log: jsonLog((line) => logged.push(line)),
    },
    endpointNamed('models'),
  )
  const handler = middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({ timeoutEarlyInMillis: 0 })
    .use(gate)
    .handler(async () => {
      throw error
    })
  const event = { headers: {}, requestContext: { http: { sourceIp: '203.0.113.9' } } } as unknown as GatewayEvent
  const context = { getRemainingTimeInMillis: () => 1_000 } as GatewayContext
  const answer = (await handler(event, context)) as GatewayAnswer
  expect(answer.statusCode).toBe(status)
  expect(logged.map((line) => JSON.parse(line))).toEqual(counted ? [expect.objectContaining(counted)] : [])
})
