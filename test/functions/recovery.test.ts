import { describe, expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { NO_QUANTITIES } from '../../layers/gateway/domain/money/price.ts'
import { endpointNamed } from '../../layers/gateway/endpoints.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { completedRow } from '../support/completed-row.ts'
import { demandOf } from '../support/demand.ts'
import { booksBalance, HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth } from '../support/stack.ts'
import { beginAnswers, say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
let nowMs = NOW
const { upstream, gateway } = await openBoth({ clock: () => nowMs })

/** Admits a request that can be dead after 16 minutes. */
async function admit({ id }: Key, hold: bigint, requestId = requestIdAt(nowMs)): Promise<string> {
  const key = await gateway.readKey(id)
  const demand = demandOf(key, nowMs, { requestId, hold, holdUntilMs: nowMs + 960_000 })
  expect((await takeAdmission(gateway.tables)(key, demand)).admitted).toBe(true)
  return requestId
}

/** Leaves the hold of a function that died after its admission. */
async function leaveDeadHold(hold: bigint) {
  nowMs = NOW
  const issued = await gateway.issue({ credits: '0.001' })
  return { ...issued, requestId: await admit(issued.key, hold) }
}

describe('dead requests', () => {
  test('the sweep releases the hold of a dead request when its time is over, not before, and writes an abandoned row', async () => {
    const { key, requestId } = await leaveDeadHold(900_000n)
    const sweep = createSweep(gateway.instance)
    nowMs = NOW + 959_999
    await sweep()
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([requestId])
    nowMs = NOW + 960_000
    await Promise.all([sweep(), sweep(), sweep()])
    const after = await gateway.readKey(key.id)
    expect(after).toMatchObject({ holds: {}, available: 1_000_000n, spent: 0n })
    expect(await gateway.readRow(requestId)).toMatchObject({
      // A hold does not say where its request went, so its row does not either.
      endpoint: 'unknown',
      outcome: 'abandoned',
      cost: 0n,
      hold: 900_000n,
      keyId: key.id,
    })
  })

  test('a request releases the hold of a dead request whose time is over if it needs the credits', async () => {
    const { key, secret } = await leaveDeadHold(900_000n)
    const body = { ...HELLO, max_tokens: 100 }
    expect((await gateway.post(secret, body)).status).toBe(402)
    nowMs = NOW + 960_000
    expect((await gateway.post(secret, body)).status).toBe(200)
    const after = await gateway.readKey(key.id)
    expect(after.holds).toEqual({})
    expect(booksBalance(after)).toBe(true)
  })

  test('a request releases the hold of a dead one even if it does not need the credits, and its client is not kept waiting', async () => {
    const { key, secret, requestId } = await leaveDeadHold(100n)
    nowMs = NOW + 960_000
    const gate = Promise.withResolvers<void>()
    const restore = intercept(gateway.tables, async (send, command, input) => {
      const { Item } = input as { Item?: { requestId?: string } }
      if (command === 'PutItem' && Item?.requestId === requestId) await gate.promise
      return send()
    })
    const response = await gateway.post(secret, { ...HELLO, max_tokens: 10 })
    expect(await response.text()).toContain('Hello')
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([requestId])
    gate.resolve()
    await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length === 0)
    expect(await gateway.readRow(requestId)).toMatchObject({ outcome: 'abandoned' })
    restore()
  })

  test.each(['/v1/models', '/v1/key/introspect', '/v1/usage/req_none', '/v1/nowhere'])(
    'a call of %s has finished the dead request that it met when it is answered',
    async (path) => {
      const { key, secret, requestId } = await leaveDeadHold(100n)
      nowMs = NOW + 960_000
      expect([200, 404]).toContain((await gateway.get(secret, path)).status)
      expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, available: 1_000_000n })
      expect(await gateway.readRow(requestId)).toMatchObject({ outcome: 'abandoned' })
    },
  )

  test('no dead request is begun to be finished when the time of the request that met it is over', async () => {
    const { key, secret, requestId } = await leaveDeadHold(100n)
    nowMs = NOW + 960_000
    const restore = intercept(gateway.tables, async (send, command) => {
      // The row of the call itself takes all of its time.
      if (command === 'PutItem') nowMs = NOW + 960_000 + 16_000
      return send()
    })
    expect((await gateway.get(secret, '/v1/models')).status).toBe(200)
    restore()
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([requestId])
    expect(await createSweep(gateway.instance)()).toEqual({ finished: 1 })
  })

  test('a dead request that cannot be settled is logged under its own id, not that of the request that found it', async () => {
    const { key, secret, requestId } = await leaveDeadHold(800_000n)
    const { database, usage } = gateway.tables
    const damaged = { keyId: key.id, startedAt: new Date(NOW).toISOString(), cost: 'much', hold: 1 }
    await database.put({ TableName: usage, Item: { ...rowKey(requestId), ...damaged } })
    nowMs = NOW + 960_000
    const before = gateway.logLines.length
    const inTheWay = await gateway.post(secret, { ...HELLO, max_tokens: 100 })
    expect(inTheWay.status).toBe(402)
    const passedBy = await gateway.post(secret, { ...HELLO, max_tokens: 10 })
    expect(await passedBy.text()).toContain('Hello')
    const mine: unknown[] = [inTheWay, passedBy].map(({ headers }) => headers.get('x-request-id'))
    const lines = () => gateway.logged().slice(before)
    await until(() => lines().filter(({ event }) => event === 'problem').length >= 2)
    for (const line of lines()) {
      if (line.event === 'problem') expect(line.requestId).toBe(requestId)
      else expect([line.event, mine.includes(line.requestId)]).toEqual(['request', true])
    }
    await database.delete({ TableName: usage, Key: rowKey(requestId) })
    expect(await createSweep(gateway.instance)()).toEqual({ finished: 1 })
  })

  test('a request whose row is too large to be written is charged with a shorter row', async () => {
    nowMs = NOW
    const { key } = await gateway.issue()
    const requestId = await admit(key, 9_000n)
    const { hash } = key.current
    const attempts = Array(10_000).fill({ provider: 'up', model: 'm', result: 'x'.repeat(60), ms: 1 })
    const request = {
      requestId,
      nowMs,
      deadlineMs: nowMs + 900_000,
      endpoint: endpointNamed('chat.completions'),
      sourceIp: '192.0.2.1',
      credential: { hash, key, cached: false },
      hold: 9_000n,
      journey: { attempts },
      settlement: {},
    }
    const quantities = { ...NO_QUANTITIES, prompt: 10, completion: 5 }
    const counted = { quantities, reasoning: 0, source: 'upstream' as const, usageRejected: false, usageCapped: false }
    const bill = { ...counted, cost: 7_000n }
    await gateway.instance.settle(request, { outcome: 'completed', httpStatus: 200, bill })
    expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, spent: 7_000n })
    expect(await gateway.readRow(requestId)).toMatchObject({ cost: 7_000n, completionTokens: 5, attempts: [] })
  })

  test('a dead request whose row was written is settled by that row', async () => {
    const { key, requestId } = await leaveDeadHold(900_000n)
    const row = completedRow({ requestId, keyId: key.id, cost: 700n, hold: 900_000n, startedAtMs: NOW })
    await putUsageRow(gateway.tables)(row)
    nowMs = NOW + 960_000
    await createSweep(gateway.instance)()
    expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, spent: 700n, available: 1_000_000n - 700n })
    expect((await gateway.readRow(requestId)).outcome).toBe('completed')
  })

  test('a late request that the sweep has already given up is not charged, and the sweep’s row stands', async () => {
    nowMs = NOW
    const { key, secret } = await gateway.issue()
    const finish = beginAnswers(upstream)
    const late = await gateway.post(secret, { ...HELLO, stream: true })
    upstream.reply = say('Hello')
    nowMs = NOW + 2_000_000
    await createSweep(gateway.instance)()
    finish()
    expect(await late.text()).toContain('x-svc-cost 0\n')
    const after = await gateway.readKey(key.id)
    expect(after).toMatchObject({ holds: {}, spent: 0n })
    expect(booksBalance(after)).toBe(true)
    expect((await gateway.readRow(late.headers.get('x-request-id'))).outcome).toBe('abandoned')
  })
})

