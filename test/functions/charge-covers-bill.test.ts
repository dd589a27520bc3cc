import { describe, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { countTokens } from '../../layers/tokenizer/count-tokens.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openFor, openUpstream } from '../support/stack.ts'
import { beginAnswers, DONE, event, type Reply, say, sse, status, usageChunk } from '../support/upstream.ts'

const ask = (gateway: TestGateway, fields: object, headers: Record<string, string> = {}) =>
  gateway.ask(fields, { dailyLoss: 10n ** 12n, headers })

const { upstream, gateway } = await openBoth({ model: { contextLength: 200_000 } })

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const imageAt = (url: string) => ({ type: 'image_url', image_url: { url } })
const picture = imageAt('data:;base64,iVBORw0KGgo=')
const address = imageAt('https://example.com/a.png')
const FILM = 'data:video/mp4;base64,AAAAHGZ0eXBpc29t'
const BOUNDED = { image: 2, audio: 9_000, video: 3, file: 4 }
const NANO_PER_INPUT = 1_000n
const NANO_PER_OUTPUT = 2_000n

describe('prompts', () => {
  test.each([
    ['a file', { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }],
    ['audio', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
    ['a video by its address', { type: 'video_url', video_url: { url: 'https://example.com/film.mp4' } }],
    ['a video in place of a picture', imageAt('data:video/mp4;base64,AAAA')],
    ['a document in place of a picture', imageAt('data:application/pdf;base64,AA')],
    ['a document that says it is a picture', imageAt('data:image/png;base64,JVBERi0=')],
    ['a video that says it is a picture', imageAt('data:image/png;base64,AAAAHGZ0eXBpc29t')],
    ['something that says it is a picture', imageAt('data:image/png;base64,AAAA')],
    ['a picture by its address', address],
    ['a document as audio', { type: 'input_audio', input_audio: { data: 'JVBERi0=', format: 'wav' } }],
  ])('a prompt with %s holds the whole context and is charged all that the upstream counts', async (_, part) => {
    upstream.reply = say('Hello', { prompt_tokens: 150_000, completion_tokens: 5 })
    const { row } = await ask(gateway, user(part))
    expect(row.hold).toBe(200_000n * NANO_PER_INPUT + 1_000n * NANO_PER_OUTPUT)
    expect(row).toMatchObject({ promptTokens: 150_000, cost: 150_000n * NANO_PER_INPUT + 5n * NANO_PER_OUTPUT })
    expect(row.usageCapped).toBeUndefined()
  })

  test.each<[string, object]>([
    ['a file', user({ type: 'file', file: { file_id: 'file-1' } })],
    ['a file beside its data', user({ type: 'file', file: { file_id: 'file-1', file_data: 'JVBERi0=' } })],
    ['audio', { messages: [...HELLO.messages, { role: 'assistant', content: 'a', audio: { id: 'audio_1' } }] }],
  ])('%s that is stored at the provider cannot be named', async (_, body) => {
    const { response, row } = await ask(gateway, body)
    expect([response.status, row.hold, row.errorCode]).toEqual([400, 0n, 'unsupported_parameter'])
  })

  test('a prompt with media that have a bound in the catalog holds that bound for each of them', async () => {
    const model = { contextLength: 200_000, mediaTokens: { file: 3_000, image: 100 } }
    const bounded = await openFor(catalogFor(upstream.url, model))
    const file = { type: 'file', file: { file_data: 'JVBERi0=' } }
    const plain = (await ask(bounded, user({ type: 'text', text: 'Hi' }))).row.hold
    const { row } = await ask(bounded, user({ type: 'text', text: 'Hi' }, file, file, picture))
    const more = (row.hold - plain) / NANO_PER_INPUT
    expect(more).toBeGreaterThanOrEqual(6_100n)
    expect(more).toBeLessThan(6_100n + 300n)
  })

  test('a prompt whose media no provider counts is charged at their bound', async () => {
    upstream.reply = say('Hello', null)
    const file = await ask(gateway, user({ type: 'file', file: { file_data: 'JVBERi0=' } }))
    expect(file.row).toMatchObject({ usageSource: 'estimate', promptTokens: 200_000, completionTokens: 1 })
    const image = await ask(gateway, user(picture))
    expect(image.row.promptTokens).toBeGreaterThanOrEqual(50_000)
    expect(image.row.promptTokens).toBeLessThan(51_000)
  })

  /** The tokens by which an address is held, with this model and a fallback. */
  async function heldForAddress(model: object, fallback: object = model) {
    const { providers, models } = catalogFor(upstream.url, { contextLength: 200_000 })
    const [one] = models as [(typeof models)[number]]
    const both = [
      { ...one, ...model, fallback: ['other'] },
      { ...one, ...fallback, id: 'other' },
    ]
    const bounded = await openFor({ providers, models: both })
    const { row } = await ask(bounded, user(address))
    return Number((row.hold - (await ask(bounded, user({ type: 'text', text: 'Hi' }))).row.hold) / NANO_PER_INPUT)
  }

  test.each<[string, number, object[]]>([
    ['an image', 50_000, [{ media: ['image'] }]],
    ['an image with a bound', 700, [{ media: ['image'], mediaTokens: { image: 700, file: 900 } }]],
    ['the dearer of image and file', 90_000, [{ media: ['image', 'file'], mediaTokens: { file: 90_000 } }]],
    ['the dearest of all kinds', 5_000, [{ mediaTokens: { image: 1, audio: 2, video: 5_000, file: 4 } }]],
    ['what a fallback takes', 9_000, [{ media: ['image'], mediaTokens: { image: 1 } }, { mediaTokens: BOUNDED }]],
  ])('an address is held as %s: %d tokens', async (_, tokens, [model = {}, fallback]) => {
    const held = await heldForAddress(model, fallback)
    expect(held).toBeGreaterThanOrEqual(tokens)
    expect(held).toBeLessThan(tokens + 200)
  })

  test.each<[string, object, string[], string]>([
    ['a document', { type: 'file', file: { file_data: 'JVBERi0=' } }, ['image'], "kind 'file'"],
    ['a film', imageAt(FILM), ['image', 'file'], "kind 'video'"],
    ['an address', address, [], 'an address'],
    ['bytes of no kind', { type: 'file', file: { file_data: 'AAAA' } }, [], 'an unknown kind'],
  ])('%s is a 400 that holds nothing, if the model does not take it', async (_, part, media, says) => {
    const strict = await openFor(catalogFor(upstream.url, { media }))
    const { response, text, row } = await ask(strict, user({ type: 'text', text: 'Hi' }, part))
    expect([response.status, row.hold, row.errorCode]).toEqual([400, 0n, 'unsupported_parameter'])
    expect(text).toContain(says)
    expect((await ask(strict, user({ type: 'text', text: 'Hi' }))).response.status).toBe(200)
  })

  test('a part that may be an image is held and charged at the price of one', async () => {
    upstream.reply = say('Hello')
    const price = { input: '1', output: '2', image: '0.01' }
    const priced = await openFor(catalogFor(upstream.url, { price }))
    const images = async (part: object) => (await ask(priced, user(part))).row.images
    const unnamed = { type: 'file', file: { file_data: 'iVBORw0KGgo=' } }
    const document = { type: 'file', file: { file_data: 'JVBERi0=' } }
    expect([await images(picture), await images(address), await images(unnamed)]).toEqual([1, 1, 1])
    expect(await images(document)).toBeUndefined()
    const { row } = await ask(priced, user(address, picture))
    expect(row.cost).toBeGreaterThan(20_000_000n)
  })

  test('a prompt with an extra field that the operator allows holds the whole context and is charged as counted', async () => {
    const open = await openFor(catalogFor(upstream.url, { contextLength: 200_000 }, { allowFields: ['plugins'] }))
    upstream.reply = say('Hello', { prompt_tokens: 150_000, completion_tokens: 5 })
    const { response, row } = await ask(open, { plugins: [{ id: 'web' }] })
    expect(response.status).toBe(200)
    expect(row).toMatchObject({ promptTokens: 150_000, cost: 150_000n * NANO_PER_INPUT + 5n * NANO_PER_OUTPUT })
  })

  test.each([
    ['a function call', (text: string) => [{ role: 'assistant', function_call: { name: 'f', arguments: text } }]],
    ['a refusal', (text: string) => [{ role: 'assistant', refusal: text }]],
    ['a thought', (text: string) => [{ role: 'assistant', content: 'x', reasoning_content: text }]],
    ['a tool call', (text: string) => [toolCall(text)]],
    ['the end of a long message', (text: string) => [{ role: 'user', content: ' '.repeat(100_000) + text }]],
    ['a content part', (text: string) => [{ role: 'user', content: [{ type: 'text', text }] }]],
  ])('the estimate of a prompt that no provider counted includes %s', async (_, messages) => {
    upstream.reply = say('Hello', null)
    const words = 'the wombat digs a hole and sleeps in it all day; '.repeat(2_000)
    const { row } = await ask(gateway, { messages: [...messages(words), ...HELLO.messages] })
    const tokens = countTokens(words, () => 0.5)
    expect(row.promptTokens).toBeGreaterThan(tokens * 0.75)
    expect(row.promptTokens).toBeLessThan(tokens * 1.3 + 3_000)
  })

  function toolCall(text: string) {
    return { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }] }
  }
})

