import { beforeEach, expect, test } from '@jest/globals'
import { openApi } from '../documents/support/openapi.ts'
import { rawCall } from '../robust/support/raw-call.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'

const { upstream, gateway } = await openBoth()
beforeEach(() => {
  upstream.reply = say('Hello')
})

const ORIGIN = { Origin: 'https://page.example' }

/** The preflight request of Chromium before openai-node calls from a page. */
const ASKED_FIRST = {
  ...ORIGIN,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers':
    'authorization,content-type,idempotency-key,x-stainless-arch,x-stainless-lang,x-stainless-os,x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,x-stainless-timeout',
}

/** The Fetch standard’s check of a header against `Access-Control-Allow-Headers`, for requests without cookies. */
function mayBeSent(name: string, allowed: string): boolean {
  const names = allowed.split(',').map((one) => one.trim().toLowerCase())
  return names.includes(name) || (names.includes('*') && name !== 'authorization')
}

test.each([
  '/v1/chat/completions',
  '/v1/models',
  '/v1/models/test-model',
  '/v1/key/introspect',
  '/v1/usage/x',
  '/v1/usage',
  '/v1/credits',
  '/v1/no',
])('a browser that asks before it calls %s is answered with 204 without a key, a read or a row', async (path) => {
  const before = [gateway.calls.length, gateway.logLines.length]
  const answer = await rawCall(gateway.baseUrl, { method: 'OPTIONS', path, headers: ASKED_FIRST })
  expect([answer.status, answer.body]).toEqual([204, ''])
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-max-age': expect.stringMatching(/^\d+$/),
    'x-request-id': expect.stringMatching(/^req_/),
  })
  const allowed = answer.headers['access-control-allow-headers'] ?? ''
  const asked = [...ASKED_FIRST['Access-Control-Request-Headers'].split(','), 'x-svc-route', 'openai-organization']
  expect(asked.filter((name) => !mayBeSent(name, allowed))).toEqual([])
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  expect([gateway.calls.length, gateway.logLines.length]).toEqual(before)
})

test('OPTIONS with a valid key spends nothing either', async () => {
  const { key, secret } = await gateway.issue()
  const headers = { ...ASKED_FIRST, Authorization: `Bearer ${secret}` }
  expect((await rawCall(gateway.baseUrl, { method: 'OPTIONS', headers })).status).toBe(204)
  expect((await gateway.readKey(key.id)).counts.dailyLimit).toEqual({})
})

/** A page may read the answer, and every header that is documented. */
function expectReadable(response: Response): void {
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  const exposed = (response.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ')
  const documented = Object.keys(openApi.components.headers).map((name) => name.toLowerCase())
  expect(exposed.toSorted()).toEqual(documented.toSorted())
}

test('a page of any origin may read answers, streams and models, with every header that is documented', async () => {
  const { secret } = await gateway.issue()
  expectReadable(await gateway.post(secret, HELLO, ORIGIN))
  const stream = await gateway.post(secret, { ...HELLO, stream: true }, { Origin: 'null' })
  expectReadable(stream)
  expect(await stream.text()).toContain('[DONE]')
  const headers = { ...ORIGIN, Authorization: `Bearer ${secret}` }
  expectReadable(await fetch(`${gateway.baseUrl}/v1/models`, { headers }))
})

test('a page may read errors, too: without a key, beyond a limit, of an upstream and of the database', async () => {
  const limited = await gateway.issue({ rpm: 1 })
  await gateway.post(limited.secret, HELLO)
  const { secret } = await gateway.issue()
  const away = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNRESET' }))
  const answers: Response[] = [
    await gateway.post('nonsense', HELLO, ORIGIN),
    await gateway.post(limited.secret, HELLO, ORIGIN),
    await gateway.post(secret, 'not json', ORIGIN),
    await fetch(`${gateway.baseUrl}/v1/nope`, { headers: ORIGIN }),
  ]
  upstream.reply = status(500, {})
  answers.push(await gateway.post(secret, HELLO, ORIGIN))
  const restore = intercept(gateway.tables, away)
  answers.push(await gateway.post(secret, HELLO, ORIGIN).finally(restore))
  expect(answers.map((answer) => answer.status)).toEqual([401, 429, 400, 404, 502, 503])
  answers.forEach(expectReadable)
})

test('an answer to a program has no headers for browsers', async () => {
  const { secret } = await gateway.issue()
  const { headers } = await gateway.post(secret, HELLO)
  expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
})
