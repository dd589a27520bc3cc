import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { partOf } from '../../layers/gateway/domain/rows/day-total.ts'
import { startDatabase } from '../../local/database-thread.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { rowsOf } from './support/rows-of.ts'

const ANSWER_MS = 300
const upstream = await openUpstream(async (...reply) => {
  await sleep(ANSWER_MS)
  return say('Hello')(...reply)
})

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

/** A gateway whose database takes so many write units a second of one item. */
async function openThrottled(unitsASecond: number): Promise<TestGateway> {
  const { TEST_DYNAMODB } = process.env
  process.env.TEST_DYNAMODB = (await startDatabase({ credentials: null, file: null, unitsASecond }, stack)).endpoint
  try {
    return await openFor(catalogFor(upstream.url))
  } finally {
    process.env.TEST_DYNAMODB = TEST_DYNAMODB
  }
}

test('a key at three times the rate of its item gets 429s, and ten quiet keys beside it are served as before', async () => {
  // An admission and a release take a unit each, so the item takes five chats a second.
  const gateway = await openThrottled(10)
  const hot = await gateway.issue({ rpm: 60_000, credits: '1000' })
  const quiet = await Promise.all(Array.from({ length: 10 }, () => gateway.issue({ rpm: 60_000 })))

  /** The times of the answers that ten keys ask for, each one after the other, for a while. */
  async function timesOfQuiet(): Promise<number[]> {
    const endMs = Date.now() + 1_000
    const times: number[] = []
    const asking = quiet.map(async ({ secret }) => {
      while (Date.now() < endMs) {
        const startMs = performance.now()
        const response = await gateway.post(secret, HELLO)
        await response.text()
        expect(response.status).toBe(200)
        times.push(performance.now() - startMs)
      }
    })
    await Promise.all(asking)
    return times
  }

  async function heat(): Promise<Response[]> {
    const asked: Promise<Response>[] = []
    for (const endMs = Date.now() + 1_000; Date.now() < endMs; await sleep(66))
      asked.push(gateway.post(hot.secret, HELLO))
    return Promise.all(asked)
  }

  const slowOf = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? Infinity
  const told: Response[] = []
  await timesOfQuiet()
  // A busy machine is slow by itself, so they take turns, and are compared again.
  for (let tries = 1, isSame = false; !isSame; tries++) {
    const [alone, beside]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < 4; turn++) {
      alone.push(...(await timesOfQuiet()))
      const [times, answers] = await Promise.all([timesOfQuiet(), heat()])
      beside.push(...times)
      told.push(...answers)
    }
    isSame = slowOf(beside) < 1.1 * slowOf(alone)
    if (tries === 4) expect(slowOf(beside)).toBeLessThan(1.1 * slowOf(alone))
  }
  const busy = told.filter(({ status }) => status !== 200)
  expect(busy.length).toBeGreaterThan(0)
  expect(busy.length).toBeLessThan(told.length)
  for (const response of busy) {
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await response.json()).toMatchObject({ error: { code: 'key_busy', type: 'rate_limit_error' } })
  }
  const lines = gateway.logged()
  expect(lines.filter(({ ServerErrors, event }) => ServerErrors || event === 'problem')).toEqual([])
  expect(lines.filter(({ KeyBusy }) => KeyBusy === 1).length).toBeGreaterThan(0)

  await sleep(1_000)
  const { key, row } = await gateway.ask({}, { secret: hot.secret })
  expect(key.holds).toEqual({})
  const rows = await rowsOf(gateway, key.id)
  expect(rows.map(partOf).reduce((sum, { requests }) => sum + requests, 0)).toBe(told.length + 1)
  expect(rows.reduce((sum, { cost }) => sum + cost, 0n)).toBe(key.spent)
  expect(row.cost).toBeGreaterThan(0n)
})
