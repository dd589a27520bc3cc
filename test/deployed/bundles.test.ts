import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { utcDay } from '../../layers/gateway/domain/basics/time.ts'
import { ACT_MS } from '../../layers/gateway/domain/keys/act.ts'
import { newAdminKey } from '../../layers/gateway/domain/keys/admin-key.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { endpointsOf } from '../../layers/gateway/endpoints.ts'
import { BRAND, EDGE_HEADERS, ENV } from '../../layers/gateway/names.ts'
import { createAdminKey } from '../../layers/gateway/store/admin-keys/admin-keys.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { ARN, adminEvent, OFFICE, once } from '../functions/support/admin-function.ts'
import { Random } from '../simulation/random.ts'
import { actAt } from '../support/act.ts'
import { FUNCTIONS_WITH_TABLES } from '../support/functions.ts'
import { catalogFor, openAllTables, openTestTables } from '../support/gateway.ts'
import { closerAt, randomRows, usedKey } from '../support/past-usage.ts'
import { requestIdAt } from '../support/request-id.ts'
import { until } from '../support/wait.ts'
import { NEXT_ORIGIN_SECRET, ORIGIN_SECRET, openAccount } from './support/account.ts'
import { startFunction } from './support/function-process.ts'
import { type Call, httpEvent } from './support/http-event.ts'
import { sampleCall } from './support/sample-call.ts'
import { secretFor, startSecretsManager } from './support/secrets-manager.ts'
import { startServer } from './support/start-server.ts'
import type { DeployedFunction } from './support/synthesize.ts'

type Answer = { statusCode: number; headers: Record<string, string>; body: string }

const API_ENDPOINTS = endpointsOf('api').map(({ name }) => name)
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())
// Nothing here asks the upstream.
const account = opened.use(await openAccount(catalogFor('http://127.0.0.1:9/v1', { id: 'vendor/test-model' })))
const start = async (deployed: DeployedFunction) => opened.use(await startFunction(deployed, account.dynamodb.endpoint))
const [api, sweep] = await Promise.all([start(account.functions.api), start(account.functions.sweep)])

async function call(asked: Call): Promise<Answer> {
  return (await api.invoke(httpEvent(asked))) as Answer
}

/** An answer's body, with every header that all answers to a known key have. */
function bodyOf({ headers, body }: Answer): Record<string, unknown> {
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'X-Request-Id': expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/),
    'RateLimit-Limit': '60',
    'RateLimit-Remaining': expect.stringMatching(/^\d+$/),
    'RateLimit-Reset': expect.stringMatching(/^\d+$/),
    'X-Svc-Cost': '0',
  })
  return JSON.parse(body)
}

test('every folder of functions/ is deployed as a Node 24 function with its code and source maps: one file, and those that chat and api load lazily', () => {
  const deployed = { ...account.functions, admin: account.admin, probe: account.probe }
  const both = ['advice', 'contracts', 'dialects', 'on-demand']
  const beside: Record<string, string[]> = {
    chat: [...both, 'answers', 'bedrock', 'error-reply'],
    api: [...both, 'openapi', 'quote'],
  }
  for (const [name, { folder, handler, runtime }] of Object.entries(deployed)) {
    expect([runtime, handler]).toEqual(['nodejs24.x', 'index.handler'])
    const files = [...(beside[name] ?? []), 'index'].toSorted()
    // The page has no map: it is a text.
    const page = name === 'api' ? ['usage-page.js'] : []
    expect(readdirSync(folder).sort()).toEqual([...files.flatMap((file) => [`${file}.js`, `${file}.js.map`]), ...page])
    expect(existsSync(join(dirname(folder), 'node_modules'))).toBe(false)
  }
  const sources = readdirSync(join(import.meta.dirname, '..', '..', 'functions'), { withFileTypes: true })
  const names = sources.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(Object.keys(deployed).sort()).toEqual(names.sort())
})

