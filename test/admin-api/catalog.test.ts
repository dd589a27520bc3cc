import { describe, expect, test } from '@jest/globals'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openBoth, openFor, openUpstream } from '../support/stack.ts'
import { say, status } from '../support/upstream.ts'
import { adminOf } from './support/admin.ts'

const { gateway, upstream } = await openBoth()
const admin = adminOf(gateway.tables)

const inForce = async () => (await readStoredCatalog(gateway.tables)())?.version ?? 0
const seen = (version: number) => ({ 'if-match': `"${version}"` })
const catalog = (output: string) => catalogFor(upstream.url, { price: { input: '1', output } })
/** Over the version that is in force, unless another was seen. */
const put = async (body: object, over?: number) =>
  admin.call('PUT /catalog', { body, headers: seen(over ?? (await inForce())) })
const restore = (version: number, over: number, body: object = {}) =>
  admin.call(`POST /catalog/versions/${version}/restore`, { body, headers: seen(over) })

test('PUT puts a catalog in force over the version that was seen, GET tells it with the change in words', async () => {
  const before = await inForce()
  const told = await put(catalog('0.80'), before)
  expect([told.status, told.headers.ETag]).toEqual([200, `"${before + 1}"`])
  const { body, headers } = await admin.call('GET /catalog')
  expect(body).toEqual(told.body)
  expect(headers.ETag).toBe(`"${before + 1}"`)
  expect(body).toMatchObject({ object: 'catalog', version: before + 1, by: 'ann', warnings: [] })
  expect(body.changes).toEqual(['~ model test-model: output 2 → 0.80, cachedInput 0.5 → -'])
  const { body: events } = await admin.call('GET /events?what=catalog.pushed&limit=1')
  expect(events.data).toMatchObject([{ what: 'catalog.pushed', key_id: null, after: { version: before + 1 } }])
})

test('a catalog stays as its author wrote it, in that order and without defaults, over versions and a rollback', async () => {
  const before = await inForce()
  const { providers, models } = catalog('0.61')
  const [{ id, price, routes, ...sizes }] = models as [(typeof models)[0]]
  const written = { models: [{ routes, price, ...sizes, id }], $schema: './catalog.schema.json', providers }
  const sourceAt = async (path: string) => JSON.stringify((await admin.call(`GET /catalog${path}`)).body.source)
  const told = await put({ note: 'mine', ...written }, before)
  expect(JSON.stringify(told.body.source)).toBe(JSON.stringify(written))
  expect(await sourceAt('')).toBe(JSON.stringify(written))
  await put(catalog('0.62'), before + 1)
  expect(await sourceAt(`/versions/${before + 1}`)).toBe(JSON.stringify(written))
  await restore(before + 1, before + 2)
  expect(await sourceAt('')).toBe(JSON.stringify(written))
})

test('a catalog that fits into an item only without the order of its author is put in force without it', async () => {
  const before = await inForce()
  const [model] = catalog('0.63').models
  const models = Array.from({ length: 900 }, (_, i) => ({ ...model, id: `model-${i}` }))
  const { body } = await put({ ...catalog('0.63'), models }, before)
  expect([body.version, body.source, body.catalog.models.length]).toEqual([before + 1, null, 900])
})

test('a note is kept with its version and its event, not in the catalog, and not for the version after', async () => {
  const before = await inForce()
  const note = 'Cheaper since the provider is'
  const told = await put({ ...catalog('0.7'), note: ` ${note} ` }, before)
  expect(told.body).toMatchObject({ version: before + 1, note })
  expect(told.body.catalog).not.toHaveProperty('note')
  const back = await restore(before, before + 1, { note: 'too cheap' })
  expect(back.body).toMatchObject({ version: before + 2, note: 'too cheap' })
  const bare = await put({ ...catalog('0.80'), note: '' }, before + 2)
  expect(bare.body).toMatchObject({ version: before + 3, note: null })
  expect((await admin.call('GET /catalog')).body.note).toBeNull()
  const { body: versions } = await admin.call('GET /catalog/versions?limit=3')
  expect(versions.data.map((version: { note: string | null }) => version.note)).toEqual([null, 'too cheap', note])
  const { body: events } = await admin.call('GET /events?what=catalog&limit=3')
  expect(events.data.map((event: { after: { note?: string } }) => event.after.note)).toEqual([
    undefined,
    'too cheap',
    note,
  ])
})

