import { beforeEach, describe, expect, test } from '@jest/globals'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { findEvent } from '../../layers/gateway/store/events/events.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { catalogFor, openTestTables } from '../support/gateway.ts'
import { openLine } from '../support/stack.ts'
import { adminOf, once } from './support/admin.ts'
import { ONCE_CHANGES as CHANGES } from './support/once-changes.ts'

const tables = await openTestTables()
const { line, far } = await openLine(tables)
/** Over a line that can be made bad. */
const admin = adminOf(far)
/** The same, with little time for an act. */
const hasty = adminOf(far, { actMs: 1_500 })

beforeEach(() => {
  line.treat = () => 'answer'
})

const keysNamed = async (name: string) => (await Array.fromAsync(listKeys(tables)())).filter((key) => key.name === name)
const eventsOf = async (keyId: string) => {
  const events = await Array.fromAsync(listEvents(tables)({ of: keyId, fromMs: 0, toMs: Date.now() + 60_000 }))
  return events.map(({ what }) => what)
}
const newKey = async () => {
  const { body } = await admin.call('POST /keys', { body: { name: 'acme', credits: '5' }, headers: once() })
  return body as { id: string; secret: string; last_four: string }
}

type Change = keyof typeof CHANGES
const names = Object.keys(CHANGES) as Change[]

async function timesDone(change: Change, id: string, name: string): Promise<number> {
  if (change === 'create') return (await keysNamed(name)).length
  const kind = change === 'rotate' ? 'key.rotate' : 'key.grant'
  return (await eventsOf(id)).filter((what) => what === kind).length
}

let number = 0
async function prepared(change: Change, by = admin) {
  const name = `key ${number++}`
  const { id } = await newKey()
  const sent = { body: CHANGES[change].body(name), headers: once() }
  const ask = (more: object = {}) => by.call(CHANGES[change].route(id), { ...sent, ...more })
  return { name, id, ask, sent, done: () => timesDone(change, id, name) }
}

describe.each(names)('%s', (change) => {
  test(`${change} without an Idempotency-Key is a 400 that says so, and nothing is done`, async () => {
    const { ask, done } = await prepared(change)
    const { status, body } = await ask({ headers: {} })
    expect([status, body.error.code]).toEqual([400, 'idempotency_key_missing'])
    expect(body.error.message).toContain('Idempotency-Key')
    expect(await done()).toBe(0)
  })

  test(`${change} asked for twice is done once, and the second answer is of the same thing without a secret`, async () => {
    const { ask, done } = await prepared(change)
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.status]).toEqual([first.status, first.status])
    expect([first.body.replayed, second.body.replayed]).toEqual([false, true])
    expect(second.body.id).toBe(first.body.id)
    if (change !== 'grant') expect([typeof first.body.secret, second.body.secret]).toEqual(['string', null])
    expect(await done()).toBe(1)
  })

  test(`${change} asked for eight times at once is done once, and whoever is told a secret is told the one in force`, async () => {
    const { ask, done } = await prepared(change)
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()))
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await done()).toBe(1)
    if (change === 'grant') return
    const told = answers.flatMap(({ body }) => body.secret ?? [])
    expect(told.length).toBe(1)
    const { body } = await admin.call(`GET /keys/${answers[0]?.body.id}`)
    expect(told[0]).toMatch(new RegExp(`${body.last_four}$`))
  })

  test(`${change} whose answer the database loses, and that cannot be looked for either, is told as unknown in time; asked again it was done once`, async () => {
    const { ask, done } = await prepared(change, hasty)
    let isMade = false
    line.treat = (operation) => {
      isMade ||= operation === 'TransactWriteItems'
      return isMade ? 'lose the answer' : 'answer'
    }
    const startedMs = Date.now()
    const lost = await ask()
    expect(Date.now() - startedMs).toBeLessThan(12_000)
    expect([lost.status, lost.body.error.code]).toEqual([503, 'outcome_unknown'])
    expect(lost.body.error.message).toContain('same Idempotency-Key')
    line.treat = () => 'answer'
    const again = await ask()
    expect([again.status < 300, again.body.replayed]).toEqual([true, true])
    expect(await done()).toBe(1)
  })

  test.each([
    ['every time, is known by its event', Infinity],
    ['once, is made again by itself', 1],
  ])(`${change} whose answer the database loses, %s, is done once and told with its secret`, async (_, losses) => {
    const { ask, done } = await prepared(change, hasty)
    let left = losses
    line.treat = (operation) => (operation === 'TransactWriteItems' && left-- > 0 ? 'lose the answer' : 'answer')
    const { status, body } = await ask()
    expect([status < 300, body.replayed, left < losses || losses === Infinity]).toEqual([true, false, true])
    if (change !== 'grant') expect(body.secret).toMatch(new RegExp(`${body.last_four}$`))
    expect(await done()).toBe(1)
  })

  test(`${change} that crashed after its claim and before its change is done by the retry, once`, async () => {
    const { ask, done } = await prepared(change, hasty)
    line.treat = (operation) => (operation === 'TransactWriteItems' ? 'cut off' : 'answer')
    expect((await ask()).status).toBe(503)
    line.treat = () => 'answer'
    expect(await done()).toBe(0)
    const { status, body } = await ask()
    expect([status < 300, body.replayed]).toEqual([true, false])
    expect(await done()).toBe(1)
  })

  test(`${change} with an Idempotency-Key that stood for another body is a 422, and nothing is done`, async () => {
    const { ask, done, sent } = await prepared(change)
    await ask()
    const other = { create: { name: 'other' }, rotate: { grace_seconds: 5 }, grant: { credits: '4' } }[change]
    const { status, body } = await ask({ body: other })
    expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused'])
    const reordered = Object.fromEntries(Object.entries(sent.body).reverse())
    expect((await ask({ body: reordered })).body.replayed).toBe(true)
    expect(await done()).toBe(1)
  })

  test(`${change} of two callers with the same Idempotency-Key are two acts`, async () => {
    const { ask, done } = await prepared(change)
    await ask({ by: 'ann' })
    await ask({ by: 'bob' })
    expect(await done()).toBe(2)
  })
})

