import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { wholeBody } from '../../functions/admin/create.ts'
import { ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { AdminKey, AdminKeySettings } from '../../layers/gateway/domain/keys/admin-key.ts'
import { OPERATOR_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { makeSecret } from '../../layers/gateway/domain/keys/secret-text.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { revokeAdminKey, rotateAdminKey } from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { allowanceAt, grantedOnDay, OverAllowance } from '../../layers/gateway/store/admin-keys/allowance.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { readLastAudit } from '../../layers/gateway/store/keys/last-audit.ts'
import { listKeys, readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { walk } from '../admin-api/support/admin.ts'
import { ONCE_CHANGES } from '../admin-api/support/once-changes.ts'
import { secretFor, startSecretsManager } from '../deployed/support/secrets-manager.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { canceled, intercept } from '../support/intercept.ts'
import { jsonLines } from '../support/json-lines.ts'

import { issueAdminKey } from '../support/signed-admin.ts'
import { openLine, openUpstream } from '../support/stack.ts'
import { until } from '../support/wait.ts'

import { type AdminFunction, ARN, adminFunction, OFFICE, once } from './support/admin-function.ts'

const CREDIT = 10n ** 9n
const SIGNED_IN = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const tables = await openTestTables()
const { line, far: overLine } = await openLine(tables)
let admin: AdminFunction

beforeEach(() => {
  line.treat = () => 'answer'
  admin = adminFunction(tables)
})

const adminKey = (settings: Partial<AdminKeySettings> = {}) =>
  issueAdminKey(tables, { allowlist: [`${OFFICE}/32`], dailyGrant: 10n * CREDIT, ...settings })

async function customer(): Promise<string> {
  const { body } = await admin.signed('POST /keys', { body: { name: 'customer' }, headers: once() })
  return body.id
}

/** How many calls to the tables something makes. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  let calls = 0
  const stop = intercept(tables, (send) => {
    calls += 1
    return send()
  })
  await work()
  stop()
  return calls
}

describe('a signed call', () => {
  test('a signed call has every scope, and its change is an event by the caller’s ARN', async () => {
    const { body } = await admin.signed('GET /whoami')
    expect(body).toMatchObject({ by: ARN, stage: 'prod', protected: true, scopes: OPERATOR_SCOPES })
    expect(body).toMatchObject({ base_url: 'https://gateway.example/v1', address: null })
    const id = await customer()
    const [event] = await Array.fromAsync(listEvents(tables)({ of: id, fromMs: 0, toMs: Date.now() + 1_000 }))
    expect(event).toMatchObject({ by: ARN, what: 'key.create' })
  })

  test('a call that AWS has not authenticated is a 403 without a read, whatever its headers say', async () => {
    const { secret } = await adminKey()
    const said = [
      {},
      { authorization: `Bearer ${secret}` },
      { 'x-amzn-iam-arn': ARN, 'x-amz-user-arn': ARN, 'x-waybill-console': 'token' },
    ]
    for (const headers of said) {
      const reads = await callsOf(async () => {
        const { status, body } = await admin.unsigned('GET /admin/v1/keys', { headers })
        expect([status, body.error.code]).toEqual([403, 'access_denied'])
      })
      expect(reads).toBe(0)
    }
  })

  test('a body in Base64 is read as what it stands for', async () => {
    const body = JSON.stringify({ name: 'naïve' })
    const { status, body: made } = await admin.signed('POST /keys', { body, isBase64: true, headers: once() })
    expect([status, made.name]).toEqual([201, 'naïve'])
  })

  test('all keys are audited page by page, each once, and only the end of a signed audit is noted', async () => {
    await customer()
    // A reading of the clock takes a second, so that a page has few keys.
    let nowMs = Date.now()
    const slow = adminFunction(tables, { clock: () => (nowMs += 1_000) })
    const ids: string[] = []
    let pages = 0
    for (let after: string | null | undefined; after !== null; pages++) {
      const told = await slow.signed('POST /audits', { body: { after } })
      expect(told.headers['Content-Type']).toBe('application/x-ndjson')
      const lines = jsonLines(told.text)
      const end = lines.pop()
      ids.push(...lines.map((line) => line.key_id))
      expect(end).toMatchObject({
        object: 'audit.summary',
        keys: ids.length,
        wrong: 0,
        has_more: end?.last_id !== null,
      })
      after = end?.last_id
    }
    const all = (await Array.fromAsync(listKeys(tables)())).map(({ id }) => id)
    expect([pages > 1, ids.toSorted()]).toEqual([true, all.toSorted()])
    const noted = await readLastAudit(tables)()
    expect(noted).toMatchObject({ keys: all.length, wrong: 0 })
    const { secret } = await adminKey()
    const keyed = await admin.keyed('POST /audits', { secret, body: {} })
    expect(jsonLines(keyed.text).at(-1)).toMatchObject({ keys: all.length, has_more: false })
    expect(await readLastAudit(tables)()).toEqual(noted)
  })

  test('routes are tested by a function with the stage’s own secrets, eight at once, page by page', async () => {
    const upstream = await openUpstream()
    await using secrets = await startSecretsManager({ 'waybill/prod/up': secretFor(upstream.url, 'key-of-up') })
    Object.assign(process.env, SIGNED_IN, { AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint })
    const routes = Array.from({ length: 10 }, (_, i) => ({ provider: 'up', model: `m${i}` }))
    const before = (await readStoredCatalog(tables)())?.data
    await writeCatalog(tables)(catalogFor(upstream.url, { routes }, { apiKey: 'secret:up' }), actAt())
    const first = (await admin.signed('POST /routes/test', { body: {} })).body
    const second = (await admin.signed('POST /routes/test', { body: { after: first.last_id } })).body
    const tested = [...first.data, ...second.data]
    expect(tested.map((test) => [test.upstream_model, test.ok])).toEqual(routes.map(({ model }) => [model, true]))
    expect([first.data.length, first.has_more, second.has_more, second.last_id]).toEqual([8, true, false, null])
    expect(upstream.requests.every(({ headers }) => headers.authorization === 'Bearer key-of-up')).toBe(true)
    process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = 'http://127.0.0.1:1'
    const away = (await adminFunction(tables).signed('POST /routes/test', { body: {} })).body.data
    const result = expect.stringMatching(/could not be read.*AWS cannot be reached/)
    expect(away[0]).toMatchObject({ ok: false, result })
    if (before) await writeCatalog(tables)(before, actAt())
  })

  test('what does not end within the function’s time is a 503 that says what to do, before Lambda ends it', async () => {
    let underWay = 0
    let answered = false
    const stop = intercept(tables, async (send) => {
      if (answered) throw new Error('The call has its answer.')
      underWay += 1
      await new Promise((resolve) => setTimeout(resolve, 300))
      return send().finally(() => (underWay -= 1))
    })
    const { status, body } = await admin.signed('GET /keys', { remainingMs: 2_050 })
    // Reads that the handler still makes would be counted by the tests below.
    answered = true
    await until(() => underWay === 0)
    stop()
    expect([status, body.error.code]).toEqual([503, 'took_too_long'])
    expect(body.error.message).toContain('Idempotency-Key')
  })

  test('an answer that is larger than Lambda hands over is refused, and no more of it is made than that', async () => {
    let made = 0
    async function* pieces() {
      for (; made < 1_000; made++) yield 'x'.repeat(100_000)
    }
    const answer = { status: 200, headers: {}, body: pieces() }
    const refusal = { status: 400, envelope: { error: { code: 'answer_too_large' } } }
    await expect(wholeBody(answer)).rejects.toMatchObject(refusal)
    expect(made).toBeLessThan(60)
    async function* threeBytesEach() {
      for (let i = 0; i < 24; i++) yield '漢'.repeat(100_000)
    }
    await expect(wholeBody({ ...answer, body: threeBytesEach() })).rejects.toMatchObject(refusal)
    const whole = (sign: string) => wholeBody({ ...answer, body: sign.repeat(4_000_000) })
    await expect(whole('"')).rejects.toMatchObject(refusal)
    expect((await whole('x')).length).toBe(4_000_000)
  })
})

describe('a call with an admin key', () => {
  test('a key that begins with credits needs the scope to grant, too', async () => {
    const { secret } = await adminKey({ scopes: ['keys.write'] })
    const sent = { secret, body: { name: 'x', credits: '1' }, headers: once() }
    const { status, body } = await admin.keyed('POST /keys', sent)
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
    expect((await admin.keyed('POST /keys', { ...sent, body: { name: 'x' } })).status).toBe(201)
  })

  test('an admin key’s change is an event by its id, and what AWS says of the caller counts for nothing', async () => {
    const { key, secret } = await adminKey()
    const { body } = await admin.keyed('POST /keys', { secret, iam: ARN, body: { name: 'x' }, headers: once() })
    const [event] = await Array.fromAsync(listEvents(tables)({ of: body.id, fromMs: 0, toMs: Date.now() + 1_000 }))
    expect(event).toMatchObject({ by: key.id, what: 'key.create' })
    expect((await admin.keyed('GET /whoami', { iam: ARN })).status).toBe(401)
  })

  test('an admin key works from its own addresses only, and no header moves the caller', async () => {
    const { secret } = await adminKey({ allowlist: [`${OFFICE}/32`, '2001:db8::/32'] })
    const headers = { 'x-forwarded-for': OFFICE, 'x-waybill-viewer': OFFICE, 'x-real-ip': OFFICE }
    const from = async (sourceIp: string) => (await admin.keyed('GET /whoami', { secret, sourceIp, headers })).status
    expect([await from(OFFICE), await from('2001:db8::7')]).toEqual([200, 200])
    expect([await from('198.51.100.8'), await from('::1'), await from('')]).toEqual([403, 403, 403])
  })

  test('a malformed key and a caller’s key are a 401 without a read, an unknown one costs one read, and none is logged', async () => {
    const unknown = makeSecret(BRAND.adminKeyPrefix, randomBytes(32))
    const clients = makeSecret(BRAND.keyPrefix, randomBytes(32))
    const tried = ['', 'nonsense', clients, `${unknown}x`, unknown]
    for (const secret of tried) {
      const reads = await callsOf(async () => {
        const { status, body, text } = await admin.keyed('GET /keys', { secret })
        expect([status, body.error.code]).toEqual([401, 'invalid_admin_key'])
        if (secret) expect(text).not.toContain(secret)
      })
      expect([secret, reads]).toEqual([secret, secret === unknown ? 1 : 0])
      if (secret) expect(admin.logged.join()).not.toContain(secret)
    }
    expect(admin.logged.join()).toContain('InvalidKeys')
  })

  test('an admin key is refused from the call after its revoke on, and a second revoke says that it is final', async () => {
    const { key, secret } = await adminKey()
    expect((await admin.keyed('GET /whoami', { secret })).status).toBe(200)
    await revokeAdminKey(tables)(key.id, actAt())
    expect((await admin.keyed('GET /whoami', { secret })).status).toBe(401)
    expect(await revokeAdminKey(tables)(key.id, actAt())).toEqual({ changed: false, why: 'revoked' })
  })

  test('after a rotation the old secret works for an hour and not a moment longer; another rotation ends it at once', async () => {
    const { key, secret: first } = await adminKey()
    const statusAt = async (secret: string, nowMs: number) =>
      (await adminFunction(tables, { clock: () => nowMs }).keyed('GET /whoami', { secret })).status
    const rotate = async (act = actAt()) => {
      const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
      // Sent twice, as after a lost answer.
      await rotateAdminKey(tables)(key.id, stored, act)
      expect(await rotateAdminKey(tables)(key.id, stored, act)).toMatchObject({ changed: true })
      return secret
    }
    const act = actAt()
    const second = await rotate(act)
    const endMs = act.atMs + 60 * 60 * 1000
    expect([await statusAt(first, endMs - 1), await statusAt(first, endMs)]).toEqual([200, 401])
    expect(await statusAt(second, endMs)).toBe(200)
    const third = await rotate()
    const statuses = await Promise.all([first, second, third].map((secret) => statusAt(secret, act.atMs)))
    expect(statuses).toEqual([401, 200, 200])
    const events = await Array.fromAsync(listEvents(tables)({ of: key.id, fromMs: 0, toMs: Date.now() + 1_000 }))
    // Acts of one millisecond are in any order.
    const made = ['admin_key.create', 'admin_key.rotate', 'admin_key.rotate']
    expect(events.map(({ what }) => what).sort()).toEqual(made)
  })

  test('admin keys are listed newest first, page by page, each once', async () => {
    const made = [await adminKey(), await adminKey(), await adminKey()].map(({ key }) => key.id)
    const listed = await Array.fromAsync(walk<AdminKey>({ call: admin.signed }, 'GET /admin-keys?limit=2'))
    const ids = listed.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].toSorted().reverse())
    expect(ids).toEqual(expect.arrayContaining(made))
  })

  test('a stage that takes no admin keys refuses a valid one without a read', async () => {
    const { secret } = await adminKey()
    const without = adminFunction(tables, { takesKeys: false })
    const reads = await callsOf(async () => {
      expect((await without.keyed('GET /whoami', { secret })).status).toBe(403)
    })
    expect(reads).toBe(0)
  })
})

describe('the credits that an admin key grants a day', () => {
  const grantedTo = async (id: string) => (await readKey(tables)(id))?.granted
  const grantBy = (by: AdminFunction, secret: string, id: string, credits: string, headers = once()) =>
    by.keyed(`POST /keys/${id}/grants`, { secret, body: { credits }, headers })

  test('of grants at once an admin key makes exactly as many as it may on a day, whatever the order', async () => {
    const { key, secret } = await adminKey({ dailyGrant: 10n * CREDIT })
    const ids = await Promise.all([customer(), customer()])
    const nowMs = Date.now()
    const fixed = adminFunction(tables, { clock: () => nowMs })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => grantBy(fixed, secret, ids[i % 2] ?? '', '1')),
    )
    const told = (status: number) => answers.filter((answer) => answer.status === status)
    expect([told(201).length, told(201).length + told(403).length]).toEqual([10, 40])
    for (const { body } of told(403)) expect(body.error.code).toBe('daily_grant_exceeded')
    const granted = await Promise.all(ids.map(grantedTo))
    expect(granted.reduce((sum: bigint, one) => sum + (one ?? 0n), 0n)).toBe(10n * CREDIT)
    expect(await grantedOnDay(tables)(allowanceAt(key, nowMs))).toBe(10n * CREDIT)
  })

  test('the next day an admin key grants again, and the refused request may be sent as it was', async () => {
    const { secret } = await adminKey({ dailyGrant: 2n * CREDIT })
    const id = await customer()
    let nowMs = Date.now()
    const moving = adminFunction(tables, { clock: () => nowMs })
    const grant = (credits: string, headers = once()) => grantBy(moving, secret, id, credits, headers)
    expect((await grant('2')).status).toBe(201)
    const refused = once()
    expect((await grant('0.000000001', refused)).status).toBe(403)
    nowMs += DAY_MS
    expect([(await grant('0.000000001', refused)).status, (await grant('2')).status]).toEqual([201, 403])
    expect(await grantedTo(id)).toBe(2n * CREDIT + 1n)
  })

  test('more than a day’s credits are refused as the first grant of a day, and no key is made with them', async () => {
    const { secret } = await adminKey({ dailyGrant: 5n * CREDIT })
    const id = await customer()
    const tooMuch = await grantBy(admin, secret, id, '5.1')
    expect([tooMuch.status, tooMuch.body.error.code]).toEqual([403, 'daily_grant_exceeded'])
    const create = (name: string, credits: string) =>
      admin.keyed('POST /keys', { secret, body: { name, credits }, headers: once() })
    expect((await create('too much', '6')).status).toBe(403)
    expect([(await create('first', '3')).status, (await create('second', '3')).status]).toEqual([201, 403])
    const names = (await Array.fromAsync(listKeys(tables)())).map(({ name }) => name)
    expect(['first', 'second', 'too much'].map((name) => names.includes(name))).toEqual([true, false, false])
    expect((await create('none', '0')).status).toBe(201)
  })

  test('what an admin key takes back counts as what it grants', async () => {
    const { secret } = await adminKey({ dailyGrant: 5n * CREDIT })
    const id = await customer()
    const grant = (credits: string) => grantBy(admin, secret, id, credits)
    expect([(await grant('3')).status, (await grant('-2')).status]).toEqual([201, 201])
    for (const credits of ['-0.5', '0.5', '-6']) {
      expect((await grant(credits)).body.error.code).toBe('daily_grant_exceeded')
    }
    expect(await grantedTo(id)).toBe(CREDIT)
  })

  test('a grant that is under way when its admin key is revoked is not made', async () => {
    const { key } = await adminKey()
    const id = await customer()
    const allowance = allowanceAt(key, Date.now())
    await revokeAdminKey(tables)(key.id, actAt())
    await expect(grantCredits(tables)(id, CREDIT, actAt(), allowance)).rejects.toThrow(OverAllowance)
    expect(await grantedTo(id)).toBe(0n)
  })

  test('a grant that others crowd out again and again is a 503 and no problem in the log, and made by the retry', async () => {
    const { secret } = await adminKey()
    const id = await customer()
    const hasty = adminFunction(tables, { actMs: 1_000 })
    const sent = { secret, body: { credits: '1' }, headers: once() }
    const send = jest.spyOn(tables.database, 'transact').mockRejectedValue(canceled('None', 'TransactionConflict'))
    const crowded = await hasty.keyed(`POST /keys/${id}/grants`, sent)
    send.mockRestore()
    expect([crowded.status, crowded.body.error.code]).toEqual([503, 'service_unavailable'])
    expect(hasty.logged).toEqual([])
    expect((await admin.keyed(`POST /keys/${id}/grants`, sent)).status).toBe(201)
    expect(await grantedTo(id)).toBe(CREDIT)
  })

  test('a grant to a revoked key is told as that, and takes nothing of the day', async () => {
    const { key, secret } = await adminKey()
    const id = await customer()
    await admin.signed(`POST /keys/${id}/revoke`, { body: { confirm: 'customer' } })
    const told = await grantBy(admin, secret, id, '1')
    expect([told.status, told.body.error.code]).toEqual([409, 'key_revoked'])
    expect(await grantedOnDay(tables)(allowanceAt(key, Date.now()))).toBe(0n)
  })

  test.each(Object.entries(ONCE_CHANGES))(
    'over an admin key, %s asked for again after a lost answer, and eight times at once, is done and counted once',
    async (change, { route, body }) => {
      const granted = change === 'rotate' ? 0n : 3n * CREDIT
      const { key, secret } = await adminKey()
      const id = await customer()
      const bad = adminFunction(overLine, { actMs: 1_500 })
      const sent = { secret, body: body(`once ${change}`), headers: once() }
      const ask = () => bad.keyed(route(id), sent)
      line.treat = (operation) => (operation === 'TransactWriteItems' ? 'lose the answer' : 'answer')
      const lost = await ask()
      // Its event was found.
      expect([lost.status < 300, lost.body.replayed]).toEqual([true, false])
      line.treat = () => 'answer'
      const answers = await Promise.all(Array.from({ length: 8 }, ask))
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.replayed}`)).size).toBe(1)
      expect(answers[0]?.body).toMatchObject({ replayed: true })
      const of = change === 'create' ? answers[0]?.body.id : id
      const events = await Array.fromAsync(listEvents(tables)({ of, fromMs: 0, toMs: Date.now() + 1_000 }))
      expect(events.filter(({ by }) => by === key.id)).toHaveLength(1)
      expect(await grantedTo(of)).toBe(granted)
      expect(await grantedOnDay(tables)(allowanceAt(key, Date.now()))).toBe(granted)
    },
  )
})

describe('the providers of the catalog', () => {
  const SECRET = 'secret:up'
  const provider = { type: 'openai', baseUrl: 'https://api.example/v1', apiKey: SECRET, headers: { 'X-Title': 'ours' } }
  const catalogOf = (providers: object, output = '2') => ({
    ...catalogFor('https://api.example/v1', { price: { input: '1', output } }),
    providers,
  })
  const seen = (version: number) => ({ 'if-match': `"${version}"` })
  const inForce = async () => (await readStoredCatalog(tables)())?.version ?? 0

  /** Puts a catalog in force as a caller whom AWS knows, and returns its version. */
  async function push(catalog: object): Promise<number> {
    const { status, body } = await admin.signed('PUT /catalog', { body: catalog, headers: seen(await inForce()) })
    expect([status, body.error]).toEqual([200, undefined])
    return body.version
  }

  test('an admin key changes prices and models, takes a provider away, and rolls back what it changed', async () => {
    const { secret } = await adminKey()
    const version = await push(catalogOf({ up: provider, spare: provider }))
    const put = (catalog: object, over: number) =>
      admin.keyed('PUT /catalog', { secret, body: catalog, headers: seen(over) })
    expect((await put(catalogOf({ spare: provider, up: provider }, '3'), version)).status).toBe(200)
    const restore = `POST /catalog/versions/${version}/restore`
    expect((await admin.keyed(restore, { secret, body: {}, headers: seen(version + 1) })).status).toBe(200)
    expect((await put(catalogOf({ up: provider }), version + 2)).status).toBe(200)
  })

  const CHANGES: [string, object, string][] = [
    ['baseUrl', { up: { ...provider, baseUrl: 'https://thief.example/v1' } }, "change baseUrl of the provider 'up'"],
    ['apiKey', { up: { ...provider, apiKey: 'secret:other' } }, "change apiKey of the provider 'up'"],
    ['headers', { up: { ...provider, headers: { 'X-Title': 'theirs' } } }, "change headers of the provider 'up'"],
    ['contract', { up: { ...provider, contract: 'responses' } }, "change contract of the provider 'up'"],
    ['allowFields', { up: { ...provider, allowFields: ['service_tier'] } }, "change allowFields of the provider 'up'"],
    ['type', { up: { type: 'bedrock', region: 'us-east-1' } }, " of the provider 'up'"],
    ['type', { up: provider, thief: { ...provider, baseUrl: 'https://thief.example/v1' } }, "add the provider 'thief'"],
  ]

  test.each(CHANGES)(
    'an admin key that changes %s is a 403 by every route, and nothing is changed',
    async (field, providers, words) => {
      const { secret } = await adminKey()
      const other = await push(catalogOf(providers))
      const version = await push(catalogOf({ up: provider }))
      const refused = [
        await admin.keyed('PUT /catalog', { secret, body: catalogOf(providers), headers: seen(version) }),
        await admin.keyed(`POST /catalog/versions/${other}/restore`, { secret, body: {}, headers: seen(version) }),
      ]
      for (const { status, body } of refused) {
        expect([status, body.error.code]).toEqual([403, 'provider_change_denied'])
        expect(body.error.message).toContain(words)
        expect(body.error.param).toMatch(new RegExp(`^providers\\.\\w+\\.${field}$`))
      }
      const { body } = await admin.keyed('POST /catalog/check', { secret, body: catalogOf(providers) })
      expect(body).toMatchObject({ valid: false, faults: [{ message: expect.stringContaining(words) }] })
      expect(await inForce()).toBe(version)
      const signed = await admin.signed('PUT /catalog', { body: catalogOf(providers), headers: seen(version) })
      expect(signed.status).toBe(200)
    },
  )

  test('an admin key that names a version to come is a 412, whatever is pushed while it asks', async () => {
    const { secret } = await adminKey()
    const version = await push(catalogOf({ up: provider }))
    const thief = catalogOf({ up: { ...provider, baseUrl: 'https://thief.example/v1' } })
    const { status } = await admin.keyed('PUT /catalog', { secret, body: thief, headers: seen(version + 1) })
    expect([status, await inForce()]).toEqual([412, version])
  })

  test('no other route of the admin API writes a catalog', () => {
    const writing = ADMIN_ROUTES.filter(({ scope, path }) => scope === 'catalog.write' && path !== '/routes/test')
    expect(writing.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PUT /catalog',
      'POST /catalog/versions/{version}/restore',
      // They have the providers and models that are in force.
      'POST /plans',
      'PATCH /plans/{name}',
    ])
  })
})
