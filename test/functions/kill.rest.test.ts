import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createSweep } from '../../functions/sweep/create.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { usageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { booksBalance, catalogFor, HELLO, postTo } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import type { Process } from '../support/processes.ts'
import { openApart, openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 3)
const GATEWAYS = 2
const CALLERS = 12

test(
  `after ${ROUNDS} random kills of gateways under load and a sweep, every request has its row and the audit is clean`,
  async () => {
    const gate = Promise.withResolvers<void>()
    let waiting = 0
    const upstream = await openUpstream(async (response, request) => {
      waiting += 1
      await Promise.all([sleep(Math.random() * 60), gate.promise])
      waiting -= 1
      return say('Hello there')(response, request)
    })
    const catalog = catalogFor(upstream.url)
    const books = await openFor(catalog)
    const { tables } = books
    const limits = { rpm: 60_000, dailyLimit: 1_000_000, maxConcurrent: 1_000 }
    const { key, secret } = await books.issue({ ...limits, credits: '1000' })
    const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => openApart(tables)))
    let stopped = false
    const seen = { answered: 0, lost: 0, wanted: 0 }

    /** Asks as an SDK does: again, with the same Idempotency-Key, if no answer came. */
    async function caller(_: unknown, i: number): Promise<void> {
      while (!stopped) {
        const name = randomUUID()
        seen.wanted += 1
        for (let attempt = 0; attempt < 3 && !stopped; attempt++) {
          // Each gateway has a caller of its own, and all others ask any.
          const { url } = gateways[i < GATEWAYS ? i : Math.floor(Math.random() * GATEWAYS)] as Process & { url: string }
          try {
            const asked = { ...HELLO, max_tokens: 100, stream: Math.random() < 0.5 }
            await (await postTo(url, secret, asked, { 'Idempotency-Key': name })).text()
            seen.answered += 1
            break
          } catch {
            seen.lost += 1
            await sleep(20)
          }
        }
      }
    }

    const callers = Array.from({ length: CALLERS }, caller)
    for (let round = 0; round < ROUNDS; round++) {
      // Killed at random, but for the first: then every caller's request is certainly under way.
      if (round === 0) await until(() => waiting === CALLERS, 30_000)
      else await sleep(100 + Math.random() * 400)
      const victim = round % GATEWAYS
      const { child } = gateways[victim] as Process
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      gate.resolve()
      gateways[victim] = await openApart(tables)
      expect(await ended).toEqual([null, 'SIGKILL'])
    }
    stopped = true
    await Promise.all(callers)

    const before = await books.readKey(key.id)
    expect(booksBalance(before)).toBe(true)
    // The dead are swept when their time is over: as if a quarter of an hour had passed.
    const later = await openFor(catalog, { onSameTables: books, clock: () => Date.now() + 1_000_000 })
    const { finished } = await createSweep(later.instance)()
    expect(finished).toBe(Object.keys(before.holds).length)
    expect(finished).toBeGreaterThan(0)

    const after = await books.readKey(key.id)
    expect(after.holds).toEqual({})
    const range = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS }
    const rows = await Array.fromAsync(usageRows(tables, [key.id], range))
    const admitted = Object.values(after.counts.dailyLimit).reduce((sum, count) => sum + Number(count), 0)
    expect(rows).toHaveLength(admitted)
    expect(rows.filter(({ outcome }) => outcome === 'abandoned').length).toBeLessThanOrEqual(finished)
    expect(rows.reduce((sum, { cost }) => sum + cost, 0n)).toBe(after.spent)
    // Nobody paid twice for one question, however often it was asked.
    expect(rows.filter(({ cost }) => cost > 0n).length).toBeLessThanOrEqual(seen.wanted)
    expect(seen.lost).toBeGreaterThan(0)

    const audit = await adminOf(tables).call('POST /audits')
    expect(jsonLines(audit.text)).toMatchObject([
      { key_id: key.id, ok: true },
      { keys: 1, wrong: 0, has_more: false },
    ])
    if (process.env.KILL_ROUNDS) console.log({ rounds: ROUNDS, ...seen, rows: rows.length, swept: finished })
  },
  60_000 + ROUNDS * 10_000,
)
