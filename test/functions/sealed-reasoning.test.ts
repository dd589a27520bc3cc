import { beforeEach, describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { sealedBy } from '../../layers/gateway/wire/chat/sealed-content.ts'
import { completion } from '../sdk/support/answers.ts'
import { gather } from '../sdk/support/gather.ts'
import { readChunks } from '../sdk/support/read-chunks.ts'
import { openSealingUpstream, type SealingUpstream } from '../support/sealing-upstream.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { type Reply, say, status } from '../support/upstream.ts'

type Item = Record<string, unknown>

const one = await openSealingUpstream()
const two = await openSealingUpstream()
const other = await openUpstream(say('Hi'))
const DOWN = 'http://127.0.0.1:1'

const to = (provider: string, more: object = {}) => ({ provider, model: 'm', ...more })
const MODEL = { contextLength: 100_000, maxOutputTokens: 1000, price: { input: '1', output: '2' } }
const dear = { cost: { input: '3', output: '6' } }
const responses = { type: 'openai', contract: 'responses' }
const providers = {
  one: { ...responses, baseUrl: one.url },
  two: { ...responses, baseUrl: two.url },
  gone: { ...responses, baseUrl: DOWN },
  other: { type: 'openai', baseUrl: other.url },
}
const models = [
  { id: 'test-model', routes: [to('one'), to('two')] },
  { id: 'ranked', routes: [to('one'), to('two', { priority: 1 })] },
  { id: 'dear', routes: [to('one'), to('two', { priority: 1, ...dear })] },
  { id: 'mixed', routes: [to('other'), to('two', { priority: 1 })] },
  { id: 'lost', routes: [to('gone'), to('two', { priority: 1 })] },
  { id: 'only-one', routes: [to('one')] },
]
const catalog = requireCatalog({ providers, models: models.map((model) => ({ ...MODEL, ...model })) })
let nowMs = Date.now()
const gateway = await openFor(catalog, { clock: () => nowMs })
const { secret } = await gateway.issue({ credits: '1000', rpm: 1000 })

beforeEach(() => {
  // No route rests any longer.
  nowMs += 600_000
  for (const upstream of [one, two]) Object.assign(upstream, { reply: upstream.answer }).requests.length = 0
})

const sent = ({ requests }: { readonly requests: readonly { readonly body: Item }[] }, at = -1) =>
  (requests.at(at)?.body.input ?? []) as Item[]
const asked = () => [one.requests.length, two.requests.length]

type Turn = { readonly status: number; readonly provider: string | null; readonly items: readonly Item[] }

/** A turn in each of the contracts, with the items or messages that the client sends back. */
const TURNS = {
  responses: async (items: readonly Item[], stream: boolean, model: string, headers = {}): Promise<Turn> => {
    const input = [...items, { role: 'user', content: 'Hello' }]
    const answer = await gateway.post(secret, { model, input, stream }, headers, '/v1/responses')
    const text = await answer.text()
    const told = { status: answer.status, provider: answer.headers.get('x-svc-provider') }
    if (!answer.ok) return { ...told, items: [JSON.parse(text)] }
    const last = /^event: response\.completed\ndata: (.*)$/m.exec(text)?.[1] ?? '{}'
    const { output } = stream ? JSON.parse(last).response : JSON.parse(text)
    return { ...told, items: [...input, ...(output as Item[])] }
  },
  chat: async (items: readonly Item[], stream: boolean, model: string, headers = {}): Promise<Turn> => {
    const messages = [...items, { role: 'user', content: 'Hello' }]
    const answer = await gateway.post(secret, { model, messages, stream }, headers)
    const text = await answer.text()
    const told = { status: answer.status, provider: answer.headers.get('x-svc-provider') }
    if (!answer.ok) return { ...told, items: [JSON.parse(text)] }
    const gathered = stream
      ? gather(readChunks(text, false), 0)
      : completion.parse(JSON.parse(text)).choices[0]?.message
    const { logprobs: _, finish_reason: __, ...said } = gathered as Item
    return { ...told, items: [...messages, said] }
  },
} as const

const WAYS = (['responses', 'chat'] as const).flatMap((contract) =>
  [false, true].map((stream) => [contract, stream] as const),
)

describe.each(WAYS)(
  'a conversation in %s with stream %s, over routes that refuse each other’s seals',
  (contract, stream) => {
    const turn = TURNS[contract]

    test('goes on where its reasoning was sealed: 40 of 40 second turns, and third ones', async () => {
      const firsts = await Promise.all(Array.from({ length: 40 }, () => turn([], stream, 'test-model')))
      expect(asked().every((count) => count > 0)).toBe(true)
      for (const upstream of [one, two]) upstream.requests.length = 0
      const seconds = await Promise.all(firsts.map(({ items }) => turn(items, stream, 'test-model')))
      expect(seconds.map(({ status: code, provider }) => [code, provider])).toEqual(
        firsts.map(({ provider }) => [200, provider]),
      )
      for (const upstream of [one, two]) {
        for (const { body } of upstream.requests) {
          const [thought] = (body.input as Item[]).filter(({ type }) => type === 'reasoning')
          expect(upstream.isOwn(thought ?? {})).toBe(true)
        }
      }
      const thirds = await Promise.all(seconds.slice(0, 8).map(({ items }) => turn(items, stream, 'test-model')))
      expect(thirds.every(({ status: code }) => code === 200)).toBe(true)
      expect([...sent(one), ...sent(two)].filter(({ type }) => type === 'reasoning').length).toBeGreaterThan(2)
    })

    const refuse: Reply = (answer) => void answer.socket?.destroy()

    test.each<[string, Reply]>([
      ['breaks connections', refuse],
      ['answers 500', status(500, {})],
      ['answers 429', status(429, { error: { message: 'slow down' } })],
    ])('goes on elsewhere, without the item, while one of them %s', async (_, reply) => {
      const firsts = await Promise.all(Array.from({ length: 8 }, () => turn([], stream, 'test-model')))
      one.reply = reply
      const seconds = await Promise.all(firsts.map(({ items }) => turn(items, stream, 'test-model')))
      expect(seconds.map(({ status: code, provider }) => [code, provider])).toEqual(seconds.map(() => [200, 'two']))
      const moved = two.requests.filter(({ body }) => {
        const items = body.input as Item[]
        return items.length > 1 && items.every(({ type }) => type !== 'reasoning')
      })
      expect(moved).toHaveLength(firsts.filter(({ provider }) => provider === 'one').length)
      one.reply = one.answer
      const thirds = await Promise.all(seconds.map(({ items }) => turn(items, stream, 'test-model')))
      expect(thirds.map(({ status: code, provider }) => [code, provider])).toEqual(seconds.map(() => [200, 'two']))
    })
  },
)

describe('the order of routes', () => {
  const ask = async (model: string, sealer: SealingUpstream | string, headers = {}) => {
    const [id, content] = typeof sealer === 'string' ? [sealer, 'x'] : ['two', sealer.seal('x')]
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealedBy(id, content) }
    return TURNS.responses([{ role: 'user', content: 'Hi' }, thought], false, model, headers)
  }

  test('the sealer goes before a route of a better priority if it costs no more than is paid', async () => {
    expect(await ask('ranked', two)).toMatchObject({ status: 200, provider: 'two' })
    expect(sent(two)[1]).toMatchObject({ type: 'reasoning', encrypted_content: two.seal('x') })
  })

  test('a mark leads to no route that costs more than is paid, as long as another one answers', async () => {
    expect(await ask('dear', two)).toMatchObject({ status: 200, provider: 'one' })
    expect([...asked(), sent(one).length]).toEqual([1, 0, 2])
  })

  test('a route that the client names is asked, without what another provider sealed', async () => {
    expect(await ask('ranked', two, { 'X-Svc-Route': 'one' })).toMatchObject({ status: 200, provider: 'one' })
    expect(sent(one)).toHaveLength(2)
  })

  test('a mark of a provider that nobody knows is worth nothing', async () => {
    expect(await ask('ranked', 'nobody')).toMatchObject({ status: 200, provider: 'one' })
    expect(sent(one)).toHaveLength(2)
  })

  test('a provider of another format gets the turn, and its own order stays', async () => {
    expect(await ask('mixed', 'other')).toMatchObject({ status: 200, provider: 'other' })
    expect(JSON.stringify(other.requests.at(-1)?.body)).not.toContain('Sealed01')
  })

  test('the turn goes on elsewhere if its provider refuses connections', async () => {
    expect(await ask('lost', 'gone')).toMatchObject({ status: 200, provider: 'two' })
    expect(sent(two)).toHaveLength(2)
  })

  test('content that came straight from a provider goes out unchanged', async () => {
    const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: one.seal('x') }
    expect(await TURNS.responses([own], false, 'only-one')).toMatchObject({ status: 200 })
    expect(sent(one)[0]).toEqual(own)
  })
})