test('an Idempotency-Key that is too long or has spaces is a 400', async () => {
  for (const name of ['', 'a b', 'x'.repeat(256), 'naïve']) {
    const { status } = await admin.call('POST /keys', { body: { name: 'x' }, headers: once(name) })
    expect([name, status]).toEqual([name, 400])
  }
})

test('a grant that is sent again adds its credits once, with one entry in the books that has the act’s own id', async () => {
  const { id } = await newKey()
  const sent = { body: { credits: '2' }, headers: once() }
  const answers = [await admin.call(`POST /keys/${id}/grants`, sent), await admin.call(`POST /keys/${id}/grants`, sent)]
  expect(answers.map(({ body }) => body.key.granted)).toEqual(['7', '7'])
  const grants = await Array.fromAsync(listGrants(tables)(id))
  expect(grants.map(({ credits }) => credits)).toEqual([5_000_000_000n, 2_000_000_000n])
  expect(grants[1]?.id).toBe(answers[0]?.body.id)
  expect(await findEvent(tables)(id, answers[0]?.body.id)).toMatchObject({ what: 'key.grant', by: 'ann' })
})

test('a rotation that is sent again after a later one gives nothing back: the later secret stays in force', async () => {
  const { id } = await newKey()
  const first = { headers: once() }
  await admin.call(`POST /keys/${id}/rotate`, first)
  const later = await admin.call(`POST /keys/${id}/rotate`, { headers: once() })
  const again = await admin.call(`POST /keys/${id}/rotate`, first)
  expect(again.body).toMatchObject({ secret: null, replayed: true, last_four: later.body.last_four })
})

describe('where nothing can be read after the change', () => {
  const closeAfterChange = () => {
    let isMade = false
    line.treat = (operation) => {
      isMade ||= operation === 'TransactWriteItems'
      return isMade && operation !== 'TransactWriteItems' ? 'cut off' : 'answer'
    }
  }
  beforeEach(closeAfterChange)

  test('a key whose secret the caller made is told as made; one whose secret was made here is left open, and told when asked again', async () => {
    const own = { secret_sha256: 'ab'.repeat(32), last_four: 'wxyz' }
    const told = await admin.call('POST /keys', { body: { name: 'told', ...own }, headers: once() })
    expect([told.status, told.body.replayed]).toEqual([201, false])
    closeAfterChange()
    const sent = { body: { name: 'left open' }, headers: once() }
    const open = await admin.call('POST /keys', sent)
    expect([open.status, open.body.error.code]).toEqual([503, 'outcome_unknown'])
    line.treat = () => 'answer'
    expect((await admin.call('POST /keys', sent)).body).toMatchObject({ replayed: true, secret: null })
    expect([(await keysNamed('told')).length, (await keysNamed('left open')).length]).toEqual([1, 1])
  })

  test('a catalog that is in force is never told as refused', async () => {
    const body = catalogFor('https://up.example/v1')
    const put = await admin.call('PUT /catalog', { body, headers: { 'if-match': '"0"' } })
    expect([put.status, put.body.error.code]).toEqual([503, 'outcome_unknown'])
    expect((await readStoredCatalog(tables)())?.version).toBe(1)
  })
})

test('a change that the database turns away is told as not made', async () => {
  const { id } = await newKey()
  line.treat = (operation) => (operation === 'TransactWriteItems' ? 'throttle' : 'answer')
  const granted = await hasty.call(`POST /keys/${id}/grants`, { body: { credits: '1' }, headers: once() })
  expect([granted.status, granted.body.error.code]).toEqual([503, 'service_unavailable'])
  expect(await eventsOf(id)).toEqual(['key.create'])
})