test.each([['x'.repeat(201)], ['two\nlines'], [7]])(
  'a note such as %p is refused, and nothing is put in force',
  async (note) => {
    const before = await inForce()
    const told = await put({ ...catalog('1'), note }, before)
    expect([told.status, told.body.error.param]).toEqual([400, 'note'])
    expect(await inForce()).toBe(before)
  },
)

test('of two operators who put a catalog in force, the second is told who came first and with what, and nothing is lost', async () => {
  const before = await inForce()
  const answers = await Promise.all(
    ['ann', 'bob'].map((by) =>
      admin.call('PUT /catalog', { body: catalog(by === 'ann' ? '1.1' : '1.2'), headers: seen(before), by }),
    ),
  )
  expect(answers.map(({ status: code }) => code).sort()).toEqual([200, 412])
  const winner = answers[0]?.status === 200 ? 'ann' : 'bob'
  const lost = answers.find(({ status: code }) => code === 412)
  expect(lost?.body.error.code).toBe('stale_version')
  expect(lost?.body.error.message).toMatch(new RegExp(`^${winner} pushed version ${before + 1} .*\\n.*output 0.80 → 1`))
  expect(lost?.headers.ETag).toBe(`"${before + 1}"`)
  expect(await inForce()).toBe(before + 1)
})

test.each([
  ['PUT /catalog', () => catalog('1')],
  ['POST /catalog/versions/1/restore', () => ({})],
])('%s without If-Match is a 428', async (route, body) => {
  const { status: code, body: told } = await admin.call(route, { body: body() })
  expect([code, told.error.code]).toEqual([428, 'version_required'])
})

test('POST /catalog/check lists every fault with its path, and changes nothing', async () => {
  const before = await inForce()
  const good = catalog('3')
  const faulty = { ...good, models: [{ ...good.models[0], price: { input: 1, output: '-2' } }], more: true }
  const { status: code, body } = await admin.call('POST /catalog/check', { body: faulty })
  expect([code, body.valid]).toEqual([200, false])
  const paths = body.faults.map(({ path }: { path: string }) => path)
  expect(paths).toEqual(expect.arrayContaining(['models[0].price.input', 'models[0].price.output']))
  const fine = await admin.call('POST /catalog/check', { body: good })
  expect(fine.body).toMatchObject({ valid: true, faults: [], changes: [expect.stringContaining('→ 3')] })
  const pushed_at = (await readStoredCatalog(gateway.tables)())?.pushedAt
  for (const check of [body, fine.body]) expect(check.in_force).toEqual({ version: before, pushed_at })
  const told = await put(faulty, before)
  expect([told.status, told.body.error.code, told.body.error.param]).toEqual([
    400,
    'invalid_catalog',
    expect.any(String),
  ])
  expect(await inForce()).toBe(before)
})

test('POST /catalog/check warns of a context below the prompt that an upstream has lately counted', async () => {
  const own = await openFor(catalogFor(upstream.url))
  const { secret } = await own.issue()
  upstream.reply = say('Hello', { prompt_tokens: 5_000, completion_tokens: 5 })
  const asked = await own.post(secret, HELLO)
  await asked.text()
  upstream.reply = say('Hello', null)
  await (await own.post(secret, HELLO)).text()
  const warningsAt = async (contextLength: number) => {
    const body = catalogFor(upstream.url, { contextLength })
    return (await adminOf(own.tables).call('POST /catalog/check', { body })).body.warnings
  }
  expect(await warningsAt(5_000)).toEqual([])
  expect(await warningsAt(4_999)).toEqual([
    `model 'test-model': contextLength 4999 is below the 5000 prompt tokens that up/upstream-model counted for ${asked.headers.get('x-request-id')}`,
  ])
})

test('a catalog whose provider has its key in a variable is refused for a stage, and taken for the local gateway', async () => {
  const body = catalogFor('http://127.0.0.1:1', {}, { apiKey: 'env:MY_KEY' })
  const checked = await admin.call('POST /catalog/check', { body })
  expect(checked.body).toMatchObject({
    valid: false,
    faults: [{ path: 'catalog', message: expect.stringContaining('env:MY_KEY') }],
  })
  const told = await put(body)
  expect([told.status, told.body.error.code]).toEqual([400, 'invalid_catalog'])
  const local = adminOf(gateway.tables, { echoUrl: 'http://127.0.0.1:9/v1' })
  expect((await local.call('POST /catalog/check', { body })).body.valid).toBe(true)
  const echo = { ...body, providers: { up: { type: 'openai', baseUrl: 'local:echo' } } }
  expect((await local.call('POST /catalog/check', { body: echo })).body.valid).toBe(true)
  expect((await admin.call('POST /catalog/check', { body: echo })).body.valid).toBe(false)
})

