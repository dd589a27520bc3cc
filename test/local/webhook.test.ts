import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { signedHeaders, webhookTeller } from '../../functions/sweep/webhook.ts'
import { readSettings } from '../../local/settings.ts'
import { webhookSecret, webhookSecretFile } from '../../local/webhook.ts'
import { openServer } from '../support/stack.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOTICE = { id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', type: 'key.revoked', timestamp: 't', data: { key_id: 'key_1' } }

const folder = mkdtempSync(join(tmpdir(), 'waybill-webhook-'))
let statuses: number[] = []
let received: { headers: IncomingHttpHeaders; body: string; method: string | undefined }[] = []
const origin = await openServer(async (request, response) => {
  received.push({ headers: request.headers, body: await text(request), method: request.method })
  const status = statuses.shift() ?? 204
  response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
})
const url = `${origin}/hook`
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => {
  statuses = []
  received = []
})

test('signs as Standard Webhooks has it in its own example', () => {
  const body = '{"test": 2432232314}'
  expect(signedHeaders(SECRET, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, body)).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('posts a notice, signed over the body that is sent, and with nothing of the secret in it', async () => {
  await webhookTeller(url, async () => SECRET)(NOTICE)
  const [{ headers, body, method } = { headers: {}, body: '', method: '' }] = received
  const at = Number(headers['webhook-timestamp']) * 1000
  expect([method, JSON.parse(body), headers['content-type']]).toEqual(['POST', NOTICE, 'application/json'])
  expect(headers).toMatchObject(signedHeaders(SECRET, NOTICE.id, at, body))
  expect(Math.abs(at - Date.now())).toBeLessThan(10_000)
  expect(JSON.stringify(received)).not.toContain(SECRET.slice(6))
})

test.each([
  ['a receiver that fails is asked again, with the same id', [500, 429, 503], 4, true],
  ['it is given up after four tries', [500, 500, 500, 500], 4, false],
  ['a refusal is not sent again', [400], 1, false],
  ['a redirect is not followed', [302, 302, 302, 302], 4, false],
])('%s', async (_, given, tries, isTaken) => {
  statuses = [...given]
  const tell = webhookTeller(url, async () => SECRET, 1)
  const [told] = await Promise.allSettled([tell(NOTICE)])
  expect([told?.status, received.length]).toEqual([isTaken ? 'fulfilled' : 'rejected', tries])
  expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([NOTICE.id]))
})

test('a secret that was not given is made once, for the owner only', async () => {
  const [first, second] = [await webhookSecret(undefined, folder), await webhookSecret(undefined, folder)]
  expect(second).toBe(first)
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(statSync(webhookSecretFile(folder)).mode & 0o77).toBe(0)
  expect(readFileSync(webhookSecretFile(folder), 'utf8').trim()).toBe(first)
})

test.each(['', 'whsec_', 'whsec_c2hvcnQ=', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whsec_${'a'.repeat(100)}`])(
  'the secret %j is refused, without being shown',
  async (secret) => {
    await expect(webhookSecret(secret, folder)).rejects.toThrow('WAYBILL_WEBHOOK_SECRET must be')
    writeFileSync(webhookSecretFile(folder), secret)
    await expect(webhookSecret(undefined, folder)).rejects.toThrow('openssl rand')
  },
)

test.each(['example.com', 'ftp://example.com/', 'https://me:word@example.com/', 'file:///etc/passwd'])(
  'the webhook %s is refused',
  (webhook) => {
    expect(() => readSettings([], { WAYBILL_WEBHOOK: webhook })).toThrow('The webhook must be an address')
  },
)

test('the webhook is an option or a variable, and its secret a variable', () => {
  const env = { WAYBILL_WEBHOOK: 'http://127.0.0.1:1/a', WAYBILL_WEBHOOK_SECRET: SECRET }
  expect(readSettings([], env)?.webhook).toEqual({ url: 'http://127.0.0.1:1/a', secret: SECRET })
  expect(readSettings(['--webhook', 'http://127.0.0.1:1/b'], {})?.webhook).toEqual({ url: 'http://127.0.0.1:1/b' })
  expect(readSettings([], {})?.webhook).toBeUndefined()
})
