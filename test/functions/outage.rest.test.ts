import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { auditKey } from '../support/audit-key.ts'
import { catalogFor, HELLO, postTo } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openApart, openBoth, openFor, openLine } from '../support/stack.ts'
import type { Treatment } from '../support/unreliable-dynamodb.ts'
import { beginAnswers, status } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

// The gateway is a process of its own, so that the SDK meets real sockets that really break.
/** How long an answer waits to be settled: a fifteenth of the time in AWS, and far less than the outage. */
const SETTLE_MS = 1_000
const OUTAGE_MS = 3_000
/** The outage ends then, even if an answer still waits for the database: the test has failed. */
const LONGEST_OUTAGE_MS = 20_000

type Stand = Awaited<ReturnType<typeof openStand>>
type Answer = { readonly status: number; readonly text: string; readonly atMs: number }

async function openStand() {
  const { upstream, gateway: books } = await openBoth()
  const { line: database } = await openLine(books.tables)
  const { key, secret } = await books.issue({ rpm: 60_000 })
  const { url } = await openApart(books.tables, { endpoint: database.endpoint, timing: { settleMs: SETTLE_MS } })
  return {
    books,
    database,
    upstream,
    key,
    async ask(body: object = {}): Promise<Answer> {
      const response = await postTo(url, secret, { ...HELLO, max_tokens: 50, ...body })
      return { status: response.status, text: await response.text(), atMs: Date.now() }
    },
  }
}

/** As a client does: a 503 is asked again. */
async function askAgain(stand: Stand, body: object): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await stand.ask(body)
    if ((answer.status !== 503 && answer.status !== 429) || tries === 60) return answer
  }
}

/** Sweeps all open holds as if their time were over; then everything must add up. */
async function closeTheBooks({ books, upstream, key }: Stand): Promise<Key> {
  const clock = () => Date.now() + 1_000_000
  await createSweep((await openFor(catalogFor(upstream.url), { onSameTables: books, clock })).instance)()
  const after = await books.readKey(key.id)
  expect(after.holds).toEqual({})
  expect(await auditKey(books.tables, after, Date.now())).toMatchObject({ findings: [], ok: true })
  return after
}

const untilReleased = ({ books, key }: Stand) =>
  until(async () => Object.keys((await books.readKey(key.id)).holds).length === 0, 20_000)

