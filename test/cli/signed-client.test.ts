import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from '@jest/globals'
import { adminClient, byAws, type Signing } from '../../cli/admin-client/http-client.ts'
import type { AdminAnswer } from '../../layers/admin/api/call.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { actAt } from '../support/act.ts'
import { HELLO } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { CALLER, SIGNED_REGION, SIGNER, type SignedAdmin, sendJson } from '../support/signed-admin.ts'
import { stageOfFile } from './support/commands.ts'

/** Asks again for a second. */
const SOON = { callMs: 31_000 }
const SESSION_TOKEN = 'IQoJb3JpZ2luX2VjEXAMPLE//+='

const { gateway, stage } = (await stageOfFile()).opened
const { admin } = stage
afterEach(() => {
  Object.assign(admin, { allows: () => true, instead: undefined, lost: 0, sessionToken: undefined })
})

type Sent = { body?: object; headers?: Record<string, string> }
type Options = Partial<Signing> & Parameters<typeof adminClient>[1] & { url?: string }

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
type Told = AdminAnswer & { text: string; json: any }

async function ask(route: string, { body, headers = {} }: Sent = {}, options: Options = {}): Promise<Told> {
  const { url = admin.url, clock, callMs, ...more } = options
  const [method = '', address = ''] = route.split(' ')
  const { pathname, searchParams } = new URL(`/admin/v1${address}`, 'http://x')
  const signIn = byAws({ credentials: SIGNER, region: SIGNED_REGION, ...more })
  const client = adminClient({ adminUrl: url, signIn }, { ...(clock && { clock }), ...(callMs && { callMs }) })
  admin.asked.length = 0
  const answer = await client({
    method,
    path: pathname,
    query: searchParams,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    body: Buffer.from(body ? JSON.stringify(body) : ''),
  })
  const told = typeof answer.body === 'string' ? answer.body : await text(answer.body)
  return { ...answer, text: told, json: told.startsWith('{') ? JSON.parse(told.split('\n')[0] ?? '') : undefined }
}

const clientOf = (adminUrl: string) =>
  adminClient({ adminUrl, signIn: byAws({ credentials: SIGNER, region: SIGNED_REGION }) })

const requestFor = (method: string, path: string) => {
  return { method, path, query: new URLSearchParams(), headers: {}, body: Buffer.from(method === 'GET' ? '' : '{}') }
}

const messageOf = ({ status, json }: Told) => [status, json.error.code, json.error.message]
const once = (key: string) => ({ 'idempotency-key': key })
const keysNamed = async (name: string) =>
  (await Array.fromAsync(listKeys(gateway.tables)())).filter((key) => key.name === name)

test('a signed call is answered by the deployed function, which names the caller as AWS does', async () => {
  const { status, headers, json } = await ask('GET /whoami')
  expect([status, json.by, json.stage]).toEqual([200, CALLER, 'dev'])
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'X-Request-Id': expect.stringMatching(/^adm_/),
    'Cache-Control': 'no-store',
  })
})

test('a query with any signs is signed as it is sent, and read as it was meant', async () => {
  for (const name of ['a b', 'a+b', "it's (100%)!*~", 'ž/漢?&=#', '']) {
    const asked = await ask(`GET /search?q=${encodeURIComponent(name)}`)
    expect([name, admin.asked[0]?.isSigned]).toEqual([name, true])
    const sent = new URL(`http://x${admin.asked[0]?.url}`).searchParams.get('q')
    expect([asked.status === 403, sent]).toEqual([false, name])
  }
  await ask('GET /events?what=b&what=a')
  expect(admin.asked[0]?.isSigned).toBe(true)
})

test('the token of a session is sent and signed, and credentials that are renewed are used from the next call on', async () => {
  admin.sessionToken = SESSION_TOKEN
  expect((await ask('GET /whoami')).status).toBe(403)
  let calls = 0
  const tokenNow = () => (calls++ === 0 ? 'old' : SESSION_TOKEN)
  const credentials = async () => ({ ...SIGNER, sessionToken: tokenNow(), expiration: new Date(0) })
  const signIn = byAws({ credentials, region: async () => SIGNED_REGION })
  const client = adminClient({ adminUrl: admin.url, signIn })
  const asked = requestFor('GET', '/admin/v1/whoami')
  expect([(await client(asked)).status, (await client(asked)).status]).toEqual([403, 200])
})

