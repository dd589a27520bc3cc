import { expect, test } from '@jest/globals'
import { checkGrants } from '../../layers/admin/audit/check-balance.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { retry } from '../../layers/gateway/platform/retry.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { wasRejected } from '../../layers/gateway/store/dynamodb/conditional-writes.ts'
import { listEvents } from '../../layers/gateway/store/events/list-events.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { issueKey } from '../../local/issue-key.ts'
import { actAt } from '../support/act.ts'
import { demandOf } from '../support/demand.ts'
import { booksBalance, openTestTables } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { requestIdAt } from '../support/request-id.ts'
import { adminOf, once, walk } from './support/admin.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const CREDIT = 1_000_000_000n
const AT_ONCE = 200
let nowMs = NOW
const tables = await openTestTables()
const admin = adminOf(tables, { clock: () => nowMs })

async function issue(credits = 10n * CREDIT, name = 'acme'): Promise<Key> {
  const settings = { ...KEY_DEFAULTS, name, rpm: 60_000, maxConcurrent: 1_000 }
  return (await issueKey(tables, { settings, credits, prefix: 'svc_live_', by: 'test' }, NOW)).key
}

const fresh = async (key: Key): Promise<Key> => (await readKey(tables)(key.id)) as Key
const grant = ({ id }: Key, body: object, headers = once()) => admin.call(`POST /keys/${id}/grants`, { body, headers })

/** A request that holds credits; its id, if it was admitted. */
async function hold(key: Key, amount: bigint): Promise<string | undefined> {
  const requestId = requestIdAt(NOW)
  const demand = demandOf(key, NOW, { requestId, hold: amount })
  const take = takeAdmission(tables)
  // An admission may meet six of so many transactions.
  const first = await retry(() => take(key, demand), { when: wasRejected, pauseMs: () => 20 })
  if (first.admitted === true) return requestId
  return first.key && (await take(first.key, demand)).admitted === true ? requestId : undefined
}

test('a grant has its reference in the answer, in the list, in its event, and the key is found by it', async () => {
  const key = await issue()
  nowMs = NOW + 1
  const made = await grant(key, { credits: '2.5', reference: ' INV-2026/11 Ä ' })
  expect([made.status, made.body.reference]).toEqual([201, 'INV-2026/11 Ä'])
  nowMs = NOW + 2
  expect((await grant(key, { credits: '1' })).body.reference).toBeNull()
  nowMs = NOW
  const listed = async (query: string) => {
    const { body } = await admin.call(`GET /keys/${key.id}/grants${query}`)
    return body.data.map(({ credits, reference }: { credits: string; reference: string }) => [credits, reference])
  }
  expect(await listed('')).toEqual([
    ['1', null],
    ['2.5', 'INV-2026/11 Ä'],
    ['10', null],
  ])
  // Typed otherwise: in another case, with other spaces, with an umlaut of two characters.
  const typed = encodeURIComponent('inv-2026/11   A\u0308')
  expect(await listed(`?reference=${typed}`)).toEqual([['2.5', 'INV-2026/11 Ä']])
  expect(await listed('?reference=INV-2026')).toEqual([])
  const [event] = await Array.fromAsync(listEvents(tables)({ of: key.id, fromMs: 0, toMs: Date.now() + DAY_MS }))
  expect(event).toMatchObject({ what: 'key.grant', after: { credits: '1' } })
  expect(event?.after).not.toHaveProperty('reference')
  for (const route of [`GET /search?q=${typed}`, `GET /keys?reference=${typed}`]) {
    const { body } = await admin.call(route)
    expect((body.keys ?? body.data).map(({ id }: Key) => id)).toEqual([key.id])
  }
})

test('keys with one reference are listed newest first, page by page; another filter beside it is refused', async () => {
  const keys = await Promise.all([issue(), issue(), issue()])
  for (const key of keys) expect((await grant(key, { credits: '1', reference: 'welcome' })).status).toBe(201)
  const newest = keys
    .map(({ id }) => id)
    .sort()
    .reverse()
  const listed = await Array.fromAsync(walk<Key>(admin, 'GET /keys?reference=Welcome&limit=2'))
  expect(listed.map(({ id }) => id)).toEqual(newest)
  const both = await admin.call('GET /keys?reference=welcome&external_id=x')
  expect([both.status, both.body.error.param]).toEqual([400, 'reference'])
})

test('the first grant of a new key has a reference, too, which counts; one without credits is refused', async () => {
  const body = { name: 'acme', credits: '5', reference: 'INV-7' }
  const { body: key } = await admin.call('POST /keys', { body, headers: once() })
  expect((await admin.call(`GET /keys/${key.id}/grants`)).body.data).toMatchObject([
    { credits: '5', reference: 'INV-7' },
  ])
  expect((await admin.call(`GET /keys/${key.id}/events`)).body.data).toMatchObject([{ after: { reference: 'INV-7' } }])
  expect((await grant(key, { credits: '5', reference: 'inv-7' })).body.error.code).toBe('reference_used')
  const without = await admin.call('POST /keys', { body: { name: 'acme', reference: 'INV-8' }, headers: once() })
  expect([without.status, without.body.error.param]).toEqual([400, 'reference'])
})