describe('sweeps', () => {
  /** The DynamoDB calls of one sweep. */
  async function costOf(sweep: () => Promise<unknown>): Promise<string[]> {
    const before = gateway.calls.length
    await sweep()
    return gateway.calls.slice(before).map(({ name }) => name)
  }

  test('a sweep with nothing to do is one read and three queries, however many keys there are and however much they are used', async () => {
    nowMs = NOW + 10_000_000
    upstream.reply = say('Hello')
    const sweep = createSweep(gateway.instance)
    await sweep()
    const issued = await Promise.all(Array.from({ length: 10 }, () => gateway.issue()))
    expect(await costOf(sweep)).toEqual(['GetItem', 'Query', 'Query', 'Query'])
    for (const { secret } of issued.slice(0, 3)) await (await gateway.post(secret, HELLO)).text()
    expect(await costOf(sweep)).toEqual(['GetItem', 'Query', 'Query', 'Query'])
    // A used key is looked at once, when a request of it could be dead, and then not before its next request.
    nowMs += 960_000
    const looks = { GetItem: 4, Query: 3, UpdateItem: 3 }
    expect((await costOf(sweep)).sort()).toEqual(
      Object.entries(looks).flatMap(([name, times]) => Array(times).fill(name)),
    )
    expect(await costOf(sweep)).toEqual(['GetItem', 'Query', 'Query', 'Query'])
  })

  test('a sweep reports entries on a key that no operator can have left there, once, and goes on', async () => {
    nowMs = NOW + 12_000_000
    const { key } = await gateway.issue()
    await gateway.tables.database.update({
      TableName: gateway.tables.keys,
      Key: keyItem(key.id),
      UpdateExpression: 'SET pendingEvents = :forged, sweepAt = :atOnce',
      ExpressionAttributeValues: { ':forged': [{ what: 'key.grant', by: 'nobody' }], ':atOnce': '0' },
    })
    const said: string[] = []
    const log = { ...gateway.instance.log, problem: (what: string) => void said.push(what) }
    const sweep = createSweep({ ...gateway.instance, log })
    for (let run = 0; run < 2; run++) await sweep()
    expect(said).toEqual([expect.stringContaining('no operator can have left')])
  })

  test('a sweep that cannot finish one request finishes the others, and that one as soon as it can', async () => {
    nowMs = NOW + 15_000_000
    const { key } = await gateway.issue()
    const ids: string[] = []
    for (const _ of 'abc') ids.push(await admit(key, 1n))
    nowMs += 960_000
    const restore = intercept(gateway.tables, async (send, _, input) => {
      if ((input as { Item?: { requestId?: string } }).Item?.requestId === ids[0]) throw new Error('a damaged row')
      return send()
    })
    const sweep = createSweep(gateway.instance)
    expect(await sweep()).toEqual({ finished: 2 })
    restore()
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([ids[0]])
    expect(await sweep()).toEqual({ finished: 1 })
    expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, available: key.granted })
  })

  /** Keys with one dead request each, and the time when the sweep may end them. */
  async function leaveDeadHolds(count: number): Promise<string[]> {
    const issued = await Promise.all(Array.from({ length: count }, () => gateway.issue()))
    for (const { key } of issued) await admit(key, 1n)
    nowMs += 960_000
    return issued.map(({ key }) => key.id)
  }

  test('a sweep ends itself before its time is over, without an error, and the next one goes on', async () => {
    nowMs = NOW + 25_000_000
    await createSweep(gateway.instance)()
    const ids = await leaveDeadHolds(20)
    let looks = 0
    // Time for the first sixteen keys, and for three of their requests.
    const context = { getRemainingTimeInMillis: () => (looks++ < 19 ? 290_000 : 29_000) }
    const sweep = createSweep(gateway.instance)
    const { finished } = await sweep(undefined, context)
    expect(finished).toBe(3)
    expect(await sweep(undefined, { getRemainingTimeInMillis: () => 290_000 })).toEqual({ finished: 17 })
    for (const id of ids) expect((await gateway.readKey(id)).holds).toEqual({})
  })

  test('a sweep works on sixteen keys at once', async () => {
    nowMs = NOW + 30_000_000
    await createSweep(gateway.instance)()
    await leaveDeadHolds(20)
    const underWay = new Set<unknown>()
    let most = 0
    const restore = intercept(gateway.tables, async (send, _, input) => {
      most = Math.max(most, underWay.add(input).size)
      return send().finally(() => underWay.delete(input))
    })
    expect(await createSweep(gateway.instance)()).toEqual({ finished: 20 })
    restore()
    expect(most).toBe(16)
  })

  test('a sweep does not miss a request that dies while the sweep runs', async () => {
    nowMs = NOW + 20_000_000
    const { key } = await gateway.issue()
    await admit(key, 1n)
    nowMs += 960_000
    const sweep = createSweep(gateway.instance)
    const second = requestIdAt(nowMs)
    const restore = intercept(gateway.tables, async (send, command, input) => {
      const { UpdateExpression = '' } = input as { UpdateExpression?: string }
      if (command === 'UpdateItem' && UpdateExpression.startsWith('REMOVE')) {
        await admit(key, 1n, second)
      }
      return send()
    })
    await sweep()
    restore()
    expect(Object.keys((await gateway.readKey(key.id)).holds)).toEqual([second])
    nowMs += 960_000
    await sweep()
    expect((await gateway.readKey(key.id)).holds).toEqual({})
  })
})

