import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { openInstance } from '../../functions/instance.ts'
import { BRAND, EDGE_HEADERS, ENDPOINTS } from '../../layers/gateway/contract.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { jsonLog } from '../../layers/gateway/log.ts'
import { clientAddress } from '../../layers/gateway/middleware/client-address.ts'
import type { GatewayAnswer, GatewayContext, GatewayEvent } from '../../layers/gateway/middleware/gate.ts'
import { open } from '../../layers/gateway/middleware/open.ts'
import { createGatewayServer } from '../../local/server.ts'
import { issueKey } from '../../operator/issue-key.ts'
import { openTestTables } from '../support/gateway.ts'

const SECRET = 'aB3'.repeat(16)
const CONNECTION = '198.51.100.7'
const VIEWER = '203.0.113.9'

function eventWith(headers: Record<string, string>): GatewayEvent {
  return { headers, requestContext: { http: { sourceIp: CONNECTION } } } as unknown as GatewayEvent
}

const forwarded = (proof?: string, viewer?: string) =>
  eventWith({
    ...(proof !== undefined && { [EDGE_HEADERS.origin]: proof }),
    ...(viewer !== undefined && { [EDGE_HEADERS.viewer]: viewer }),
    'x-forwarded-for': VIEWER,
    'x-real-ip': VIEWER,
    forwarded: `for=${VIEWER}`,
  })

test.each([VIEWER, '2001:db8::9', '2001:DB8:0:0::9', '::ffff:203.0.113.9', '::1'])(
  'a caller’s address is the forwarded %s if the origin secret is right',
  (viewer) => {
    expect(clientAddress(forwarded(SECRET, viewer), SECRET)).toBe(viewer)
  },
)

test.each([
  ['the origin secret is wrong', forwarded('x'.repeat(48), VIEWER), SECRET],
  ['the origin secret is wrong in its last character', forwarded(`${SECRET.slice(0, -1)}x`, VIEWER), SECRET],
  ['the origin secret is wrong in case only', forwarded(SECRET.toLowerCase(), VIEWER), SECRET],
  ['the origin secret is only begun', forwarded(SECRET.slice(0, 20), VIEWER), SECRET],
  ['the origin secret is sent twice', forwarded(`${SECRET},${SECRET}`, VIEWER), SECRET],
  ['the origin secret is empty', forwarded('', VIEWER), SECRET],
  ['the origin secret is missing', forwarded(undefined, VIEWER), SECRET],
  ['no origin secret is configured', forwarded(SECRET, VIEWER), undefined],
  ['no origin secret is configured and an empty one is sent', forwarded('', VIEWER), undefined],
  ['no origin secret is configured and the word undefined is sent', forwarded('undefined', VIEWER), undefined],
  ['an empty origin secret is configured and sent', forwarded('', VIEWER), ''],
  ['no forwarded address is sent', forwarded(SECRET), SECRET],
])('a caller’s address is the connection’s own if %s', (_, event, configured) => {
  expect(clientAddress(event, configured)).toBe(CONNECTION)
})

test.each([
  '',
  ' ',
  'unknown',
  '203.0.113',
  '203.0.113.256',
  '0313.0.0113.9',
  '0xcb.0.0x71.9',
  '203.0.113.9:443',
  '203.0.113.9, 10.0.0.1',
  '203.0.113.9,203.0.113.9',
  ' 203.0.113.9',
  '203.0.113.0/24',
  '[2001:db8::9]',
  'fe80::1%eth0',
  '2001:db8::9::1',
  'localhost',
])('a caller’s address is the connection’s own if the forwarded one is %p', (viewer) => {
  expect(clientAddress(forwarded(SECRET, viewer), SECRET)).toBe(CONNECTION)
})

test.each([
  ['has the forwarded address if the origin secret is right', SECRET, VIEWER],
  ['has the connection’s own address if the origin secret is wrong', 'wrong', CONNECTION],
])('an opened request %s', async (_, proof, expected) => {
  const gate = open(
    {
      clock: () => 1_000,
      newRequestId: () => 'req_1',
      headerPrefix: BRAND.headerPrefix,
      originSecret: SECRET,
      isUnavailable: () => false,
      log: jsonLog(() => {}),
    },
    ENDPOINTS.models,
  )
  const handler = middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({ timeoutEarlyInMillis: 0 })
    .use(gate)
    .handler(async (_event, { request }) => ({ statusCode: 200, headers: {}, body: request.sourceIp }))
  const context = { getRemainingTimeInMillis: () => 1_000 } as Context as GatewayContext
  const answer = (await handler(forwarded(proof, VIEWER), context)) as GatewayAnswer
  expect(answer.body).toBe(expected)
})

describe('keys with an allowlist', () => {
  const opened = new AsyncDisposableStack()
  let get: (headers: Record<string, string>) => Promise<Response>

  beforeAll(async () => {
    const tables = await openTestTables()
    opened.defer(() => tables.client.destroy())
    const names = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers }
    const config = { ...names, ...BRAND, originSecret: SECRET }
    const server = createGatewayServer(Promise.resolve(openInstance({ config, tables, log: jsonLog(() => {}) })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.defer(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    })
    const settings = { ...KEY_DEFAULTS, name: 'test', allowlist: ['203.0.113.0/24', '2001:db8::/32'] }
    const { secret } = await issueKey(
      tables,
      { settings, credits: 0n, prefix: BRAND.keyPrefix, by: 'test' },
      Date.now(),
    )
    const { port } = server.address() as AddressInfo
    get = (headers) =>
      fetch(`http://127.0.0.1:${port}/v1/key/introspect`, {
        headers: { Authorization: `Bearer ${secret}`, ...headers },
      })
  })
  afterAll(() => opened.disposeAsync())

  test.each([VIEWER, '2001:db8::9', '::ffff:203.0.113.9'])(
    'a key with an allowlist works through the edge from the allowed address %s',
    async (viewer) => {
      const { status } = await get({ [EDGE_HEADERS.origin]: SECRET, [EDGE_HEADERS.viewer]: viewer })
      expect(status).toBe(200)
    },
  )

  test.each([
    [
      'comes from another network through the edge',
      { [EDGE_HEADERS.origin]: SECRET, [EDGE_HEADERS.viewer]: '203.0.114.9' },
    ],
    ['goes around the edge', {}],
    ['goes around the edge with a forwarded address', { [EDGE_HEADERS.viewer]: VIEWER }],
    [
      'goes around the edge with a guessed origin secret',
      { [EDGE_HEADERS.origin]: 'guess', [EDGE_HEADERS.viewer]: VIEWER },
    ],
    ['goes around the edge with X-Forwarded-For', { 'X-Forwarded-For': VIEWER, Forwarded: `for=${VIEWER}` }],
  ])('a key with an allowlist is refused if the request %s', async (_, headers) => {
    const answer = await get(headers)
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ error: { code: 'ip_not_allowed' } })
  })
})