describe('several choices', () => {
  const story = 'Once upon a time there was a wombat who kept very exact books of everything. '
  const each = countTokens(story, () => 0)
  const choice = (index: number, delta: object, finish: string | null = null) =>
    event({ choices: [{ index, delta, finish_reason: finish }] })
  /** As llama.cpp does it: every choice is sent, and the usage is of one. */
  const usageOfOne = { prompt_tokens: 10, completion_tokens: each, total_tokens: 10 + each }

  test('three streamed choices are all charged if the upstream counts only one', async () => {
    const words = story.match(/\s*\S+/g) ?? []
    upstream.reply = sse([
      ...[0, 1, 2].flatMap((index) => words.map((content) => choice(index, { content }))),
      ...[0, 1, 2].map((index) => choice(index, {}, 'stop')),
      usageChunk(usageOfOne),
      DONE,
    ])
    for (const stream of [true, false]) {
      const { row } = await ask(gateway, { n: 3, stream })
      expect(row.completionTokens).toBeGreaterThanOrEqual(3 * each - 6)
      expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: true })
    }
  })

  test.each([
    ['as long as each other', story, story],
    ['of which one is twice as long', story.repeat(2), story],
    ['of which one is short', story.repeat(4), 'Once.'],
  ])('of two choices %s, no more than a third is given away if the upstream counts only one', async (_, one, other) => {
    const counts = [one, other].map((text) => countTokens(text, () => 0))
    const choices = [one, other].map((content, index) => ({ index, message: { content }, finish_reason: 'stop' }))
    for (const completion_tokens of counts) {
      upstream.reply = status(200, { choices, usage: { prompt_tokens: 10, completion_tokens } })
      const { row } = await ask(gateway, { n: 2 })
      const all = counts.reduce((sum, count) => sum + count, 0)
      expect(row.completionTokens).toBeGreaterThanOrEqual(Math.floor((all * 2) / 3))
      expect(row.completionTokens).toBeLessThanOrEqual(all + 2)
    }
  })

  test('two choices that are both counted by the upstream are charged as counted', async () => {
    const frames = [0, 1].map((index) => choice(index, { content: story }) + choice(index, {}, 'stop'))
    upstream.reply = sse([...frames, usageChunk({ prompt_tokens: 10, completion_tokens: 2 * each }), DONE])
    const { row } = await ask(gateway, { n: 2 })
    expect(row).toMatchObject({ completionTokens: 2 * each, usageSource: 'upstream', usageRejected: false })
  })
})

