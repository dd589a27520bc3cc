import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import type { ProviderEntry } from '../../../layers/gateway/domain/routing/catalog.ts'
import { saying } from '../../providers/anthropic/anthropic-fixtures.ts'
import { pointSdkAt, say as sayAtBedrock, startBedrock } from '../../providers/bedrock/bedrock-upstream.ts'
import { HELLO } from '../../support/gateway.ts'
import { openApart, openFor, openUpstream } from '../../support/stack.ts'
import { SPEECH, type Spoken } from './spoken.ts'

/** Generous: work that is not linear takes many times as long. */
const LONGEST_BUSY_MS = 1_500

/** A stolen processor is busy, too; work that is not linear is so each time. */
const TRIES = 3

/** Between two of the other requests: they are to be answered, not to be the load. */
const BREATH_MS = 250

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

/** An upstream for each dialect, which says hello, with its entry in the catalog. */
const UPSTREAMS = {
  openai: async () => {
    const upstream = await openUpstream()
    return { upstream, entry: { baseUrl: upstream.url } }
  },
  anthropic: async () => {
    const upstream = await openUpstream(saying('Hello'))
    return { upstream, entry: { baseUrl: upstream.url } }
  },
  bedrock: async () => {
    const upstream = opened.use(await startBedrock())
    upstream.reply = sayAtBedrock('Hello')
    pointSdkAt(upstream.url)
    return { upstream, entry: { region: 'us-east-1' } }
  },
} satisfies Record<ProviderEntry['type'], () => Promise<{ upstream: { requests: unknown[] }; entry: object }>>

export const DIALECTS = Object.keys(UPSTREAMS) as ProviderEntry['type'][]

type Upstreams = {
  readonly [Type in keyof typeof UPSTREAMS]: Awaited<ReturnType<(typeof UPSTREAMS)[Type]>>['upstream']
}

/** A gateway in a process of its own, with a model named for each dialect and one for the other requests. */
export async function openStand() {
  const bystander = await openUpstream()
  const started = await Promise.all(DIALECTS.map(async (type) => ({ type, ...(await UPSTREAMS[type]()) })))
  const books = await openFor(
    catalogOf({
      ...Object.fromEntries(started.map(({ type, entry }) => [type, { type, ...entry }])),
      bystander: { type: 'openai', baseUrl: bystander.url },
    }),
  )
  const gateway = await openApart(books.tables, { program: 'test/robust/support/watched-gateway.ts' })
  const { secret } = await books.issue({ rpm: 60_000, dailyLimit: 1_000_000, credits: '1000000' })

  async function post(body: string, contract: Spoken = 'chat'): Promise<number> {
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
    const response = await fetch(gateway.url + SPEECH[contract].path, { method: 'POST', headers, body })
    await response.text()
    return response.status
  }

  return {
    ...(Object.fromEntries(started.map(({ type, upstream }) => [type, upstream])) as Upstreams),
    /** Asks once, at leisure. */
    warmUp: (model: string) => post(JSON.stringify({ ...HELLO, model })),
    /** The status of this request, in chat's words unless it is told. Others are answered meanwhile, and the gateway is never busy with it for long. */
    async ask(model: string, request: object, contract: Spoken = 'chat') {
      const body = JSON.stringify(SPEECH[contract].ask({ model, ...request }))
      let last = await askOnce(body, contract)
      for (let n = 1; n < TRIES && last.busyMs >= LONGEST_BUSY_MS; n++) last = await askOnce(body, contract)
      expect(last.busyMs).toBeLessThan(LONGEST_BUSY_MS)
      return last.status
    },
  }

  async function askOnce(body: string, contract: Spoken) {
    const toldBefore = gateway.output.stdout.length
    const asked = post(body, contract)
    const other = JSON.stringify({ ...HELLO, model: 'bystander' })
    await repeatDuring(asked, async () => expect(await post(other)).toBe(200))
    const busy = gateway.output.stdout.slice(toldBefore).matchAll(/busy (\d+)/g)
    expect(gateway.output.stderr).not.toMatch(/"event":"problem"|RangeError|internal_error/)
    for (const { requests } of [bystander, ...started.map(({ upstream }) => upstream)]) requests.length = 0
    return { status: await asked, busyMs: Math.max(0, ...Array.from(busy, ([, ms]) => Number(ms))) }
  }
}

/** Acts again and again until the other is done, and once after that. */
async function repeatDuring(other: Promise<unknown>, act: () => Promise<void>): Promise<void> {
  const state = { isDone: false }
  const done = other.finally(() => {
    state.isDone = true
  })
  for (; !state.isDone; await sleep(BREATH_MS)) await act()
  await act()
  await done
}

function catalogOf(providers: Readonly<Record<string, object>>) {
  return requireCatalog({
    providers,
    models: Object.keys(providers).map((id) => ({
      id,
      contextLength: 1_000_000,
      maxOutputTokens: 1000,
      price: { input: '1', output: '2', cacheWrite: '1.25' },
      routes: [{ provider: id, model: 'upstream-model' }],
    })),
  })
}
