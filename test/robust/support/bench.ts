import { expect } from '@jest/globals'
import { catalogFor, HELLO } from '../../support/gateway.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, say } from '../../support/upstream.ts'
import { type Exchange, exchange, expectBooksClosed, expectError, expectFailed } from './exchange.ts'
import type { Spoken } from './spoken.ts'
import { waysInTurn } from './ways.ts'

export const PROVIDER_KEY = 'prov1der-key-7f3a9c2e51'

type Failure = Parameters<typeof expectFailed> extends [unknown, ...infer Rest] ? Rest : never
/** A streamed and a whole answer of chat, and those of other contracts. */
type All = readonly [streamed: Exchange, whole: Exchange, ...others: Exchange[]]

/**
 * A gateway, its upstream, and what must hold after whatever the upstream does. `test-model` waits as long as routes do by
 * default, `hasty-model` 250 ms.
 */
export async function openBench() {
  process.env.ROBUST_PROVIDER_KEY = PROVIDER_KEY
  const upstream = await openUpstream()
  const { providers, models } = catalogFor(
    upstream.url,
    { maxOutputTokens: 20_000 },
    { apiKey: 'env:ROBUST_PROVIDER_KEY' },
  )
  const hasty = models.map(({ routes, ...model }) => ({
    ...model,
    id: 'hasty-model',
    routes: routes.map((route) => ({ ...route, firstByteTimeoutMs: 250, idleTimeoutMs: 250 })),
  }))
  const gateway = await openFor({ providers, models: [...models, ...hasty] })
  const bystander = await gateway.issue({ rpm: 60_000 })

  function ask(reply: Reply, fields: object = {}, contract: Spoken = 'chat'): Promise<Exchange> {
    upstream.reply = reply
    return exchange(gateway, fields, contract)
  }

  return {
    upstream,
    gateway,
    ask,
    /** The same question at once for a streamed and for a whole answer, and in the words of other contracts. */
    askAll: async (reply: Reply, fields?: object) =>
      (await Promise.all(
        waysInTurn().map(({ contract, stream }) => ask(reply, { ...fields, stream }, contract)),
      )) as unknown as All,
    /** Complete, and billed by the usage the upstream reported. */
    async expectAnswered(asked: Exchange, text: string) {
      expect([asked.status, asked.error, asked.done]).toEqual([200, undefined, true])
      expect(asked.text).toBe(text)
      const row = await expectBooksClosed(gateway, asked.key.id)
      const { contract } = asked
      expect(row).toMatchObject({ contract, outcome: 'completed', usageSource: 'upstream', cost: 20_000n })
    },
    expectFailed: (...[asked, ...how]: Failure) => expectFailed(gateway, asked, ...how),
    /** The 200 was out already: one error frame, no word of completion, and a bill for what was delivered. */
    async expectCut(asked: Exchange, delivered: string, code = 'upstream_error') {
      expect([asked.status, asked.text, asked.done]).toEqual([200, delivered, false])
      expectError(asked, code === 'upstream_timeout' ? 504 : 502, code)
      if (asked.contract === 'chat') expect(asked.error).toMatchObject({ type: 'server_error', param: null })
      const row = await expectBooksClosed(gateway, asked.key.id)
      const { contract } = asked
      expect(row).toMatchObject({ contract, outcome: 'upstream_error', errorCode: code, httpStatus: 200 })
      expect(row.usageSource).toBe('estimate')
      expect(row.cost).toBeGreaterThan(0n)
      expect(row.completionTokens).toBeGreaterThan(0)
    },
    /** The gateway answers the next one as if nothing had been. */
    async expectNextIsFine() {
      upstream.reply = say('Hello again')
      const next = await gateway.post(bystander.secret, HELLO)
      expect([next.status, await next.text()]).toEqual([200, expect.stringContaining('Hello again')])
    },
  }
}