test.each([...FUNCTIONS_WITH_TABLES, 'probe'] as const)(
  'the code that %s starts with has nothing of the AWS SDK in it',
  (name) => {
    const { folder } = name === 'probe' ? account.probe : account.functions[name]
    const map = JSON.parse(readFileSync(join(folder, 'index.js.map'), 'utf8'))
    const packages = (map.sources as string[]).flatMap(
      (file) => file.match(/node_modules\/(@[^/]+\/[^/]+|[^/]+)/)?.[1] ?? [],
    )
    const known = ['@middy/core', 'eventsource-parser']
    expect([...new Set(packages)].filter((it) => !known.includes(it))).toEqual([])
  },
)

test('the time of an act ends before that of the admin function, which must still tell how it ended', () => {
  expect(ACT_MS).toBeLessThan(account.admin.timeoutSeconds * 1000 - 2_000)
})

test('a deployed function refuses to start without its tables, so that a bad deployment fails at once', async () => {
  const started = start({ ...account.functions.api, environment: {} })
  await expect(started).rejects.toThrow('The environment variable WAYBILL_KEYS_TABLE is not set.')
})

test('a stack trace of a deployed function names the files and lines of the source', async () => {
  const started = start({ ...account.functions.api, environment: { NODE_OPTIONS: '--enable-source-maps' } })
  await expect(started).rejects.toThrow(/layers\/gateway\/platform\/config\.ts:\d+/)
})

test('the api function lists the catalog in the table, also with the secret of the next rotation before it is sent', async () => {
  const { key, secret } = await account.issue()
  for (const proof of [ORIGIN_SECRET, NEXT_ORIGIN_SECRET]) {
    const list = await call({ path: '/v1/models', secret, headers: { [EDGE_HEADERS.origin]: proof } })
    expect(list.statusCode).toBe(200)
    expect(bodyOf(list)).toMatchObject({ object: 'list', data: [{ id: 'vendor/test-model', object: 'model' }] })
    const row = await account.readRow(list.headers['X-Request-Id'])
    expect(row).toMatchObject({ keyId: key.id, endpoint: 'models', outcome: 'completed', httpStatus: 200, cost: 0n })
  }
})

test('the api function lists and adds up the rows of a key, and its role allows every call that it makes', async () => {
  const { secret } = await account.issue()
  const asked = await call({ path: '/v1/models', secret })
  const before = account.dynamodb.calls.length
  const listed = bodyOf(await call({ path: '/v1/usage', query: 'calls=all&limit=5', secret }))
  expect(listed).toMatchObject({ object: 'list', data: [{ request_id: asked.headers['X-Request-Id'] }] })
  const summed = bodyOf(await call({ path: '/v1/usage', query: 'group=day', secret }))
  expect(summed).toMatchObject({ object: 'usage.sums', total: { requests: 0 }, left_out: [] })
  const calls = account.dynamodb.calls.slice(before)
  expect(calls.map(({ operation }) => operation)).toEqual(expect.arrayContaining(['Query', 'GetItem']))
  expect(calls.filter((it) => !account.functions.api.role.allows(it))).toEqual([])
})

test.each([
  ['/v1/chat/completions', { max_tokens: 10 }],
  ['/v1/messages', { max_tokens: 10 }],
  ['/v1/completions', { messages: undefined, prompt: 'Hello' }],
])('the api function quotes %s as it is deployed, though it cannot reach the tokenizer', async (endpoint, fields) => {
  const { secret } = await account.issue()
  const body = { model: 'vendor/test-model', messages: [{ role: 'user', content: 'Hello' }], ...fields }
  const answer = await call({ method: 'POST', path: '/v1/quote', secret, body: { endpoint, body } })
  expect(bodyOf(answer)).toMatchObject({ object: 'quote', endpoint, hold: expect.any(String), refusal: null })
})