describe('a database outage', () => {
  let stand: Stand
  let outage: Promise<{ backAtMs: number } & Record<'streamed' | 'whole' | 'failed' | 'refused', Answer>>

  // Begun first, so that the other tests of this file run meanwhile.
  beforeAll(async () => {
    stand = await openStand()
    const { upstream, database } = stand
    const finish = beginAnswers(upstream)
    const asked = [stand.ask({ stream: true }), stand.ask()]
    await until(() => upstream.requests.length === 2)
    upstream.reply = async (response, request) => {
      await until(() => !!database.given['cut off'])
      return status(500, { error: { message: 'no' } })(response, request)
    }
    asked.push(stand.ask())
    await until(() => upstream.requests.length === 3)
    database.treat = () => 'cut off'
    finish()
    outage = (async () => {
      const answers = Promise.all([...asked, stand.ask()])
      await Promise.all([sleep(OUTAGE_MS), Promise.race([answers, sleep(LONGEST_OUTAGE_MS, null, { ref: false })])])
      const backAtMs = Date.now()
      database.treat = () => 'answer'
      const [streamed, whole, failed, refused] = (await answers) as [Answer, Answer, Answer, Answer]
      return { backAtMs, streamed, whole, failed, refused }
    })()
  }, 60_000)

  test('a new request during a database outage is refused with 503', async () => {
    const { refused, backAtMs } = await outage
    expect(refused.status).toBe(503)
    expect(refused.atMs).toBeLessThan(backAtMs)
  })

  test('answers without a row in a database outage are counted as the 5xx that they are, with a key that is known and without', async () => {
    const { gateway } = await openBoth()
    const { secret } = await gateway.issue()
    const { secret: unknown } = await gateway.issue()
    expect((await gateway.post(secret, HELLO)).status).toBe(200)
    const restore = intercept(gateway.tables, async () => {
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    })
    for (const key of [secret, unknown]) expect((await gateway.get(key, '/v1/models')).status).toBe(503)
    restore()
    const figures = gateway
      .logged()
      .map(({ ServerErrors, Requests, Unrecorded }) => [ServerErrors, Requests, Unrecorded])
    const none = [undefined, undefined, undefined]
    expect(figures.filter(([, requests]) => requests)).toEqual([
      [undefined, 1, undefined],
      [1, 1, 1],
      [1, 1, 1],
    ])
    expect(figures.filter(([, requests]) => !requests)).toEqual([none])
  })

  test('every request is answered, if need be after retries, and charged once while the database throttles 3 of 4 calls', async () => {
    const other = await openStand()
    expect((await other.ask()).status).toBe(200)
    other.database.treat = () => (Math.random() < 0.75 ? 'throttle' : 'answer')
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => askAgain(other, { stream: i % 2 === 0 })))
    for (const { status, text } of answers) {
      expect(status).toBe(200)
      expect(text).toContain('Hello')
    }
    other.database.treat = () => 'answer'
    await untilReleased(other)
    const { spent } = await closeTheBooks(other)
    expect(spent).toBe(20_000n * 11n)
    expect(other.database.given.throttle).toBeGreaterThan(10)
  }, 60_000)

  test.each<Treatment>(['lose the answer', 'fail'])(
    'no request is charged twice if the database does its work but does not confirm it (%s)',
    async (treatment) => {
      const other = await openStand()
      // Warm, so that not all of them wait for one catalog.
      expect((await other.ask()).status).toBe(200)
      let calls = 0
      other.database.treat = () => (calls++ % 3 === 0 ? treatment : 'answer')
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => other.ask({ stream: i % 2 === 0 })))
      const completed = answers.filter(({ status }) => status === 200)
      expect(answers.every(({ status }) => status === 200 || status === 503)).toBe(true)
      expect(completed.length).toBeGreaterThan(4)
      other.database.treat = () => 'answer'
      const { spent } = await closeTheBooks(other)
      expect(spent).toBe(20_000n * BigInt(completed.length + 1))
      expect(other.database.given[treatment]).toBeGreaterThan(5)
    },
    60_000,
  )

  test('a call for the models that is admitted before a database outage is answered in time, and leaves nothing under way', async () => {
    const { gateway } = await openBoth({ timing: { settleMs: SETTLE_MS } })
    const { secret } = await gateway.issue()
    expect((await gateway.get(secret, '/v1/models')).status).toBe(200)
    let isAway = true
    let rows = 0
    const restore = intercept(gateway.tables, async (send, operation) => {
      if (operation === 'PutItem') rows += 1
      if (operation === 'PutItem' && isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
      return send()
    })
    const startedMs = Date.now()
    const answer = await gateway.get(secret, '/v1/models')
    expect(answer.status).toBe(200)
    // A slow machine needs more than it was given; without a bound of its own it would be 15 seconds.
    expect(Date.now() - startedMs).toBeLessThan(SETTLE_MS + 9_000)
    const triedBefore = rows
    expect(triedBefore).toBeGreaterThan(2)
    isAway = false
    await sleep(2_500)
    expect(rows).toBe(triedBefore)
    restore()
    expect(gateway.logged().map(({ event }) => event)).toEqual(['request', 'unsettled'])
  }, 60_000)

  test('a call for the models whose row the database takes late is answered when it is settled', async () => {
    const { gateway } = await openBoth()
    const { secret } = await gateway.issue()
    let failures = 3
    const restore = intercept(gateway.tables, async (send, operation) => {
      if (operation === 'PutItem' && failures-- > 0) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
      return send()
    })
    const answer = await gateway.get(secret, '/v1/models')
    restore()
    expect(await gateway.readRow(answer.headers.get('x-request-id'))).toMatchObject({ outcome: 'completed' })
  })

  test('answers under way in a database outage go out before it ends, and are settled after it', async () => {
    const { backAtMs, streamed, whole, failed } = await outage
    expect(streamed.text).toContain('"content":"Hel"')
    expect(streamed.text).toContain(': x-svc-cost 0.00002\n\ndata: [DONE]')
    expect(whole).toMatchObject({ status: 200, text: expect.stringContaining('"content":"Hello"') })
    expect(failed.status).toBe(502)
    for (const { atMs } of [streamed, whole, failed]) expect(atMs).toBeLessThan(backAtMs)
    await untilReleased(stand)
    expect((await closeTheBooks(stand)).spent).toBe(40_000n)
  }, 60_000)
})