test('a reference is refused for the same key within 30 days without a word more, and for another key or later it is not', async () => {
  const [key, other] = [await issue(), await issue()]
  expect((await grant(key, { credits: '3', reference: 'INV-9' })).status).toBe(201)
  for (const [reference, credits] of [
    ['INV-9', '3'],
    ['inv-9', '4'],
    ['ＩＮＶ－９', '3'],
    ['INV-9', '-1'],
  ]) {
    const { status, body } = await grant(key, { credits, reference })
    expect([status, body.error.code, body.error.param]).toEqual([409, 'reference_used', 'reference'])
    expect(body.error.message).toContain(`The key '${key.name}' was granted credits`)
    expect(body.error.message).toMatch(/\(3 at 2026-11-15T12:00:00\.000Z, by ann\)\. Nothing was changed\..*--again/)
  }
  expect((await fresh(key)).granted).toBe(13n * CREDIT)
  expect((await grant(other, { credits: '3', reference: 'INV-9' })).status).toBe(201)
  expect((await grant(key, { credits: '3', reference: 'INV-9', again: true })).status).toBe(201)
  nowMs = NOW + 30 * DAY_MS - 1
  expect((await grant(key, { credits: '3', reference: 'INV-9' })).status).toBe(409)
  nowMs += 1
  expect((await grant(key, { credits: '3', reference: 'INV-9' })).status).toBe(201)
  nowMs = NOW
  expect((await fresh(key)).granted).toBe(19n * CREDIT)
})

test('a grant that is asked for again under its Idempotency-Key is its own, and no second use of its reference', async () => {
  const [key, headers] = [await issue(), once()]
  const sent = { credits: '3', reference: 'INV-1' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => grant(key, sent, headers)))
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
  expect((await fresh(key)).granted).toBe(13n * CREDIT)
})

test(`of ${AT_ONCE} grants at once under one reference one passes, and all that say the word`, async () => {
  const key = await issue(0n)
  const reference = { text: 'INV-1', isAgain: false }
  const results = await Promise.all(
    Array.from({ length: AT_ONCE }, () => grantCredits(tables)(key.id, 1n, actAt(NOW), undefined, reference)),
  )
  expect(results.filter(({ changed }) => changed)).toHaveLength(1)
  expect(new Set(results.map((result) => (result.changed ? 'done' : result.why)))).toEqual(
    new Set(['done', 'reference_used']),
  )
  const again = { ...reference, isAgain: true }
  await Promise.all(Array.from({ length: 20 }, () => grantCredits(tables)(key.id, 1n, actAt(NOW), undefined, again)))
  expect([(await fresh(key)).granted, (await Array.fromAsync(listGrants(tables)(key.id))).length]).toEqual([21n, 21])
})

test('a correction takes back what is available, as one event, and nothing that is held or spent', async () => {
  const key = await issue(10n * CREDIT)
  expect(await hold(key, 4n * CREDIT)).toBeDefined()
  const { status, body } = await grant(key, { credits: '-6.000000001' })
  expect([status, body.error.code, body.error.param]).toEqual([409, 'credits_not_available', 'credits'])
  expect(body.error.message).toContain(
    `The key '${key.name}' has 6 credits available, and 6.000000001 cannot be taken back`,
  )
  const made = await grant(key, { credits: '-6', reference: 'typo in INV-3' })
  expect(made.body).toMatchObject({ credits: '-6', key: { granted: '4', available: '0', held: '4' } })
  const events = await Array.fromAsync(listEvents(tables)({ of: key.id, fromMs: 0, toMs: Date.now() + DAY_MS }))
  expect(events.filter(({ what }) => what === 'key.grant').map(({ after }) => after)).toEqual([
    { credits: '-6', reference: 'typo in INV-3' },
  ])
})

test(`of ${AT_ONCE} corrections and admissions at once none takes what another has, to the last credit`, async () => {
  const key = await issue(60n)
  const taken = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, i) => {
      if (i % 2 === 0) return (await hold(key, 1n)) === undefined ? 'no' : 'held'
      return (await grantCredits(tables)(key.id, -1n, actAt(NOW))).changed ? 'corrected' : 'no'
    }),
  )
  const count = (what: string) => BigInt(taken.filter((one) => one === what).length)
  const after = await fresh(key)
  expect(count('held') + count('corrected')).toBe(60n)
  expect([after.available, after.granted, booksBalance(after)]).toEqual([0n, 60n - count('corrected'), true])
  const sum = (await Array.fromAsync(listGrants(tables)(key.id))).reduce((all, { credits }) => all + credits, 0n)
  expect(sum).toBe(after.granted)
})

test('a correction while the grants are read is no difference in the books', async () => {
  const before = await issue(10n)
  await grantCredits(tables)(before.id, -4n, actAt(NOW + 1))
  const [after, grants] = [await fresh(before), await Array.fromAsync(listGrants(tables)(before.id))]
  expect(checkGrants(before, after, grants, 0n)).toEqual([])
  expect(checkGrants(before, after, grants.slice(0, 1), 0n)).toEqual([])
  expect(checkGrants(after, after, grants.slice(0, 1), 0n)).toHaveLength(1)
})

test.each<[string, object, string]>([
  ['201 characters', { reference: 'x'.repeat(201) }, 'reference'],
  ['two lines', { reference: 'INV-1\nINV-2' }, 'reference'],
  ['a mark that reverses text', { reference: 'INV-\u202e1' }, 'reference'],
  ['a number', { reference: 7 }, 'reference'],
  ['a word that is none', { reference: 'INV-1', again: 'yes' }, 'again'],
])('a reference that is %s is refused, and nothing is granted', async (_, fields, param) => {
  const key = await issue()
  const { status, body } = await grant(key, { credits: '1', ...fields })
  expect([status, body.error.param]).toEqual([400, param])
  expect((await fresh(key)).granted).toBe(10n * CREDIT)
})

test('a reference of 200 letters that become many is one', async () => {
  const key = await issue()
  for (const status of [201, 409]) {
    expect((await grant(key, { credits: '1', reference: '\uFDFA'.repeat(200) })).status).toBe(status)
  }
})
