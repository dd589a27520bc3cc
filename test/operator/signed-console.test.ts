import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { readLastAudit } from '../../layers/gateway/store/keys/last-audit.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { type OperatorTables, openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { startConsole } from '../../operator/console/start-console.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { type SignedAdmin, sendJson, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { CALLER } from '../support/stage.ts'
import { say, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

jest.setTimeout(60_000)

let gateway: TestGateway
let upstream: Upstream
let admin: SignedAdmin
let desk: Desk
const reported: string[] = []
const stack = new AsyncDisposableStack()

type Sent = { method?: string; headers?: Record<string, string>; body?: string }
// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
type Told = { status: number; headers: NodeJS.Dict<string | string[]>; text: string; json: any }
type Desk = { origin: string; token: string; end(): Promise<void> }

/** An operator's console of a stage that has an admin API. Her own rights to the tables are none, unless they are said. */
async function sitDown({ isReadOnly = false, tables = withoutRights() } = {}): Promise<Desk> {
  const connection = {
    tables,
    stage: 'dev',
    isProtected: false,
    ipv6: false,
    chatUrl: gateway.baseUrl,
    apiUrl: gateway.baseUrl,
    adminUrl: admin.url,
    whoAmI: async () => 'not asked',
  }
  const inner = stack.use(new AsyncDisposableStack())
  const options = { port: 0, isReadOnly, report: (line: string) => reported.push(line) }
  const { origin, hash } = new URL(await startConsole(connection, options, inner))
  return { origin, token: await tokenFor(origin, hash), end: () => inner.disposeAsync() }
}

async function tokenFor(origin: string, hash: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ launch: hash.slice('#launch='.length) })
  const answer = await fetch(new URL('/console/session', origin), { method: 'POST', headers, body })
  return ((await answer.json()) as { token: string }).token
}

/** The operator's credentials, which sign, and AWS's word to each call to a table. */
function withoutRights(): OperatorTables {
  const refuse = async () => {
    throw Object.assign(new Error('User is not authorized'), { name: 'AccessDeniedException' })
  }
  const database = Object.fromEntries(Object.keys(gateway.tables.database).map((name) => [name, refuse]))
  return { ...signingTables(), database: database as unknown as OperatorTables['database'] }
}

function signingTables(): OperatorTables {
  const names = {
    keysTable: gateway.tables.keys,
    usageTable: gateway.tables.usage,
    answersTable: gateway.tables.answers,
  }
  return openOperatorTables(names)
}

/** As anybody could send it. */
async function send(path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}, at = desk): Promise<Told> {
  const { hostname, port } = new URL(at.origin)
  const sent = httpRequest({ hostname, port, path, method, headers })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  const told = await text(answer)
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: told,
    json: told[0] === '{' ? JSON.parse(told.split('\n')[0] ?? '') : undefined,
  }
}

/** As the page sends it. */
function ask(route: string, body?: object, headers: Record<string, string> = {}, at = desk): Promise<Told> {
  const [method = '', path = ''] = route.split(' ')
  const own = { 'X-Waybill-Console': at.token, Origin: at.origin, ...(body && { 'Content-Type': 'application/json' }) }
  return send(
    `/admin/v1${path}`,
    { method, headers: { ...own, ...headers }, body: body ? JSON.stringify(body) : '' },
    at,
  )
}

const keysNamed = async (name: string) =>
  (await Array.fromAsync(listKeys(gateway.tables)())).filter((key) => key.name.startsWith(name))
const codeOf = ({ status, json }: Told) => [status, json.error.code]

const ENV = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }

beforeAll(async () => {
  Object.assign(process.env, ENV)
  ;({ gateway, upstream } = await openBoth())
  admin = stack.use(await startSignedAdmin(gateway.tables, gateway.baseUrl))
  desk = await sitDown()
})
afterAll(async () => {
  await stack.disposeAsync()
  for (const name of Object.keys(ENV)) delete process.env[name]
})
afterEach(() => {
  Object.assign(admin, { allows: () => true, instead: undefined, lost: 0 })
})

