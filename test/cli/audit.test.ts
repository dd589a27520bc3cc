import { randomBytes } from 'node:crypto'
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import type { Audit } from '../../layers/admin/audit/audit-key.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { toCsvLine } from '../../layers/admin/usage/usage-lines.ts'
import { ulid } from '../../layers/gateway/domain/basics/ulid.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import { keyDay, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { grantCredits, listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { grantItem, keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { usageRecord } from '../../layers/gateway/wire/rows/usage-record.ts'
import { actAt } from '../support/act.ts'
import { auditKey } from '../support/audit-key.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { say, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

const newRow = ({ id }: Key) => ({ requestId: newId(), keyId: id, startedAtMs: Date.now() })
const newId = () => `req_${ulid(Date.now(), randomBytes(10))}`

/** A key and its requests, each at a cost of its own: 0.00002, 0.000021, 0.000022… */
async function used(count = 3): Promise<{ key: Key; rows: UsageRow[] }> {
  const { key, secret } = await gateway.issue()
  const rows: UsageRow[] = []
  for (let i = 0; i < count; i++) {
    upstream.reply = say('Hello', { prompt_tokens: 10 + i, completion_tokens: 5 })
    rows.push(await gateway.readRow((await gateway.post(secret, HELLO)).headers.get('x-request-id')))
  }
  return { key: await gateway.readKey(key.id), rows }
}

/** Two minutes later unless told, so that no row can be on its way into the index any more. */
async function audit(key: Key, nowMs = Date.now() + 120_000): Promise<Audit> {
  return auditKey(gateway.tables, await gateway.readKey(key.id), nowMs)
}

const IN_AN_HOUR = Date.now() + 3_600_000

function changeKey(key: Key, expression: string, values: Record<string, unknown> = {}, names = {}) {
  return change(gateway.tables.keys, keyItem(key.id), expression, values, names)
}

function changeRow({ requestId }: UsageRow, expression: string, values: Record<string, unknown> = {}) {
  return change(gateway.tables.usage, rowKey(requestId), expression, values)
}

async function change(table: string, key: object, expression: string, values: Record<string, unknown>, names = {}) {
  await gateway.tables.client.send(
    new UpdateCommand({
      TableName: table,
      Key: key as Record<string, unknown>,
      UpdateExpression: expression,
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    }),
  )
}

/** A request that was admitted, and left its row or nothing. */
async function leaveHold(key: Key, holdUntilMs: number, row?: UsageRow): Promise<UsageRow | { requestId: string }> {
  const requestId = newId()
  const fresh = await gateway.readKey(key.id)
  const demand = demandOf(key, Date.now(), { requestId, hold: row?.hold ?? 5_000n, holdUntilMs })
  expect((await takeAdmission(gateway.tables)(fresh, demand)).admitted).toBe(true)
  return row ? putUsageRow(gateway.tables)({ ...row, requestId, startedAtMs: Date.now() }) : { requestId }
}

const about = (requestId: string | undefined, what: RegExp) =>
  expect.objectContaining({ requestId, what: expect.stringMatching(what) })
const said = (what: RegExp) => expect.objectContaining({ what: expect.stringMatching(what) })

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
  expect(found.findings).toEqual([about(requestId, /dead request not swept yet: its hold of 0\.000005/)])
  expect(found.findings[0]).toHaveProperty('note', true)
})

test('an audit after a row was deleted says by how much spent and rows differ', async () => {
  const { key, rows } = await used()
  const [, { requestId, cost }] = rows as [UsageRow, UsageRow]
  await gateway.tables.client.send(new DeleteCommand({ TableName: gateway.tables.usage, Key: rowKey(requestId) }))
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, balances: true, explained: false, rows: 2 })
  expect(found.findings).toEqual([
    {
      what: 'spent is not the sum of the rows',
      expected: key.spent - cost,
      got: key.spent,
      advice: expect.stringMatching(/log.*point-in-time recovery/),
    },
  ])
})

test('an audit names a row whose cost was changed, because its tokens and price do not give it', async () => {
  const { key, rows } = await used()
  const { requestId } = rows[1] as UsageRow
  await changeRow(rows[1] as UsageRow, 'SET cost = :cost', { ':cost': 4_000 })
  expect((await audit(key)).findings).toEqual([
    said(/^spent is not the sum of the rows/),
    {
      requestId,
      what: 'its cost is not its tokens × its price',
      expected: 21_000n,
      got: 4_000n,
      advice: expect.any(String),
    },
  ])
})