describe('routes', () => {
  test.each<[string, object, object, object, number]>([
    ['a long prompt', { messages: [{ role: 'user', content: 'a '.repeat(40_000) }] }, {}, {}, 40_000],
    [
      'the whole context, if its provider allows an extra field',
      { plugins: [{ id: 'web' }] },
      { unknownFields: 'drop' },
      { allowFields: ['plugins'] },
      400_000,
    ],
  ])('a hold covers %s at a fallback model with a longer context', async (_, fields, first, second, tokens) => {
    const [down, up] = [await openUpstream(status(500, {})), await openUpstream()]
    const [model] = catalogFor(down.url, { contextLength: 10_000 }).models
    const other = { ...model, id: 'other', contextLength: 500_000, price: { input: '60', output: '120' } }
    const cost = { input: '50', output: '100' }
    const catalog = requireCatalog({
      providers: {
        up: { type: 'openai', baseUrl: down.url, ...first },
        other: { type: 'openai', baseUrl: up.url, ...second },
      },
      models: [
        { ...model, fallback: ['other'] },
        { ...other, routes: [{ provider: 'other', model: 'm', cost }] },
      ],
    })
    up.reply = say('Hello', { prompt_tokens: tokens, completion_tokens: 5 })
    const { row } = await ask(await openFor(catalog), fields)
    expect(row).toMatchObject({ fallbackModel: 'other', promptTokens: tokens })
    expect(row.cost).toBe(BigInt(tokens) * NANO_PER_INPUT + 5n * NANO_PER_OUTPUT)
  })

  test('a route that a client names 700 times is asked once, and no request makes more than 8 attempts', async () => {
    const upstreams = await Promise.all(Array.from({ length: 10 }, () => openUpstream(status(500, {}))))
    const providers = Object.fromEntries(upstreams.map(({ url }, i) => [`up${i}`, { type: 'openai', baseUrl: url }]))
    const [model] = catalogFor('http://127.0.0.1:1').models
    const routes = Object.keys(providers).map((provider) => ({ provider, model: 'm' }))
    const gateway = await openFor(requireCatalog({ providers, models: [{ ...model, routes }] }))
    const again = await ask(gateway, {}, { 'X-Svc-Route': Array(700).fill('up1').join(',') })
    expect([again.response.status, again.row.attempts.length]).toEqual([502, 1])
    expect(upstreams[1]?.requests).toHaveLength(1)
    const all = await ask(gateway, {})
    expect(all.row.attempts).toHaveLength(8)
    expect(upstreams.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(1 + 8)
    expect(all.response.headers.get('x-svc-attempts')?.length).toBeLessThan(500)
  })
})

test.each<[string, (choice: (field: string) => string) => Reply]>([
  ['streamed', (choice) => sse([`data: ${choice('delta')}\n\n`, DONE])],
  ['plain JSON', (choice) => status(200, choice('message'))],
])('a %s answer that is nested too deep is a 502 that is paid, and no internal error', async (_, reply) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  upstream.reply = reply(
    (field) => `{"choices":[{"index":0,"${field}":{"content":"Hi","x":${deep}},"finish_reason":"stop"}]}`,
  )
  const { response, row } = await ask(gateway, {})
  expect([response.status, row.attempts[0]?.result, row.cost > 0n]).toEqual([502, 'protocol', true])
  expect(gateway.logLines.join()).not.toContain('RangeError')
})

