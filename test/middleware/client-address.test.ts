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

describe('the address that a caller is judged by', () => {
  test.each([VIEWER, '2001:db8::9', '2001:DB8:0:0::9', '::ffff:203.0.113.9', '::1'])(
    'is the forwarded %s where the origin secret is right',
    (viewer) => {
      expect(clientAddress(forwarded(SECRET, viewer), SECRET)).toBe(viewer)
    },
  )

  test.each([
    ['the secret is wrong', forwarded('x'.repeat(48), VIEWER), SECRET],
    ['the secret is wrong in its last character', forwarded(`${SECRET.slice(0, -1)}x`, VIEWER), SECRET],
    ['the secret is wrong in case only', forwarded(SECRET.toLowerCase(), VIEWER), SECRET],
    ['the secret is only begun', forwarded(SECRET.slice(0, 20), VIEWER), SECRET],
    ['the secret is sent twice', forwarded(`${SECRET},${SECRET}`, VIEWER), SECRET],
    ['the secret is empty', forwarded('', VIEWER), SECRET],
    ['the secret is missing', forwarded(undefined, VIEWER), SECRET],
    ['no secret is configured', forwarded(SECRET, VIEWER), undefined],
    ['no secret is configured and none is sent', forwarded('', VIEWER), undefined],
    ['the word undefined is sent and none is configured', forwarded('undefined', VIEWER), undefined],
    ['an empty secret is configured and sent', forwarded('', VIEWER), ''],
    ['no viewer is named', forwarded(SECRET), SECRET],
  ])('is the connection’s own where %s', (_, event, configured) => {
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
  ])('is the connection’s own where the viewer is %p', (viewer) => {
    expect(clientAddress(forwarded(SECRET, viewer), SECRET)).toBe(CONNECTION)
  })
})

describe('the gate that opens a request', () => {
  test.each([
    ['believes a distribution with the right secret', SECRET, VIEWER],
    ['does not believe one with a wrong secret', 'wrong', CONNECTION],
  ])('%s', async (_, proof, expected) => {
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
})

describe('a key that is allowed from one network only', () => {
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

  test.each([VIEWER, '2001:db8::9', '::ffff:203.0.113.9'])('works through the edge from %s', async (viewer) => {
    const { status } = await get({ [EDGE_HEADERS.origin]: SECRET, [EDGE_HEADERS.viewer]: viewer })
    expect(status).toBe(200)
  })

  test.each([
    ['through the edge from another network', { [EDGE_HEADERS.origin]: SECRET, [EDGE_HEADERS.viewer]: '203.0.114.9' }],
    ['around the edge', {}],
    ['around the edge, naming a viewer', { [EDGE_HEADERS.viewer]: VIEWER }],
    ['around the edge, guessing its secret', { [EDGE_HEADERS.origin]: 'guess', [EDGE_HEADERS.viewer]: VIEWER }],
    ['around the edge, claiming to forward', { 'X-Forwarded-For': VIEWER, Forwarded: `for=${VIEWER}` }],
  ])('is refused %s', async (_, headers) => {
    const answer = await get(headers)
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ error: { code: 'ip_not_allowed' } })
  })
})
