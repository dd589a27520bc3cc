import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { checkRow } from '../../layers/admin/audit/add-rows.ts'
import type { Audit } from '../../layers/admin/audit/audit-key.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { csvLines } from '../../layers/admin/usage/usage-lines.ts'
import { ulid } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { keyDay, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { grantItem, keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { actAt } from '../support/act.ts'
import { auditKey } from '../support/audit-key.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { HELLO } from '../support/gateway.ts'
import { grantCredits } from '../support/grant-credits.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { say } from '../support/upstream.ts'

const { upstream, gateway } = await openBoth()

const IN_AN_HOUR = Date.now() + 3_600_000
const newId = () => `req_${ulid(Date.now(), randomBytes(10))}`
const newRow = ({ id }: Key) => ({ requestId: newId(), keyId: id, startedAtMs: Date.now() })

type Used = { readonly key: Key; readonly rows: readonly [UsageRow, UsageRow, UsageRow] }

/** A key and its requests, each at a cost of its own: 0.00002, 0.000021, 0.000022… */
async function used(count = 3): Promise<Used> {
  const { key, secret } = await gateway.issue()
  const rows: UsageRow[] = []
  for (let i = 0; i < count; i++) {
    upstream.reply = say('Hello', { prompt_tokens: 10 + i, completion_tokens: 5 })
    rows.push((await gateway.ask({}, { secret })).row)
  }
  return { key: await gateway.readKey(key.id), rows: rows as [UsageRow, UsageRow, UsageRow] }
}

/** Two minutes later unless told, so that no row can be on its way into the index any more. */
async function audit(key: Key, nowMs = Date.now() + 120_000): Promise<Audit> {
  return auditKey(gateway.tables, await gateway.readKey(key.id), nowMs)
}

/** Changes an item to or by `:v`. A name with # in front stands for itself. */
async function change(TableName: string, Key: Record<string, unknown>, UpdateExpression: string, value?: unknown) {
  const names = Object.fromEntries((UpdateExpression.match(/#\w+/g) ?? []).map((name) => [name, name.slice(1)]))
  await gateway.tables.database.update({
    TableName,
    Key,
    UpdateExpression,
    ...(value !== undefined && { ExpressionAttributeValues: { ':v': value } }),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
  })
}

const changeKey = ({ id }: Key, expression: string, value?: unknown) =>
  change(gateway.tables.keys, keyItem(id), expression, value)
const changeRow = ({ requestId }: UsageRow, expression: string, value: unknown) =>
  change(gateway.tables.usage, rowKey(requestId), expression, value)
const remove = (TableName: string, Key: Record<string, unknown>) => gateway.tables.database.delete({ TableName, Key })
const CHARGE = 'SET spent = spent + :v, available = available - :v'

/** A request that was admitted, and left its row or nothing. */
async function leaveHold(key: Key, holdUntilMs: number, row?: UsageRow): Promise<UsageRow | { requestId: string }> {
  const requestId = newId()
  const fresh = await gateway.readKey(key.id)
  const demand = demandOf(key, Date.now(), { requestId, hold: row?.hold ?? 5_000n, holdUntilMs })
  expect((await takeAdmission(gateway.tables)(fresh, demand)).admitted).toBe(true)
  return row ? putUsageRow(gateway.tables)({ ...row, requestId, startedAtMs: Date.now() }) : { requestId }
}

const said = (what: RegExp, more: object = {}) =>
  expect.objectContaining({ what: expect.stringMatching(what), ...more })
const advised = (advice: RegExp) => expect.objectContaining({ advice: expect.stringMatching(advice) })
const spent = (expected: bigint, got: bigint) => said(/^spent is not the sum of the rows$/, { expected, got })
const granted = (expected: bigint, got: bigint) => said(/^granted is not the sum of the grants$/, { expected, got })
const COST = /^its cost is not its tokens × its price$/

test('an audit is clean with requests under way and one that is written but not settled', async () => {
  const { key, rows } = await used()
  await leaveHold(key, IN_AN_HOUR)
  await leaveHold(key, IN_AN_HOUR, rows[0])
  expect(await audit(key)).toMatchObject({ ok: true, balances: true, explained: true, rows: 3, findings: [] })
})

test('an audit never calls the books wrong while the key is in use', async () => {
  upstream.reply = say('Hello')
  const { key, secret } = await gateway.issue({ rpm: 60_000 })
  let busy = true
  const traffic = Array.from({ length: 4 }, async () => {
    for (let i = 0; i < 10; i++) await (await gateway.post(secret, HELLO)).text()
  })
  const done = Promise.all(traffic).then(() => {
    busy = false
  })
  const audits: Audit[] = []
  while (busy) audits.push(await audit(key, Date.now()))
  await done
  expect(audits.filter(({ ok }) => !ok)).toEqual([])
  expect(await audit(key)).toMatchObject({ ok: true, rows: 40, findings: [] })
})

test('an audit notes a request that died and is not swept yet, and finds nothing wrong', async () => {
  const { key } = await used(1)
  const { requestId } = await leaveHold(key, Date.now() - 1)
  const found = await audit(key)
  expect(found.ok).toBe(true)
  expect(found.findings).toEqual([said(/dead request not swept yet: its hold of 0\.000005/, { requestId, note: true })])
})

const UNGRANT = 'SET granted = granted - :v, available = available - :v'
const ONLY_SPENT = advised(/Only spent is wrong.*Set spent to 0\.000063/)
const ONLY_GRANTED = advised(/granted itself was changed. Set it to 10 /)
const BELOW_ZERO = { what: 'available is below zero', expected: 0n, got: -1n }
const UNEXPLAINED = { balances: true, explained: false }
const UNBALANCED = { balances: false, explained: true }
const NEITHER = { balances: false, explained: false }
const BOTH = { balances: true, explained: true }

/** The key has spent 0.000063 of 10 credits. */
test.each<[string, string, number, object, unknown]>([
  ['a charge that was made twice', CHARGE, 22_000, UNEXPLAINED, [spent(63_000n, 85_000n)]],
  ['a charge that was not made at all', CHARGE, -22_000, UNEXPLAINED, [spent(63_000n, 41_000n)]],
  ['a change of spent alone', 'SET spent = spent + :v', 77, NEITHER, expect.arrayContaining([ONLY_SPENT])],
  [
    'a hold that was not given back',
    'SET available = available - :v',
    999,
    UNBALANCED,
    [said(/0\.000000999 is gone$/)],
  ],
  ['one that was given back twice', 'SET available = available + :v', 999, UNBALANCED, [said(/999 is too much$/)]],
  ['a balance below zero', 'SET available = :v', -1, UNBALANCED, expect.arrayContaining([BELOW_ZERO])],
  ['a grant that was never added', UNGRANT, 9, BOTH, [granted(10_000_000_000n, 9_999_999_991n)]],
  ['a change of granted alone', 'SET granted = granted + :v', 10 ** 9, UNBALANCED, [said(/1 is gone/), ONLY_GRANTED]],
])('an audit finds %s', async (_, expression, value, flags, findings) => {
  const { key } = await used()
  await changeKey(key, expression, value)
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, ...flags })
  expect(found.findings).toEqual(findings)
})

test('an audit after a row was deleted says by how much spent and rows differ', async () => {
  const { key, rows } = await used()
  await remove(gateway.tables.usage, rowKey(rows[1].requestId))
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, ...UNEXPLAINED, rows: 2 })
  expect(found.findings).toEqual([spent(42_000n, 63_000n)])
  expect(found.findings).toEqual([advised(/log.*point-in-time recovery/)])
})

test('an audit names a row whose cost was changed, because its tokens and price do not give it', async () => {
  const { key, rows } = await used()
  const { requestId } = rows[1]
  await changeRow(rows[1], 'SET cost = :v', 4_000)
  const off = said(COST, { requestId, expected: 21_000n, got: 4_000n, advice: expect.any(String) })
  expect((await audit(key)).findings).toEqual([spent(46_000n, 63_000n), off])
})

test('an audit says how much is gone after a hold was removed and not given back, with its row or without', async () => {
  const { key, rows } = await used()
  await leaveHold(key, IN_AN_HOUR)
  await changeKey(key, 'REMOVE openHolds')
  expect((await audit(key)).findings).toEqual([said(/0\.000005 is gone/)])
  await leaveHold(key, IN_AN_HOUR, { ...rows[0], hold: 3_333_333n })
  await changeKey(key, 'REMOVE openHolds')
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, ...NEITHER })
  expect(found.findings).toEqual([said(/0\.003338333 is gone/), spent(83_000n, 63_000n)])
})

