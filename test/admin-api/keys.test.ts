import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { keyShape } from '../../layers/admin/api/key-shape.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { SETTING_WORDS } from '../../layers/admin/settings/setting-words.ts'
import { isOptional, SETTINGS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { makeSecret } from '../../layers/gateway/domain/keys/secret-text.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { SETTING_SAMPLES } from '../support/setting-samples.ts'
import { openBoth } from '../support/stack.ts'
import { type Admin, adminOf, once, walk } from './support/admin.ts'

const { gateway } = await openBoth()
const admin = adminOf(gateway.tables)
await admin.call('POST /plans', { body: { name: 'gold' }, headers: { 'if-match': '"1"' } })

const create = async (body: object = {}) => {
  const sent = { body: { name: 'acme', credits: '5', ...body }, headers: once() }
  const { status, body: key } = await admin.call<KeyWithSecret>('POST /keys', sent)
  expect(status).toBe(201)
  return key
}

const rename = async (by: Admin, id: string, name: string) => {
  const { headers } = await by.call(`GET /keys/${id}`)
  const sent = { body: { name }, headers: { 'if-match': headers.ETag ?? '' } }
  expect((await by.call(`PATCH /keys/${id}`, sent)).status).toBe(200)
}

function ownSecret(seed: number) {
  const secret = makeSecret(BRAND.keyPrefix, new Uint8Array(32).fill(seed))
  const hash = createHash('sha256').update(secret).digest('hex')
  return { secret, sent: { secret_sha256: hash, last_four: secret.slice(-4) } }
}

describe('POST /admin/v1/keys', () => {
  test('makes a key with every setting, which is told, kept and in its event, and whose secret is told once and works', async () => {
    const settings = Object.fromEntries(SETTINGS.map((name) => [SETTING_WORDS[name].field, SETTING_SAMPLES[name].told]))
    const key = await create({ ...settings, credits: '2.5' })
    expect(key).toMatchObject({ object: 'key', status: 'active', granted: '2.5', available: '2.5', version: 3 })
    expect(key).toMatchObject({ ...settings, replayed: false, secret: expect.stringMatching(/^svc_live_/) })
    const kept = SETTINGS.map((name) => [name, SETTING_SAMPLES[name].kept ?? SETTING_SAMPLES[name].told])
    expect(await gateway.readKey(key.id)).toMatchObject(Object.fromEntries(kept))
    const events = await admin.call(`GET /keys/${key.id}/events`)
    expect(events.body.data).toMatchObject([
      { what: 'key.updated', before: { lanes: 1 }, after: { lanes: 2 } },
      { what: 'key.created', after: { ...settings, lanes: 1 } },
    ])
    expect((await gateway.post(key.secret ?? '', HELLO)).status).toBe(200)
    const { body } = await admin.call(`GET /keys/${key.id}`)
    expect(body).not.toHaveProperty('secret')
    expect(body).toMatchObject({
      calls_today: 1,
      last_used_at: expect.any(String),
      minute: { limit: 7, remaining: 6 },
    })
  })

  test('takes a secret that the caller made by its hash, never tells one, and the secret works', async () => {
    const { secret, sent } = ownSecret(1)
    const key = await create(sent)
    expect(key).toMatchObject({ secret: null, replayed: false, last_four: sent.last_four })
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
  })

  test('refuses a secret or an external id that another key has with 409, and says so', async () => {
    const taken = { external_id: 'cus_taken', ...ownSecret(2).sent }
    await create(taken)
    const ask = (body: object) => admin.call('POST /keys', { body: { name: 'x', ...body }, headers: once() })
    const { external_id, ...secret } = taken
    const same = await ask(secret)
    expect([same.status, same.body.error.param]).toEqual([409, 'secret_sha256'])
    const other = { body: { external_id }, headers: { 'if-match': '"1"' } }
    for (const { status, body } of [
      await ask({ external_id }),
      await admin.call(`PATCH /keys/${(await create()).id}`, other),
    ]) {
      expect([status, body.error.code]).toEqual([409, 'external_id_taken'])
      expect(body.error.message).toContain("The external id 'cus_taken' is that of the key '")
    }
  })

  test.each([
    ['no name', { name: undefined }, 'name', 'is missing'],
    ['an empty name', { name: ' ' }, 'name', '1 to 100 characters'],
    ['a number of credits', { credits: 5 }, 'credits', 'plain decimal'],
    ['credits in scientific notation', { credits: '1e3' }, 'credits', 'plain decimal'],
    ['negative credits', { credits: '-1' }, 'credits', 'plain decimal'],
    ['an unknown scope', { scopes: ['admin'] }, 'scopes', "not 'admin'"],
    ['scopes as a text', { scopes: 'chat.completions' }, 'scopes', 'must be a list'],
    ['a range that is none', { allowlist: ['10.0.0.1/8'] }, 'allowlist', '10.0.0.1/8'],
    ['no requests a minute', { rpm: 0 }, 'rpm', 'from 1 to 1920000'],
    ['half a request', { rpm: 1.5 }, 'rpm', 'whole number'],
    ['a limit as a text', { daily_limit: '5' }, 'daily_limit', 'whole number'],
    ['too many at once', { max_concurrent: 1001 }, 'max_concurrent', 'at most 1000 for each lane'],
    ['an external id with a space', { external_id: 'a b' }, 'external_id', 'without spaces'],
    ['an external id of 129 characters', { external_id: 'x'.repeat(129) }, 'external_id', '1 to 128'],
    ['an external id beyond ASCII', { external_id: 'naïve' }, 'external_id', 'of ASCII'],
    ['a note of 201 characters', { note: 'x'.repeat(201) }, 'note', 'at most 200 characters'],
    ['an end that is over', { expires_at: '2020-01-01' }, 'expires_at', 'later than now'],
    ['an end on a day that is none', { expires_at: '2999-02-30' }, 'expires_at', 'UTC day'],
    ['a note that would steer a terminal', { note: 'a\u001b[2Jb' }, 'note', 'on one line'],
    ['a hash in capitals', { secret_sha256: 'A'.repeat(64), last_four: 'abcd' }, 'secret_sha256', 'lower-case hex'],
    ['a hash without the last four', { secret_sha256: 'a'.repeat(64) }, 'last_four', 'is missing'],
    ['the last four without a hash', { last_four: 'abcd' }, 'secret_sha256', 'is missing'],
    ['an unknown field', { rmp: 5 }, 'rmp', "There is no field 'rmp' here. Did you mean 'rpm'?"],
    ['a field of the prototype', { constructor: 5 }, 'constructor', 'There is no field'],
  ])('refuses %s with a 400 that names the field', async (_, change, param, complaint) => {
    const body = { name: 'x', ...change }
    const answer = await admin.call('POST /keys', { body, headers: once() })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
    expect(answer.body.error.message).toContain(complaint)
  })
})

describe('GET /admin/v1/keys', () => {
  test('lists every key once, newest first, page by page, and by status and external id', async () => {
    const made = [await create({ external_id: 'cus_list' }), await create(), await create()].map(({ id }) => id)
    await admin.call(`POST /keys/${made[1]}/revoke`, { body: { confirm: 'acme' } })
    const seen = (await Array.fromAsync(walk(admin, 'GET /keys?limit=2'))).map(({ id }) => id)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(made))
    expect(seen.indexOf(made[2] ?? '')).toBeLessThan(seen.indexOf(made[0] ?? ''))
    const revoked = (await admin.call('GET /keys?status=revoked')).body.data.map(({ id }: { id: string }) => id)
    expect(revoked).toEqual([made[1]])
    const named = (await admin.call('GET /keys?external_id=cus_list')).body.data
    expect(named.map(({ id }: { id: string }) => id)).toEqual([made[0]])
    const none = { object: 'list', data: [], has_more: false, last_id: null }
    expect((await admin.call('GET /keys?external_id=cus_none')).body).toEqual(none)
  })

  test('a page is one query of the index beside the look at the schema, without a scan, and shows its keys as they are now', async () => {
    const ofItsOwn = { ...gateway.tables, database: { ...gateway.tables.database } }
    const [last, first] = [await create({ name: 'listed' }), await create()]
    const calls: string[] = []
    intercept(ofItsOwn, (send, operation, input) => {
      const { TableName, IndexName = 'table' } = input as { TableName: string; IndexName?: string }
      if (TableName === ofItsOwn.keys) calls.push(`${operation} ${IndexName}`)
      return send()
    })
    const here = adminOf(ofItsOwn)
    const { body } = await here.call('GET /keys?limit=1')
    expect([body.data[0].id, body.has_more, calls]).toEqual([first.id, true, ['GetItem table', 'Query byCreation']])
    await rename(admin, last.id, 'changed elsewhere')
    const next = await here.call(`GET /keys?limit=1&after=${body.last_id}`)
    expect([next.body.data[0].name, calls.length]).toEqual(['changed elsewhere', 4])
  })

  test('shows what deserves a look: empty, idle for 90 days, for every address, and the rest spent within a week', async () => {
    const { id } = await create({ credits: '0' })
    const { id: restricted } = await create({ allowlist: ['10.0.0.0/8'] })
    const later = adminOf(gateway.tables, { clock: () => Date.now() + 91 * 86_400_000 })
    expect((await admin.call(`GET /keys/${id}`)).body.badges).toEqual(['empty', 'no_allowlist'])
    expect((await later.call(`GET /keys/${id}`)).body.badges).toEqual(['empty', 'idle', 'no_allowlist'])
    expect((await admin.call(`GET /keys/${restricted}`)).body.badges).toEqual([])
    const key = await gateway.readKey(restricted)
    const badges = (available: bigint, weekCost: bigint) =>
      keyShape({ ...key, available }, Date.now(), weekCost, new Map()).badges
    expect([badges(6n, 5n), badges(5n, 5n), badges(4n, 5n), badges(0n, 5n)]).toEqual([[], [], ['low'], ['empty']])
  })
})

