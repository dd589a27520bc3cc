import { describe, expect, test } from '@jest/globals'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { catalogFor } from '../support/gateway.ts'
import { LANGUAGES } from '../support/languages.ts'
import { someOf } from '../support/some-of.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, event, type Reply, sse, status, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { readTold, SPEECH, type Spoken } from './support/spoken.ts'
import { writeOn } from './support/write-apart.ts'

const CAP = 50
const SPARE = 16
const MODEL = 'up-model'
const encoding = new Tiktoken(o200k)
/** Each word is a token. */
const words = (count: number) => Array.from({ length: count }, () => ' word').join('')
const wordsIn = (text: string) => text.split(' word').length - 1

const [upstream, other] = [await openUpstream(), await openUpstream()]
const providers = { up: { type: 'openai', baseUrl: upstream.url }, other: { type: 'openai', baseUrl: other.url } }
const routes = [
  { provider: 'up', model: MODEL },
  { provider: 'other', model: 'm', priority: 1 },
]
const { models } = catalogFor(upstream.url, { contextLength: 100_000 })
const gateway = await openFor(requireCatalog({ providers, models: models.map((model) => ({ ...model, routes })) }))

async function ask(reply: Reply, fields: object = {}, contract: Spoken = 'chat') {
  upstream.reply = reply
  other.requests.length = 0
  gateway.logLines.length = 0
  const { path, ask: asked } = SPEECH[contract]
  const { response, text: body, row, key } = await gateway.ask(asked({ max_tokens: CAP, ...fields }), { path })
  expect([key.available, key.holds]).toEqual([key.granted - row.cost, {}])
  return { ...readTold(contract, response, body), status: response.status, body, row }
}

type Asked = Awaited<ReturnType<typeof ask>>

/** As each contract says that an answer has reached its cap. */
const AT_CAP: Readonly<Record<Spoken, RegExp>> = {
  chat: /"finish_reason":"length"/,
  responses: /"incomplete_details":\{"reason":"max_output_tokens"\}/,
  messages: /"stop_reason":"max_tokens"/,
}

function expectCut({ status: code, done, error, body, row }: Asked, contract: Spoken = 'chat', choices = 1): void {
  expect([code, done, error]).toEqual([200, true, undefined])
  expect(body).toMatch(AT_CAP[contract])
  expect(row).toMatchObject({ outcome: 'completed', httpStatus: 200, completionTokens: CAP * choices })
  expect(row.attempts).toMatchObject([{ provider: 'up', result: 'beyond_cap' }])
  expect([row.usageRejected, row.usageCapped]).toEqual([false, undefined])
  expect(row.cost).toBeLessThanOrEqual(row.hold)
  expect(other.requests).toEqual([])
  const line = gateway.logLines.map((text) => JSON.parse(text)).find(({ event: name }) => name === 'beyond_cap')
  expect(line).toMatchObject({ provider: 'up', upstreamModel: MODEL, BeyondCap: 1 })
}

/** A whole answer, or one that is streamed delta by delta and ends properly. */
const streamed = (deltas: readonly object[], usage: unknown = USAGE): Reply =>
  sse([...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), usageChunk(usage), DONE])
const whole = (message: object, usage: unknown = USAGE): Reply =>
  status(200, { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }], usage })

const TOO_LONG = words(1_000)

test('an answer that was cut is charged by the prompt that its upstream counts behind the cut', async () => {
  const usage = { prompt_tokens: 77, completion_tokens: 1_000, total_tokens: 1_077 }
  const late = sse([chunk({ content: TOO_LONG }), chunk({}, 'stop'), usageChunk(usage), DONE], 30)
  for (const stream of [true, false]) {
    const asked = await ask(late, { stream })
    expectCut(asked)
    expect(asked.row).toMatchObject({ promptTokens: 77, cost: 77_000n + BigInt(CAP) * 2_000n })
    // The upstream bills all that it has generated.
    expect(asked.row.loss).toBe(77_000n + 1_000n * 2_000n - asked.row.cost)
  }
})

describe.each<Spoken>(['chat', 'responses', 'messages'])('%s', (contract) => {
  test.each<[string, Reply]>([
    ['in one huge delta', streamed([{ content: TOO_LONG }])],
    ['letter by letter', streamed([...TOO_LONG].map((content) => ({ content })))],
    ['word by word', streamed(Array.from({ length: 1_000 }, () => ({ content: ' word' })))],
    ['as one JSON answer', whole({ content: TOO_LONG })],
  ])('an answer beyond its cap is cut there, %s', async (_, reply) => {
    for (const stream of [true, false]) {
      const asked = await ask(reply, { stream }, contract)
      expectCut(asked, contract)
      expect(wordsIn(asked.text)).toBe(CAP + SPARE)
    }
  })

  const called = { name: 'f', arguments: `{"a":"${TOO_LONG}` }
  const tool_calls = [{ index: 0, id: 'c1', type: 'function', function: called }]
  test.each<[string, object, number]>([
    ['a thought', { reasoning_content: TOO_LONG }, CAP + SPARE],
    ['the arguments of a tool call', { tool_calls }, CAP + SPARE - 1],
  ])('%s beyond the cap is cut there', async (_, said, most) => {
    for (const reply of [streamed([said]), whole({ content: null, ...said })]) {
      for (const stream of [true, false]) {
        const asked = await ask(reply, { stream }, contract)
        expectCut(asked, contract)
        expect(asked.body).not.toContain(words(most + 1))
      }
    }
  })
})

