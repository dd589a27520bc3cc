import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { hasDisplay, writeLaunchFile } from '../../cli/console/open-browser.ts'
import { startConsole } from '../../cli/console/start-console.ts'
import { ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import type { TestGateway } from '../support/gateway.ts'
import { CALLER, connectionTo } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { say, type Upstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

let gateway: TestGateway
let upstream: Upstream
let stage: Stage
let origin: string
let token: string
let launch: string
const PLAYGROUND = `playground of ${CALLER}`
const stack = new AsyncDisposableStack()

type Sent = { method?: string; headers?: Record<string, string>; body?: string }
type Told = { status: number; headers: NodeJS.Dict<string | string[]>; text: string }

/** As anybody could send it: fetch would choose Host and Origin itself. */
async function send(path: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<Told> {
  const { hostname, port } = new URL(origin)
  const sent = httpRequest({ hostname, port, path, method, headers })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

const own = (headers: Record<string, string> = {}) => ({ 'X-Waybill-Console': token, ...headers })
const json = (headers: Record<string, string> = {}) => own({ 'Content-Type': 'application/json', ...headers })
const codeOf = (told: Told) => JSON.parse(told.text).error.code

type Desk = { origin: string; launch: string; token: string; end(): Promise<void> }

/** The console of an operator who may call the admin API of a stage, and nothing else. */
async function sitDown(isReadOnly = false): Promise<Desk> {
  const inner = stack.use(new AsyncDisposableStack())
  const connection = connectionTo(stage.admin, gateway.baseUrl)
  const address = new URL(await startConsole(connection, { port: 0, isReadOnly }, inner))
  return {
    origin: address.origin,
    launch: address.hash,
    token: await tokenOf(address),
    end: () => inner.disposeAsync(),
  }
}

async function tokenOf(address: URL): Promise<string> {
  const { token: own } = (await (await exchange(address)).json()) as { token: string }
  return own
}

/** As the page of a desk sends it. */
async function ask(
  route: string,
  body: object | undefined,
  at: Pick<Desk, 'origin' | 'token'>,
  more: Record<string, string> = {},
) {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'X-Waybill-Console': at.token, 'Content-Type': 'application/json', ...more }
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(new URL(path, at.origin), sent)
  const told = await answer.text()
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
  const json: any = told[0] === '{' ? JSON.parse(told) : undefined
  return { status: answer.status, headers: answer.headers, text: told, json }
}

const keysNamed = async (name: string) =>
  (await Array.fromAsync(listKeys(gateway.tables)())).filter((key) => key.name.startsWith(name))

async function exchange(at: URL, body: object = { launch: at.hash.slice('#launch='.length) }): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return fetch(new URL('/console/session', at), { method: 'POST', headers, body: JSON.stringify(body) })
}

beforeAll(async () => {
  ;({ gateway, upstream } = await openBoth())
  stage = await openStage(gateway.tables, gateway.baseUrl)
  ;({ origin, launch, token } = await sitDown())
})
afterAll(() => stack.disposeAsync())
afterEach(() => {
  Object.assign(stage.admin, { allows: () => true, lost: 0 })
})

test('the launch token is exchanged once for a token of the session; used again, or wrong, it is a 401', async () => {
  expect(launch).toMatch(/^#launch=[\w-]{43}$/)
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(launch).not.toContain(token)
  for (const body of [{ launch: launch.slice('#launch='.length) }, { launch: 'x' }, { launch: null }, {}]) {
    expect((await exchange(new URL(origin), body)).status).toBe(401)
  }
})

test.each([
  ['no token', {}],
  ['a wrong token', { 'X-Waybill-Console': 'x' }],
  ['the token in a cookie', { Cookie: 'X-Waybill-Console=TOKEN' }],
  ['the token as a bearer', { Authorization: 'Bearer TOKEN' }],
])('a call with %s is a 401, to the API and to the playground', async (_, headers) => {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('TOKEN', token)]))
  for (const path of ['/admin/v1/keys', '/admin/v1/whoami', '/console/playground/models', '/console/x']) {
    const told = await send(path, { headers: sent })
    expect([path, told.status, codeOf(told)]).toEqual([path, 401, 'invalid_console_token'])
  }
})

test('a Host that is not exactly ours is a 421, for the page and with a valid token, too', async () => {
  const { port } = new URL(origin)
  const foreign = ['evil.example', `evil.example:${port}`, '127.0.0.1', 'localhost', `127.0.0.1:${port}.evil.example`]
  for (const Host of [...foreign, `[::1]:${port}`, '127.0.0.1:1']) {
    for (const path of ['/', '/admin/v1/whoami', '/console/session']) {
      const told = await send(path, { headers: own({ Host }) })
      expect([Host, path, told.status]).toEqual([Host, path, 421])
    }
  }
  expect((await send('/admin/v1/whoami', { headers: own({ Host: `localhost:${port}` }) })).status).toBe(200)
})