test('an operator without rights to the tables has the whole console, and is named as the deployed function sees her', async () => {
  const who = await ask('GET /whoami')
  expect([who.status, who.json.by, who.json.stage, who.json.base_url]).toEqual([
    200,
    CALLER,
    'dev',
    `${gateway.baseUrl}/v1`,
  ])
  expect(who.headers).toMatchObject({
    'content-security-policy': expect.anything(),
    'x-request-id': expect.stringMatching(/^adm_/),
  })
  const made = await ask('POST /keys', { name: 'made', credits: '2' }, { 'Idempotency-Key': 'made-1' })
  expect([made.status, made.json.granted]).toEqual([201, '2'])
  const events = await ask(`GET /keys/${made.json.id}/events`)
  expect(events.json.data).toMatchObject([{ by: CALLER, what: 'key.created' }])
  for (const path of [
    '/overview',
    '/search?q=made',
    '/keys?limit=1',
    '/requests',
    '/usage?bucket=1d',
    '/catalog',
    '/routes',
    '/events',
  ]) {
    expect([path, (await ask(`GET ${path}`)).status]).toEqual([path, 200])
  }
  expect(admin.asked.every(({ isSigned }) => isSigned)).toBe(true)
  expect(reported).toEqual([])
})

test('a change of what somebody else has changed since is a 412; a grant that is asked for twice is made once', async () => {
  const [{ id } = { id: '' }] = [(await ask('POST /keys', { name: 'two' }, { 'Idempotency-Key': 'two-1' })).json]
  const { headers } = await ask(`GET /keys/${id}`)
  const seen = { 'If-Match': String(headers.etag) }
  expect((await ask(`PATCH /keys/${id}`, { rpm: 5 }, seen)).status).toBe(200)
  const stale = await ask(`PATCH /keys/${id}`, { rpm: 6 }, seen)
  expect([...codeOf(stale), stale.headers.etag]).toEqual([412, 'stale_version', '"2"'])
  const grants = await Promise.all(
    [1, 2].map(() => ask(`POST /keys/${id}/grants`, { credits: '3' }, { 'Idempotency-Key': 'two-2' })),
  )
  expect(grants.map(({ status }) => status)).toEqual([201, 201])
  expect(await Array.fromAsync(listGrants(gateway.tables)(id))).toHaveLength(1)
  const reused = await ask(`POST /keys/${id}/grants`, { credits: '4' }, { 'Idempotency-Key': 'two-2' })
  expect(codeOf(reused)).toEqual([422, 'idempotency_key_reused'])
})

test('what the page sends for this console alone goes no further: its token, Host and Origin', async () => {
  admin.asked.length = 0
  await ask('GET /keys', undefined, {
    Cookie: 'a=b',
    Authorization: 'Bearer x',
    Accept: 'application/json',
    'X-Forwarded-For': '1.2.3.4',
  })
  const [{ headers } = { headers: {} }] = admin.asked
  expect(headers).toMatchObject({ host: new URL(admin.url).host, accept: 'application/json' })
  const sent = JSON.stringify(headers)
  for (const own of [desk.token, desk.origin, new URL(desk.origin).host, 'a=b', 'Bearer', '1.2.3.4']) {
    expect(sent).not.toContain(own)
  }
})