describe('a failing database', () => {
  test.each([
    ['an outage is a 503 with Retry-After', { name: 'InternalServerError' }, 503, 'service_unavailable', /^\d+$/],
    ['an unexpected error is a 500', {}, 500, 'internal_error', /^null$/],
  ])(
    '%s that reveals nothing, asks no upstream, and has its id in the log',
    async (_, kind, code, name, retryAfter) => {
      nowMs = NOW
      const { secret } = await gateway.issue()
      const before = upstream.requests.length
      const restore = intercept(gateway.tables, () =>
        Promise.reject(Object.assign(new Error('a bug with details'), kind)),
      )
      const response = await gateway.post(secret, HELLO)
      restore()
      const text = await response.text()
      expect([response.status, JSON.parse(text)]).toMatchObject([code, { error: { type: 'server_error', code: name } }])
      expect(String(response.headers.get('retry-after'))).toMatch(retryAfter)
      expect(text).not.toContain('details')
      const id = response.headers.get('x-request-id') as string
      expect(gateway.logLines.some((line) => line.includes(id) && line.includes('a bug with details'))).toBe(true)
      expect(upstream.requests.length).toBe(before)
    },
  )

  test('an answer under way is not lost in an outage of DynamoDB, and is settled when DynamoDB is back', async () => {
    nowMs = NOW
    const { key, secret } = await gateway.issue()
    let failures = 0
    const restore = intercept(gateway.tables, async (send, command) => {
      if (command === 'PutItem' && failures < 6) {
        failures += 1
        throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      }
      return send()
    })
    const response = await gateway.post(secret, { ...HELLO, stream: true })
    expect(await response.text()).toContain('[DONE]')
    restore()
    expect(failures).toBe(6)
    expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, spent: 20_000n })
  })
})