test('an audit finds a charge that was made twice, or not at all', async () => {
  for (const sign of [1n, -1n]) {
    const { key, rows } = await used()
    const { cost } = rows[2] as UsageRow
    const off = { ':cost': sign * cost }
    await changeKey(key, 'SET spent = spent + :cost, available = available - :cost', off)
    const found = await audit(key)
    expect(found).toMatchObject({ ok: false, balances: true, explained: false })
    const expected = { expected: key.spent, got: key.spent + sign * cost }
    expect(found.findings).toEqual([expect.objectContaining({ what: 'spent is not the sum of the rows', ...expected })])
  }
})

test('an audit says that only the sum of spent credits was changed, and to what to set it', async () => {
  const { key } = await used()
  await changeKey(key, 'SET spent = spent + :more', { ':more': 77 })
  const found = await audit(key)
  expect(found).toMatchObject({ balances: false, explained: false })
  expect(found.findings).toContainEqual(
    expect.objectContaining({ advice: expect.stringMatching(/Only spent is wrong.*Set spent to 0\.000063/) }),
  )
})

test('an audit finds a hold that was removed and not given back', async () => {
  const { key, rows } = await used()
  await leaveHold(key, IN_AN_HOUR, { ...(rows[0] as UsageRow), hold: 3_333_333n })
  await changeKey(key, 'REMOVE openHolds')
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, balances: false, explained: false })
  expect(found.findings).toEqual([said(/0\.003333333 is gone/), said(/^spent is not the sum of the rows/)])
})

test('an audit finds an unused hold that was not given back, or was given back twice', async () => {
  for (const [sign, what] of [
    ['-', 'is gone'],
    ['+', 'is too much'],
  ] as const) {
    const { key, rows } = await used()
    const { hold, cost } = rows[1] as UsageRow
    await changeKey(key, `SET available = available ${sign} :rest`, { ':rest': hold - cost })
    const found = await audit(key)
    expect(found).toMatchObject({ ok: false, balances: false, explained: true })
    expect(found.findings).toEqual([said(new RegExp(`${formatCredits(hold - cost)} ${what}$`))])
  }
})

test('an audit says how much is gone after a hold without a row was removed', async () => {
  const { key } = await used()
  await leaveHold(key, IN_AN_HOUR)
  await changeKey(key, 'REMOVE openHolds')
  expect((await audit(key)).findings).toEqual([said(/0\.000005 is gone/)])
})

test('an audit finds a balance below zero', async () => {
  const { key } = await used(1)
  await changeKey(key, 'SET available = :less', { ':less': -1 })
  expect((await audit(key)).findings).toContainEqual({ what: 'available is below zero', expected: 0n, got: -1n })
})

describe('grants', () => {
  async function granted() {
    const { key } = await used(1)
    const grant = actAt(Date.now(), 'ann')
    await grantCredits(gateway.tables)(key.id, 5_000_000_000n, grant)
    const [first] = await Array.fromAsync(listGrants(gateway.tables)(key.id))
    return { key, first: first?.id ?? '', second: grant.id }
  }

  test('an audit finds a grant that was changed', async () => {
    const { key, first } = await granted()
    await change(gateway.tables.keys, grantItem(key.id, first), 'SET credits = :more', { ':more': 12 })
    const found = await audit(key)
    expect(found).toMatchObject({ ok: false, balances: true, explained: true })
    expect(found.findings).toEqual([
      {
        what: 'granted is not the sum of the grants',
        expected: 5_000_000_012n,
        got: 15_000_000_000n,
        advice: expect.stringContaining('the payments'),
      },
    ])
  })

  test('an audit finds a grant that was recorded but never added', async () => {
    const { key } = await granted()
    await changeKey(key, 'SET granted = granted - :it, available = available - :it', { ':it': 5_000_000_000 })
    const off = { expected: 15_000_000_000n, got: 10_000_000_000n }
    expect((await audit(key)).findings).toEqual([expect.objectContaining(off)])
  })

  test('an audit finds that all grants were deleted', async () => {
    const { key, first, second } = await granted()
    for (const id of [first, second]) {
      const Key = grantItem(key.id, id)
      await gateway.tables.client.send(new DeleteCommand({ TableName: gateway.tables.keys, Key }))
    }
    expect((await audit(key)).findings).toEqual([expect.objectContaining({ expected: 0n, got: 15_000_000_000n })])
  })

  test('an audit says that only the sum of granted credits was changed, and to what to set it', async () => {
    const { key } = await granted()
    await changeKey(key, 'SET granted = granted + :one', { ':one': 1_000_000_000 })
    expect((await audit(key)).findings).toEqual([
      said(/1 is gone/),
      expect.objectContaining({ advice: expect.stringMatching(/granted itself was changed. Set it to 15 /) }),
    ])
  })
})