describe('PATCH /admin/v1/keys/{id}', () => {
  test('changes what is sent and nothing else, in force from the next request, and null takes a setting away', async () => {
    const { id, secret } = await create({ external_id: 'cus_patch', note: 'n' })
    const changed = await admin.call(`PATCH /keys/${id}`, {
      body: { rpm: 9, external_id: null, note: null },
      headers: { 'if-match': '"1"' },
    })
    expect(changed.body).toMatchObject({ rpm: 9, daily_limit: 10_000, external_id: null, note: null, version: 2 })
    expect(changed.headers.ETag).toBe('"2"')
    expect((await gateway.post(secret ?? '', HELLO)).headers.get('ratelimit-limit')).toBe('9')
  })

  test.each(SETTINGS)(
    'changes the setting %s alone, with an event, and null takes it away if a key can be without it',
    async (name) => {
      const { id, ...before } = await create()
      const { field } = SETTING_WORDS[name]
      const told = field === 'external_id' ? 'cus_alone' : SETTING_SAMPLES[name].told
      const change = (value: unknown, seen: number) =>
        admin.call(`PATCH /keys/${id}`, { body: { [field]: value }, headers: { 'if-match': `"${seen}"` } })
      const changed = await change(told, 1)
      const { badges, minute, day, tokens, credit_windows, holds, secret, replayed, warnings, ...rest } = before
      // The lanes of a key that was alone have a pool first.
      const version = name === 'lanes' ? 3 : 2
      expect(changed.body).toMatchObject({ ...rest, [field]: told, version })
      const { body } = await admin.call(`GET /keys/${id}/events`)
      expect(body.data[0]).toMatchObject({ what: 'key.updated', after: { [field]: told } })
      const taken = await change(null, version)
      if (isOptional(name)) expect(taken.body).toMatchObject({ ...rest, [field]: null, version: 3 })
      else expect([taken.status, taken.body.error.param]).toEqual([400, field])
    },
  )

  test('a key with limits on credits or tokens is shown with what is left of them in this UTC day, month and minute', async () => {
    const key = await create({ daily_credits: '0.5', monthly_credits: '30' })
    expect(key.credit_windows).toEqual([
      { setting: 'daily_credits', limit: '0.5', remaining: '0.5', reset_seconds: expect.any(Number) },
      { setting: 'monthly_credits', limit: '30', remaining: '30', reset_seconds: expect.any(Number) },
    ])
    expect(key.credit_windows[0]?.reset_seconds).toBeLessThanOrEqual(86_400)
    const window = { limit: 500, remaining: 500, reset_seconds: expect.any(Number) }
    expect([key.tokens, (await create({ tpm: 500 })).tokens]).toEqual([null, window])
  })

  test('of two operators who change one key, the second is told who changed what, and nothing is lost', async () => {
    const { id } = await create()
    const headers = { 'if-match': '"1"' }
    const [first, second] = await Promise.all([
      admin.call(`PATCH /keys/${id}`, { body: { rpm: 9 }, headers, by: 'ann' }),
      admin.call(`PATCH /keys/${id}`, { body: { rpm: 11 }, headers, by: 'bob' }),
    ])
    const [won, lost] = first.status === 200 ? [first, second] : [second, first]
    expect([won.status, lost.status]).toEqual([200, 412])
    const winner = won === first ? 'ann' : 'bob'
    expect(lost.body.error).toMatchObject({ code: 'stale_version' })
    expect(lost.body.error.message).toMatch(
      new RegExp(`version 2 now.*${winner} changed it at .*: requests a minute 60 → ${won.body.rpm}`),
    )
    expect(lost.headers.ETag).toBe('"2"')
    expect((await gateway.readKey(id)).rpm).toBe(won.body.rpm)
    const again = await admin.call(`PATCH /keys/${id}`, { body: { daily_limit: 5 }, headers: { 'if-match': '"2"' } })
    expect(again.body).toMatchObject({ rpm: won.body.rpm, daily_limit: 5, version: 3 })
  })

  test('a grant does not make a version stale', async () => {
    const { id } = await create()
    await admin.call(`POST /keys/${id}/grants`, { body: { credits: '1' }, headers: once() })
    const { status } = await admin.call(`PATCH /keys/${id}`, { body: { rpm: 9 }, headers: { 'if-match': '"1"' } })
    expect(status).toBe(200)
  })

  test.each([
    ['without If-Match', {}, { rpm: 1 }, 428, 'version_required'],
    ['with an If-Match that is no version', { 'if-match': '*' }, { rpm: 1 }, 400, null],
    ['with nothing to change', { 'if-match': '"1"' }, {}, 400, null],
    ['of the credits', { 'if-match': '"1"' }, { credits: '1' }, 400, null],
    ['of the secret', { 'if-match': '"1"' }, { last_four: 'abcd' }, 400, null],
  ])('refuses a change %s', async (_, headers, body, status, code) => {
    const sent = { body, headers: headers as Record<string, string> }
    const answer = await admin.call(`PATCH /keys/${(await create()).id}`, sent)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })
})

