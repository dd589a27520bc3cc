import { describe, expect, test } from '@jest/globals'
import { acceptedNumbers } from '../../infra/stages.ts'
import type { GatewayEvent, OpenedRequest } from '../../layers/gateway/flow/request.ts'
import { requireEdge } from '../../layers/gateway/middleware/require-edge.ts'
import { EDGE_HEADERS } from '../../layers/gateway/names.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'

const SECRET = 'aB3'.repeat(16)
const CONNECTION = '198.51.100.7'
const VIEWER = '203.0.113.9'

/** The caller's address, past the gate. */
async function addressOf(event: GatewayEvent, originSecrets: readonly string[]): Promise<string> {
  const opened = { sourceIp: CONNECTION } as OpenedRequest
  await requireEdge(originSecrets)(opened, event)
  return opened.sourceIp
}

const forwarded = (proof?: string, viewer?: string) =>
  ({
    headers: {
      ...(proof !== undefined && { [EDGE_HEADERS.origin]: proof }),
      ...(viewer !== undefined && { [EDGE_HEADERS.viewer]: viewer }),
      'x-forwarded-for': VIEWER,
      'x-real-ip': VIEWER,
      forwarded: `for=${VIEWER}`,
    } as Record<string, string>,
  }) as GatewayEvent

test.each([VIEWER, '2001:db8::9', '2001:DB8:0:0::9', '::ffff:203.0.113.9', '::1'])(
  'a caller’s address is the forwarded %s if the origin secret is right',
  async (viewer) => {
    expect(await addressOf(forwarded(SECRET, viewer), [SECRET])).toBe(viewer)
  },
)

test.each([
  ['is wrong', 'x'.repeat(48)],
  ['is wrong in its last character', `${SECRET.slice(0, -1)}x`],
  ['is wrong in case only', SECRET.toLowerCase()],
  ['is only begun', SECRET.slice(0, 20)],
  ['is sent twice', `${SECRET},${SECRET}`],
  ['is empty', ''],
  ['is missing', undefined],
])('a request is refused with 403 if the origin secret %s, and the refusal quotes nothing of it', async (_, proof) => {
  const refusal = await addressOf(forwarded(proof, VIEWER), [SECRET]).catch((error) => error)
  expect(refusal).toMatchObject({ status: 403, type: 'permission_error', code: 'direct_access_denied' })
  expect(refusal.message).not.toMatch(new RegExp(`${SECRET}|${EDGE_HEADERS.origin}|secret`))
})

test('a request without a proof is refused even if the configured secret is empty', async () => {
  for (const proof of ['', undefined]) await expect(addressOf(forwarded(proof), [''])).rejects.toThrow('public address')
})

test.each([SECRET, '', 'undefined', undefined])(
  'without an origin secret every request passes, with the connection’s own address, also one with the proof %p',
  async (proof) => {
    expect(await addressOf(forwarded(proof, VIEWER), [])).toBe(CONNECTION)
  },
)

test('a caller’s address is the connection’s own if no forwarded address is sent', async () => {
  expect(await addressOf(forwarded(SECRET), [SECRET])).toBe(CONNECTION)
})

test.each([
  ...['', ' ', 'unknown', 'localhost', '203.0.113', '203.0.113.256', '0313.0.0113.9', '0xcb.0.0x71.9', ' 203.0.113.9'],
  ...['203.0.113.9:443', '203.0.113.9, 10.0.0.1', '203.0.113.9,203.0.113.9', '203.0.113.0/24'],
  ...['[2001:db8::9]', 'fe80::1%eth0', '2001:db8::9::1'],
])('a caller’s address is the connection’s own if the forwarded one is %p', async (viewer) => {
  expect(await addressOf(forwarded(SECRET, viewer), [SECRET])).toBe(CONNECTION)
})

describe('rotation', () => {
  const secretOf = (number: number) => `origin-secret-${number}`
  const isTaken = async (cloudFront: number, functions: number) => {
    const gate = requireEdge(acceptedNumbers(functions).map(secretOf))
    const event = forwarded(secretOf(cloudFront), VIEWER)
    const request = { sourceIp: CONNECTION } as OpenedRequest
    return Promise.resolve()
      .then(() => gate(request, event))
      .then(() => request.sourceIp === VIEWER)
      .catch(({ code }) => code !== 'direct_access_denied')
  }
  const ROTATIONS = [1, 2, 3, 10].map((old) => ({ old, next: old + 1 }))

  test.each(ROTATIONS)(
    'while the origin secret $old becomes $next, or is rolled back, no mix of CloudFront and functions refuses a request',
    async ({ old, next }) => {
      for (const cloudFront of [old, next]) {
        for (const functions of [old, next]) expect(await isTaken(cloudFront, functions)).toBe(true)
      }
    },
  )

  test.each(ROTATIONS)('the origin secret $old is worthless after the second rotation', async ({ old }) => {
    expect(await isTaken(old, old + 2)).toBe(false)
  })
})

test('a key with an allowlist works through the edge from its own networks only, and not around it', async () => {
  const gateway = await openFor(catalogFor('http://127.0.0.1:1'), { originSecrets: [SECRET] })
  const { secret } = await gateway.issue({ allowlist: ['203.0.113.0/24', '2001:db8::/32'] })
  const get = async (origin: string, viewer: string) => {
    const edge = { [EDGE_HEADERS.origin]: origin, [EDGE_HEADERS.viewer]: viewer }
    const headers = { Authorization: `Bearer ${secret}`, 'X-Forwarded-For': VIEWER, ...edge }
    const answer = await fetch(`${gateway.baseUrl}/v1/key/introspect`, { headers })
    const { error } = (await answer.json()) as { error?: { code: string } }
    return [answer.status, error?.code]
  }
  for (const viewer of [VIEWER, '2001:db8::9', '::ffff:203.0.113.9'])
    expect(await get(SECRET, viewer)).toEqual([200, undefined])
  expect(await get(SECRET, '203.0.114.9')).toEqual([403, 'ip_not_allowed'])
  expect(await get('guess', VIEWER)).toEqual([403, 'direct_access_denied'])
})

test('a long body whose type the edge has replaced, so that it comes in base64, is read as what it was', async () => {
  const gateway = await openFor(catalogFor((await openUpstream()).url), { originSecrets: [SECRET] })
  const { secret } = await gateway.issue()
  const replaced = { 'Content-Type': 'application/octet-stream', [EDGE_HEADERS.type]: 'application/json' }
  const answer = await gateway.post(secret, HELLO, { [EDGE_HEADERS.origin]: SECRET, ...replaced })
  expect(answer.status).toBe(200)
})