test('an audit finds a grant that was changed, and that all were deleted', async () => {
  const { key } = await used(1)
  await grantCredits(gateway.tables)(key.id, 5_000_000_000n, actAt(Date.now(), 'ann'))
  const grants = await Array.fromAsync(listGrants(gateway.tables)(key.id))
  const [first = {}, second = {}] = grants.map(({ id }) => grantItem(key.id, id))
  await change(gateway.tables.keys, first, 'SET credits = :v', 12)
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, ...BOTH })
  expect(found.findings).toEqual([granted(5_000_000_012n, 15_000_000_000n)])
  expect(found.findings).toEqual([advised(/the payments/)])
  for (const item of [first, second]) await remove(gateway.tables.keys, item)
  expect((await audit(key)).findings).toEqual([granted(0n, 15_000_000_000n)])
})

test.each<[string, (row: UsageRow) => object, RegExp]>([
  ['tokens that are not whole', () => ({ promptTokens: 1.5 }), /its tokens cannot be/],
  ['tokens below zero', () => ({ completionTokens: -1 }), /its tokens cannot be/],
  ['more cached than prompt tokens', () => ({ cachedTokens: 11 }), /its tokens cannot be/],
  ['a cost though it was refused', () => ({ outcome: 'refused' }), /refused, and yet it costs/],
  ['a cost though nothing was counted', () => ({ usageSource: 'none' }), /nothing was counted, and yet/],
  ['more cached and written than prompt tokens', () => ({ cacheWriteTokens: 11 }), /its tokens cannot be/],
  ['more written for an hour than written', () => ({ cacheWrite1hTokens: 1 }), /its tokens cannot be/],
  [
    'a price of longer prompts',
    ({ price }) => ({ price: { ...price, above: 10 } }),
    /its price is that of longer prompts/,
  ],
  ['a price above no number', ({ price }) => ({ price: { ...price, above: 'ten' } }), /its price is none/],
  ['more reasoning than completion tokens', () => ({ reasoningTokens: 6 }), /its tokens cannot be/],
  ['images below zero', () => ({ images: -1 }), /its tokens cannot be/],
  ['a provider cost below zero', () => ({ upstreamCost: -1n }), /what it cost us is below zero/],
  ['a price that is not a number', ({ price }) => ({ price: { ...price, input: 'free' } }), /its price is none/],
  ['a cost beyond its hold', () => ({ hold: 1n, price: undefined }), /costs more than was held/],
])('an audit names a row with %s', async (_, change, what) => {
  const row = (await used(1)).rows[0]
  expect(checkRow(row)).toEqual([])
  expect(checkRow({ ...row, ...change(row) })).toEqual([said(what, { requestId: row.requestId })])
})

