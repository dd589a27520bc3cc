import { expect, test } from '@jest/globals'
import { READING_SCOPES } from '../../layers/admin/api/call.ts'
import { ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { ADMIN_READING_POSTS } from '../../layers/gateway/endpoints.ts'
import { openTestTables } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { adminOf, once } from './support/admin.ts'

const tables = await openTestTables()
const admin = adminOf(tables)

const NAMED = { id: 'key_1', version: '1', name: 'gold', month: '2020-01' }
const addressOf = (path: string) => path.replace(/{(\w+)}/g, (_, name: keyof typeof NAMED) => NAMED[name])
const scoped = ADMIN_ROUTES.filter(({ scope }) => scope !== undefined)
const posting = ADMIN_ROUTES.filter(({ method }) => method !== 'GET')
const named = (routes: typeof ADMIN_ROUTES) => routes.map((route) => [`${route.method} ${route.path}`, route] as const)

test('every route but the one that tells who asks needs a scope', () => {
  const open = ADMIN_ROUTES.filter(({ scope }) => scope === undefined)
  expect(named(open).map(([name]) => name)).toEqual(['GET /whoami'])
})

test.each(named(scoped))('%s without its scope is a 403 insufficient_scope, and reads nothing', async (_, route) => {
  let calls = 0
  const stop = intercept(tables, (send) => {
    calls += 1
    return send()
  })
  const scopes = ADMIN_SCOPES.filter((scope) => scope !== route.scope)
  const { status, body } = await admin.call(`${route.method} ${addressOf(route.path)}`, { scopes, headers: once() })
  stop()
  expect([status, body.error.code, calls]).toEqual([403, 'insufficient_scope', 0])
  expect(body.error.message).toContain(route.scope)
})

test.each(named(posting))('%s takes JSON only, within its bound, with no unknown field', async (_, route) => {
  const address = `${route.method} ${addressOf(route.path)}`
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
    const { status, body } = await admin.call(address, { headers: { 'content-type': type } })
    expect([type, status, body.error.code]).toEqual([type, 415, 'unsupported_media_type'])
  }
  const large = await admin.call(address, { body: ' '.repeat((route.mostBytes ?? 65_536) + 1) })
  expect([large.status, large.body.error.code]).toEqual([413, 'request_too_large'])
  for (const sent of ['{', '[]', '"x"', 'null', '']) {
    const { status } = await admin.call(address, { body: sent || ' ' })
    expect([sent, status]).toEqual([sent, 400])
  }
  if (route.path === '/catalog/check') return
  const headers = { ...once(), 'if-match': '"1"' }
  const odd = await admin.call(address, { body: { odd_field: 1 }, headers })
  expect(odd.status).toBe(400)
  expect(`${odd.body.error.message} ${odd.body.error.param}`).toMatch(/odd_field|catalog/)
})

test.each(named(ADMIN_ROUTES))('%s refuses a query that it does not know, by its name', async (_, route) => {
  const { status, body } = await admin.call(`${route.method} ${addressOf(route.path)}?odd=1`)
  expect([status, body.error.param]).toEqual([400, 'odd'])
})

test.each([
  ['/keys', 'limit=0', 'limit'],
  ['/keys', 'limit=251', 'limit'],
  ['/accounts', 'limit=101', 'limit'],
  ['/keys', 'limit=x', 'limit'],
  ['/keys', 'status=gone', 'status'],
  ['/keys', 'after=x', 'after'],
  ['/keys', 'after=WyJhIl0', 'after'],
  ['/keys', 'sort=name', 'sort'],
  ['/requests', 'from=2026-11-02&to=2026-11-01', 'from'],
  ['/requests', 'from=yesterday', 'from'],
  ['/requests', 'outcome=lost', 'outcome'],
  ['/requests', 'key_id=1', 'key_id'],
  ['/requests', 'after=WzEsMl0', 'after'],
  ['/requests', 'endpoint=x', 'endpoint'],
  ['/requests', 'status=6xx', 'status'],
  ['/requests', 'stream=yes', 'stream'],
  ['/requests', 'cost_from=-1', 'cost_from'],
  ['/requests', 'duration_to=1.5', 'duration_to'],
  ['/requests', 'colour=x', 'colour'],
  ['/usage', 'bucket=1w', 'bucket'],
  ['/usage', 'bucket=1h&from=2026-10-01&to=2026-11-15', 'from'],
  ['/usage', 'group_by=hour', 'group_by'],
  ['/usage', 'top=0', 'top'],
  ['/usage', 'from=2026-11-16&to=2026-11-15', 'from'],
  ['/usage', 'from=2020-01-01&to=2026-11-15', 'from'],
  ['/overview', 'from=1970-01-01', 'from'],
  ['/overview', 'from=1970-01-01&to=9999-12-31', 'from'],
  ['/overview', 'to=2026-11-15&from=2026-11-15', 'from'],
])('GET %s refuses ?%s with a 400 that names %s', async (path, query, param) => {
  const { status, body } = await admin.call(`GET ${path}?${query}`)
  expect([status, body.error.param]).toEqual([400, param])
})

test('whoever may only look has no scope that a change needs, and may look by POST where the policy for readers says so', () => {
  const looking = posting.filter(({ scope }) => scope !== undefined && READING_SCOPES.includes(scope))
  expect(looking.map(({ path }) => path)).toEqual(ADMIN_READING_POSTS)
  for (const { scope } of ADMIN_ROUTES.filter(({ method }) => method === 'GET')) {
    if (scope !== undefined) expect(READING_SCOPES).toContain(scope)
  }
})

test('an unknown path is a 404 and a wrong method a 405 with Allow, in the gateway’s envelope and with an X-Request-Id', async () => {
  const unknown = await admin.call('GET /nothing')
  expect(unknown.status).toBe(404)
  expect(unknown.body).toEqual({
    error: { message: expect.any(String), type: 'invalid_request_error', param: null, code: 'not_found' },
  })
  expect(unknown.headers).toMatchObject({
    'X-Request-Id': expect.stringMatching(/^adm_[0-9A-HJKMNP-TV-Z]{26}$/),
    'Cache-Control': 'no-store',
  })
  const wrong = await admin.call('PUT /keys')
  expect([wrong.status, wrong.headers.Allow]).toEqual([405, 'GET, POST'])
})

test('GET /whoami tells who asks, of which stage, with which scopes and base_url', async () => {
  const { body } = await admin.call('GET /whoami', { scopes: ['keys.read'], by: 'bob' })
  expect(body).toEqual({
    object: 'identity',
    by: 'bob',
    stage: 'dev',
    protected: false,
    scopes: ['keys.read'],
    base_url: 'https://gateway.example/v1',
    address: null,
  })
})

test.each([
  ['AccessDeniedException', 500, 'internal_error'],
  ['ThrottlingException', 503, 'service_unavailable'],
  ['TypeError', 500, 'internal_error'],
])('a database that answers %s is a %i %s, and tells nothing of its inside', async (name, status, code) => {
  const stop = intercept(tables, () => {
    throw Object.assign(new Error('inner detail'), { name })
  })
  const before = admin.reports.length
  const answer = await admin.call('GET /keys')
  stop()
  expect([answer.status, answer.body.error.code]).toEqual([status, code])
  expect(answer.text).not.toContain('inner detail')
  expect(admin.reports.length - before).toBe(status === 500 ? 1 : 0)
})