describe('rotation, its end, and revoke', () => {
  test('rotate gives a new secret, the old one works for the grace period and shows its use, and end-grace ends it', async () => {
    const key = await create()
    const rotated = await admin.call(`POST /keys/${key.id}/rotate`, { body: { grace_seconds: 60 }, headers: once() })
    expect(rotated.status).toBe(200)
    const { previous, secret } = rotated.body
    expect(previous).toMatchObject({ last_four: key.last_four, last_used_at: null })
    expect(Date.parse(previous.expires_at) - Date.now()).toBeLessThanOrEqual(60_000)
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
    expect((await gateway.post(key.secret ?? '', HELLO)).status).toBe(200)
    expect((await admin.call(`GET /keys/${key.id}`)).body.previous.last_used_at).toEqual(expect.any(String))
    const ended = await admin.call(`POST /keys/${key.id}/end-grace`)
    expect([ended.status, ended.body.previous]).toEqual([200, null])
    expect((await gateway.post(key.secret ?? '', HELLO)).status).toBe(401)
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
  })

  test('rotate with a grace period of 0 ends the old secret, and one that was in grace, at once; beyond an hour it is refused', async () => {
    const key = await create()
    const long = await admin.call(`POST /keys/${key.id}/rotate`, { body: { grace_seconds: 3601 }, headers: once() })
    expect([long.status, long.body.error.param]).toEqual([400, 'grace_seconds'])
    const second = await admin.call(`POST /keys/${key.id}/rotate`, { headers: once() })
    const { body } = await admin.call(`POST /keys/${key.id}/rotate`, { body: { grace_seconds: 0 }, headers: once() })
    expect(body.previous).toBeNull()
    for (const old of [key.secret, second.body.secret]) expect((await gateway.post(old, HELLO)).status).toBe(401)
    expect((await gateway.post(body.secret, HELLO)).status).toBe(200)
  })

  test('suspend refuses a key at once and resume admits it again; both are shown, listed and among the events', async () => {
    const { id, secret } = await create()
    const suspended = await admin.call(`POST /keys/${id}/suspend`)
    expect([suspended.status, suspended.body.status, suspended.headers.ETag]).toEqual([200, 'suspended', '"2"'])
    expect((await gateway.post(secret ?? '', HELLO)).status).toBe(403)
    const idsOf = async (status: string) =>
      (await admin.call(`GET /keys?status=${status}`)).body.data.map((key: { id: string }) => key.id)
    expect([(await idsOf('suspended')).includes(id), (await idsOf('active')).includes(id)]).toEqual([true, false])
    expect((await admin.call('GET /overview')).body.keys.suspended).toBeGreaterThan(0)
    const changed = await admin.call(`PATCH /keys/${id}`, { body: { rpm: 9 }, headers: { 'if-match': '"2"' } })
    expect(changed.body).toMatchObject({ rpm: 9, status: 'suspended' })
    const resumed = await admin.call(`POST /keys/${id}/resume`)
    expect([resumed.status, resumed.body.status]).toEqual([200, 'active'])
    expect((await gateway.post(secret ?? '', HELLO)).status).toBe(200)
    const { body } = await admin.call(`GET /keys/${id}/events`)
    expect(body.data.slice(0, 3)).toMatchObject([
      { what: 'key.resumed', before: { status: 'suspended' }, after: { status: 'active' } },
      { what: 'key.updated' },
      { what: 'key.suspended', before: { status: 'active' }, after: { status: 'suspended' } },
    ])
  })

  test('revoke wants the name of the key, ends it at once, and every further change is a 409', async () => {
    const { id, secret } = await create()
    const wrong = await admin.call(`POST /keys/${id}/revoke`, { body: { confirm: 'acm' } })
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'confirm'])
    expect((await gateway.readKey(id)).status).toBe('active')
    const revoked = await admin.call(`POST /keys/${id}/revoke`, { body: { confirm: 'acme' } })
    expect(revoked.body.status).toBe('revoked')
    expect((await gateway.post(secret ?? '', HELLO)).status).toBe(401)
    const changes = [
      admin.call(`POST /keys/${id}/revoke`, { body: { confirm: 'acme' } }),
      admin.call(`POST /keys/${id}/rotate`, { headers: once() }),
      admin.call(`POST /keys/${id}/end-grace`),
      admin.call(`POST /keys/${id}/suspend`),
      admin.call(`POST /keys/${id}/resume`),
      admin.call(`POST /keys/${id}/grants`, { body: { credits: '1' }, headers: once() }),
      admin.call(`PATCH /keys/${id}`, { body: { rpm: 1 }, headers: { 'if-match': '"2"' } }),
    ]
    for (const { status, body } of await Promise.all(changes)) {
      expect([status, body.error.code]).toEqual([409, 'key_revoked'])
      expect(body.error.message).toMatch(/^The key '[^']+' is revoked/)
    }
  })
})