test('an Origin that is not ours is a 403 with a valid token, too, and no answer allows another origin', async () => {
  const { port } = new URL(origin)
  for (const Origin of [
    'https://evil.example',
    'null',
    `http://127.0.0.1:${Number(port) + 1}`,
    `https://127.0.0.1:${port}`,
  ]) {
    for (const [path, method] of [
      ['/admin/v1/keys', 'GET'],
      ['/admin/v1/keys', 'POST'],
      ['/console/session', 'POST'],
      ['/admin/v1/keys', 'OPTIONS'],
    ] as const) {
      const told = await send(path, { method, headers: json({ Origin }), body: method === 'POST' ? '{}' : '' })
      expect([Origin, method, told.status, codeOf(told)]).toEqual([Origin, method, 403, 'origin_not_allowed'])
      expect(Object.keys(told.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  }
  expect((await send('/admin/v1/whoami', { headers: own({ Origin: origin }) })).status).toBe(200)
})

test('a call that another site or another port of this machine makes is a 403; the page itself may be navigated to', async () => {
  for (const site of ['cross-site', 'same-site']) {
    const told = await send('/admin/v1/whoami', { headers: own({ 'Sec-Fetch-Site': site }) })
    expect([site, told.status]).toEqual([site, 403])
    const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate' }
    expect((await send('/', { headers })).status).toBe(200)
    expect((await send('/admin/v1/whoami', { headers: own(headers) })).status).toBe(403)
    expect((await send('/console.js', { headers: { ...headers, 'Sec-Fetch-Mode': 'no-cors' } })).status).toBe(403)
  }
  expect((await send('/admin/v1/whoami', { headers: own({ 'Sec-Fetch-Site': 'same-origin' }) })).status).toBe(200)
})

test('a form post is a 415, whatever form has sent it, and changes nothing', async () => {
  const before = (await keysNamed('')).length
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
    const headers = own({ 'Content-Type': type, 'Idempotency-Key': 'form' })
    for (const path of ['/admin/v1/keys', '/console/session', '/console/playground/chat/completions']) {
      const told = await send(path, { method: 'POST', headers, body: '{"name":"x"}' })
      expect([type, path, told.status]).toEqual([type, path, 415])
    }
  }
  expect((await keysNamed('')).length).toBe(before)
})

test('every answer, a refusal too, forbids framing, sniffing, referrers, keeping, and scripts that are not the page’s', async () => {
  const answers = [
    await send('/'),
    await send('/console.js'),
    await send('/nothing'),
    await send('/admin/v1/keys'),
    await send('/admin/v1/keys', { headers: own() }),
    await send('/', { headers: { Host: 'evil.example' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401, 200, 421])
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(headers).not.toHaveProperty('set-cookie')
  }
})

test('a body beyond every bound is a 413 before all of it is read', async () => {
  const told = await send('/admin/v1/catalog', { method: 'PUT', headers: json(), body: ' '.repeat(1_000_000) })
  expect([told.status, codeOf(told)]).toEqual([413, 'request_too_large'])
})

test('no path leads out of the page’s own files, and none is opened by another spelling of it', async () => {
  for (const path of [
    '/../package.json',
    '/%2e%2e/package.json',
    '/console.js/../../package.json',
    '/..%2fpackage.json',
    '//evil.example/',
    '/console.js%00',
    '/Admin/v1/keys',
    '/admin/v1/../v1/keys',
    '/admin%2fv1/keys',
    '/admin/v1/keys/..%2f..%2fusage',
    '/admin/v1/keys/__proto__',
    '/console/../admin/v1/keys',
  ]) {
    const told = await send(path)
    expect([path, [401, 404].includes(told.status), told.text.includes('"error"')]).toEqual([path, true, true])
    expect([path, (await send(path, { headers: own() })).text.includes('devDependencies')]).toEqual([path, false])
  }
  const absolute = await send('http://evil.example/admin/v1/keys', { headers: own() })
  expect(absolute.status).toBe(404)
})

test('a field called __proto__ or constructor is refused as any that is not known, and changes no object', async () => {
  for (const [path, method] of [
    ['/admin/v1/keys', 'POST'],
    ['/admin/v1/audits', 'POST'],
    ['/console/session', 'POST'],
  ] as const) {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const body = `{"name":"x","launch":"x","${name}":{"secret":"x","isAdmin":true}}`
      const told = await send(path, { method, headers: json({ 'Idempotency-Key': 'proto' }), body })
      expect([path, name, told.status]).toEqual([path, name, path === '/console/session' ? 401 : 400])
    }
  }
  expect({}).not.toHaveProperty('isAdmin')
})

test('a caller who never ends its header holds up nobody else', async () => {
  const held = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(held, 'connect')
  held.write(`GET / HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nX-Slow: `)
  expect((await send('/')).status).toBe(200)
  held.destroy()
})

test('the API is served with the operator’s name, and streams an audit', async () => {
  const headers = json({ 'Idempotency-Key': 'console-1' })
  const made = await send('/admin/v1/keys', { method: 'POST', headers, body: '{"name":"made here","credits":"1"}' })
  expect(made.status).toBe(201)
  const { id } = JSON.parse(made.text)
  const events = JSON.parse((await send(`/admin/v1/keys/${id}/events`, { headers: own() })).text)
  expect(events.data).toMatchObject([{ by: CALLER, what: 'key.created' }])
  const audit = await send('/admin/v1/audits', { method: 'POST', headers: json(), body: '{}' })
  expect(audit.text.trimEnd().split('\n').at(-1)).toContain('"audit.summary"')
})

test('what is refused by this console is neither signed nor sent', async () => {
  stage.admin.asked.length = 0
  const refused = [
    await send('/admin/v1/keys', { headers: own({ Host: 'evil.example' }) }),
    await send('/admin/v1/keys', { headers: own({ Origin: 'https://evil.example' }) }),
    await send('/admin/v1/keys'),
    await send('/admin/v1/keys', { method: 'POST', headers: own({ 'Content-Type': 'text/plain' }), body: '{}' }),
    await send('/admin/v1/keys', { method: 'POST', headers: json(), body: ' '.repeat(70_000) }),
    await send('/admin/v1/keys', { method: 'POST', headers: json(), body: '[' }),
    await send('/admin/v1/keys', { method: 'DELETE', headers: own() }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([421, 403, 401, 415, 413, 400, 405])
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
    expect([path, (await send(path, { headers: own() })).status]).toEqual([path, 404])
  }
  expect(stage.admin.asked).toEqual([])
})

test('a console that only looks says so to its page, and sends no change, whatever the caller may do in AWS', async () => {
  const reading = await sitDown(true)
  const { json: identity } = await ask('GET /admin/v1/whoami', undefined, reading)
  expect(identity.scopes).toEqual(['keys.read', 'usage.read', 'catalog.read', 'admin_keys.read'])
  expect((await ask('GET /admin/v1/keys', undefined, reading)).status).toBe(200)
  stage.admin.asked.length = 0
  for (const { method, path } of ADMIN_ROUTES.filter(({ scope }) => scope && !scope.endsWith('.read'))) {
    const told = await ask(`${method} /admin/v1${path.replace(/\{\w+\}/, 'x')}`, {}, reading)
    expect([path, told.status, told.json.error.code]).toEqual([path, 403, 'insufficient_scope'])
  }
  expect((await ask('POST /console/playground/chat/completions', {}, reading)).status).toBe(403)
  expect((await ask('GET /console/playground/models', undefined, reading)).status).toBe(403)
  expect(stage.admin.asked).toEqual([])
  await reading.end()
})

describe('the playground', () => {
  const chat = { model: 'test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const play = (at: Desk) => ask('POST /console/playground/chat/completions', chat, at)
  const ownKeys = async () => (await keysNamed(PLAYGROUND)).filter(({ createdAtMs }) => createdAtMs >= startedMs)
  const startedMs = Date.now()

  test('streams an answer with a key made for it, which holds 1 credit, ends within 12 hours, is followed by another if it is refused, and is revoked at the end', async () => {
    upstream.reply = say('Hello')
    const playing = await sitDown()
    expect((await ask('GET /console/playground/models', undefined, playing)).status).toBe(404)
    expect(await ownKeys()).toEqual([])
    const { headers, text: told } = await play(playing)
    expect(headers.get('content-type')).toContain('text/event-stream')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(told).toMatch(/Hello[\s\S]*data: \[DONE\]\n\n$/)
    const [key, ...others] = await ownKeys()
    expect([key?.status, key?.granted, others]).toEqual(['active', 1_000_000_000n, []])
    expect((key?.expiresAtMs ?? 0) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000)
    expect(key?.scopes).toEqual(['chat.completions', 'models.read'])

    const revoked = await ask(`POST /admin/v1/keys/${key?.id}/revoke`, { confirm: key?.name }, playing)
    expect(revoked.status).toBe(200)
    const again = await play(playing)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('Hello')])
    expect((await ownKeys()).map(({ status }) => status).sort()).toEqual(['active', 'revoked'])
    await playing.end()
    expect((await ownKeys()).map(({ status }) => status)).toEqual(['revoked', 'revoked'])
  })

  test('has a key that is made once if answers are lost, of which only the hash is sent, and that is revoked by its name of then', async () => {
    const { admin } = stage
    const playing = await sitDown()
    admin.asked.length = 0
    admin.lost = 2
    expect((await play(playing)).text).toContain('Hello')
    const isActive = ({ status }: { status: string }) => status === 'active'
    const [key, ...others] = (await keysNamed('playground of')).filter(isActive)
    expect([key?.name, others]).toEqual([PLAYGROUND, []])
    const making = admin.asked.filter(({ method }) => method === 'POST')
    expect(JSON.parse(making[0]?.body ?? '')).toMatchObject({ secret_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(new Set(making.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(JSON.stringify(admin.asked)).not.toContain('svc_live_')
    await ask(`PATCH /admin/v1/keys/${key?.id}`, { name: 'playground of another name' }, playing, { 'If-Match': '"1"' })
    await playing.end()
    expect((await gateway.readKey(key?.id ?? '')).status).toBe('revoked')
  })

  test('is refused in the admin API’s words to whoever may make no key, and a key that cannot be revoked is named', async () => {
    const { admin } = stage
    const playing = await sitDown()
    admin.allows = (method) => method === 'GET'
    const { status, json: refused } = await play(playing)
    expect([status, refused.error.code, refused.error.message]).toEqual([
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

test('no secret is in what the admin API logged, nor in any item of the table', async () => {
  const headers = json({ 'Idempotency-Key': 'console-secret' })
  const body = '{"name":"secret"}'
  const made = JSON.parse((await send('/admin/v1/keys', { method: 'POST', headers, body })).text)
  expect(made.secret).toMatch(/^svc_live_/)
  const { Items } = await gateway.tables.database.scan({ TableName: gateway.tables.keys })
  const stored = JSON.stringify(Items, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  expect(stored).toContain(made.id)
  expect(stored).not.toContain(made.secret)
  expect([...stage.admin.logged, ...gateway.logLines].join('\n')).not.toContain(made.secret)
})

test('the launch address reaches the browser by a file for its owner only, in a folder of its own, which is gone at the end', async () => {
  const inner = new AsyncDisposableStack()
  const file = await writeLaunchFile('http://127.0.0.1:1/#launch=abc', inner)
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
  expect(readFileSync(file, 'utf8')).toContain('url=http://127.0.0.1:1/#launch=abc')
  await inner.disposeAsync()
  expect(readdirSync(join(dirname(file), '..'))).not.toContain(dirname(file).split('/').at(-1))
})

test('no browser is opened where there is no display', () => {
  expect([
    hasDisplay('linux', {}),
    hasDisplay('linux', { DISPLAY: ':0' }),
    hasDisplay('linux', { WAYLAND_DISPLAY: 'w' }),
  ]).toEqual([false, true, true])
  expect([hasDisplay('darwin', {}), hasDisplay('aix', { DISPLAY: ':0' })]).toEqual([true, false])
})

test('waybill console serves until it is told to end, and revokes its playground’s key on SIGTERM', async () => {
  const startedMs = Date.now()
  const args = ['console', '--no-open', '--json', '--stage', 'dev']
  const { child, output, ended } = stage.start('cli/waybill.ts', args)
  await until(() => output.stdout.endsWith('}\n'), 20_000)
  const address = new URL(JSON.parse(output.stdout).url)
  const desk = { origin: address.origin, token: await tokenOf(address) }
  expect((await ask('POST /console/playground/chat/completions', {}, desk)).status).toBe(400)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  const named = await keysNamed('playground of arn')
  expect(named.filter(({ createdAtMs }) => createdAtMs > startedMs).map(({ status }) => status)).toEqual(['revoked'])
})

test('waybill console of a protected stage is asked about first, unless it only looks', async () => {
  const prod = await openStage(gateway.tables, gateway.baseUrl, 'prod')
  const refused = await prod.waybill(['console', '--no-open', '--stage', 'prod'])
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/This changes the stage prod: open a console .* Add --yes to go on\./)
  const args = ['console', '--read-only', '--no-open', '--stage', 'prod']
  const { child, output, ended } = prod.start('cli/waybill.ts', args)
  await until(() => output.stdout.includes('signs this browser in'), 20_000)
  expect(output.stdout).toMatch(
    /^The console of prod, read only, through http:\/\/127\.0\.0\.1:\d+: http:\/\/127\.0\.0\.1:\d+\/#launch=/,
  )
  child.kill('SIGINT')
  expect((await ended).code).toBe(0)
})