test.each([
  ['another secret', { credentials: { ...SIGNER, secretAccessKey: 'wrong' } }],
  ['another key', { credentials: { ...SIGNER, accessKeyId: 'wrong' } }],
  ['another region', { region: 'eu-west-1' }],
])(
  'a signature with %s is refused, and the operator is told of the policy and of expired credentials',
  async (_, options) => {
    const looking = messageOf(await ask('GET /keys', {}, options))
    expect(looking).toEqual([403, 'access_denied', expect.stringMatching(/ReaderPolicy or OperatorPolicy.*expired/)])
    const sent = { body: { name: 'never' }, headers: once('never') }
    const changing = messageOf(await ask('POST /keys', sent, options))
    expect(changing).toEqual([403, 'access_denied', expect.stringMatching(/nothing was done.*output OperatorPolicy\./)])
    expect(admin.asked).toHaveLength(1)
    expect(await keysNamed('never')).toEqual([])
  },
)

test('a clock that is off, and credentials that have expired, are told as what they are', async () => {
  const clock = () => Date.now() - 17 * 60_000
  const denied = (words: RegExp) => [403, 'access_denied', expect.stringMatching(words)]
  expect(messageOf(await ask('GET /whoami', {}, { clock }))).toEqual(denied(/17 minutes off/))
  admin.instead = (_, response) =>
    sendJson(response, 403, { message: 'The security token included in the request is expired' })
  expect(messageOf(await ask('GET /whoami'))).toEqual(denied(/have expired\. Sign in again/))
  const credentials = async () => {
    throw Object.assign(new Error('helper said hunter2'), { name: 'CredentialsProviderError' })
  }
  const none = messageOf(await ask('GET /whoami', {}, { credentials }))
  expect(none).toEqual(denied(/no AWS credentials/))
  expect(String(none)).not.toContain('hunter2')
  expect(admin.asked).toEqual([])
})

test('only what the admin API reads is sent on, and what is no plain text is not sent at all', async () => {
  const JSON_TYPE = 'application/json'
  const kept = { ...once('k'), accept: JSON_TYPE, 'if-match': '"1"', 'content-type': JSON_TYPE }
  const foreign = ['origin', 'x-waybill-console', 'cookie', 'x-amz-security-token', 'x-forwarded-for']
  const replaced = { host: 'evil.example', authorization: 'Bearer x', connection: 'close' }
  const headers = { ...kept, ...replaced, ...Object.fromEntries(foreign.map((name) => [name, 'x'])) }
  await ask('POST /keys', { body: {}, headers })
  const [asked] = admin.asked
  expect(asked?.isSigned).toBe(true)
  const own = { host: new URL(admin.url).host, authorization: expect.stringMatching(/^AWS4-/) }
  expect(asked?.headers).toMatchObject({ ...kept, ...own })
  for (const name of foreign) expect(asked?.headers).not.toHaveProperty(name)
  for (const value of ['é', 'a\r\nx-evil: 1', '\u0000']) {
    const told = messageOf(await ask('POST /keys', { body: {}, headers: once(value) }))
    expect([told, admin.asked]).toEqual([[400, null, expect.stringContaining('ASCII')], []])
  }
})

test.each([
  ...['/', '/admin/v1', '/admin/v1/', '/admin/v1/../keyed/keys', '/admin/v1/keys/..', '/admin/v1//keys'],
  ...['//evil.example/admin/v1/keys', '/admin/v1/keys%2f..', '/admin/v1/keys/%2e%2e', '/admin/v1/keys?x=1'],
  ...['/admin/v1/keys#x', '/admin/v1/keys\\x', '/admin/v1/keys\n', '@evil.example/admin/v1/keys'],
  '/keyed/admin/v1/keys',
])('%j, which leads past the admin API or could be read in two ways, is not signed', async (path) => {
  admin.asked.length = 0
  expect((await clientOf(admin.url)(requestFor('GET', path))).status).toBe(404)
  expect(admin.asked).toEqual([])
})

test('an address without TLS is refused', () => {
  expect(() => clientOf('http://admin.example')).toThrow(/https/)
})

