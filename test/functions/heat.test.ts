import { expect, test } from '@jest/globals'
import { faultsOf, partOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { ServiceError } from '../../layers/gateway/platform/aws/service-error.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { holdAnswers } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { rowsOf } from './support/rows-of.ts'

const upstream = await openUpstream()

/** DynamoDB rejects these updates, until it is told to stop. */
function rejecting({ tables }: TestGateway, isRejected: (input: object) => boolean): () => void {
  return intercept(tables, async (send, operation, input) => {
    if (operation !== 'UpdateItem' || !isRejected(input as object)) return send()
    throw new ServiceError('ProvisionedThroughputExceededException', 'Too many.', {})
  })
}

test('a request whose admission is rejected twice is a 429 with Retry-After, of which nobody is told, and its row says so', async () => {
  const gateway = await openFor(catalogFor(upstream.url))
  const { secret } = await gateway.issue()
  let writes = 0
  const restore = rejecting(gateway, () => ++writes > 0)
  const { response, error, row } = await gateway.ask({}, { secret }).finally(restore)
  expect([response.status, response.headers.get('retry-after'), error.code, writes]).toEqual([429, '1', 'key_busy', 2])
  expect([row.outcome, upstream.requests]).toEqual(['refused', []])
  const [line, ...others] = gateway.logged()
  expect([line?.KeyBusy, line?.ServerErrors, others]).toEqual([1, undefined, []])
})

test('a request whose hold cannot be released for heat ends within seconds, and the next one of its key makes up for it', async () => {
  const gateway = await openFor(catalogFor(upstream.url))
  const { key, secret } = await gateway.issue()
  const restore = rejecting(gateway, (input) => !('ReturnValues' in input))
  const startMs = Date.now()
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  await until(() => gateway.logged().some(({ event }) => event === 'unsettled'))
  expect(Date.now() - startMs).toBeLessThan(8_000)
  restore()
  expect(Object.keys((await gateway.readKey(key.id)).holds)).toHaveLength(1)
  const { key: after } = await gateway.ask({}, { secret })
  const costs = (await rowsOf(gateway, key.id)).map(({ cost }) => cost)
  expect([after.holds, costs, after.spent]).toEqual([{}, [costs[0], costs[0]], 2n * (costs[0] ?? 0n)])
})

test('of a flood of refusals 100 a minute have rows, and the next row of the key tells how many have none', async () => {
  let nowMs = Date.UTC(2027, 0, 1, 12)
  const gateway = await openFor(catalogFor(upstream.url), { clock: () => nowMs })
  const { key, secret } = await gateway.issue({ rpm: 1 })
  const other = await gateway.issue({ rpm: 1 })
  const statuses = async (count: number) => {
    const all = await Promise.all(Array.from({ length: count }, () => gateway.post(secret, HELLO)))
    return all.map(({ status }) => status)
  }
  expect((await statuses(500)).filter((status) => status === 429)).toHaveLength(499)
  expect((await gateway.post(other.secret, HELLO)).status).toBe(200)
  expect(await rowsOf(gateway, key.id, nowMs)).toHaveLength(101)
  nowMs += 60_000
  expect(await statuses(2)).toEqual(expect.arrayContaining([200, 429]))
  const rows = await rowsOf(gateway, key.id, nowMs)
  expect(rows.map(partOf).reduce((sum, { requests }) => sum + requests, 0)).toBe(502)
  expect(rows.map(partOf).reduce((sum, part) => sum + faultsOf(part).refused, 0)).toBe(500)
})

test('a key has no more requests at once than its part of the stage, whatever its own limit, and is told so', async () => {
  const gateway = await openFor(catalogFor(upstream.url), { mostAtOnce: 3 })
  const { secret } = await gateway.issue({ rpm: 60_000, maxConcurrent: 1_000 })
  const release = holdAnswers(upstream)
  const all = Array.from({ length: 50 }, () => gateway.post(secret, HELLO))
  const refused: Response[] = []
  for (const one of all) one.then((response) => response.status === 429 && refused.push(response))
  await until(() => refused.length === 47)
  for (const response of refused) {
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('may have 3 requests') } })
  }
  release()
  expect((await Promise.all(all)).filter(({ status }) => status === 200)).toHaveLength(3)
  const told = await (await gateway.get(secret, '/v1/key/introspect')).json()
  expect(told).toMatchObject({ limits: { concurrent: { limit: 3, in_use: 0 } } })
})