test('what is refused by this console is neither signed nor sent', async () => {
  admin.asked.length = 0
  const own = { 'X-Waybill-Console': desk.token }
  const json = { ...own, 'Content-Type': 'application/json' }
  const refused = [
    await send('/admin/v1/keys', { headers: { ...own, Host: 'evil.example' } }),
    await send('/admin/v1/keys', { headers: { ...own, Origin: 'https://evil.example' } }),
    await send('/admin/v1/keys', { headers: { ...own, 'Sec-Fetch-Site': 'cross-site' } }),
    await send('/admin/v1/keys'),
    await send('/admin/v1/keys', { headers: { 'X-Waybill-Console': 'x' } }),
    await send('/admin/v1/keys', { method: 'POST', headers: { ...own, 'Content-Type': 'text/plain' }, body: '{}' }),
    await send('/admin/v1/keys', { method: 'POST', headers: json, body: ' '.repeat(70_000) }),
    await send('/admin/v1/keys', { method: 'POST', headers: json, body: '[' }),
    await send('/admin/v1/keys', { method: 'DELETE', headers: own }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([421, 403, 403, 401, 401, 415, 413, 400, 405])
  for (const path of [
    '/admin/v1/../keyed/admin/v1/keys',
    '/admin/v1/%2e%2e/x',
    '/admin/v1//keys',
    '//x/admin/v1/keys',
    '/admin/v1/keys%2fx',
    '/admin/v1/keys/..%2f..%2fusage',
    '/admin/v1/keys/a%00',
    '/admin/v1/keys/',
    '/admin/v1/nothing',
  ]) {
    expect([path, (await send(path, { headers: own })).status]).toEqual([path, 404])
  }
  expect(admin.asked).toEqual([])
})

test('a console that only looks says so to its page, and sends no change, whatever the caller may do in AWS', async () => {
  const reading = await sitDown({ isReadOnly: true })
  expect((await ask('GET /whoami', undefined, {}, reading)).json.scopes).toEqual([
    'keys.read',
    'usage.read',
    'catalog.read',
  ])
  expect((await ask('GET /whoami')).json.scopes).toContain('keys.write')
  expect((await ask('GET /keys', undefined, {}, reading)).status).toBe(200)
  admin.asked.length = 0
  for (const route of [
    'POST /keys',
    'PATCH /keys/key_1',
    'POST /keys/key_1/grants',
    'POST /keys/key_1/revoke',
    'PUT /catalog',
    'POST /routes/test',
  ]) {
    const told = await ask(route, {}, { 'Idempotency-Key': 'reading', 'If-Match': '"1"' }, reading)
    expect([route, ...codeOf(told)]).toEqual([route, 403, 'insufficient_scope'])
  }
  const headers = { 'X-Waybill-Console': reading.token }
  expect((await send('/console/playground/models', { headers }, reading)).status).toBe(403)
  expect(admin.asked).toEqual([])
})

describe('an audit', () => {
  const objectsIn = ({ text: lines }: Told) =>
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).object)

  test('of one key comes in lines from the deployed function, and requests as CSV', async () => {
    const { key, secret } = await gateway.issue({ name: 'audited' })
    await gateway.post(secret, HELLO)
    const told = await ask('POST /audits', { key_id: key.id })
    expect([told.headers['content-type'], objectsIn(told)]).toEqual([
      'application/x-ndjson',
      ['audit', 'audit.summary'],
    ])
    const csv = await ask(`GET /requests?key_id=${key.id}`, undefined, { Accept: 'text/csv' })
    expect([
      csv.headers['content-type'],
      csv.headers['content-disposition'],
      csv.text.trimEnd().split('\n').length,
    ]).toEqual(['text/csv; charset=utf-8', 'attachment; filename="requests.csv"', 2])
  })

  test('of all keys asks the function for one after the other, and is remembered if the operator may write that', async () => {
    const all = await Array.fromAsync(listKeys(gateway.tables)())
    const told = await ask('POST /audits', {})
    expect(objectsIn(told)).toEqual([...all.map(() => 'audit'), 'audit.summary'])
    expect(JSON.parse(told.text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ keys: all.length, wrong: 0 })
    expect(await readLastAudit(gateway.tables)()).toBeUndefined()
    const able = await sitDown({ tables: { ...signingTables(), database: gateway.tables.database } })
    await ask('POST /audits', {}, {}, able)
    expect(await readLastAudit(gateway.tables)()).toMatchObject({ keys: all.length, wrong: 0 })
  })

  test('of all keys is the refusal, if AWS refuses it; one that breaks off has no summary, and the terminal says why', async () => {
    admin.allows = (method) => method === 'GET'
    const refused = await ask('POST /audits', {})
    expect([...codeOf(refused), refused.json.error.message]).toEqual([
      403,
      'access_denied',
      expect.stringContaining('ReaderPolicy'),
    ])
    let audits = 0
    admin.allows = (method) => method === 'GET' || audits++ < 1
    const broken = ask('POST /audits', {})
    await expect(broken).rejects.toThrow(/aborted|hang up/)
    expect(reported.splice(0)).toEqual([expect.stringMatching(/^adm_\w+: The audit broke off: AWS refused this call/)])
  })
})

test('a caller whom AWS refuses is told which policy it takes, and the tables are not asked in its place', async () => {
  admin.allows = () => false
  const able = await sitDown({ tables: { ...signingTables(), database: gateway.tables.database } })
  const told = await ask('GET /keys', undefined, {}, able)
  expect([...codeOf(told), told.json.error.message]).toEqual([
    403,
    'access_denied',
    expect.stringMatching(/ReaderPolicy or OperatorPolicy/),
  ])
  const made = await ask('POST /keys', { name: 'refused' }, { 'Idempotency-Key': 'refused' }, able)
  expect([...codeOf(made), made.json.error.message]).toEqual([
    403,
    'access_denied',
    expect.stringMatching(/output OperatorPolicy\./),
  ])
  expect(await keysNamed('refused')).toEqual([])
})