test('an audit stops at a row whose provider cost is not an amount, and names it', async () => {
  const { key, rows } = await used(1)
  await changeRow(rows[0], 'SET upstreamCost = :v', 'much')
  await expect(audit(key)).rejects.toThrow(`The usage row ${rows[0].requestId} is damaged: its upstreamCost is much.`)
})

test('an audit lists at most a hundred findings, and counts the rest', async () => {
  const { key, rows } = await used(1)
  const wrong = { ...rows[0], cost: 0n }
  await Promise.all(Array.from({ length: 110 }, () => putUsageRow(gateway.tables)({ ...wrong, requestId: newId() })))
  const found = await audit(key)
  expect([found.ok, found.findings.length, found.more_findings]).toEqual([false, 100, 10])
})

describe('rows of their own', () => {
  const price = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25', request: '0.005', image: '0.001' }
  const counts = { promptTokens: 12, cachedTokens: 2, cacheWriteTokens: 4, completionTokens: 9, images: 3 }
  const whole = 8_000_000n + 6_000n + 1_000n + 5_000n + 18_000n

  async function book(row: Partial<UsageRow> & { cost: bigint; hold: bigint }) {
    const { key } = await used(0)
    await changeKey(key, CHARGE, row.cost)
    const written = { ...completedRow({ ...newRow(key), ...row }), ...row }
    await putUsageRow(gateway.tables)(written)
    return { key, row: written }
  }

  test('an audit is clean for a row with images and a request price, charged in full or up to its hold', async () => {
    for (const hold of [whole * 2n, 1_000n]) {
      const cost = hold < whole ? hold : whole
      const { key } = await book({ ...counts, reasoningTokens: 5, price, cost, hold, upstreamCost: 7n })
      expect(await audit(key)).toMatchObject({ ok: true, rows: 1, findings: [] })
    }
  })

  test('an audit names a row with a provider cost though nothing was counted', async () => {
    const { key, row } = await book({ cost: 0n, hold: 0n, usageSource: 'none', upstreamCost: 5n })
    const { requestId } = row
    expect((await audit(key)).findings).toEqual([said(/nothing was counted, and yet it cost us/, { requestId })])
  })

  test('an audit names a row whose images were not charged', async () => {
    const { key, row } = await book({ ...counts, price, cost: whole - 3_000_000n, hold: whole * 2n })
    const off = { requestId: row.requestId, expected: whole, got: whole - 3_000_000n }
    expect((await audit(key)).findings).toEqual([said(COST, off)])
  })
})