test('refusals of the function come as they are: a stale version with its ETag, a wrong method, a route that is not there', async () => {
  const { key } = await gateway.issue({ name: 'stale' })
  const shown = await ask(`GET /keys/${key.id}`)
  const patched = { body: { rpm: 7 }, headers: { 'if-match': shown.headers.ETag ?? '' } }
  expect((await ask(`PATCH /keys/${key.id}`, patched)).json).toMatchObject({ rpm: 7 })
  const stale = await ask(`PATCH /keys/${key.id}`, patched)
  expect(messageOf(stale)).toEqual([412, 'stale_version', expect.stringContaining(CALLER)])
  expect([shown.headers.ETag, stale.headers.ETag]).toEqual(['"1"', '"2"'])
  expect(await ask('POST /whoami', { body: {} })).toMatchObject({ status: 405, headers: { Allow: 'GET' } })
  expect((await ask('GET /nothing')).json.error.code).toBe('not_found')
  expect(messageOf(await ask('GET /tables'))).toEqual([501, 'not_here', expect.anything()])
  expect(admin.asked).toHaveLength(1)
})

test('an audit in lines and an export as CSV come in pieces, under their own types', async () => {
  const { key, secret } = await gateway.issue({ name: 'pieces' })
  await gateway.post(secret, HELLO)
  const audit = await ask('POST /audits', { body: { key_id: key.id } })
  expect([audit.headers['Content-Type'], typeof audit.body]).toEqual(['application/x-ndjson', 'object'])
  const lines = audit.text.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).object)).toEqual(['audit', 'audit.summary'])
  const csv = await ask(`GET /requests?key_id=${key.id}`, { headers: { accept: 'text/csv' } })
  expect(csv.headers).toMatchObject({
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': expect.stringContaining('requests.csv'),
  })
  expect(csv.text.trimEnd().split('\n')).toHaveLength(2)
})

test('what comes in pieces is handed on before its end, with signs that lie across two pieces', async () => {
  const end = Promise.withResolvers<void>()
  const bytes = Buffer.from('{"a":"漢"}\n')
  admin.instead = async (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).write(bytes.subarray(0, 7))
    await end.promise
    response.end(bytes.subarray(7))
  }
  const { body } = await clientOf(admin.url)(requestFor('POST', '/admin/v1/audits'))
  const pieces: string[] = []
  for await (const piece of body as AsyncIterable<string>) {
    pieces.push(piece)
    end.resolve()
  }
  expect(pieces).toEqual(['{"a":"', '漢"}\n'])
})

describe('after a lost answer', () => {
  test('a key, a rotation and a grant with an Idempotency-Key are asked for again, and done once', async () => {
    admin.lost = 2
    const secret = { secret_sha256: 'ab'.repeat(32), last_four: 'abcd' }
    const made = await ask('POST /keys', { body: { name: 'once', ...secret }, headers: once('once-1') })
    expect([made.status, made.json.replayed, admin.asked.length]).toEqual([201, true, 3])
    expect(await keysNamed('once')).toHaveLength(1)
    const { id } = made.json
    admin.lost = 1
    const granted = await ask(`POST /keys/${id}/grants`, { body: { credits: '5' }, headers: once('once-2') })
    expect(granted.json).toMatchObject({ replayed: true, key: { granted: '5' } })
    expect(await Array.fromAsync(listGrants(gateway.tables)(id))).toHaveLength(1)
    admin.lost = 1
    const rotated = await ask(`POST /keys/${id}/rotate`, { body: {}, headers: once('once-3') })
    expect([rotated.status, rotated.json.replayed]).toEqual([200, true])
  })

  test('what only looks is asked for again while there is time for an answer', async () => {
    admin.lost = 2
    expect((await ask('GET /whoami')).status).toBe(200)
    admin.lost = 99
    const told = messageOf(await ask('GET /whoami', {}, SOON))
    expect(told).toEqual([503, 'service_unavailable', expect.not.stringContaining('change')])
    expect(admin.asked.length).toBeGreaterThan(1)
    expect(admin.asked.length).toBeLessThan(6)
  })

  test('a refusal after an answer that was lost is believed: it was looked at, and not done', async () => {
    const { key } = await gateway.issue({ name: 'leaked' })
    let isFirst = true
    admin.instead = async (_, response) => {
      if (isFirst) await revokeKey(gateway.tables)(key.id, actAt())
      if (isFirst) response.destroy()
      else sendJson(response, 409, { error: { message: 'is revoked', code: 'key_revoked' } })
      isFirst = false
    }
    const told = await ask(`POST /keys/${key.id}/rotate`, { body: {}, headers: once('revoked') })
    expect([told.status, told.json.error.code]).toEqual([409, 'key_revoked'])
  })

  test('a failure after an answer that was lost tells nothing of it: the outcome stays unknown', async () => {
    let times = 0
    admin.instead = (_, response) => {
      times += 1
      if (times === 1) response.destroy()
      else sendJson(response, 503, { error: { message: 'this one was not made', code: 'service_unavailable' } })
    }
    const told = await ask('POST /keys', { body: {}, headers: once('open') }, SOON)
    expect([told.status, told.json.error.code, times > 1]).toEqual([503, 'outcome_unknown', true])
  })

  test.each([
    ['a change without an Idempotency-Key', {}],
    ['a revoke with one, which it does not heed', once('revoke')],
  ])('%s is not sent again, and the operator is told that it may have been made', async (_, headers) => {
    const { key } = await gateway.issue({ name: 'lost' })
    admin.lost = 1
    const told = await ask(`POST /keys/${key.id}/revoke`, { body: { confirm: 'lost' }, headers })
    expect(messageOf(told)).toEqual([503, 'outcome_unknown', expect.stringMatching(/may have been made all the same/)])
    expect(admin.asked).toHaveLength(1)
    expect((await gateway.readKey(key.id)).status).toBe('revoked')
  })

  test.each([429, 500, 503, 504])(
    'API Gateway’s %d is asked again, if it is safe, and told in words in the end',
    async (status) => {
      let times = 0
      admin.instead = (_, response) => {
        times += 1
        sendJson(response, status, { message: 'hidden words' })
      }
      const told = messageOf(await ask('GET /whoami', {}, SOON))
      expect([told[0], times > 1]).toEqual([503, true])
      expect(String(told)).not.toContain('hidden')
      times = 0
      await ask('PATCH /keys/key_1', { body: {} }, SOON)
      expect(times).toBe(1)
    },
  )
})