test('versions are listed newest first, page by page, read whole, and restored as a new version', async () => {
  const first = await inForce()
  await put(catalog('5'), first)
  const { body } = await admin.call('GET /catalog/versions?limit=2')
  expect(body.data).toMatchObject([
    { object: 'catalog.version', version: first + 1, in_force: true, by: 'ann' },
    { version: first, in_force: false },
  ])
  const rest = await admin.call(`GET /catalog/versions?after=${body.last_id}`)
  expect(rest.body.data.map(({ version }: { version: number }) => version)).toEqual(
    Array.from({ length: first - 1 }, (_, i) => first - 1 - i),
  )
  const old = await admin.call(`GET /catalog/versions/${first}`)
  const restored = await restore(first, first + 1)
  expect(restored.body).toMatchObject({ version: first + 2, catalog: old.body.catalog })
  const { body: events } = await admin.call('GET /events?what=catalog.rolled_back')
  expect(events.data[0]).toMatchObject({ after: { version: first + 2, content_of: first } })
  const stale = await restore(first, first)
  expect(stale.status).toBe(412)
  const same = await restore(first + 2, first + 2)
  expect([same.status, same.body.version]).toEqual([200, first + 2])
  for (const version of ['999', 'last']) {
    expect((await admin.call(`GET /catalog/versions/${version}`)).status).toBe(404)
  }
})

test('a version is told with its changes against the one before, another, or none, and the one of a moment is found', async () => {
  const first = await inForce()
  const [second, third] = [first + 1, first + 2]
  const { body: middle } = await put(catalog('6'), first)
  await put(catalog('7'), second)
  const version = async (query: string) => (await admin.call(`GET /catalog/versions/${third}${query}`)).body
  expect(await version('')).toMatchObject({ changes: ['~ model test-model: output 6 → 7'], compared_to: second })
  expect(await version(`?against=${third}`)).toMatchObject({ changes: [], compared_to: third })
  expect((await version(`?against=${first}`)).changes[0]).toMatch(/output \S+ → 7/)
  expect(await version('?against=0')).toMatchObject({
    changes: ['+ model test-model', '+ provider up'],
    compared_to: 0,
  })
  for (const [against, status] of [
    ['999', 404],
    ['last', 400],
  ]) {
    expect((await admin.call(`GET /catalog/versions/${third}?against=${against}`)).status).toBe(status)
  }
  const at = (moment: string) => admin.call(`GET /catalog?at=${moment}`)
  expect((await at(middle.pushed_at)).body.version).toBe(second)
  expect((await at('2999-01-01')).body.version).toBe(third)
  expect([(await at('2020-01-01')).status, (await at('then')).status]).toEqual([404, 400])
})