test('an upstream that goes on for ever is left where its answer is cut', async () => {
  const ends: boolean[] = []
  const forever: Reply = async (response) => {
    response.once('close', () => ends.push(response.writableFinished))
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    function* more() {
      for (;;) yield chunk({ content: ' word' })
    }
    await writeOn(response, more())
  }
  for (const stream of [true, false]) expectCut(await ask(forever, { stream }))
  await until(() => ends.length === 2)
  expect(ends).toEqual([false, false])
})

test.each<[string, object]>([
  ['a refusal', { refusal: TOO_LONG }],
  ['text in a field that nobody knows', { song: TOO_LONG }],
  ['words in parts', { content: [{ type: 'text', text: TOO_LONG }] }],
  ['the details of a thought', { reasoning_details: [{ type: 'reasoning.text', text: TOO_LONG, format: 'unknown' }] }],
])('%s is cut at the cap', async (_, said) => {
  for (const reply of [streamed([said]), whole(said)]) {
    const asked = await ask(reply, { stream: true })
    expectCut(asked)
    expect(asked.body).not.toContain(words(CAP + SPARE + 1))
  }
})

test('a delta in which the border lies keeps its words up to there, of each field', async () => {
  const delta = { reasoning_content: words(40), content: words(40), refusal: words(40) }
  const { body } = await ask(streamed([delta]), { stream: true })
  const [{ delta: said }] = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? '').choices
  expect(said).toEqual({ role: 'assistant', reasoning_content: words(40), content: `${words(26)} `, refusal: '' })
})

test('a thought that is told twice in a delta counts once', async () => {
  const text = words(CAP)
  const tellings = { reasoning: text, reasoning_content: text, reasoning_details: [{ type: 'reasoning.text', text }] }
  for (const reply of [streamed([tellings]), whole(tellings)]) {
    const { row, body } = await ask(reply)
    expect(row.attempts).toMatchObject([{ result: 'ok' }])
    expect(JSON.parse(body).choices[0]).toMatchObject({ message: tellings, finish_reason: 'stop' })
  }
})

describe('several choices', () => {
  const of = (index: number, content: string, finish: string | null = null) =>
    event({ choices: [{ index, delta: { content }, finish_reason: finish }] })

  test('each choice has the cap, and is cut by itself', async () => {
    const honest = words(CAP)
    const reply = sse([of(0, TOO_LONG), of(1, honest), of(0, TOO_LONG), of(1, '', 'stop'), usageChunk(USAGE), DONE])
    for (const stream of [true, false]) {
      const { body, row } = await ask(reply, { n: 2, stream })
      expect(body).toMatch(/"finish_reason":"length"/)
      expect(body).toMatch(/"finish_reason":"stop"/)
      // One at its cap, the other as it was counted, with a spare for how it was counted.
      expect(row.completionTokens).toBeGreaterThanOrEqual(2 * CAP - 1)
      expect(row.completionTokens).toBeLessThanOrEqual(2 * CAP)
      expect(row.attempts).toMatchObject([{ result: 'beyond_cap' }])
    }
  })

  test('choices that nobody asked for are not delivered, and do not end a caller’s own', async () => {
    const more = Array.from({ length: 100 }, (_, i) => of(i + 1, words(CAP), 'stop'))
    const { body, row } = await ask(sse([of(0, 'Hello'), ...more, of(0, ' you', 'stop'), usageChunk(USAGE), DONE]))
    const { choices } = JSON.parse(body)
    expect(choices).toMatchObject([{ index: 0, message: { content: 'Hello you' } }])
    expect(row.outcome).toBe('completed')
  })

  test('an upstream that never begins its second choice is left when it says nothing more', async () => {
    const reply = sse([of(0, TOO_LONG), ...Array(2_000).fill(of(0, ' word')), DONE])
    const { row, done } = await ask(reply, { n: 2, stream: true })
    expect([done, row.outcome, row.completionTokens]).toEqual([true, 'completed', CAP])
  })
})

test('thinking that the upstream counts and does not show is charged up to the hold, and its route is named', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5_000, total_tokens: 5_010 }
  for (const reply of [streamed([{ content: 'Hi' }], usage), whole({ content: 'Hi' }, usage)]) {
    const { row, text } = await ask(reply)
    expect([text, row.cost]).toEqual(['Hi', row.hold])
    expect(row).toMatchObject({ completionTokens: 5_000, usageCapped: true, attempts: [{ result: 'beyond_cap' }] })
    expect(gateway.logLines.join('\n')).toContain('"event":"beyond_cap"')
  }
})

describe.each(someOf(Object.entries(LANGUAGES), 8))('%s', (_, prose) => {
  test('an honest answer of exactly its cap is not cut', async () => {
    const tokens = encoding.encode(prose.repeat(3), [], []).slice(0, 120)
    const text = encoding.decode(tokens).replace(/\ufffd+$/, '')
    const usage = { prompt_tokens: 10, completion_tokens: 120, total_tokens: 130 }
    const letters = [...text].map((content) => ({ content }))
    for (const reply of [streamed(letters, usage), whole({ content: text }, usage)]) {
      const asked = await ask(reply, { max_tokens: 120 })
      expect(asked.text).toBe(text)
      expect(asked.row.attempts).toMatchObject([{ result: 'ok' }])
    }
  })
})