test('an answer that is too long for a function is told in its own words, and what is no answer is not shown', async () => {
  const envelope = {
    error: { message: 'The answer is too long for here.', type: 'invalid_request_error', param: null, code: null },
  }
  admin.instead = (_, response) => sendJson(response, 400, envelope)
  expect((await ask('GET /requests', undefined, { Accept: 'text/csv' })).json).toEqual(envelope)
  admin.instead = (_, response) => response.setHeader('Content-Type', 'text/html').end('<script>')
  const lied = await ask('GET /keys')
  expect([...codeOf(lied), lied.text.includes('<script>')]).toEqual([503, 'service_unavailable', false])
})

test('routes are tested from this machine, because no function may: it takes rights to the tables', async () => {
  admin.asked.length = 0
  expect(codeOf(await ask('POST /routes/test', {}))).toEqual([403, 'access_denied'])
  expect(admin.asked).toEqual([])
})

describe('the playground', () => {
  const body = JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hi' }] })
  const play = (at: Desk) => {
    const headers = { 'X-Waybill-Console': at.token, 'Content-Type': 'application/json' }
    return send('/console/playground/chat/completions', { method: 'POST', headers, body }, at)
  }

  test('has a key that is made by signed calls, also if an answer is lost, of which only the hash is sent, and is revoked at the end', async () => {
    upstream.reply = say('Hello')
    const playing = await sitDown()
    admin.asked.length = 0
    admin.instead = undefined
    admin.lost = 2
    expect((await play(playing)).text).toContain('Hello')
    expect(await keysNamed('playground of')).toMatchObject([
      { name: `playground of ${CALLER}`, status: 'active', granted: 1_000_000_000n },
    ])
    const making = admin.asked.filter(({ method }) => method === 'POST')
    expect(JSON.parse(making[0]?.body ?? '')).toMatchObject({ secret_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(new Set(making.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(JSON.stringify(admin.asked)).not.toContain('svc_live_')
    const [{ id } = { id: '' }] = await keysNamed('playground of')
    // A revocation names the key as it is called now.
    await ask(`PATCH /keys/${id}`, { name: 'playground of another name' }, { 'If-Match': '"1"' })
    await playing.end()
    expect(await keysNamed('playground of')).toMatchObject([{ status: 'revoked' }])
  })

  test('is refused in the admin API’s words to whoever may make no key, and a key that cannot be revoked is named', async () => {
    const playing = await sitDown()
    admin.allows = (method) => method === 'GET'
    const refused = await play(playing)
    expect([...codeOf(refused), refused.json.error.message]).toEqual([
      403,
      'access_denied',
      expect.stringContaining('OperatorPolicy'),
    ])
    admin.allows = () => true
    expect((await play(playing)).status).toBe(200)
    admin.allows = () => false
    await expect(playing.end()).rejects.toThrow(
      /^The playground’s key key_\w+ may not be revoked\. It ends at 20.*OperatorPolicy/,
    )
  })
})

test('waybill console --stage goes through the stage’s admin API and says so; with --direct it goes to the tables', async () => {
  const stage = await openStage(gateway.tables, gateway.baseUrl)
  stage.outputs = { ...stage.outputs, AdminUrl: admin.url }
  for (const isDirect of [false, true]) {
    const args = ['console', '--no-open', '--stage', 'dev', ...(isDirect ? ['--direct'] : [])]
    const { child, output, ended } = stage.start('operator/waybill.ts', args, {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
    })
    await until(() => output.stdout.includes('signs this browser in'), 20_000)
    const [, through, origin = '', hash = ''] =
      /^The console of dev(.*?): (http:.*)\/(#launch=\S+)/.exec(output.stdout) ?? []
    expect(through).toBe(isDirect ? '' : `, through ${admin.url}`)
    admin.asked.length = 0
    const token = await tokenFor(origin, hash)
    expect((await ask('GET /whoami', undefined, {}, { origin, token, end: async () => {} })).json.by).toBe(CALLER)
    expect(admin.asked.map(({ url }) => url)).toEqual(isDirect ? [] : ['/admin/v1/whoami'])
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  }
  expect((await stage.waybill(['keys', 'list', '--local', '--direct'])).stderr).toMatch(/--direct goes with --stage/)
})
