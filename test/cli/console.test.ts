import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { hasDisplay, writeLaunchFile } from '../../cli/console/open-browser.ts'
import { startConsole } from '../../cli/console/start-console.ts'
import { ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { CALLER, connectionTo } from '../support/signed-admin.ts'
import { openStage } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { stageOfFile } from './support/commands.ts'

const { opened } = await stageOfFile()
const PLAYGROUND = `playground of ${CALLER}`
const stack = new AsyncDisposableStack()

type Headers = Readonly<Record<string, string>>
type Told = { status: number; headers: NodeJS.Dict<string | string[]>; text: string }

const OWN = { 'X-Waybill-Console': 'TOKEN' }
const JSON_TYPE = { ...OWN, 'Content-Type': 'application/json' }
const withEach = (name: string, values: readonly string[]) => values.map((value) => ({ ...OWN, [name]: value }))

/** As anybody could send it: fetch would choose Host and Origin itself. TOKEN and PORT stand for those of the console. */
async function send(call: string, headers: Headers = {}, body = ''): Promise<Told> {
  const { hostname, port } = new URL(desk.origin)
  const [method = '', path = ''] = call.split(' ')
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('TOKEN', desk.token).replace('PORT', port),
  ])
  const sent = httpRequest({ hostname, port, path, method, headers: Object.fromEntries(filled) })
  sent.end(body)
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

type Desk = Awaited<ReturnType<typeof sitDown>>

/** The console of an operator who may call the admin API of a stage, and nothing else. */
async function sitDown(isReadOnly = false) {
  const inner = stack.use(new AsyncDisposableStack())
  const connection = connectionTo(opened.stage.admin, opened.gateway.baseUrl)
  const address = new URL(await startConsole(connection, { port: 0, isReadOnly }, inner))
  const { origin, hash: launch } = address
  return { origin, launch, token: await tokenOf(address), end: () => inner.disposeAsync() }
}

async function tokenOf(address: URL): Promise<string> {
  const { token } = (await (await exchange(address)).json()) as { token: string }
  return token
}

/** As the page of a desk sends it. */
async function ask(
  route: string,
  body: object | undefined,
  at: Pick<Desk, 'origin' | 'token'> = desk,
  more: Record<string, string> = {},
) {
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'X-Waybill-Console': at.token, 'Content-Type': 'application/json', ...more }
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(new URL(path, at.origin), sent)
  const told = await answer.text()
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its test expects.
  const json: any = told[0] === '{' ? JSON.parse(told.split('\n')[0] ?? '') : undefined
  return { status: answer.status, headers: answer.headers, text: told, json }
}

const keysNamed = async (name: string) =>
  (await Array.fromAsync(listKeys(opened.gateway.tables)())).filter((key) => key.name.startsWith(name))

async function exchange(at: URL, body: object = { launch: at.hash.slice('#launch='.length) }): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return fetch(new URL('/console/session', at), { method: 'POST', headers, body: JSON.stringify(body) })
}

const desk = await sitDown()
afterAll(() => stack.disposeAsync())
afterEach(() => {
  Object.assign(opened.stage.admin, { allows: () => true, lost: 0 })
})