describe('an address that is not the admin API, or no longer', () => {
  const PAGE = { 'Content-Type': 'text/html' }
  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const PACKED = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
  const LARGE = gzipSync(JSON.stringify({ by: ' '.repeat(20 << 20) }))
  const elsewhere = () => `${admin.url}/admin/v1/elsewhere`
  const leaks = (told: Told) => /test|AWS4-HMAC|Signature=|IQoJ/.test(JSON.stringify([told.headers, told.text]))

  test.each<[string, NonNullable<SignedAdmin['instead']>]>([
    ['a page', ({ headers }, response) => response.writeHead(200, PAGE).end(`<p>${headers.authorization}`)],
    ['no JSON', ({ headers }, response) => response.writeHead(200, JSON_TYPE).end(`{${headers.authorization}`)],
    ['a list in place of words', (_, response) => response.writeHead(418, JSON_TYPE).end('null')],
    ['a redirect', (_, response) => response.writeHead(307, { ...JSON_TYPE, Location: elsewhere() }).end('{}')],
    [
      'a body without end',
      (_, response) => {
        response.setHeader('Content-Type', 'application/json')
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(1 << 20)));
          response.once('drain', more)
        }
        more()
      },
    ],
    ['a small body that unpacks to a large one', (_, response) => response.writeHead(200, PACKED).end(LARGE)],
    [
      'a body that breaks off',
      (_, response) => {
        response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 100 }).write('{')
        setTimeout(() => response.destroy(), 5)
      },
    ],
    ['nothing', (_, response) => response.destroy()],
    ['what is no HTTP', (_, response) => response.socket?.end('hello\r\n\r\n')],
  ])('that answers with %s is a 503 in words, follows nothing and tells no credentials', async (_, instead) => {
    admin.instead = instead
    admin.sessionToken = SESSION_TOKEN
    const credentials = { ...SIGNER, secretAccessKey: 'test', sessionToken: SESSION_TOKEN }
    const told = await ask('POST /keys', { body: {} }, { credentials })
    const words = expect.stringMatching(/no answer of the admin API|did not answer/)
    expect(messageOf(told)).toEqual([503, 'outcome_unknown', words])
    expect(leaks(told)).toBe(false)
    expect(admin.asked.map(({ url }) => url)).toEqual(['/admin/v1/keys'])
  })

  test('that is slow is a 503 when the time is over', async () => {
    admin.instead = () => {}
    const told = messageOf(await ask('POST /keys', { body: {} }, { callMs: 50 }))
    expect(told).toEqual([503, 'outcome_unknown', expect.stringContaining('TimeoutError')])
  })

  test('that is down is a 503 with the reason', async () => {
    const { url, ...closing } = await listen(createServer())
    await closing[Symbol.asyncDispose]()
    const told = messageOf(await ask('GET /keys', {}, { url }))
    expect(told).toEqual([503, 'service_unavailable', expect.stringMatching(/ECONNREFUSED.*Is the gateway running/)])
  })
})