describe('routes', () => {
  test('GET /routes has the order in which they are tried, and how often each was asked and failed in 24 hours', async () => {
    const routes = [
      { provider: 'up', model: 'second', priority: 2 },
      { provider: 'down', model: 'first', priority: 1 },
    ]
    const base = catalogFor(upstream.url, {})
    const providers = { up: base.providers.up, down: { type: 'openai', baseUrl: `${upstream.url}/missing` } }
    const [model] = base.models
    const body = {
      providers,
      models: [
        { ...model, routes },
        { ...model, id: 'off', active: false },
      ],
    }
    const told = await put(body)
    expect(told.status).toBe(200)
    // Another instance, which has not kept the catalog of before.
    const other = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    upstream.reply = (response, request) =>
      (JSON.stringify(request.body).includes('"first"') ? status(500, {}) : say('Hello'))(response, request)
    const { secret } = await other.issue()
    expect(await (await other.post(secret, { ...HELLO, stream: true })).text()).toContain('[DONE]')
    const { body: listed } = await admin.call('GET /routes')
    const first = { object: 'route', model: 'test-model', provider: 'down', upstream_model: 'first', order: 1 }
    const second = { provider: 'up', upstream_model: 'second', order: 2, failures_24h: 0 }
    const counts = { priority: 1, weight: 1, share: 1, requests_24h: 1, failures_24h: 1 }
    expect(listed.data).toMatchObject([
      { ...first, ...counts, first_token_ms: { p50: null, p95: null } },
      { ...second, first_token_ms: { p50: expect.any(Number) } },
    ])
    expect(listed.data.length).toBe(2)
  })

  test('POST /routes/test asks each route, or those of a provider, and tells how it went and what it cost', async () => {
    upstream.reply = say('ok')
    const { body } = await admin.call('POST /routes/test', { body: { provider: 'up' } })
    expect(body.data).toMatchObject([
      { object: 'route.test', model: 'test-model', provider: 'up', ok: true, cost: expect.stringMatching(/^0\.\d+$/) },
    ])
    const unknown = await admin.call('POST /routes/test', { body: { model: 'none' } })
    expect([unknown.status, unknown.body.error.message]).toEqual([409, expect.stringContaining("'none'")])
  })

  test('an outage that a fallback covers shows as failures of the route, in GET /routes and GET /overview', async () => {
    const base = catalogFor(upstream.url, {})
    const [model] = base.models
    const body = {
      providers: base.providers,
      models: [
        { ...model, routes: [{ provider: 'up', model: 'out' }], fallback: ['stand-in'] },
        { ...model, id: 'stand-in', routes: [{ provider: 'up', model: 'well' }] },
      ],
    }
    expect((await put(body)).status).toBe(200)
    const other = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    upstream.reply = (response, request) =>
      (request.body.model === 'out' ? status(500, {}) : say('Hello'))(response, request)
    const { secret } = await other.issue()
    for (let times = 0; times < 3; times++) expect((await other.post(secret, HELLO)).status).toBe(200)
    const request_id = expect.stringMatching(/^req_/)
    const last_failure = { result: 'status 500', words: 'answered with an error', request_id }
    const counts = [
      { model: 'test-model', upstream_model: 'out', requests_24h: 3, failures_24h: 3, last_failure },
      { model: 'stand-in', upstream_model: 'well', requests_24h: 3, failures_24h: 0, last_failure: null },
    ]
    const listed = (await admin.call('GET /routes')).body.data
    expect(listed).toMatchObject(counts)
    expect((await admin.call('GET /overview')).body.routes).toMatchObject(counts)
    // At most five minutes after its last failure, and not once it has answered again.
    const [{ last_failure: told, resting_until }] = listed
    expect(Date.parse(resting_until) - Date.parse(told.at)).toBe(5 * 60_000)
    expect(listed[1].resting_until).toBeNull()
    upstream.reply = say('Hello')
    const again = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    expect((await again.post(secret, HELLO)).status).toBe(200)
    const [after] = (await admin.call('GET /routes')).body.data
    expect(after).toMatchObject({ requests_24h: 4, failures_24h: 3, last_failure: told, resting_until: null })
  })
})

test('a catalog with an embedding model can be edited as it is shown, tested, and rolled back to', async () => {
  const vectors = await openUpstream(embed())
  const first = await put(embeddingCatalog([vectors.url]))
  const { catalog: shown, version } = (await admin.call('GET /catalog')).body
  const [model, ...others] = shown.models
  const models = [{ ...model, price: { ...model.price, input: '3' } }, ...others]
  const edited = await put({ ...shown, models }, version)
  expect([edited.status, edited.body.changes]).toEqual([200, ['~ model test-embedding: input 1 → 3']])
  const tested = await admin.call('POST /routes/test', { body: { model: 'test-embedding' } })
  expect(tested.body.data).toMatchObject([{ model: 'test-embedding', ok: true, result: 'ok' }])
  const back = await restore(version, version + 1)
  expect([back.status, back.body.catalog]).toEqual([200, first.body.catalog])
})

test('a catalog that is in force already makes no version and no event, by a push, a rollback and a plan', async () => {
  const before = await inForce()
  const same = { ...catalog('0.64'), $comment: 'by me' }
  expect((await put(same, before)).body.version).toBe(before + 1)
  expect((await put({ note: 'again', ...same })).body).toMatchObject({ version: before + 1, changes: [], note: null })
  expect((await put({ ...same, $comment: 'by you' })).body.version).toBe(before + 2)
  await put(same)
  expect((await restore(before + 1, before + 3)).body.version).toBe(before + 3)
  const plan = { name: 'same', factor: '2' }
  await admin.call('POST /plans', { body: plan, headers: seen(before + 3) })
  await admin.call('PATCH /plans/same', { body: { factor: '2' }, headers: seen(before + 4) })
  expect(await inForce()).toBe(before + 4)
  const { body } = await admin.call('GET /events?what=catalog&limit=3')
  expect(body.data.map((event: { after: object }) => event.after)).toMatchObject([
    { version: before + 4 },
    { version: before + 3 },
    { version: before + 2 },
  ])
})