test('grants are listed newest first, page by page, and refuse what is no amount', async () => {
  const { id } = await create()
  for (const credits of ['1', '0.5']) {
    const { status, body } = await admin.call(`POST /keys/${id}/grants`, { body: { credits }, headers: once() })
    expect([status, body.object, body.credits, body.by]).toEqual([201, 'grant', credits, 'ann'])
  }
  const listed = await Array.fromAsync(walk(admin, `GET /keys/${id}/grants?limit=2`))
  expect(listed.map(({ credits }) => credits)).toEqual(['0.5', '1', '5'])
  const wrong = ['0', '-0', '-0.0', '--1', '+1', ' 1', '1e3', '0.0000000001', `${10n ** 24n}`, 1, -1, '', undefined]
  for (const credits of wrong) {
    const { status, body } = await admin.call(`POST /keys/${id}/grants`, { body: { credits }, headers: once() })
    expect([status, body.error.param]).toEqual([400, 'credits'])
  }
  expect((await admin.call(`GET /keys/${id}`)).body).toMatchObject({ granted: '6.5', available: '6.5' })
})

test('events tell who changed what, before and after, by key, kind and caller, and never a secret or its hash', async () => {
  const key = await create()
  await admin.call(`PATCH /keys/${key.id}`, { body: { rpm: 9 }, headers: { 'if-match': '"1"' }, by: 'bob' })
  const rotated = await admin.call(`POST /keys/${key.id}/rotate`, { headers: once() })
  const { body, text } = await admin.call(`GET /keys/${key.id}/events`)
  expect(body.data.map(({ what, by }: { what: string; by: string }) => `${by} ${what}`)).toEqual([
    'ann key.rotated',
    'bob key.updated',
    'ann key.created',
  ])
  expect(body.data[1]).toMatchObject({ key_id: key.id, before: { rpm: 60 }, after: { rpm: 9 } })
  expect(body.data[2]).toMatchObject({ before: null, after: { name: 'acme', daily_limit: 10_000, credits: '5' } })
  const { current, previous } = await gateway.readKey(key.id)
  for (const hidden of [key.secret, rotated.body.secret, current.hash, previous?.hash])
    expect(text).not.toContain(hidden)
  const updates = await admin.call(`GET /events?key_id=${key.id}&what=key.updated&by=bob`)
  expect(updates.body.data).toEqual([body.data[1]])
  expect(await Array.fromAsync(walk(admin, `GET /events?key_id=${key.id}&limit=2`))).toEqual(body.data)
})

