import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { openInstance } from '../../functions/instance.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { usageRows } from '../../layers/admin/usage/usage-rows.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { createTables } from '../../layers/gateway/store/sdk/create-tables.ts'
import { openOperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { issueKey } from '../../local/issue-key.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { actAt } from '../support/act.ts'
import { booksBalance, catalogFor, HELLO } from '../support/gateway.ts'
import { type Process, run } from '../support/processes.ts'
import { openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 3)
const GATEWAYS = 2
const CALLERS = 12
const endpoint = process.env.TEST_DYNAMODB ?? ''

type Gateway = { readonly process: Process; readonly url: string }
const gateways: Gateway[] = []
afterAll(() => {
  for (const { process } of gateways) process.child.kill('SIGKILL')
})

async function startGateway(): Promise<Gateway> {
  const started = run('test/support/gateway-process.ts', [endpoint], process.cwd())
  await until(() => started.output.stdout.includes('\n'), 30_000)
  return { process: started, url: started.output.stdout.trim() }
}

test(
  `after ${ROUNDS} random kills of gateways under load and a sweep, every request has its row and the audit is clean`,
  async () => {
    const tables = openOperatorTables(LOCAL_TABLES, { endpoint })
    await createTables(tables)
    const gate = Promise.withResolvers<void>()
    let waiting = 0
    const upstream = await openUpstream(async (response, request) => {
      waiting += 1
      await Promise.all([sleep(Math.random() * 60), gate.promise])
      waiting -= 1
      return say('Hello there')(response, request)
    })
    await writeCatalog(tables)(catalogFor(upstream.url), actAt())
    const settings = { ...KEY_DEFAULTS, name: 'killed', rpm: 60_000, dailyLimit: 1_000_000, maxConcurrent: 1_000 }
    const options = { settings, credits: 10n ** 12n, prefix: BRAND.keyPrefix, by: 'test' }
    const { key, secret } = await issueKey(tables, options, Date.now())

    for (let i = 0; i < GATEWAYS; i++) gateways.push(await startGateway())
    let stopped = false
    const seen = { answered: 0, lost: 0, wanted: 0 }

    /** Asks as an SDK does: again, with the same Idempotency-Key, if no answer came. */
    async function caller(_: unknown, i: number): Promise<void> {
      while (!stopped) {
        const name = randomUUID()
        seen.wanted += 1
        for (let attempt = 0; attempt < 3 && !stopped; attempt++) {
          // Each gateway has a caller of its own, and all others ask any.
          const { url } = gateways[i < GATEWAYS ? i : Math.floor(Math.random() * GATEWAYS)] as Gateway
          try {
            const response = await fetch(`${url}/v1/chat/completions`, {
              method: 'POST',
              headers: {
                Authorization: `Bearer ${secret}`,
                'Content-Type': 'application/json',
                'Idempotency-Key': name,
              },
              body: JSON.stringify({ ...HELLO, max_tokens: 100, stream: Math.random() < 0.5 }),
            })
            await response.text()
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
      const { child } = (gateways[victim] as Gateway).process
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      gate.resolve()
      gateways[victim] = await startGateway()
      expect(await ended).toEqual([null, 'SIGKILL'])
    }
    stopped = true
    await Promise.all(callers)

    const before = await readKey(tables)(key.id)
    expect(before && booksBalance(before)).toBe(true)
    // The dead are swept when their time is over: as if a quarter of an hour had passed.
    const clock = () => Date.now() + 1_000_000
    const log = jsonLog(() => {})
    const { finished } = await createSweep(
      openInstance({ config: { ...LOCAL_TABLES, ...BRAND }, tables, clock, log }),
    )()
    expect(finished).toBe(Object.keys(before?.holds ?? {}).length)
    expect(finished).toBeGreaterThan(0)

    const after = await readKey(tables)(key.id)
    expect(after?.holds).toEqual({})
    const rows: UsageRow[] = []
    for await (const row of usageRows(tables, key.id, { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS }))
      rows.push(row)
    const admitted = Object.values(after?.counts.dailyLimit ?? {}).reduce((sum, count) => sum + Number(count), 0)
    expect(rows).toHaveLength(admitted)
    expect(rows.filter(({ outcome }) => outcome === 'abandoned').length).toBeLessThanOrEqual(finished)
    expect(rows.reduce((sum, { cost }) => sum + cost, 0n)).toBe(after?.spent)
    // Nobody paid twice for one question, however often it was asked.
    expect(rows.filter(({ cost }) => cost > 0n).length).toBeLessThanOrEqual(seen.wanted)
    expect(seen.lost).toBeGreaterThan(0)

    const audit = await adminOf(tables).call('POST /audits')
    const [first = '', summary = ''] = audit.text.split('\n')
    expect(JSON.parse(first)).toMatchObject({ key_id: key.id, ok: true })
    expect(JSON.parse(summary)).toMatchObject({ keys: 1, wrong: 0, has_more: false })
    if (process.env.KILL_ROUNDS) console.log({ rounds: ROUNDS, ...seen, rows: rows.length, swept: finished })
    tables.client.destroy()
  },
  60_000 + ROUNDS * 10_000,
)