test('the api function has the page for owners of keys beside it, and serves it if its settings say so, but not around CloudFront', async () => {
  const environment = { ...account.functions.api.environment, [ENV.usagePage]: 'true' }
  const paged = await start({ ...account.functions.api, environment })
  const answer = (await paged.invoke(httpEvent({ path: '/usage' }))) as Answer
  expect([answer.statusCode, answer.headers['Content-Type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(answer.body).toContain('Forget this key')
  const direct = (await paged.invoke(httpEvent({ path: '/usage', direct: true }))) as Answer
  expect(direct.statusCode).toBe(403)
  expect((await call({ path: '/usage' })).statusCode).toBe(404)
})

test('the tokenizer function counts with nothing in its environment, and neither logs nor quotes a text', async () => {
  const tokenizer = await start(account.functions.tokenizer)
  expect(account.functions.tokenizer.environment).toEqual({})
  expect(await tokenizer.invoke({ texts: ['hello world', '<|endoftext|>', ''] })).toEqual({ tokens: [2, 7, 0] })
  const windows = Array<string>(64).fill('The quick brown fox. '.repeat(97))
  expect(await tokenizer.invoke({ texts: windows })).toEqual({ tokens: Array(64).fill(97 * 5 + 1) })
  for (const question of [null, {}, { texts: 'the prompt' }, { texts: [7] }, { texts: [...windows, 'the prompt'] }]) {
    const refused = await tokenizer.invoke(question).catch((error: Error) => error.message)
    expect(refused).toContain('at most 64 strings')
    expect(refused).not.toMatch(/the prompt|quick/)
  }
  expect(tokenizer.output.text).toBe('')
})

test('the close function starts as it is deployed, and has nothing to do where every day is closed', async () => {
  const tables = await openTestTables()
  const { close } = account.functions
  const environment = { ...close.environment, [ENV.keysTable]: tables.keys, [ENV.usageTable]: tables.usage }
  const started = await start({ ...close, environment })
  expect(await started.invoke({})).toEqual({ closed: 0, exported: 0, behind: 0 })
  expect(started.output.text).toContain('"DaysBehind":0')
})

test('the probe function starts as it is deployed, reads its one secret and the gateway’s models, asks one, and logs nothing', async () => {
  const address = 'https://api.example.com/v1'
  expect(account.probe.environment).toEqual({ [ENV.stage]: 'prod', [ENV.baseUrl]: address, [ENV.apiUrl]: address })
  const { secret } = await account.issue({ scopes: ['models.read'], credits: '0' })
  let isUp = true
  // The public address of the functions, in the place of CloudFront.
  await using front = await startServer(async ({ url = '', headers: { authorization = '' } }, response) => {
    const isChat = url === '/v1/chat/completions'
    const { statusCode, body } = isChat
      ? { statusCode: 200, body: '{"object":"chat.completion","choices":[]}' }
      : await call({ path: url, headers: { authorization } })
    response.writeHead(isUp ? statusCode : 503).end(isUp ? body : '')
  })
  const baseUrl = `${front.endpoint}/v1`
  await using secrets = await startSecretsManager({ 'waybill/prod/probe': secretFor(baseUrl, secret) })
  const environment = {
    ...account.probe.environment,
    [ENV.baseUrl]: baseUrl,
    [ENV.apiUrl]: baseUrl,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
  }
  const probe = await start({ ...account.probe, environment })
  expect(await probe.invoke({})).toMatchObject({ models: 1 })
  expect(secrets.asked).toEqual(['waybill/prod/probe'])
  isUp = false
  await expect(probe.invoke({})).rejects.toThrow('was answered with 503, not with a list of models')
  expect(probe.output.text).toBe('')
})

test.each([
  ['OPTIONS', '/v1/nope', 204, { 'Access-Control-Allow-Origin': '*' }],
  ['HEAD', '/v1/models/', 200, { 'Content-Type': 'application/json', 'RateLimit-Limit': '60' }],
] as const)(
  'the api function answers %s %s without a body, and around CloudFront with 403, without a read',
  async (method, path, status, headers) => {
    const asked = { method, path, headers: { origin: 'https://page.example' }, secret: (await account.issue()).secret }
    const reads = account.dynamodb.calls.length
    expect((await call({ ...asked, direct: true })).statusCode).toBe(403)
    expect(account.dynamodb.calls).toHaveLength(reads)
    const answer = await call(asked)
    expect([answer.statusCode, answer.body]).toEqual([status, ''])
    expect(answer.headers).toMatchObject(headers)
    if (method === 'OPTIONS') expect(account.dynamodb.calls).toHaveLength(reads)
  },
)

test.each(API_ENDPOINTS)(
  'the api function refuses a request to %s around CloudFront with 403, whatever its key, and neither reads nor logs for it',
  async (name) => {
    const { secret } = await account.issue()
    const reads = account.dynamodb.calls.length
    const refused: string[] = []
    const guess = { [EDGE_HEADERS.origin]: `${ORIGIN_SECRET.slice(0, -1)}x`, via: '1.1 x.cloudfront.net (CloudFront)' }
    for (const extra of [{ secret }, { secret, headers: guess }, { headers: guess }]) {
      const answer = await call({ ...sampleCall(name), ...extra, direct: true })
      expect([answer.statusCode, JSON.parse(answer.body).error]).toMatchObject([403, { code: 'direct_access_denied' }])
      expect(JSON.stringify(answer)).not.toMatch(/origin|RateLimit/i)
      refused.push(answer.headers['X-Request-Id'] ?? '')
    }
    expect(account.dynamodb.calls.slice(reads)).toEqual([])
    // A request through CloudFront comes last, so that whatever the others began has had its time.
    const served = await call({ ...sampleCall(name), secret })
    expect([200, 400, 404]).toContain(served.statusCode)
    const lookups = account.dynamodb.calls.slice(reads).filter(({ leadingKey }) => leadingKey?.startsWith('HASH#'))
    expect(lookups).toHaveLength(1)
    const { output } = api
    await until(() => output.text.includes(served.headers['X-Request-Id'] ?? ''))
    for (const id of refused) expect(output.text).not.toContain(id)
  },
)

describe('roles', () => {
  // Each in turn, so that every call through the proxy is this function's.
  test.each([...API_ENDPOINTS, 'sweep'] as const)(
    'the role of the function for %s allows every call that it makes to the tables',
    async (endpoint) => {
      // A dead request is in the way, so that it is finished before this one is admitted.
      const { key, secret } = await account.issue({ maxConcurrent: 1 })
      const nowMs = Date.now() - 3_600_000
      const dead = { requestId: requestIdAt(nowMs), hash: key.current.hash, nowMs }
      await takeAdmission(account.tables)(key, { ...dead, hold: 1n, holdUntilMs: nowMs + 1 })
      const before = account.dynamodb.calls.length
      if (endpoint === 'sweep') expect(await sweep.invoke({})).toEqual({ finished: 1 })
      else await call({ ...sampleCall(endpoint), secret })
      const calls = account.dynamodb.calls.slice(before)
      expect((await account.readKey(key.id)).holds).toEqual({})
      expect(await account.readRow(dead.requestId)).toMatchObject({ outcome: 'abandoned', cost: 0n })
      expect(calls.length).toBeGreaterThan(2)
      const { role } = account.functions[endpoint === 'sweep' ? endpoint : 'api']
      expect(calls.filter((it) => !role.allows(it))).toEqual([])
    },
  )

  test('the role of the close function allows every call that closing and exporting days makes to the tables', async () => {
    const { keys: keysTable, usage: usageTable, answers: answersTable } = account.tables
    const random = new Random(1)
    const noon = Date.parse(utcDay(Date.now())) + 12 * 3_600_000
    const madeAtMs = noon - 5 * 86_400_000
    await usedKey(account.tables, madeAtMs, (id) => randomRows(random, id, madeAtMs, 2, 5))
    const seen = openAllTables({ keysTable, usageTable, answersTable }, account.dynamodb.endpoint)
    const before = account.dynamodb.calls.length
    const putObject = async () => {}
    for (const hours of [0, 1]) {
      const run = await closerAt(seen, () => noon + hours * 3_600_000, { putObject }).run()
      expect(run).toMatchObject(hours === 0 ? { exported: 0 } : { closed: 0, behind: 0 })
    }
    const calls = account.dynamodb.calls.slice(before)
    expect(new Set(calls.map(({ operation }) => operation))).toEqual(
      new Set(['GetItem', 'Scan', 'Query', 'PutItem', 'UpdateItem']),
    )
    expect(calls.filter((it) => !account.functions.close.role.allows(it))).toEqual([])
  })

  test('the admin function starts as it is deployed, answers a signed call and an admin key, and its role allows every call that it makes', async () => {
    const admin = await start(account.admin)
    const before = account.dynamodb.calls.length
    const ask = async (route: string, sent: Parameters<typeof adminEvent>[1]) => {
      const { statusCode, body } = (await admin.invoke(adminEvent(route, sent))) as Answer
      expect([route, statusCode < 300, body]).toEqual([route, true, expect.any(String)])
      return JSON.parse(body.split('\n')[0] ?? '')
    }
    expect(await ask('GET /admin/v1/whoami', { iam: ARN })).toMatchObject({ by: ARN, stage: 'prod', protected: true })
    const { secret, stored } = issueSecret(BRAND.adminKeyPrefix, randomBytes)
    const settings = { name: 'x', scopes: ADMIN_SCOPES, allowlist: [`${OFFICE}/32`], dailyGrant: 10n ** 10n }
    const key = newAdminKey({ settings, stored }, Date.now(), randomBytes(10))
    await createAdminKey(account.tables)(key, actAt())
    const keyed = (route: string, body?: unknown, headers: Record<string, string> = once()) =>
      ask(route.replace(' ', ' /keyed/admin/v1'), { secret, body, headers })
    // The calls of every other route: test/infra/operator-policies.test.ts.
    const made = await keyed('POST /keys', { name: 'acme', credits: '1', external_id: 'cus_admin' })
    await keyed(`POST /keys/${made.id}/grants`, { credits: '1' })
    await keyed(`PATCH /keys/${made.id}`, { note: 'x', external_id: 'cus_other' }, { 'if-match': '"1"' })
    await keyed('GET /keys')
    await keyed('POST /audits', {})
    expect(await keyed('POST /routes/test', {})).toMatchObject({ data: [{ object: 'route.test', ok: false }] })
    await ask('GET /admin/v1/admin-keys', { iam: ARN, headers: once() })
    const calls = account.dynamodb.calls.slice(before)
    expect(calls.filter((it) => !account.admin.role.allows(it))).toEqual([])
    const writes = ['ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem']
    expect(new Set(calls.map(({ operation }) => operation))).toEqual(
      new Set([...writes, 'BatchGetItem', 'GetItem', 'Query', 'Scan']),
    )
    for (const kept of [secret, made.secret]) expect(admin.output.text).not.toContain(kept)
  })
})

test('a deployed function logs one JSON line an event, with figures for CloudWatch and no secret', async () => {
  const { key, secret } = await account.issue()
  await call({ path: '/v1/models', secret })
  const { output } = api
  await until(() => output.text.includes(key.id) && output.text.endsWith('\n'))
  const lines = output.text.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const event of events) expect(event).toMatchObject({ stage: 'dev', _aws: { Timestamp: expect.any(Number) } })
  expect(events.at(-1)).toMatchObject({ event: 'request', endpoint: 'models', keyId: key.id, Calls: 1 })
  for (const kept of [secret, ORIGIN_SECRET, NEXT_ORIGIN_SECRET]) expect(output.text).not.toContain(kept)
})