test('a request that times out is not charged, and the log has the most that its answer may cost the operator', async () => {
  const cost = { input: '0.5', output: '1' }
  const route = { provider: 'up', model: 'm', firstByteTimeoutMs: 150, cost }
  const { upstream, gateway } = await openBoth({ model: { routes: [route] } })
  upstream.reply = () => {}
  const { response, row } = await ask(gateway, {})
  expect([response.status, row.cost]).toEqual([504, 0n])
  const line = gateway.logged().find(({ event: name }) => name === 'unpaid')
  expect(line).toMatchObject({ provider: 'up', UnpaidAnswers: 1 })
  expect(Number(line?.UnpaidCostAtMost) * 1e9).toBeCloseTo(Number(row.hold) / 2)
})

test('a JSON answer that takes longer than the edge waits is a 504 that says not to retry, and costs what had come', async () => {
  const routes = [
    { provider: 'up', model: 'a', priority: 0 },
    { provider: 'up', model: 'b', priority: 1 },
  ]
  const { upstream, gateway } = await openBoth({ timing: { wholeAnswerMs: 300 }, model: { routes } })
  beginAnswers(upstream)
  const { response, error, row } = await ask(gateway, {})
  expect([response.status, response.headers.get('x-should-retry'), row.cost]).toEqual([504, 'false', 12_000n])
  expect(error.message).toContain('"stream": true')
  expect(row.attempts).toMatchObject([{ result: 'deadline' }])
  expect(row.durationMs).toBeLessThan(5_000)
  // Nothing was wrong with the route.
  upstream.reply = say('Hello')
  expect((await ask(gateway, { stream: true })).row.upstreamModel).toBe('a')
})

test('of an answer that was cut at its cap, the row has what the provider bills for all of it, and says why it was charged so', async () => {
  const cost = { input: '0.5', output: '1' }
  const route = { provider: 'up', model: 'm', cost }
  const { upstream, gateway } = await openBoth({ model: { routes: [route] } })
  const words = 'word '.repeat(5_000)
  const message = { role: 'assistant', content: words }
  const usage = { prompt_tokens: 10, completion_tokens: 5_000, total_tokens: 5_010 }
  upstream.reply = status(200, { choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  const { response, row } = await ask(gateway, { max_tokens: 10 })
  expect([response.status, row.completionTokens, row.attempts[0]?.result]).toEqual([200, 10, 'beyond_cap'])
  expect([row.cost, row.upstreamCost]).toEqual([10n * 1_000n + 10n * 2_000n, 10n * 500n + 5_000n * 1_000n])
  const line = gateway.logged().find(({ requestId }) => requestId === row.requestId)
  expect(line).toMatchObject({ NegativeMargins: 1 })
  expect(explanationLines(explainRequest(row, undefined, Date.now())).join('\n')).toContain('the output cap')
})