test('a key is found by its id, its external id, the last four of a secret and a part of its name', async () => {
  const key = await create({ name: 'Zebra crossing', external_id: 'cus_zebra' })
  for (const q of [key.id, 'cus_zebra', key.last_four, 'zebra']) {
    const { body } = await admin.call(`GET /search?q=${q}`)
    expect(body).toMatchObject({ object: 'search', request_id: null })
    expect(body.keys.map(({ id }: { id: string }) => id)).toContain(key.id)
  }
  expect((await admin.call('GET /search?q=no-such-thing')).body.keys).toEqual([])
  expect((await admin.call('GET /search')).body.error.param).toBe('q')
})

test.each([
  ['GET /keys/key_none', {}],
  ['PATCH /keys/key_none', { body: { rpm: 1 }, headers: { 'if-match': '"1"' } }],
  ['POST /keys/key_none/rotate', { headers: once() }],
  ['POST /keys/key_none/end-grace', {}],
  ['POST /keys/key_none/suspend', {}],
  ['POST /keys/key_none/resume', {}],
  ['POST /keys/key_none/revoke', { body: { confirm: 'x' } }],
  ['GET /keys/key_none/grants', {}],
  ['POST /keys/key_none/grants', { body: { credits: '1' }, headers: once() }],
  ['GET /keys/key_none/events', {}],
  ['GET /events?key_id=key_none', {}],
  ['GET /requests?key_id=key_none', {}],
  ['GET /requests?key_id=key_none', { headers: { accept: 'text/csv' } }],
  ['GET /usage?key_id=key_none', {}],
  ['POST /audits', { body: { key_id: 'key_none' } }],
])('%s of a key that nobody has is a 404', async (route, sent) => {
  const { status, body } = await admin.call(route, sent)
  expect([status, body.error.code, body.error.message]).toEqual([404, 'not_found', "There is no key 'key_none'."])
})
