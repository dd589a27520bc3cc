import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { SettingChanges } from '../../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { endGrace, revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { actAt } from '../support/act.ts'
import { booksBalance, catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { intercept } from '../support/intercept.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { beginAnswers, say } from '../support/upstream.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const MINUTE = 60_000
let nowMs = NOW
const { upstream, gateway } = await openBoth({ clock: () => nowMs })
const openOther = () => openFor(catalogFor(upstream.url), { onSameTables: gateway, clock: () => nowMs })
/** A second warm instance, as AWS has many. */
const other = await openOther()

/** A key that both instances have met. */
async function warmKey(settings = {}) {
  nowMs = NOW
  const issued = await gateway.issue(settings)
  for (const instance of [gateway, other]) expect(await ask(instance, issued.secret)).toBe(200)
  return issued
}

async function ask(instance: TestGateway, secret: string): Promise<number> {
  const response = await instance.post(secret, HELLO)
  await response.arrayBuffer()
  return response.status
}

/** The status that each warm instance answers. */
const askBoth = (secret: string) => Promise.all([ask(gateway, secret), ask(other, secret)])

async function rotate(keyId: string): Promise<string> {
  const { secret, stored } = issueSecret('svc_live_', randomBytes)
  await rotateKey(gateway.tables)(keyId, stored, actAt(nowMs))
  return secret
}

test('a rotated key accepts both secrets for 60 minutes, and refuses the old one from then on', async () => {
  const { key, secret: old } = await warmKey()
  const fresh = await rotate(key.id)
  expect([...(await askBoth(old)), ...(await askBoth(fresh))]).toEqual([200, 200, 200, 200])
  nowMs = NOW + 60 * MINUTE - 1
  expect(await askBoth(old)).toEqual([200, 200])
  nowMs = NOW + 60 * MINUTE
  expect([...(await askBoth(old)), ...(await askBoth(fresh))]).toEqual([401, 401, 200, 200])
  const cold = await openOther()
  expect(await ask(cold, old)).toBe(401)
})

test('the two secrets of a rotated key share its limits', async () => {
  const { key, secret: old } = await warmKey({ rpm: 5 })
  const fresh = await rotate(key.id)
  expect([await ask(gateway, old), await ask(gateway, fresh), await ask(gateway, fresh)]).toEqual([200, 200, 200])
  expect([await ask(gateway, old), await ask(gateway, fresh)]).toEqual([429, 429])
})

test('a rotated key whose grace is ended refuses the old secret from the very next request on every warm instance', async () => {
  const { key, secret: old } = await warmKey()
  const fresh = await rotate(key.id)
  expect(await ask(gateway, old)).toBe(200)
  await endGrace(gateway.tables)(key.id, actAt())
  expect([...(await askBoth(old)), ...(await askBoth(fresh))]).toEqual([401, 401, 200, 200])
})

test('a revoked key is a 401, no longer a 403, at an endpoint that it had no scope for', async () => {
  const { key, secret } = await warmKey({ scopes: ['chat.completions'] })
  expect((await gateway.get(secret, '/v1/models')).status).toBe(403)
  await revokeKey(gateway.tables)(key.id, actAt(nowMs))
  expect((await gateway.get(secret, '/v1/models')).status).toBe(401)
})

test('a suspended key is refused from the very next request on every instance and endpoint, is told why, and leaves no row', async () => {
  const { key, secret } = await warmKey()
  await suspendKey(gateway.tables)(key.id, actAt(nowMs))
  const cold = await openOther()
  for (const instance of [gateway, other, cold]) {
    const gets = ['/v1/models', '/v1/key/introspect'].map((path) => instance.get(secret, path))
    for (const response of [await instance.post(secret, HELLO), ...(await Promise.all(gets))]) {
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      const limit = response.headers.get('ratelimit-limit')
      expect([response.status, error.code, limit]).toEqual([403, 'key_suspended', null])
      expect(error.message).toMatch(/is suspended.*Ask the operator to resume it/)
      await expect(gateway.readRow(response.headers.get('x-request-id'))).rejects.toThrow('no row')
    }
  }
  expect(booksBalance(await gateway.readKey(key.id))).toBe(true)
})

test('a resumed key is admitted from the very next request on every warm instance, with credits that it was granted meanwhile', async () => {
  const { key, secret } = await warmKey({ credits: '1' })
  await suspendKey(gateway.tables)(key.id, actAt(nowMs))
  for (const instance of [gateway, other]) expect(await ask(instance, secret)).toBe(403)
  expect(await grantCredits(gateway.tables)(key.id, 1_000_000_000n, actAt(nowMs))).toMatchObject({ changed: true })
  await resumeKey(gateway.tables)(key.id, actAt(nowMs))
  for (const instance of [gateway, other]) expect(await ask(instance, secret)).toBe(200)
  expect((await gateway.readKey(key.id)).granted).toBe(2_000_000_000n)
})

test('only the holder of a secret in force learns that a key is suspended, also if it has expired', async () => {
  const { key, secret: old } = await warmKey({ expiresAtMs: NOW + 2 * MINUTE })
  const fresh = await rotate(key.id)
  await endGrace(gateway.tables)(key.id, actAt())
  await suspendKey(gateway.tables)(key.id, actAt(nowMs))
  expect([await ask(gateway, old), await ask(gateway, fresh)]).toEqual([401, 403])
  nowMs = NOW + 2 * MINUTE
  expect([await ask(gateway, old), await ask(gateway, fresh)]).toEqual([401, 403])
  await resumeKey(gateway.tables)(key.id, actAt(nowMs))
  expect([await ask(gateway, old), await ask(gateway, fresh)]).toEqual([401, 401])
})

test.each([
  ['revoked', revokeKey],
  ['suspended', suspendKey],
])('a request that is under way when its key is %s is still answered and settled', async (_, change) => {
  const { key, secret } = await warmKey()
  const finish = beginAnswers(upstream)
  const running = await gateway.post(secret, { ...HELLO, stream: true })
  upstream.reply = say('Hello')
  await change(gateway.tables)(key.id, actAt(nowMs))
  finish()
  expect(await running.text()).toContain('[DONE]')
  const after = await gateway.readKey(key.id)
  expect(after.holds).toEqual({})
  expect(booksBalance(after)).toBe(true)
  expect((await gateway.readRow(running.headers.get('x-request-id'))).cost).toBe(20_000n)
})

test.each([
  ['revoked', revokeKey, 401],
  ['suspended', suspendKey, 403],
])(
  'a request whose admission was not answered is not sent on if its key was %s meanwhile',
  async (_, change, status) => {
    const { key, secret } = await warmKey()
    const asked = upstream.requests.length
    let isFirst = true
    const stop = intercept(gateway.tables, async (send, operation) => {
      if (operation !== 'UpdateItem' || !isFirst) return send()
      isFirst = false
      await send()
      await change(other.tables)(key.id, actAt(nowMs))
      throw Object.assign(new Error('no answer'), { name: 'TimeoutError' })
    })
    try {
      expect([await ask(gateway, secret), isFirst]).toEqual([status, false])
    } finally {
      stop()
    }
    expect(upstream.requests.length).toBe(asked)
    expect(booksBalance(await gateway.readKey(key.id))).toBe(true)
  },
)

test.each([
  ['revoke', revokeKey, 401, 40],
  ['suspension', suspendKey, 403, 100],
])(
  'no request that begins after a %s has returned is admitted, however many race it',
  async (_, change, status, each) => {
    const { key, secret } = await warmKey({ rpm: 60_000 })
    let isDone = false
    const late: Promise<number>[] = []
    const early = Array.from({ length: each }, (_, i) => ask(i % 2 ? gateway : other, secret))
    const changing = change(gateway.tables)(key.id, actAt(nowMs)).then(() => {
      isDone = true
      for (let i = 0; i < each; i++) late.push(ask(i % 2 ? gateway : other, secret))
    })
    await Promise.all([...early, changing])
    expect(isDone).toBe(true)
    expect(new Set(await Promise.all(late))).toEqual(new Set([status]))
    expect(booksBalance(await gateway.readKey(key.id))).toBe(true)
  },
)

test('a changed key has its new scopes, addresses and limits from the next request on every warm instance', async () => {
  const { key, secret } = await warmKey()
  const changes: [SettingChanges, number][] = [
    [{ scopes: ['models.read'] }, 403],
    [{ scopes: ['chat.completions'] }, 200],
    [{ allowlist: ['10.0.0.0/8'] }, 403],
    [{ allowlist: ['127.0.0.0/8'], rpm: 1 }, 429],
  ]
  for (const [change, status] of changes) {
    await updateKey(gateway.tables)(key.id, change, actAt())
    expect(await askBoth(secret)).toEqual([status, status])
  }
})

test('an allowlist goes by the address of the connection and believes no forwarding header', async () => {
  const { secret } = await gateway.issue({ allowlist: ['127.0.0.2/32'] })
  for (const headers of [{}, { 'X-Forwarded-For': '127.0.0.2' }, { Forwarded: 'for=127.0.0.2' }]) {
    expect((await gateway.post(secret, HELLO, headers)).status).toBe(403)
  }
})

test('an expired key is refused by every endpoint of every instance, and its holder is told that it expired and when', async () => {
  const end = NOW + 10 * MINUTE
  const { key, secret } = await warmKey({ expiresAtMs: end, rpm: 1000 })
  const cold = await openOther()
  nowMs = end - 1
  for (const instance of [gateway, other, cold]) expect(await ask(instance, secret)).toBe(200)
  nowMs = end
  const later = await openOther()
  const before = await gateway.readKey(key.id)
  for (const instance of [gateway, other, later]) {
    const answers = [
      await instance.post(secret, HELLO),
      await instance.get(secret, '/v1/models'),
      await instance.get(secret, '/v1/key/introspect'),
      await instance.get(secret, '/v1/usage/req_01M7FH87G0G7G4N4FQ5AD7VT9D'),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({
        error: { code: 'invalid_api_key', message: expect.stringContaining('expired at 2026-11-15T12:10:00.000Z') },
      })
    }
  }
  expect(await gateway.readKey(key.id)).toEqual(before)
  await updateKey(gateway.tables)(key.id, { expiresAtMs: end + MINUTE }, actAt(nowMs))
  for (const instance of [gateway, other, later]) expect(await ask(instance, secret)).toBe(200)
})

test('the introspection of a key says of the secret that asks if it is in grace, and when it will end: with the key, or with its grace before', async () => {
  const end = NOW + 90 * MINUTE
  const { key, secret } = await warmKey({ expiresAtMs: end })
  const seen = async (text: string) =>
    ((await (await gateway.get(text, '/v1/key/introspect')).json()) as { key: object }).key
  const told = (text: string, state: string, endMs: number) => ({
    prefix: 'svc_live_',
    last_four: text.slice(-4),
    state,
    expires_at: endMs / 1000,
  })
  expect(await seen(secret)).toEqual(told(secret, 'current', end))
  const next = await rotate(key.id)
  expect(await seen(secret)).toEqual(told(secret, 'grace', NOW + 60 * MINUTE))
  expect(await seen(next)).toEqual(told(next, 'current', end))
})