test('a row without any field that it may lack is read, explained, exported and audited', async () => {
  const { key } = await used(0)
  const { requestId, startedAtMs, ...row } = completedRow({ ...newRow(key), cost: 19_000n, hold: 30_000n })
  const Item = {
    ...row,
    ...rowKey(requestId),
    startedAt: new Date(startedAtMs).toISOString(),
    keyDay: keyDay(key.id, startedAtMs),
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 2,
    priceVersion: 1,
    price: { input: '1', output: '2', cachedInput: '0.5' },
    attempts: [{ provider: 'up', model: 'm', result: 'ok', ms: 5 }],
  }
  await gateway.tables.database.put({ TableName: gateway.tables.usage, Item })
  await changeKey(key, CHARGE, 19_000)
  expect(await audit(key)).toMatchObject({ ok: true, rows: 1, findings: [] })
  const stored = await gateway.readRow(requestId)
  const shown = explanationLines(explainRequest(stored, key, Date.now())).join('\n')
  expect(shown).toMatch(/^cached +2 tokens × 0\.5 per million = 0\.000001$/m)
  expect(shown).toMatch(/^charged +0\.000019$/m)
  const [, line] = await Array.fromAsync(csvLines(Readable.from([stored]), true))
  expect(line).toMatch(/,0\.000019,0\.00003,,,1,1,2,0\.5,+up\/m: ok after 5 ms,,1,*\r\n$/)
  expect(usageRecord(stored)).toMatchObject({
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    images: 0,
    usage_capped: false,
  })
})

test('waybill audit prints a line for each finding, or JSON with --json, and exits with 1 unless all is clean', async () => {
  const { key, rows } = await used()
  const { requestId } = rows[1]
  await changeRow(rows[1], 'SET cost = :v', 4_000)
  const stage = await openStage(gateway.tables)
  const args = ['audit', '--key', key.id, '--stage', 'dev']
  const [people, json] = await Promise.all([stage.waybill(args), stage.waybill([...args, '--json'])])
  expect([people.code, json.code, people.stderr, json.stderr]).toEqual([1, 1, '', ''])
  expect(people.stdout).toContain(
    `  ${requestId}: its cost is not its tokens × its price: expected 0.000021, got 0.000004. A row is written once`,
  )
  expect(people.stdout).toMatch(new RegExp(`^${key.name} .* spent is not the sum of the rows *$`, 'm'))
  const text = expect.stringContaining('expected 0.000021, got 0.000004')
  expect(JSON.parse(json.stdout)).toMatchObject({
    object: 'list',
    data: [{ ok: false, findings: [{}, { about: requestId, text }], more_findings: 0 }],
  })
  await changeKey(key, 'SET available = available + :v', 1)
  expect((await stage.waybill(args)).stdout).toMatch(/ granted is not available \+ held \+ spent *$/m)
  const clean = await stage.waybill(['audit', '--key', (await used(1)).key.id, '--stage', 'dev'])
  expect([clean.code, clean.stdout]).toEqual([0, expect.stringMatching(/ ok\n\n1 key, all clean\.\n$/)])
})