test.each([
  ['tokens that are not whole', 'SET promptTokens = :v', 1.5, /its tokens cannot be/],
  ['tokens below zero', 'SET completionTokens = :v', -1, /its tokens cannot be/],
  ['more cached than prompt tokens', 'SET cachedTokens = :v', 11, /its tokens cannot be/],
  ['a cost though it was refused', 'SET outcome = :v', 'refused', /refused, and yet it costs/],
  ['a cost though nothing was counted', 'SET usageSource = :v', 'none', /nothing was counted, and yet/],
  ['more cached and written than prompt tokens', 'SET cacheWriteTokens = :v', 11, /its tokens cannot be/],
  ['more written for an hour than written', 'SET cacheWrite1hTokens = :v', 1, /its tokens cannot be/],
  ['a price of longer prompts', 'SET price.#above = :v', 10, /its price is that of longer prompts/],
  ['a price above no number', 'SET price.#above = :v', 'ten', /its price is none/],
  ['more reasoning than completion tokens', 'SET reasoningTokens = :v', 6, /its tokens cannot be/],
  ['images below zero', 'SET images = :v', -1, /its tokens cannot be/],
  ['a provider cost below zero', 'SET upstreamCost = :v', -1, /what it cost us is below zero/],
  ['a price that is not a number', 'SET price.#input = :v', 'free', /its price is none/],
  ['a cost beyond its hold', 'SET #hold = :v REMOVE price', 1, /costs more than was held/],
])('an audit names a row with %s', async (_, expression, value, what) => {
  const { key, rows } = await used(1)
  const names = Object.fromEntries((expression.match(/#\w+/g) ?? []).map((name) => [name, name.slice(1)]))
  await change(gateway.tables.usage, rowKey(rows[0]?.requestId ?? ''), expression, { ':v': value }, names)
  const found = await audit(key)
  expect(found).toMatchObject({ ok: false, balances: true, explained: true })
  expect(found.findings).toEqual([about(rows[0]?.requestId, what)])
})

test('an audit stops at a row whose provider cost is not an amount, and names it', async () => {
  const { key, rows } = await used(1)
  await changeRow(rows[0] as UsageRow, 'SET upstreamCost = :v', { ':v': 'much' })
  await expect(audit(key)).rejects.toThrow(`The usage row ${rows[0]?.requestId} is damaged: its upstreamCost is much.`)
})

test('an audit names a row with a provider cost though nothing was counted', async () => {
  const { key } = await used(0)
  const free = { ...completedRow({ ...newRow(key), cost: 0n, hold: 0n }), usageSource: 'none' as const }
  await putUsageRow(gateway.tables)({ ...free, upstreamCost: 5n })
  expect((await audit(key)).findings).toEqual([about(free.requestId, /nothing was counted, and yet it cost us/)])
})

test('an audit lists at most a hundred findings, and counts the rest', async () => {
  const { key, rows } = await used(1)
  const wrong = { ...(rows[0] as UsageRow), cost: 0n }
  await Promise.all(Array.from({ length: 110 }, () => putUsageRow(gateway.tables)({ ...wrong, requestId: newId() })))
  const found = await audit(key)
  expect([found.ok, found.findings.length, found.more_findings]).toEqual([false, 100, 10])
})

describe('prices for more than tokens', () => {
  const price = { input: '1', output: '2', cachedInput: '0.5', cacheWrite: '1.25', request: '0.005', image: '0.001' }
  const counts = { promptTokens: 12, cachedTokens: 2, cacheWriteTokens: 4, completionTokens: 9, images: 3 }
  const whole = 8_000_000n + 6_000n + 1_000n + 5_000n + 18_000n

  async function book(row: Partial<UsageRow> & { cost: bigint; hold: bigint }) {
    const { key } = await used(0)
    await changeKey(key, 'SET spent = spent + :cost, available = available - :cost', { ':cost': row.cost })
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

  test('an audit names a row whose images were not charged', async () => {
    const { key, row } = await book({ ...counts, price, cost: whole - 3_000_000n, hold: whole * 2n })
    const off = { what: 'its cost is not its tokens × its price', expected: whole, got: whole - 3_000_000n }
    expect((await audit(key)).findings).toEqual([expect.objectContaining({ requestId: row.requestId, ...off })])
  })
})

test('a row without any field that it may lack is read, explained, exported and audited', async () => {
  const { key } = await used(0)
  const { requestId, keyId, startedAtMs } = newRow(key)
  const startedAt = new Date(startedAtMs).toISOString()
  const Item = {
    ...rowKey(requestId),
    keyId,
    startedAt,
    endpoint: 'chat.completions',
    outcome: 'completed',
    httpStatus: 200,
    model: 'test-model',
    provider: 'up',
    upstreamModel: 'upstream-model',
    stream: false,
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 2,
    usageSource: 'upstream',
    usageRejected: false,
    cost: 19_000,
    hold: 30_000,
    priceVersion: 1,
    price: { input: '1', output: '2', cachedInput: '0.5' },
    attempts: [{ provider: 'up', model: 'm', result: 'ok', ms: 5 }],
    ttftMs: 5,
    durationMs: 6,
    keyDay: keyDay(keyId, startedAtMs),
  }
  await gateway.tables.client.send(new PutCommand({ TableName: gateway.tables.usage, Item }))
  await changeKey(key, 'SET spent = spent + :cost, available = available - :cost', { ':cost': 19_000 })
  expect(await audit(key)).toMatchObject({ ok: true, rows: 1, findings: [] })
  const row = await gateway.readRow(requestId)
  const shown = explanationLines(explainRequest(row, key, Date.now())).join('\n')
  expect(shown).toMatch(/^cached +2 tokens × 0\.5 per million = 0\.000001$/m)
  expect(shown).toMatch(/^charged +0\.000019$/m)
  expect(toCsvLine(row)).toMatch(/,0\.000019,0\.00003,,,1,1,2,0\.5,{6}up\/m: ok after 5 ms,5,6,*\r\n$/)
  expect(usageRecord(row)).toMatchObject({ cache_write_tokens: 0, reasoning_tokens: 0, images: 0, usage_capped: false })
})

test('waybill audit prints a line for each finding, or JSON with --json, and exits with 1 unless all is clean', async () => {
  const { key, rows } = await used()
  const { requestId } = rows[1] as UsageRow
  await changeRow(rows[1] as UsageRow, 'SET cost = :cost', { ':cost': 4_000 })
  const stage = await openStage(gateway.tables)
  const args = ['audit', '--key', key.id, '--stage', 'dev']
  const [people, json] = await Promise.all([stage.waybill(args), stage.waybill([...args, '--json'])])
  expect([people.code, json.code, people.stderr, json.stderr]).toEqual([1, 1, '', ''])
  expect(people.stdout).toContain(
    `  ${requestId}: its cost is not its tokens × its price: expected 0.000021, got 0.000004. A row is written once`,
  )
  expect(people.stdout).toMatch(/^key_.* spent is not the sum of the rows$/m)
  const text = expect.stringContaining('expected 0.000021, got 0.000004')
  expect(JSON.parse(json.stdout)).toMatchObject({
    object: 'list',
    data: [{ ok: false, findings: [{}, { about: requestId, text }], more_findings: 0 }],
  })
  await changeKey(key, 'SET available = available + :one', { ':one': 1 })
  expect((await stage.waybill(args)).stdout).toMatch(/^key_.* granted is not available \+ held \+ spent$/m)
  const clean = await stage.waybill(['audit', '--key', (await used(1)).key.id, '--stage', 'dev'])
  expect([clean.code, clean.stdout]).toEqual([0, expect.stringMatching(/ ok\n\n1 key, all clean\.\n$/)])
})