test('the launch token is exchanged once for a token of the session; used again, or wrong, it is a 401', async () => {
  const { origin, launch, token } = desk
  expect(launch).toMatch(/^#launch=[\w-]{43}$/)
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(launch).not.toContain(token)
  for (const body of [{ launch: launch.slice('#launch='.length) }, { launch: 'x' }, { launch: null }, {}]) {
    expect((await exchange(new URL(origin), body)).status).toBe(401)
  }
})

const KEYS = '/admin/v1/keys'
const WHOAMI = '/admin/v1/whoami'
const CHAT = '/console/playground/chat/completions'
const READS = [KEYS, WHOAMI, '/console/playground/models', '/console/x', '/admin/v1/../v1/keys'].map(
  (it) => `GET ${it}`,
)
const POSTS = [KEYS, '/console/session', CHAT].map((path) => `POST ${path}`)
const ALL = [...READS, ...POSTS, `OPTIONS ${KEYS}`]
const TOKENS = [
  {},
  { 'X-Waybill-Console': 'x' },
  { Cookie: 'X-Waybill-Console=TOKEN' },
  { Authorization: 'Bearer TOKEN' },
]
const NAMES = ['evil.example', 'evil.example:PORT', '127.0.0.1', 'localhost', '127.0.0.1:PORT.evil.example']
const HOSTS = withEach('Host', [...NAMES, '[::1]:PORT', '127.0.0.1:1'])
const ORIGINS = withEach('Origin', ['https://evil.example', 'null', 'http://127.0.0.1:1', 'https://127.0.0.1:PORT'])
const SITES = withEach('Sec-Fetch-Site', ['cross-site', 'same-site'])
const NAVIGATING = SITES.map((site) => ({ ...site, 'Sec-Fetch-Mode': 'navigate' }))
const FORM_TYPES = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']
const FORMS = withEach('Content-Type', FORM_TYPES)
const LARGE = ' '.repeat(1_000_000)

test.each<[string, number, string | null, readonly Headers[], calls: readonly string[], body?: string]>([
  ['no token of its own', 401, 'invalid_console_token', TOKENS, READS],
  ['a Host that is not exactly ours', 421, 'host_not_allowed', HOSTS, ['GET /', ...ALL]],
  ['an Origin that is not ours', 403, 'origin_not_allowed', ORIGINS, ALL],
  ['another site or port of this machine', 403, 'origin_not_allowed', [...SITES, ...NAVIGATING], ALL],
  ['the type of a form', 415, 'unsupported_media_type', FORMS, POSTS],
  ['a body beyond its bound', 413, 'request_too_large', [JSON_TYPE], [`POST ${KEYS}`], LARGE.slice(930_000)],
  ['a body beyond every bound', 413, 'request_too_large', [JSON_TYPE], ['PUT /admin/v1/catalog'], LARGE],
  ['a body that is no JSON', 400, null, [JSON_TYPE], [`POST ${KEYS}`], '['],
  ['another method', 405, 'method_not_allowed', [OWN], [`DELETE ${KEYS}`]],
])('a call with %s is a %i, and is neither signed nor sent', async (_, status, code, all, calls, body = '{}') => {
  opened.stage.admin.asked.length = 0
  for (const headers of all) {
    for (const call of calls) {
      const told = await send(call, headers, call.startsWith('P') ? body : '')
      expect([headers, call, told.status, JSON.parse(told.text).error.code]).toEqual([headers, call, status, code])
      expect(Object.keys(told.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  }
  expect(opened.stage.admin.asked).toEqual([])
})

test('the page may be navigated to from anywhere, its script not be loaded there, and itself it may call the API', async () => {
  for (const headers of NAVIGATING) expect((await send('GET /', headers)).status).toBe(200)
  for (const headers of SITES) {
    expect((await send('GET /console.js', { ...headers, 'Sec-Fetch-Mode': 'no-cors' })).status).toBe(403)
  }
  const ours = { Host: 'localhost:PORT', Origin: 'http://127.0.0.1:PORT', 'Sec-Fetch-Site': 'same-origin' }
  for (const [name, value] of Object.entries(ours)) {
    expect([name, (await send(`GET ${WHOAMI}`, { ...OWN, [name]: value })).status]).toEqual([name, 200])
  }
})

test('every answer, a refusal too, forbids framing, sniffing, referrers, keeping, and scripts that are not the page’s', async () => {
  const answers = [
    await send('GET /'),
    await send('GET /console.js'),
    await send('GET /nothing'),
    await send(`GET ${KEYS}`),
    await send(`GET ${KEYS}`, OWN),
    await send('GET /', { Host: 'evil.example' }),
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

test.each([
  ...['/../package.json', '/%2e%2e/package.json', '/console.js/../../package.json', '/..%2fpackage.json'],
  ...['//evil.example/', 'http://evil.example/admin/v1/keys', '/console.js%00', '/Admin/v1/keys', '/admin%2fv1/keys'],
  ...['/admin/v1/../keyed/admin/v1/keys', '/admin/v1/%2e%2e/x'],
  ...['/admin/v1//keys', '//x/admin/v1/keys', '/admin/v1/keys%2fx', '/admin/v1/keys/..%2f..%2fusage'],
  ...['/admin/v1/keys/a%00', '/admin/v1/keys/', '/admin/v1/nothing'],
])('%s leads neither out of the page’s own files nor to the API, and nothing is signed or sent', async (path) => {
  opened.stage.admin.asked.length = 0
  const told = await send(`GET ${path}`)
  expect([[401, 404].includes(told.status), told.text.includes('"error"')]).toEqual([true, true])
  expect((await send(`GET ${path}`, OWN)).status).toBe(404)
  expect(opened.stage.admin.asked).toEqual([])
})

test.each(['__proto__', 'constructor', 'toString'])(
  'a field called %s is refused as any that is not known, and changes no object',
  async (name) => {
    const body = `{"name":"x","launch":"x","${name}":{"secret":"x","isAdmin":true}}`
    for (const [path, status] of [
      [KEYS, 400],
      ['/admin/v1/audits', 400],
      ['/console/session', 401],
    ] as const) {
      const told = await send(`POST ${path}`, { ...JSON_TYPE, 'Idempotency-Key': 'proto' }, body)
      expect([path, told.status]).toEqual([path, status])
    }
    expect({}).not.toHaveProperty('isAdmin')
  },
)

test('a caller who never ends its header holds up nobody else', async () => {
  const { host, port } = new URL(desk.origin)
  const held = connect(Number(port), '127.0.0.1')
  await once(held, 'connect')
  held.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `)
  expect((await send('GET /')).status).toBe(200)
  held.destroy()
})

test('the API is served with the operator’s name, and streams an audit', async () => {
  const made = await ask(`POST ${KEYS}`, { name: 'made here', credits: '1' }, desk, { 'Idempotency-Key': 'console-1' })
  expect(made.status).toBe(201)
  const events = await ask(`GET ${KEYS}/${made.json.id}/events`, undefined)
  expect(events.json.data).toMatchObject([{ by: CALLER, what: 'key.created' }])
  const audit = await ask('POST /admin/v1/audits', {})
  expect(audit.text.trimEnd().split('\n').at(-1)).toContain('"audit.summary"')
})

test('a console that only looks says so to its page, and sends no change, whatever the caller may do in AWS', async () => {
  const reading = await sitDown(true)
  const { json: identity } = await ask('GET /admin/v1/whoami', undefined, reading)
  expect(identity.scopes).toEqual(['keys.read', 'usage.read', 'catalog.read', 'admin_keys.read'])
  expect((await ask('GET /admin/v1/keys', undefined, reading)).status).toBe(200)
  opened.stage.admin.asked.length = 0
  for (const { method, path } of ADMIN_ROUTES.filter(({ scope }) => scope && !scope.endsWith('.read'))) {
    const told = await ask(`${method} /admin/v1${path.replace(/\{\w+\}/, 'x')}`, {}, reading)
    expect([path, told.status, told.json.error.code]).toEqual([path, 403, 'insufficient_scope'])
  }
  expect((await ask(`POST ${CHAT}`, {}, reading)).status).toBe(403)
  expect((await ask('GET /console/playground/models', undefined, reading)).status).toBe(403)
  expect(opened.stage.admin.asked).toEqual([])
  await reading.end()
})

describe('the playground', () => {
  const chat = { model: 'test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
  const play = (at: Desk) => ask(`POST ${CHAT}`, chat, at)
  const ownKeys = async () => (await keysNamed(PLAYGROUND)).filter(({ createdAtMs }) => createdAtMs >= startedMs)
  const startedMs = Date.now()

  test('streams an answer with a key made for it, which holds 1 credit, ends within 12 hours, is followed by another if it is refused, and is revoked at the end', async () => {
    opened.upstream.reply = say('Hello')
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
    const { admin } = opened.stage
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
    expect((await opened.gateway.readKey(key?.id ?? '')).status).toBe('revoked')
  })

  test('is refused in the admin API’s words to whoever may make no key, and a key that cannot be revoked is named', async () => {
    const { admin } = opened.stage
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
  const { json: made } = await ask(`POST ${KEYS}`, { name: 'secret' }, desk, { 'Idempotency-Key': 'console-secret' })
  expect(made.secret).toMatch(/^svc_live_/)
  const { Items } = await opened.gateway.tables.database.scan({ TableName: opened.gateway.tables.keys })
  const stored = JSON.stringify(Items, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  expect(stored).toContain(made.id)
  expect(stored).not.toContain(made.secret)
  expect([...opened.stage.admin.logged, ...opened.gateway.logLines].join('\n')).not.toContain(made.secret)
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
  const { child, output, ended } = opened.stage.start('cli/waybill.ts', args)
  await until(() => output.stdout.endsWith('}\n'), 20_000)
  const address = new URL(JSON.parse(output.stdout).url)
  const at = { origin: address.origin, token: await tokenOf(address) }
  expect((await ask(`POST ${CHAT}`, {}, at)).status).toBe(400)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  const named = await keysNamed('playground of arn')
  expect(named.filter(({ createdAtMs }) => createdAtMs > startedMs).map(({ status }) => status)).toEqual(['revoked'])
})

test('waybill console of a protected stage is asked about first, unless it only looks', async () => {
  const prod = await openStage(opened.gateway.tables, opened.gateway.baseUrl, 'prod')
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
